"""Residents, followed along the tables of their grammars on the host as the executor follows them.

Does: see in one call what became of all picks of a step and what must come next. Asks a matcher only where tables do
not say enough: where little is left of a budget, where they refuse a token, and where a sequence is a resident no
more; it is then brought to where the output stands. Does not: decide who is a resident.
"""

from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING

from ..grammar.api import DeviceTables, followers
from .closing import Followed, Following
from .faults import MatcherFault, guarded
from .plan import Forced
from .types import Failure

if TYPE_CHECKING:
    from ..grammar.api import Followers


class AlongTables:
    """Sequences by number, and their matchers, which stand somewhere behind."""

    def __init__(self, texts: Sequence[bytes | None], end_tokens: frozenset[int]) -> None:
        self._texts = texts
        self._end_tokens = end_tokens
        self._following: dict[int, Following] = {}

    @cached_property
    def _followers(self) -> "Followers":
        """Made with the first resident: whoever made its tables has loaded the code, which takes a second."""
        return followers(self._texts, tuple(self._end_tokens))

    def __contains__(self, seq_id: int) -> bool:
        return seq_id in self._following

    def enter(self, seq_id: int, tables: DeviceTables, following: Following) -> None:
        """Follow one more sequence, from where its matcher stands.

        Raises:
            Violation: the tables refuse what it has accepted.
        """
        self._followers.enter(seq_id, tables, following.matcher, following.left)
        self._following[seq_id] = following

    def leave(self, seq_id: int) -> None:
        """Follow a sequence no more; its matcher stands where it stands then.

        Raises:
            Violation: it refuses the way there.
        """
        following, tokens = self._following[seq_id], self._followers.tokens(seq_id)
        self.forget(seq_id)
        following.catch_up(tokens)

    def forget(self, seq_id: int) -> None:
        """Follow a sequence no more, if it is here."""
        if self._following.pop(seq_id, None) is not None:
            self._followers.leave(seq_id)

    def tokens(self, seq_id: int) -> Sequence[int]:
        """The output of a sequence so far."""
        return self._followers.tokens(seq_id)

    def keys(self) -> Set[int]:
        """The sequences that are here."""
        return self._following.keys()

    def above(self, depth: int) -> list[int]:
        """Those whose stack is higher."""
        return self._followers.above(depth) if self._following else []

    def advance(self, picked: Mapping[int, tuple[int, ...]]) -> Forced:
        """See `Constraints.advance`; `picked` by sequence."""
        if not picked:
            return Forced({}, {})
        failures: dict[int, Failure] = {}
        forced: dict[int, tuple[int, ...]] = {}
        instead: set[int] = set()
        first = self._followers.pick(picked)
        for seq_id, coming in first.coming.items():
            try:
                run = guarded(self._followers.spell, seq_id, coming)
            except MatcherFault as fault:
                failures[seq_id] = fault.failure
                continue
            if run:
                forced[seq_id] = run
        then = self._followers.go_on(forced)
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
            if not self._following[seq_id].may_loop(picked[seq_id] + run):
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
        """What ends the value that a sequence repeats; the tables have followed its pick and the forced `run`."""
        following, tokens = self._following[seq_id], self._followers.tokens(seq_id)
        if not tokens or tokens[-1] in self._end_tokens:
            return Followed(run)
        following.catch_up(tokens)
        followed = following.past_loop(run)
        if followed.looped is not None:
            then = self._followers.go_on({seq_id: followed.tokens[len(run) :]})
            if seq_id in then.lost:  # the matcher says more, and has followed
                self.forget(seq_id)
        return followed

    def _exactly(self, seq_id: int, picked: tuple[int, ...]) -> Followed:
        """What the matcher says of a pick that tables have followed, or refused."""
        following = self._following[seq_id]
        following.catch_up(self._followers.tokens_before(seq_id))
        return following.follow(picked)
