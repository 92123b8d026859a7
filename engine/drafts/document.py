"""Drafts copied from the document: the continuation of the longest suffix of a sequence that occurs in it before.

Does: find the longest suffix of the known tokens that occurs earlier in the prompt or in the output (prompt lookup).
Does not: know grammars, or judge whether a guess pays.

The earlier places are found by comparing arrays, one comparison for each token of the suffix. Each leaves fewer places
to compare, so the cost is that of the first: some microseconds for 2,000 tokens. Nothing has to be built for a prompt.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .source import Guess

MOST_MATCHED = 16
"""The longest suffix that is searched, in tokens; longer ones predict no better."""


@dataclass(slots=True)
class _History:
    """The known tokens of a sequence: the first `length` of `tokens`."""

    tokens: npt.NDArray[np.int32]
    length: int = 0


class DocumentSource:
    """Guesses that the output copies the prompt, or repeats itself."""

    name = "document"

    def __init__(self) -> None:
        self._histories: dict[int, _History] = {}

    def guess(self, seq_id: int, tokens: Sequence[int], most: int) -> Guess | None:
        """See `DraftSource`. Of several places the first is taken: the document precedes the output."""
        known = self._known(seq_id, tokens)
        places, matched = _longest_match(known)
        if not matched:
            return None
        at = int(places[0]) + 1
        unanimous = bool((known[places + 1] == known[at]).all())
        return Guess(tuple(known[at : at + most].tolist()), matched, unanimous)

    def forget(self, seq_id: int) -> None:
        """See `DraftSource`."""
        self._histories.pop(seq_id, None)

    def _known(self, seq_id: int, tokens: Sequence[int]) -> npt.NDArray[np.int32]:
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


def _longest_match(known: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.intp], int]:
    """The places, ascending, where the longest suffix of `known` ends before its end, and its length in tokens."""
    places = np.flatnonzero(known[:-1] == known[-1])
    matched = int(places.size > 0)
    while 0 < matched < MOST_MATCHED and matched < known.size:
        longer = places[places >= matched]
        longer = longer[known[longer - matched] == known[known.size - 1 - matched]]
        if not longer.size:
            break
        places, matched = longer, matched + 1
    return places, matched
