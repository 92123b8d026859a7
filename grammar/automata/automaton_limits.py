"""Limits on the construction of automata.

Does: define the bound on states and raise the error of exceeding it. Does not: measure memory or time.
"""

from dataclasses import dataclass

from ..contract.errors import ConstraintTooLarge


@dataclass(frozen=True, slots=True)
class AutomatonLimits:
    """The bound of one construction: the most `states` that any intermediate automaton may have."""

    states: int = 1 << 17

    def check(self, states: int) -> None:
        """Raise if `states` is over the limit. Compiled code that reached the limit by itself passes -1.

        Raises:
            ConstraintTooLarge: `states` is over the limit, or -1.
        """
        if not 0 <= states <= self.states:
            raise ConstraintTooLarge(
                f"this needs an automaton of more than {self.states} states; "
                "use smaller bounds or a simpler pattern"
            )


DEFAULT = AutomatonLimits()
