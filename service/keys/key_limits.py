"""The limits of an API key.

Does: hold and check the figures. Does not: count what a key uses (`usage`).
"""

from dataclasses import dataclass, fields
from typing import Self

_MOST = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLimits:
    """The limits of one key; None = no limit.

    Tokens are those of prompts and answers together. A limit per minute is a bucket of that size which refills
    steadily, so an idle key may use a whole minute's amount at once. A day is a day of UTC. `concurrent` is the number
    of requests in flight.
    """

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    requests_per_day: int | None = None
    tokens_per_day: int | None = None
    concurrent: int | None = None

    def __post_init__(self) -> None:
        for name, value in self.given().items():
            if not 1 <= value <= _MOST:
                raise ValueError(f"{name} must be from 1 to {_MOST}, not {value}")

    def given(self) -> dict[str, int]:
        """The limits that are set, by name."""
        values = {member.name: getattr(self, member.name) for member in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def bounds_requests(self) -> bool:
        """Whether the number of requests has a limit."""
        named = (self.requests_per_minute, self.requests_per_day, self.concurrent)
        return any(value is not None for value in named)

    @property
    def bounds_tokens(self) -> bool:
        """Whether the number of tokens has a limit."""
        return self.tokens_per_minute is not None or self.tokens_per_day is not None

    @classmethod
    def of(cls, values: dict[str, int]) -> Self:
        """The limits of that `given`.

        Raises:
            TypeError: a name is unknown.
            ValueError: a value is out of bounds.
        """
        return cls(**values)


UNLIMITED = KeyLimits()
