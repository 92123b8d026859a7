"""The result of one check of `intaglio doctor`.

Does: the message between the checks and their display. Does not: check anything (`doctor`, `doctor_model`).
"""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The verdict of one check."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its verdict, its finding and a suggested fix."""

    name: str
    state: State
    found: str
    fix: str = ""
