"""A matcher with a token budget, which completes its output within that budget.

Does: advance by sampled tokens; where the output could no longer be completed after one, roll it back and complete the
output in the shortest way instead. So at every position the shortest completion fits the rest of the budget, and every
output is complete. Does not: apply to grammars that cannot find a shortest completion (`Matcher.closing` is None): such
an output may run out of budget, which ends it with `Finish.LENGTH`.

Only the last tokens of an output that needs all its budget are ever replaced; all others are the model's own. With a
`LoopWatch` a value that repeats itself is ended as well: the tokens that end it follow the sampled one, and the model
continues after them.

A slow grammar delays every sequence of a step. Constraints are tested before they are admitted
(`grammar.intake.trial`). The search for a completion may take longer than a step: it is done in parts, between which
other sequences may have their step (`follow_for`). The last fence is here, for sequences on the host and on the device
alike: an output ends with an error if its grammar has delayed the others for too long in total. That is measured by
the clock, so it is not a verdict on the constraint: the error says to try again.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, ParamSpec, TypeVar

from intaglio.grammar.api import CompilerBusy, MaskRow, Matcher, Parts, whole

from .loop_detection import LoopWatch

STEP_S: Final = 0.02  # seconds of processor time that one output may take in each step
SEARCH_S: Final = 0.008  # seconds of that for the search for an end, after which the output waits for the next step
MOST_OVER_S: Final = 2.0  # the most excess over that, in total

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Followed:
    """The tokens after the sampled one, or `instead` of it; the matcher has accepted them.

    `looped`: the range, end exclusive, of the tokens that end a value which repeated itself.
    """

    tokens: tuple[int, ...]
    instead: bool = False
    looped: tuple[int, int] | None = None


class BudgetedMatcher:
    """The matcher of one output of at most `budget` tokens, end token included."""

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
        self._open: Parts[Followed] | None = None  # `follow_for` of the last token, not done yet

    @property
    def left(self) -> int:
        """The rest of the budget, in tokens."""
        return self._left

    def catch_up(self, tokens: Sequence[int]) -> None:
        """Accept the missing part of `tokens`, the whole output so far. It cannot be rolled back.

        Raises:
            Violation: a token is not legal.
            CompilerBusy: the grammar has delayed other requests for too long.
        """
        missed = tokens[self._budget - self._left :]
        self.charged(self.matcher.skip, missed)
        self._left -= len(missed)

    def start(self) -> tuple[int, ...]:
        """Accept the tokens that every output begins with, and return them. The caller has checked the budget."""
        forced = self._advance(())
        self._left -= len(forced)
        self.may_loop(forced)
        return forced

    def fill(self, row: MaskRow) -> None:
        """Overwrite `row` with the tokens that are legal next.

        Raises:
            CompilerBusy: the grammar has delayed other requests for too long.
        """
        self.charged(self.matcher.fill, row)

    def follow(self, sampled: tuple[int, ...]) -> Followed:
        """Accept `sampled` and the forced tokens after it, unless the output could not be completed after these.

        Raises:
            Violation: `sampled` is not legal.
            CompilerBusy: the grammar has delayed other requests for too long.
        """
        return self.charged(whole, self._follow(sampled))

    def follow_for(self, sampled: tuple[int, ...], seconds: float) -> Followed | None:
        """`follow`: one part, and more for a number of seconds of processor time at most, and the rest of one part.

        None if it is not done by then: to be called again with the same tokens, before anything else.
        """
        if self._open is None:
            self._open = self._follow(sampled)
        return self.charged(self._go_on, self._open, seconds)

    def charged(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(…)`, with its time charged to this output.

        Raises:
            CompilerBusy: the grammar has delayed other requests for too long, and the output is not complete.
        """
        begun = self._clock()
        done = work(*args, **kwargs)
        self._over += max(0.0, self._clock() - begun - STEP_S)
        if self._over > MOST_OVER_S and not self.matcher.finished:
            raise CompilerBusy(
                "following this constraint takes so long on this machine now that other requests wait for it; "
                "try again later"
            )
        return done

    def _go_on(self, following: Parts[Followed], seconds: float) -> Followed | None:
        try:
            next(following)  # mostly it is done with that
            until = self._clock() + seconds
            while self._clock() < until:
                next(following)
        except StopIteration as end:
            self._open = None
            followed: Followed = end.value
            return followed
        return None

    def _follow(self, sampled: tuple[int, ...]) -> Parts[Followed]:
        forced = self._advance(sampled)
        taken = len(sampled) + len(forced)
        if not (yield from self._fits(self._left - taken)):
            self.matcher.rollback(taken)
            closing = yield from self.matcher.closing_parts()
            if closing is not None and len(closing) <= self._left:
                self.matcher.skip(closing[:-1])  # at once: no rollback follows
                self.matcher.accept(closing[-1])
                self._left -= len(closing)
                return Followed(closing, instead=True)
            forced = self._advance(sampled)
        self._left -= taken
        if not self.may_loop(sampled + forced):
            return Followed(forced)
        return (yield from self._past_loop(forced))

    def may_loop(self, tokens: tuple[int, ...]) -> bool:
        """Record accepted tokens; whether they may be a loop, so that `past_loop` is to be called."""
        return self._watch is not None and self._watch.push(tokens)

    def past_loop(self, forced: tuple[int, ...] = ()) -> Followed:
        """The accepted tokens `forced`, and after them the tokens that end a value that repeats itself, if any does.

        Raises:
            Violation: the grammar refuses its own completion.
            CompilerBusy: the grammar has delayed other requests for too long.
        """
        return self.charged(whole, self._past_loop(forced))

    def _past_loop(self, forced: tuple[int, ...]) -> Parts[Followed]:
        if self._watch is None or self.matcher.finished:
            return Followed(forced)
        closing = self._watch.closing((yield from self.matcher.closing_parts()) or ())
        if not closing:
            return Followed(forced)
        ended = closing + self._advance(closing)
        if not (yield from self._fits(self._left - len(ended))):
            self.matcher.rollback(len(ended))
            return Followed(forced)
        self._left -= len(ended)
        self._watch.closed(ended)
        return Followed(forced + ended, looped=(len(forced), len(forced) + len(closing)))

    def _fits(self, left: int) -> Parts[bool]:
        if left < 0 or self.matcher.finished:
            return left >= 0
        return (yield from self.matcher.closes_within_parts(left))

    def _advance(self, sampled: tuple[int, ...]) -> tuple[int, ...]:
        for token in sampled:
            self.matcher.accept(token)
        forced = () if self.matcher.finished else self.matcher.forced()
        for token in forced:
            self.matcher.accept(token)
        return forced
