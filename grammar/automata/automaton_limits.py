"""What building automata may cost.

Does: a bound on states, and the one error that going over it is. Does not: measure memory or time.
"""

from dataclasses import dataclass

from ..contract.errors import ConstraintTooLarge


@dataclass(frozen=True, slots=True)
class AutomatonLimits:
    """The bound of one construction: `states` of any automaton on the way."""

    states: int = 1 << 17

    def check(self, states: int) -> None:
        """Go on, or stop. Compiled code that has stopped by itself reports -1 `states`.

        Raises:
            ConstraintTooLarge: `states` is over the limit, or -1.
        """
        if not 0 <= states <= self.states:
            raise ConstraintTooLarge(
                f"this needs an automaton of more than {self.states} states; "
                "use smaller bounds or a simpler pattern"
            )


DEFAULT = AutomatonLimits()
