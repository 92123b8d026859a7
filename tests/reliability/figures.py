"""The result of a reliability test: the measured values and their bounds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure. `count`: how many cases it is from. `met` is None for a bound that a shared machine cannot show."""

    id: str
    what: str
    count: int
    bound: str
    measured: str
    met: bool | None
