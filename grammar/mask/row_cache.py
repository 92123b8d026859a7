"""Caches of mask rows: rows of leaves for all grammars of a vocabulary, rows of configurations for one grammar.

Does: store a mask as its differences from a shared one and unpack it, bound the memory of a cache, sum up the memory of
all grammars. Does not: walk (`trie_walk`) or decide which tokens are legal (`compute_masks`).
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

NO_WORDS: Final[Words] = np.empty(0, np.uint32)
_SPARSE_WORDS = 1024  # a row without a base that has more non-zero words is stored whole
_PYTHON_BYTES = 700  # the Python objects of a row and of its key


@dataclass(slots=True, eq=False)
class LeafRow:
    """The effect of all tokens from one state of a leaf.

    `words` uint32 [words]: the mask of the tokens that stay inside the leaf; None once the row has been dropped.
    `exits` int32 [n, 3]: where the other tokens leave it, as (node of the trie, outcome, whether the node's byte was
    read). `trees` and `roots`: the continuations after the exits, see `continuations.merge`.
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
        """Free the words now, even if the row is still referenced."""
        self.words = None


@dataclass(slots=True, eq=False)
class Row:
    """The mask of a configuration, as differences from the row of a leaf (`base`; None: from zero).

    `words` uint32 [n] replace the words at the places `at` [n] of the mask; with `at` None they are the whole mask.
    `undecided` int32 [n]: the trie nodes where only a comparison of texts decides. `checks`: the nodes where a text was
    assumed to be new. `may_end`: whether the output may end here; None where a comparison of texts decides.
    """

    base: LeafRow | None
    at: Places | None
    words: Words
    undecided: Ints
    may_end: bool | None
    checks: UniquenessChecks | None

    def unpack(self, row: Words) -> bool:
        """Overwrite `row`, which is at least as long as the mask; False if the base has been dropped."""
        shared = NO_WORDS if self.base is None else self.base.words
        if shared is None:
            return False
        self.write(row, shared)
        return True

    def write(self, row: Words, shared: Words) -> None:
        """Overwrite `row`. `shared`: the words of the base, `NO_WORDS` without one.

        Another thread may drop the base at any time, but the words that a caller holds stay.
        """
        whole = self.words if self.base is None else shared
        if self.base is None and self.at is not None:
            row.fill(0)
        elif len(row) == len(whole):
            row[:] = whole
        else:
            row[: len(whole)] = whole
            row[len(whole) :] = 0
        if self.at is not None:
            row[self.at] = self.words

    @property
    def nbytes(self) -> int:
        """Memory held, without the leaf's row."""
        at = 0 if self.at is None else self.at.nbytes
        checks = 0 if self.checks is None else self.checks.nbytes
        return self.words.nbytes + self.undecided.nbytes + at + checks + _PYTHON_BYTES

    def drop(self) -> None:
        """Do nothing: the memory is freed with the last reference."""


def pack(base: LeafRow | None, at: Places, words: Words, whole: int) -> tuple[Places | None, Words]:
    """(at, words) of a row: as given, or all `whole` words of the mask if there is no base and many are not zero."""
    if base is not None or len(at) <= _SPARSE_WORDS:
        return at, words
    full = np.zeros(whole, np.uint32)
    full[at] = words
    return None, full


class Droppable(Protocol):
    """A value that `RowCache` can hold."""

    @property
    def nbytes(self) -> int:
        """Memory held."""
        ...

    def drop(self) -> None:
        """Called when the cache evicts the value."""
        ...


R = TypeVar("R", bound=Droppable)
_DROP_RATE: Final = 4  # bytes of evicted rows that are freed for each byte of a new row


# Without slots: some Python versions refuse weak references to a generic class with slots.
@dataclass(eq=False)
class RowCache(Generic[R]):
    """Rows by key, in two generations; the older is evicted when the younger holds half of `most_bytes`.

    A row of the older generation that is used moves to the younger one. Evicted rows are freed gradually as new rows
    arrive: freeing a hundred thousand at once takes as long as a thousand masks. Thread-safe.
    """

    most_bytes: int
    _young: dict[Hashable, R] = field(default_factory=dict)
    _old: dict[Hashable, R] = field(default_factory=dict)
    _young_bytes: int = 0
    _old_bytes: int = 0
    _evicted: dict[Hashable, R] = field(default_factory=dict)
    _evicted_bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._young_bytes + self._old_bytes + self._evicted_bytes

    def __len__(self) -> int:
        """Number of rows that `get` can return."""
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
        """Store a row under a key, replacing an earlier one."""
        with self._lock:
            if key in self._young:
                self._young_bytes -= self._young.pop(key).nbytes
            if key in self._old:
                self._old_bytes -= self._old.pop(key).nbytes
            self._keep(key, row)

    def _keep(self, key: Hashable, row: R) -> None:
        size = row.nbytes
        if self._young_bytes + size > self.most_bytes // 2:
            self._free(self._evicted_bytes)
            self._evicted, self._evicted_bytes = self._old, self._old_bytes
            self._old, self._old_bytes = self._young, self._young_bytes
            self._young, self._young_bytes = {}, 0
        self._free(_DROP_RATE * size)
        self._young[key] = row
        self._young_bytes += size

    def _free(self, size: int) -> None:
        """Free about `size` bytes of the evicted rows."""
        left = self._evicted_bytes - size
        while self._evicted and self._evicted_bytes > left:
            _, gone = self._evicted.popitem()
            self._evicted_bytes -= max(gone.nbytes, 1)
            gone.drop()
        if not self._evicted:
            self._evicted_bytes = 0


class GrammarRowCaches:
    """One row cache per grammar of a vocabulary; a cache lives as long as its grammar.

    `most_bytes` bounds each cache. The sum is bounded by the cache of grammars (`grammar_cache`), which counts each
    grammar with its rows.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._open: WeakValueDictionary[int, RowCache[Row]] = WeakValueDictionary()
        self._numbers = count()

    def open(self) -> RowCache[Row]:
        """Create the cache of one more grammar."""
        made: RowCache[Row] = RowCache(self._most)
        self._open[next(self._numbers)] = made
        return made

    @property
    def nbytes(self) -> int:
        """Memory of all caches that are still referenced."""
        found = (reference() for reference in self._open.valuerefs())
        return sum(rows.nbytes for rows in found if rows is not None)
