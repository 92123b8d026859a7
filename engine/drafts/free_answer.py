"""Drafts taken from the draft of a request: a likely answer, such as the one that the model gave without a constraint.

Does: follow the output through that draft, pass over what the grammar does not allow at the present place, and find the
place again where the output has left the draft. Does not: write drafts, or judge whether a guess pays.

The grammar decides only where the guess begins. `grammars.draft_walk` follows it from there and cuts it where it
becomes illegal, so that it is walked once.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

import numpy as np
from intaglio.grammar.api import empty_rows, is_allowed

from ..sequence import Sequence as EngineSequence
from ..types import Finish
from .match import LONGEST, MOST_MATCHED, Tokens, longest_match
from .source import Guess, Lookahead

MOST_SKIPPED: Final = 32
"""Tokens of a draft that are passed over in one step because the grammar does not allow them."""


@dataclass(slots=True)
class _Place:
    """The place of an output in its draft: the next token is likely `draft[at]`. `known`: the known tokens until there.

    `followed` counts the last tokens of the output that equal those of the draft before `at`.
    """

    draft: Tokens
    known: int
    at: int = 0
    followed: int = 0


class FreeAnswerSource:
    """Guesses that an output follows the draft of its request.

    `ahead` gives the grammar of a sequence by its number; None for unconstrained ones. `width` is that of a mask.
    The level of a guess is the number of tokens by which the output has followed the draft before it.
    """

    name = "free"
    chances = (0.5, 0.6, 0.7, 0.8, 0.85, 0.85, 0.9, 0.9, 0.9)

    def __init__(
        self,
        ahead: Callable[[int], AbstractContextManager[Lookahead | None]],
        width: int,
    ) -> None:
        self._ahead = ahead
        self._row = empty_rows(1, width)[0]
        self._places: dict[int, _Place] = {}

    def guess(self, seq: EngineSequence, most: int, /) -> Guess | None:
        """See `DraftSource`."""
        if not seq.request.draft:
            return None
        place = self._followed(seq)
        begin = self._legal_from(seq.id, place)
        if begin is None:
            return None
        tokens = tuple(place.draft[begin : begin + most].tolist())
        start = place.followed if begin == place.at else 0
        return Guess(tokens, tuple(min(start + at, LONGEST) for at in range(len(tokens))))

    def verified(self, seq_id: int, drafted: int, accepted: int, /) -> None:
        """See `DraftSource`."""

    def forget(self, seq: EngineSequence, _finish: Finish, /) -> None:
        """See `DraftSource`."""
        self._places.pop(seq.id, None)

    def _followed(self, seq: EngineSequence) -> _Place:
        """The place of a sequence, brought to its last known token."""
        place = self._places.get(seq.id)
        if place is None:
            draft = np.array(seq.request.draft, np.int32)
            place = self._places[seq.id] = _Place(draft, len(seq.request.prompt))
        for position in range(place.known, seq.known):
            if place.at < place.draft.size and place.draft[place.at] == seq.tokens[position]:
                place.at, place.followed = place.at + 1, place.followed + 1
            else:
                self._find_again(place, seq.tokens[len(seq.request.prompt) : position + 1])
        place.known = seq.known
        return place

    def _find_again(self, place: _Place, output: Sequence[int]) -> None:
        """Move to the place after the longest suffix of `output` in the draft, the first one from the present place on.

        Where no token of the suffix occurs, the place stays: the output has something else there.
        """
        suffix = np.array(output[-MOST_MATCHED:], np.int32)
        places, place.followed = longest_match(suffix, place.draft)
        if places.size:
            later = places[places >= place.at]
            place.at = int((later if later.size else places)[0]) + 1

    def _legal_from(self, seq_id: int, place: _Place) -> int | None:
        """The first place with a legal token, from the present one on and up to `MOST_SKIPPED` away; None for none."""
        if place.at >= place.draft.size:
            return None
        with self._ahead(seq_id) as cursor:
            if cursor is None:
                return place.at
            if not cursor.fill(self._row):
                return None
        near = place.draft[place.at : place.at + MOST_SKIPPED]
        legal = (
            at for at, token in enumerate(near.tolist(), place.at) if is_allowed(self._row, token)
        )
        return next(legal, None)
