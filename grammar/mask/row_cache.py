"""Masks made once and kept: of leaves across all grammars of a vocabulary, of configurations within one grammar.

Does: hold a mask as few words beside one that many share, keep within bounds, unpack; say what all grammars hold. Does
not: walk (`trie_walk`) or decide what is legal (`native`).
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Final, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from ..base.array_types import Ints, Places, Words
from .trie import Trie
from .uniqueness import UniquenessChecks

_SPARSE_WORDS = 1024  # above so many words of its own a row is kept whole
_PYTHON_BYTES = 700  # what the objects of a row and of its key add


@dataclass(slots=True, eq=False)
class LeafRow:
    """What tokens do from one state of a leaf.

    `words` uint32 [words]: those that stay inside; None once the row has been dropped. `exits` int32 [n, 3]: where the
    others leave it, as (node of the trie, outcome, whether the node's byte was read). `trees` and `roots`: what follows
    the exits, see `forest.merge`.
    """

    words: Words | None
    exits: Ints
    trees: Trie
    roots: Ints

    @property
    def nbytes(self) -> int:
        """Memory held."""
        held = self.exits.nbytes + self.roots.nbytes + sum(array.nbytes for array in self.trees)
        return held + (0 if self.words is None else self.words.nbytes) + _PYTHON_BYTES

    def drop(self) -> None:
        """Let the memory go, whoever still refers to this row."""
        self.words = None


@dataclass(slots=True, eq=False)
class Row:
    """A mask: the words of a leaf's row (`base`; None: all zero) but for some.

    `words` uint32 [n] stand at the places `at` [n] of the mask; `at` None: they are the whole mask. `asks` int32 [n]:
    the trie nodes where only a text can decide; `doubts`: those where one was taken to be new. `may_end`: whether the
    output may end here; None where texts decide.
    """

    base: LeafRow | None
    at: Places | None
    words: Words
    asks: Ints
    may_end: bool | None
    doubts: UniquenessChecks | None

    def unpack(self, row: Words) -> bool:
        """Overwrite `row`, which is at least as long; False if this row cannot be used any more."""
        whole = self.words if self.base is None else self.base.words
        if whole is None:
            return False
        if self.base is None and self.at is not None:
            row.fill(0)
        elif len(row) == len(whole):
            row[:] = whole
        else:
            row[: len(whole)] = whole
            row[len(whole) :] = 0
        if self.at is not None:
            row[self.at] = self.words
        return True

    @property
    def nbytes(self) -> int:
        """Memory held, without that of the leaf's row."""
        at = 0 if self.at is None else self.at.nbytes
        doubts = 0 if self.doubts is None else self.doubts.nbytes
        return self.words.nbytes + self.asks.nbytes + at + doubts + _PYTHON_BYTES

    def drop(self) -> None:
        """Nothing to let go that others hold."""


def pack(base: LeafRow | None, at: Places, words: Words, whole: int) -> tuple[Places | None, Words]:
    """(at, words) of a row: as given, or of all `whole` words where they are many and stand alone."""
    if base is not None or len(at) <= _SPARSE_WORDS:
        return at, words
    full = np.zeros(whole, np.uint32)
    full[at] = words
    return None, full


class Sized(Protocol):
    """What can be kept."""

    @property
    def nbytes(self) -> int: ...

    def drop(self) -> None: ...


R = TypeVar("R", bound=Sized)
_FASTER: Final = 4  # bytes of rows given up that go for each byte of a new one


@dataclass(
    eq=False
)  # without slots: some Pythons give a generic class with slots no weak references
class RowCache(Generic[R]):
    """Rows by key, in two generations: the older is given up when the younger holds half of `most_bytes`.

    What is used meanwhile becomes young again. What is given up goes bit by bit as new rows come: to let a hundred
    thousand go at once takes as long as a thousand masks. Safe to share between threads.
    """

    most_bytes: int
    _young: dict[Hashable, R] = field(default_factory=dict)
    _old: dict[Hashable, R] = field(default_factory=dict)
    _young_bytes: int = 0
    _old_bytes: int = 0
    _leaving: dict[Hashable, R] = field(default_factory=dict)
    _leaving_bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._young_bytes + self._old_bytes + self._leaving_bytes

    def __len__(self) -> int:
        """How many can be had."""
        return len(self._young) + len(self._old)

    def get(self, key: Hashable) -> R | None:
        """The row of a key, or None."""
        row = self._young.get(key)
        if row is None and key in self._old:
            with self._lock:
                row = self._old.pop(key, None)
                if row is not None:
                    self._old_bytes -= row.nbytes
                    self._keep(key, row)
        return row

    def put(self, key: Hashable, row: R) -> None:
        """Keep a row, in place of what was kept under this key."""
        with self._lock:
            if key in self._young:
                self._young_bytes -= self._young.pop(key).nbytes
            if key in self._old:
                self._old_bytes -= self._old.pop(key).nbytes
            self._keep(key, row)

    def _keep(self, key: Hashable, row: R) -> None:
        size = row.nbytes
        if self._young_bytes + size > self.most_bytes // 2:
            self._let_go(self._leaving_bytes)
            self._leaving, self._leaving_bytes = self._old, self._old_bytes
            self._old, self._old_bytes = self._young, self._young_bytes
            self._young, self._young_bytes = {}, 0
        self._let_go(_FASTER * size)
        self._young[key] = row
        self._young_bytes += size

    def _let_go(self, size: int) -> None:
        """Of what is given up, let so many bytes go."""
        left = self._leaving_bytes - size
        while self._leaving and self._leaving_bytes > left:
            _, gone = self._leaving.popitem()
            self._leaving_bytes -= max(gone.nbytes, 1)
            gone.drop()
        if not self._leaving:
            self._leaving_bytes = 0


class Shelves:
    """The rows of all grammars of a vocabulary: a cache for each grammar, that goes with it.

    `most_bytes` bounds each of them. All together are bounded by whoever keeps the grammars (`cache`).
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._open: WeakValueDictionary[int, RowCache[Row]] = WeakValueDictionary()
        self._numbers = count()

    def open(self) -> RowCache[Row]:
        """A cache for one more grammar."""
        made: RowCache[Row] = RowCache(self._most)
        self._open[next(self._numbers)] = made
        return made

    @property
    def nbytes(self) -> int:
        """Memory held by all that are still referred to."""
        found = (reference() for reference in self._open.valuerefs())
        return sum(rows.nbytes for rows in found if rows is not None)
