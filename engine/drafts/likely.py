"""Drafts where the grammar allows few tokens, such as a comma or a closing brace: the usual choice among them.

Does: count which of a few legal tokens followed, for every set of legal tokens, and guess the most frequent one; the
longest spelling where nothing was counted. Does not: guess where many tokens are legal.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final

import numpy as np
from intaglio.grammar.api import allowed_tokens, empty_rows

from ..sequence import Sequence as EngineSequence
from ..types import Finish
from .source import Guess, Lookahead

FEW: Final = 8  # legal tokens
MOST_SETS: Final = 4096
_MEMORY: Final = 64  # tokens after which a count is halved
_PRIOR: Final = 2

Choices = tuple[int, ...]


class LikelySource:
    """Guesses one token. `ahead` gives the grammar of a sequence by its number; None for unconstrained ones.

    `texts`: the bytes of each token. Level 0 is a guess by the spelling alone; the others are shares, in quarters.
    """

    name = "likely"
    chances = (0.2, 0.2, 0.4, 0.6, 0.9)

    def __init__(
        self,
        ahead: Callable[[int], AbstractContextManager[Lookahead | None]],
        texts: Sequence[bytes | None],
        width: int,
    ) -> None:
        self._ahead = ahead
        self._row = empty_rows(1, width)[0]
        self._width = width
        self._texts = texts
        self._counts: OrderedDict[Choices, Counter[int]] = OrderedDict()
        self._open: dict[int, tuple[int, Choices]] = {}  # by sequence: a position, and its choices

    def guess(self, seq: EngineSequence, _most: int, /) -> Guess | None:
        """See `DraftSource`."""
        self._settle(seq)
        choices = self._choices(seq.id)
        if not choices:
            return None
        self._open[seq.id] = len(seq.tokens), choices
        counts = self._counts.get(choices)
        if not counts:
            return Guess((max(choices, key=self._length),), (0,))
        token, count = counts.most_common(1)[0]
        return Guess((token,), (1 + min(3, 4 * count // (counts.total() + _PRIOR)),))

    def verified(self, seq_id: int, drafted: int, accepted: int, /) -> None:
        """See `DraftSource`."""

    def forget(self, seq: EngineSequence, _finish: Finish, /) -> None:
        """See `DraftSource`."""
        self._settle(seq)

    def _settle(self, seq: EngineSequence) -> None:
        """Count the token that followed where `seq` was guessed last, if it is known."""
        position, choices = self._open.pop(seq.id, (0, ()))
        if not choices or position >= len(seq.tokens):
            return
        counts = self._counts.setdefault(choices, Counter())
        self._counts.move_to_end(choices)
        counts[seq.tokens[position]] += 1
        if counts.total() > _MEMORY:
            for token in counts:
                counts[token] //= 2
        if len(self._counts) > MOST_SETS:
            self._counts.popitem(last=False)

    def _choices(self, seq_id: int) -> Choices:
        """The legal next tokens of a sequence, end tokens included, where they are few; none where they are many."""
        with self._ahead(seq_id) as cursor:
            if cursor is None or not cursor.fill(self._row):
                return ()
        words = np.flatnonzero(self._row)
        if words.size > FEW or np.bitwise_count(self._row[words].view(np.uint32)).sum() > FEW:
            return ()
        return tuple(allowed_tokens(self._row, self._width).tolist())

    def _length(self, token: int) -> int:
        text = self._texts[token] if token < len(self._texts) else None
        return len(text or b"")
