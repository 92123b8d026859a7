"""Outputs that are complete within their budget: a matcher, and the tokens its output may still take.

Does: follow what was picked, and where the output could no longer be completed after it, take the pick back and go the
shortest way to the end instead. So at every position the shortest completion fits what is left, and every output is
whole. Does not: apply where a grammar cannot tell the shortest way (`Matcher.closing` is None): such an output may
run out of budget, which ends it with `Finish.LENGTH`.

Only the last picks of an output that needs all its budget are ever replaced; all others are the model's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..grammar.api import Matcher


@dataclass(frozen=True, slots=True)
class Followed:
    """Tokens that come after what was picked, or `instead` of it; the matcher has accepted them."""

    tokens: tuple[int, ...]
    instead: bool = False


class Following:
    """One output on its way through its grammar, `budget` tokens long at most, end token included."""

    def __init__(self, matcher: Matcher, budget: int) -> None:
        self.matcher = matcher
        self._budget = self._left = budget

    @property
    def left(self) -> int:
        """Tokens that the output may still take."""
        return self._left

    def catch_up(self, tokens: Sequence[int]) -> None:
        """Accept what is missing of `tokens`, the whole output so far. It cannot be taken back.

        Raises:
            Violation: it is not legal.
        """
        missed = tokens[self._budget - self._left :]
        self.matcher.skip(missed)
        self._left -= len(missed)

    def start(self) -> tuple[int, ...]:
        """The tokens that every output begins with; whether the budget suffices is asked of the grammar before."""
        forced = self._advance(())
        self._left -= len(forced)
        return forced

    def follow(self, picked: tuple[int, ...]) -> Followed:
        """Accept `picked` and what is forced after it, unless the output could not be completed then.

        Raises:
            Violation: `picked` is not legal.
        """
        forced = self._advance(picked)
        taken = len(picked) + len(forced)
        if not self._fits(self._left - taken):
            self.matcher.rollback(taken)
            closing = self.matcher.closing()
            if closing is not None and len(closing) <= self._left:
                self._accept(closing)
                self._left -= len(closing)
                return Followed(closing, instead=True)
            forced = self._advance(picked)
        self._left -= taken
        return Followed(forced)

    def _fits(self, left: int) -> bool:
        return left >= 0 and (self.matcher.finished or self.matcher.closes_within(left))

    def _advance(self, picked: tuple[int, ...]) -> tuple[int, ...]:
        self._accept(picked)
        forced = () if self.matcher.finished else self.matcher.forced()
        self._accept(forced)
        return forced

    def _accept(self, tokens: tuple[int, ...]) -> None:
        for token in tokens:
            self.matcher.accept(token)
