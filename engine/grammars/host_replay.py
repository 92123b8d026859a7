"""Host replay: follows device-masked sequences on the host, by the same tables as the device.

Does: find the forced tokens after all sampled tokens of a step in one call. Uses a matcher only where the tables do not
suffice: where little is left of a budget, where they refuse a token, where a value repeats itself, and where a sequence
leaves the device; the matcher then catches up with the output. Does not: decide which sequences are on the device.

A matcher's time is bounded here as on the host: all of its work is charged to its `BudgetedMatcher`, and so is the
spelling of forced texts. The one call for all sequences is not charged: tables bound it, by a look-ahead of some bytes
and a stack of limited depth for each sequence.
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
    """The sequences followed by tables, and their matchers, which have accepted a part of the output."""

    def __init__(self, texts: Sequence[bytes | None], end_tokens: frozenset[int]) -> None:
        self._texts = texts
        self._end_tokens = end_tokens
        self._matchers: dict[int, BudgetedMatcher] = {}

    @cached_property
    def _followers(self) -> "Followers":
        """Created with the first sequence: its code takes a second to load, and is loaded once there are tables."""
        return followers(self._texts, tuple(self._end_tokens))

    def __contains__(self, seq_id: int) -> bool:
        return seq_id in self._matchers

    def add(self, seq_id: int, tables: DeviceTables, matcher: BudgetedMatcher) -> None:
        """Add a sequence, at the end of the tokens that its matcher has accepted.

        Raises:
            Violation: the tables refuse these tokens.
        """
        self._followers.add(seq_id, tables, matcher.matcher, matcher.left)
        self._matchers[seq_id] = matcher

    def remove(self, seq_id: int) -> None:
        """Remove a sequence; its matcher accepts the rest of the output.

        Raises:
            Violation: the matcher refuses a token.
            CompilerBusy: the grammar has delayed other requests for too long.
        """
        matcher, tokens = self._matchers[seq_id], self._followers.tokens(seq_id)
        self.forget(seq_id)
        matcher.catch_up(tokens)

    def forget(self, seq_id: int) -> None:
        """Drop a sequence, if it is contained; its matcher does not catch up."""
        if self._matchers.pop(seq_id, None) is not None:
            self._followers.remove(seq_id)

    def tokens(self, seq_id: int) -> Sequence[int]:
        """The output tokens of a sequence so far."""
        return self._followers.tokens(seq_id)

    def keys(self) -> Set[int]:
        """The sequences followed here."""
        return self._matchers.keys()

    def above(self, depth: int) -> list[int]:
        """The sequences with a stack deeper than `depth`."""
        return self._followers.deeper_than(depth) if self._matchers else []

    def advance(self, sampled: Mapping[int, tuple[int, ...]]) -> Forced:
        """See `Constraints.advance`; `sampled` by sequence."""
        if not sampled:
            return Forced({}, {})
        failures: dict[int, Failure] = {}
        forced: dict[int, tuple[int, ...]] = {}
        instead: set[int] = set()
        first = self._followers.advance(sampled)
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
        sure = sampled.keys() - doubtful - failures.keys()
        looped = self._end_loops(sampled, sure, forced, failures)
        for seq_id in doubtful - failures.keys():
            run = forced.pop(seq_id, ())
            try:
                followed = guarded(self._exactly, seq_id, sampled[seq_id])
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
        sampled: Mapping[int, tuple[int, ...]],
        sure: Set[int],
        forced: dict[int, tuple[int, ...]],
        failures: dict[int, Failure],
    ) -> dict[int, tuple[int, int]]:
        """End the loops of sequences that the tables have followed completely; see `Forced.looped`."""
        looped: dict[int, tuple[int, int]] = {}
        for seq_id in sure:
            run = forced.get(seq_id, ())
            if not self._matchers[seq_id].may_loop(sampled[seq_id] + run):
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
        """The tokens that end a repeated value, after the sampled token and the forced `run`, both followed already."""
        matcher, tokens = self._matchers[seq_id], self._followers.tokens(seq_id)
        if not tokens or tokens[-1] in self._end_tokens:
            return Followed(run)
        matcher.catch_up(tokens)
        followed = matcher.past_loop(run)
        if followed.looped is not None:
            then = self._followers.advance_forced({seq_id: followed.tokens[len(run) :]})
            if seq_id in then.lost:  # the matcher has accepted the tokens, and continues alone
                self.forget(seq_id)
        return followed

    def _exactly(self, seq_id: int, sampled: tuple[int, ...]) -> Followed:
        """The matcher's own result for a sampled token, in place of that of the tables."""
        matcher = self._matchers[seq_id]
        matcher.catch_up(self._followers.tokens_before(seq_id))
        return matcher.follow(sampled)
