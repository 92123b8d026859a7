"""What building automata may cost.

Does: a budget of states and time, and the one error that going over it is. Does not: measure memory.
"""

import time
from dataclasses import dataclass

from ..errors import ConstraintTooLarge


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for one construction: states of any automaton on the way, a moment of `time.monotonic()` to stop at."""

    states: int = 1 << 17
    deadline: float | None = None

    def check(self, states: int = 0) -> None:
        """Go on, or stop.

        Raises:
            ConstraintTooLarge: `states` is over the limit, or the deadline has passed.
        """
        if states > self.states:
            raise ConstraintTooLarge(
                f"this needs an automaton of more than {self.states} states; "
                "use smaller bounds or a simpler pattern"
            )
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise ConstraintTooLarge("compiling this took longer than allowed")


DEFAULT = Limits()
