"""Masks made once and kept: of leaves across all grammars of a vocabulary, of configurations within one grammar.

Does: pack, keep within bounds, unpack. Does not: walk (`walk`) or decide what is legal (`native`).
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from .automata.minimal import Ints
from .masks import MaskRow
from .walk import Words

_SPARSE_WORDS = 1024  # above so many words that are not zero a row is kept whole


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A mask, whole or as its words that are not zero, and the trie nodes where only a text can decide."""

    at: Ints | None
    words: Words
    asks: Ints

    @classmethod
    def pack(cls, words: Words, asks: Ints) -> "Row":
        """A copy of a mask."""
        at = np.flatnonzero(words)
        if len(at) > _SPARSE_WORDS:
            return cls(None, words.copy(), asks)
        return cls(at.astype(np.int32), words[at], asks)

    def unpack(self, row: MaskRow) -> None:
        """Overwrite `row`, which is at least as long."""
        words = row.view(np.uint32)
        if self.at is None:
            words[: len(self.words)] = self.words
            words[len(self.words) :] = 0
        else:
            words[:] = 0
            words[self.at] = self.words

    @property
    def nbytes(self) -> int:
        """Memory held, with what Python adds."""
        return (
            self.words.nbytes + self.asks.nbytes + (0 if self.at is None else self.at.nbytes) + 400
        )


@dataclass(frozen=True, slots=True, eq=False)
class LeafRow:
    """The tokens that stay inside a leaf, and the exits: rows (node, outcome, whether its byte was read)."""

    words: Words
    exits: Ints

    @property
    def nbytes(self) -> int:
        """Memory held, with what Python adds."""
        return self.words.nbytes + self.exits.nbytes + 400


R = TypeVar("R", Row, LeafRow)


class Kept(Generic[R]):
    """Rows by key; the least recently used go when their memory is over the limit. Safe to share between threads."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.nbytes = 0
        self._rows: OrderedDict[Hashable, R] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> R | None:
        """The row of a key, or None."""
        row = self._rows.get(key)
        if row is not None:
            with self._lock:
                if key in self._rows:
                    self._rows.move_to_end(key)
        return row

    def put(self, key: Hashable, row: R) -> None:
        """Keep a row."""
        with self._lock:
            old = self._rows.pop(key, None)
            self._rows[key] = row
            self.nbytes += row.nbytes - (old.nbytes if old is not None else 0)
            while self.nbytes > self.most_bytes and len(self._rows) > 1:
                _, dropped = self._rows.popitem(last=False)
                self.nbytes -= dropped.nbytes
