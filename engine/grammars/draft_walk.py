"""Legal drafts: a guess of the next tokens, as far as a grammar allows it, with the masks of its positions.

Does: follow a guess with a matcher, end the value where the guess becomes illegal, insert the tokens that the grammar
forces, keep the mask after each token, and roll the matcher back. Does not: guess, or verify.

A fault of the matcher ends the drafts; the sequence meets it only if it gets there.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np
from intaglio.grammar.api import MaskRow, MaskRows, Matcher, Violation, allow, while_worth

from .grammar_faults import MatcherFault, broken, guarded

# Processor time for the drafts of one sequence in one step; a longer walk would cost more than drafts gain.
DRAFT_S: Final = 0.004


class DraftOrigin(StrEnum):
    """The origin of a drafted token."""

    GUESS = "guess"
    CLOSING = "closing"  # the beginning of a short completion, where the guess is illegal
    FORCED = "forced"  # the grammar allows nothing else


class LegalDrafts(NamedTuple):
    """Legal drafts. `rows[i]` is the mask of the token after the first `i + 1` of `tokens`."""

    tokens: tuple[int, ...]
    origins: tuple[DraftOrigin, ...]
    rows: MaskRows


def legal_drafts(
    matcher: Matcher,
    guess: Sequence[int],
    most: int,
    end_tokens: frozenset[int],
    words: int,
    clock: Callable[[], float] = time.thread_time,
) -> LegalDrafts:
    """The drafts of `guess`, at most `most` with the tokens that are not from it, and no end token.

    The guess ends where it is illegal, or where the grammar forces other tokens. Where it is illegal, the value is
    ended. A forced token is not sampled, so the row before it allows that token only. `words` is the width of a row.
    After `DRAFT_S` of `clock`, the drafts end with the present one: another sequence of the step waits.

    Raises: MatcherFault: the matcher could not be rolled back.
    """
    until = clock() + DRAFT_S

    def has_time() -> bool:
        return clock() < until

    walk = _Walk(matcher, guess, end_tokens, np.zeros((most, words), np.int32), has_time)
    try:
        while len(walk.tokens) < most and has_time() and walk.step():
            pass
    except MatcherFault:
        pass  # the sequence meets and reports the fault itself if it gets there
    guarded(matcher.rollback, len(walk.tokens))
    count = walk.masked
    return LegalDrafts(tuple(walk.tokens[:count]), tuple(walk.origins[:count]), walk.rows)


class Cursor:
    """A matcher that runs ahead of its output, for a source that samples drafts one by one; `close` rolls it back.

    A fault of the matcher ends the drafts, as in `legal_drafts`.
    """

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._taken = 0

    def fill(self, row: MaskRow) -> bool:
        """Overwrite `row` with the legal tokens; False if there is none, or the matcher fails."""
        try:
            guarded(_fill, self._matcher, row, ())
        except MatcherFault:
            return False
        return True

    def advance(self, token: int) -> tuple[int, ...] | None:
        """Accept a token; the tokens forced after it, accepted as well. None if it is illegal, or the matcher fails."""
        try:
            if not guarded(_accepts, self._matcher, token):
                return None
            self._taken += 1
            forced = guarded(self._matcher.forced)
            for each in forced:
                guarded(self._matcher.accept, each)
                self._taken += 1
        except MatcherFault:
            return None
        return tuple(forced)

    def close(self) -> None:
        """Return the matcher to the end of its output.

        Raises:
            MatcherFault: that failed.
        """
        guarded(self._matcher.rollback, self._taken)
        self._taken = 0


class _Walk:
    """A matcher that runs ahead: the `tokens` it has accepted; the first `masked` of them have a mask after them."""

    def __init__(
        self,
        matcher: Matcher,
        guess: Iterable[int],
        end_tokens: frozenset[int],
        rows: MaskRows,
        has_time: Callable[[], bool],
    ) -> None:
        self.tokens: list[int] = []
        self.origins: list[DraftOrigin] = []
        self.masked = 0
        self.rows = rows
        self._matcher = matcher
        self._end_tokens = end_tokens
        self._has_time = has_time
        self._guess = deque(guess)
        self._forced = deque[int]()

    def step(self) -> bool:
        """Accept one more token, and fill the row after it; False if there is none.

        Raises:
            MatcherFault: the matcher failed.
        """
        if self._forced:
            token, origin = self._forced.popleft(), DraftOrigin.FORCED
            if self._guess and self._guess.popleft() != token:
                self._guess.clear()
        elif self._guess:
            token, origin = self._guess.popleft(), DraftOrigin.GUESS
        else:
            return False
        if token in self._end_tokens:
            return False
        if not guarded(_accepts, self._matcher, token):
            self._guess.clear()
            closing = guarded(while_worth, self._matcher.closing_parts(), self._has_time) or ()
            if not closing or closing[0] in self._end_tokens:
                return False
            token, origin = closing[0], DraftOrigin.CLOSING
            guarded(self._matcher.accept, token)
        self.tokens.append(token)
        self.origins.append(origin)
        if not self._forced:
            self._forced.extend(guarded(self._matcher.forced))
        guarded(_fill, self._matcher, self.rows[self.masked], self._forced)
        self.masked += 1
        return True


def _accepts(matcher: Matcher, token: int) -> bool:
    try:
        matcher.accept(token)
    except Violation:
        return False
    return True


def _fill(matcher: Matcher, row: MaskRow, forced: Sequence[int]) -> None:
    if forced:
        allow(row, forced[0])
    else:
        matcher.fill(row)
    if not row.any():
        raise MatcherFault(broken("no token is legal, and the output is not complete"))
