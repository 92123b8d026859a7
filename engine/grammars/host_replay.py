"""Sequences on the device, followed on the host along the same tables that the device follows.

Does: find in one call which tokens must come next after all picks of a step. Asks a matcher only where the tables do
not tell enough: where little is left of a budget, where they refuse a token, where a value repeats itself, and where a
sequence leaves the device; the matcher is then brought to the end of the output. Does not: decide which sequences are
on the device.

A matcher's time is bounded here as on the host: all of its work is charged to its `BudgetedMatcher`, and so is the
spelling of forced texts. The one call for all sequences is not: tables bound it, a look-ahead of some bytes and a
stack of limited height for each sequence.
"""

from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING

from intaglio.grammar.api import DeviceTables, followers

from ..plan import Forced
from ..types import Failure
from .budgeted_matcher import BudgetedMatcher, Followed
from .grammar_faults import MatcherFault, guarded

if TYPE_CHECKING:
    from intaglio.grammar.api import Followers


class HostReplay:
    """Sequences by number, and their matchers, which have accepted the beginning of the output."""

    def __init__(self, texts: Sequence[bytes | None], end_tokens: frozenset[int]) -> None:
        self._texts = texts
        self._end_tokens = end_tokens
        self._matchers: dict[int, BudgetedMatcher] = {}

    @cached_property
    def _followers(self) -> "Followers":
        """Made with the first sequence: the code, which takes a second to load, is there once its tables are."""
        return followers(self._texts, tuple(self._end_tokens))

    def __contains__(self, seq_id: int) -> bool:
        return seq_id in self._matchers

    def enter(self, seq_id: int, tables: DeviceTables, matcher: BudgetedMatcher) -> None:
        """Follow one more sequence, from the tokens that its matcher has accepted.

        Raises:
            Violation: the tables refuse what it has accepted.
        """
        self._followers.add(seq_id, tables, matcher.matcher, matcher.left)
        self._matchers[seq_id] = matcher

    def leave(self, seq_id: int) -> None:
        """Follow a sequence no more; its matcher accepts the rest of the output.

        Raises:
            Violation: it refuses a token.
            ConstraintTooLarge: the grammar has kept others waiting for too long.
        """
        matcher, tokens = self._matchers[seq_id], self._followers.tokens(seq_id)
        self.forget(seq_id)
        matcher.catch_up(tokens)

    def forget(self, seq_id: int) -> None:
        """Follow a sequence no more, if it is here."""
        if self._matchers.pop(seq_id, None) is not None:
            self._followers.remove(seq_id)

    def tokens(self, seq_id: int) -> Sequence[int]:
        """The output of a sequence so far."""
        return self._followers.tokens(seq_id)

    def keys(self) -> Set[int]:
        """The sequences that are here."""
        return self._matchers.keys()

    def above(self, depth: int) -> list[int]:
        """The sequences whose stack is higher."""
        return self._followers.deeper_than(depth) if self._matchers else []

    def advance(self, picked: Mapping[int, tuple[int, ...]]) -> Forced:
        """See `Constraints.advance`; `picked` by sequence."""
        if not picked:
            return Forced({}, {})
        failures: dict[int, Failure] = {}
        forced: dict[int, tuple[int, ...]] = {}
        instead: set[int] = set()
        first = self._followers.advance(picked)
        for seq_id, coming in first.coming.items():
            try:
                charged = self._matchers[seq_id].charged
                run = guarded(charged, self._followers.spell, seq_id, coming)
            except MatcherFault as fault:
                failures[seq_id] = fault.failure
                continue
            if run:
                forced[seq_id] = run
        then = self._followers.advance_forced(forced)
        lost = first.lost | then.lost
        doubtful = (first.doubtful - forced.keys()) | then.doubtful | lost
        sure = picked.keys() - doubtful - failures.keys()
        looped = self._end_loops(picked, sure, forced, failures)
        for seq_id in doubtful - failures.keys():
            run = forced.pop(seq_id, ())
            try:
                followed = guarded(self._exactly, seq_id, picked[seq_id])
            except MatcherFault as fault:
                failures[seq_id] = fault.failure
                continue
            if followed.tokens:
                forced[seq_id] = followed.tokens
            if followed.instead:
                instead.add(seq_id)
            if followed.tokens != run or seq_id in lost:
                self.forget(seq_id)
            if followed.looped is not None:
                looped[seq_id] = followed.looped
        return Forced(forced, failures, frozenset(instead), looped)

    def _end_loops(
        self,
        picked: Mapping[int, tuple[int, ...]],
        sure: Set[int],
        forced: dict[int, tuple[int, ...]],
        failures: dict[int, Failure],
    ) -> dict[int, tuple[int, int]]:
        """Go past the loops of sequences that tables have followed to where they stand; see `Forced.looped`."""
        looped: dict[int, tuple[int, int]] = {}
        for seq_id in sure:
            run = forced.get(seq_id, ())
            if not self._matchers[seq_id].may_loop(picked[seq_id] + run):
                continue
            try:
                followed = guarded(self._past_loop, seq_id, run)
            except MatcherFault as fault:
                failures[seq_id] = fault.failure
                continue
            if followed.looped is not None:
                forced[seq_id], looped[seq_id] = followed.tokens, followed.looped
        return looped

    def _past_loop(self, seq_id: int, run: tuple[int, ...]) -> Followed:
        """Tokens that end the value a sequence repeats; the tables have followed its pick and the forced `run`."""
        matcher, tokens = self._matchers[seq_id], self._followers.tokens(seq_id)
        if not tokens or tokens[-1] in self._end_tokens:
            return Followed(run)
        matcher.catch_up(tokens)
        followed = matcher.past_loop(run)
        if followed.looped is not None:
            then = self._followers.advance_forced({seq_id: followed.tokens[len(run) :]})
            if seq_id in then.lost:  # the matcher has followed, and goes on alone
                self.forget(seq_id)
        return followed

    def _exactly(self, seq_id: int, picked: tuple[int, ...]) -> Followed:
        """The matcher's own answer to a pick that tables have followed, or refused."""
        matcher = self._matchers[seq_id]
        matcher.catch_up(self._followers.tokens_before(seq_id))
        return matcher.follow(picked)
