"""Drafts copied from the prompt or the output (prompt lookup): what followed the last tokens earlier.

Does: find the longest suffix of the known tokens that occurs earlier in the sequence.
Does not: know grammars, or judge whether a guess pays.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..sequence import Sequence as EngineSequence
from ..types import Finish
from .match import Tokens, chances_by_level, levels, longest_match
from .source import Guess


@dataclass(slots=True)
class _History:
    """The known tokens of a sequence: the first `length` of `tokens`."""

    tokens: Tokens
    length: int = 0


class DocumentSource:
    """Guesses that the output copies the prompt, or repeats itself."""

    name = "document"
    # The rates of the first 33 documents of an open extraction set with the embedded model, at temperature 0.
    chances = chances_by_level(
        divided=(0.15, 0.25, 0.3, 0.3, 0.5, 0.5, 0.5, 0.5),
        unanimous=(0.45, 0.55, 0.55, 0.6, 0.75, 0.8, 0.8, 0.85),
    )

    def __init__(self) -> None:
        self._histories: dict[int, _History] = {}

    def guess(self, seq: EngineSequence, most: int, /) -> Guess | None:
        """See `DraftSource`. Of several places the first is taken: the document precedes the output."""
        known = self._known(seq.id, seq.tokens)
        places, matched = longest_match(known, known[:-1])
        if not matched:
            return None
        at = int(places[0]) + 1
        unanimous = bool((known[places + 1] == known[at]).all())
        tokens = tuple(known[at : at + most].tolist())
        return Guess(tokens, levels(matched, len(tokens), unanimous=unanimous))

    def verified(self, seq_id: int, drafted: int, accepted: int, /) -> None:
        """See `DraftSource`."""

    def forget(self, seq: EngineSequence, _finish: Finish, /) -> None:
        """See `DraftSource`."""
        self._histories.pop(seq.id, None)

    def _known(self, seq_id: int, tokens: Sequence[int]) -> Tokens:
        """`tokens` as an array, of which only the new ones are copied. Known tokens never change."""
        history, count = self._histories.get(seq_id), len(tokens)
        if history is None:
            history = _History(np.empty(2 * count, np.int32))
            self._histories[seq_id] = history
        if count > history.tokens.size:
            larger = np.empty(2 * count, np.int32)
            larger[: history.length] = history.tokens[: history.length]
            history.tokens = larger
        history.tokens[history.length : count] = tokens[history.length :]
        history.length = count
        return history.tokens[:count]
