"""Outputs that are complete within their budget: a matcher, and the tokens its output may still take.

Does: follow what was picked, and where the output could no longer be completed after it, take the pick back and go the
shortest way to the end instead. So at every position the shortest completion fits what is left, and every output is
whole. Does not: apply where a grammar cannot tell the shortest way (`Matcher.closing` is None): such an output may
run out of budget, which ends it with `Finish.LENGTH`.

Only the last picks of an output that needs all its budget are ever replaced; all others are the model's own. Under a
`LoopWatch` a value that repeats itself is ended as well: tokens that end it follow the pick, and the model goes on
after them.

A slow grammar delays every sequence of a step. Constraints are tried out before they are admitted
(`grammar.intake.trial`). The last fence is here, for sequences on the host and on the device alike: an output whose
grammar has delayed the others for too long in total is ended.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, ParamSpec, TypeVar

from intaglio.grammar.api import ConstraintTooLarge, MaskRow, Matcher

from .loop_detection import LoopWatch

STEP_S: Final = 0.02  # of processor time that one output may take of each step
MOST_OVER_S: Final = 2.0  # ... and that it may go over that, in all

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Followed:
    """Tokens that come after what was picked, or `instead` of it; the matcher has accepted them.

    `looped`: the first and the last, exclusive, of those that end a value which repeated itself.
    """

    tokens: tuple[int, ...]
    instead: bool = False
    looped: tuple[int, int] | None = None


class BudgetedMatcher:
    """One output on its way through its grammar, `budget` tokens long at most, end token included."""

    def __init__(
        self,
        matcher: Matcher,
        budget: int,
        watch: LoopWatch | None = None,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.matcher = matcher
        self._budget = self._left = budget
        self._watch = watch
        self._clock = clock
        self._over = 0.0

    @property
    def left(self) -> int:
        """Tokens that the output may still take."""
        return self._left

    def catch_up(self, tokens: Sequence[int]) -> None:
        """Accept what is missing of `tokens`, the whole output so far. It cannot be taken back.

        Raises:
            Violation: it is not legal.
            ConstraintTooLarge: the grammar has kept others waiting for too long.
        """
        missed = tokens[self._budget - self._left :]
        self.charged(self.matcher.skip, missed)
        self._left -= len(missed)

    def start(self) -> tuple[int, ...]:
        """The tokens that every output begins with; whether the budget suffices is asked of the grammar before."""
        forced = self._advance(())
        self._left -= len(forced)
        self.may_loop(forced)
        return forced

    def fill(self, row: MaskRow) -> None:
        """Overwrite `row` with the tokens that are legal next.

        Raises:
            ConstraintTooLarge: the grammar has kept others waiting for too long.
        """
        self.charged(self.matcher.fill, row)

    def follow(self, picked: tuple[int, ...]) -> Followed:
        """Accept `picked` and what is forced after it, unless the output could not be completed then.

        Raises:
            Violation: `picked` is not legal.
            ConstraintTooLarge: the grammar has kept others waiting for too long.
        """
        return self.charged(self._follow, picked)

    def charged(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(…)`, whose time is charged to this output.

        Raises:
            ConstraintTooLarge: the grammar has kept others waiting for too long, and the output goes on.
        """
        begun = self._clock()
        done = work(*args, **kwargs)
        self._over += max(0.0, self._clock() - begun - STEP_S)
        if self._over > MOST_OVER_S and not self.matcher.finished:
            raise ConstraintTooLarge(
                "following this constraint takes so long that other requests wait for it; "
                "make it smaller or simpler: fewer alternatives, lower bounds, shorter patterns"
            )
        return done

    def _follow(self, picked: tuple[int, ...]) -> Followed:
        forced = self._advance(picked)
        taken = len(picked) + len(forced)
        if not self._fits(self._left - taken):
            self.matcher.rollback(taken)
            closing = self.matcher.closing()
            if closing is not None and len(closing) <= self._left:
                self.matcher.skip(closing[:-1])  # in one piece: nothing comes after it
                self._accept(closing[-1:])
                self._left -= len(closing)
                return Followed(closing, instead=True)
            forced = self._advance(picked)
        self._left -= taken
        return self._past_loop(forced) if self.may_loop(picked + forced) else Followed(forced)

    def may_loop(self, tokens: tuple[int, ...]) -> bool:
        """Take note of tokens that were accepted; whether they may be a loop, so that `past_loop` is to be asked."""
        return self._watch is not None and self._watch.push(tokens)

    def past_loop(self, forced: tuple[int, ...] = ()) -> Followed:
        """`forced`, which are accepted, and tokens that end the value that repeats itself, where that is so.

        Raises:
            Violation: the grammar refuses its own way to the end.
            ConstraintTooLarge: the grammar has kept others waiting for too long.
        """
        return self.charged(self._past_loop, forced)

    def _past_loop(self, forced: tuple[int, ...]) -> Followed:
        if self._watch is None or self.matcher.finished:
            return Followed(forced)
        closing = self._watch.closing(self.matcher.closing() or ())
        if not closing:
            return Followed(forced)
        ended = closing + self._advance(closing)
        if not self._fits(self._left - len(ended)):
            self.matcher.rollback(len(ended))
            return Followed(forced)
        self._left -= len(ended)
        self._watch.closed(ended)
        return Followed(forced + ended, looped=(len(forced), len(forced) + len(closing)))

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
