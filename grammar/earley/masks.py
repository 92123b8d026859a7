"""Masks of columns: which tokens of a vocabulary are legal next.

Does: walk a vocabulary from a column cut at some depth, keep the result for all columns that are equal down to there,
and look up the few tokens that leave the cut. Does not: make columns (`chart`).
"""

from dataclasses import dataclass
from threading import Lock
from typing import Final

import numpy as np

from ..base.addresses import addresses
from ..base.array_types import Bytes, Ints, Longs, Words
from ..base.bounded_cache import BoundedCache
from ..contract.bitmask import WORD_BITS
from ..jit.kernel import kernel
from ..mask.compute_masks import TokenIndex
from . import walk_tokens as walks
from .chart import Chart

_MOST_BYTES: Final = 32 << 20
_FEW: Final = 8  # asks that are looked up each time


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """A mask. `asks`: nodes of the trie below which more tokens may be legal."""

    words: Words
    asks: Ints


class WalkIndex:
    """The arrays of a vocabulary for walks, shared by all its grammars. `lock`: for the working arrays."""

    def __init__(self, index: TokenIndex) -> None:
        self.index = index
        trie, kinds = index.trie, _kinds()
        self.lock = Lock()
        self.row = np.zeros(index.words, np.uint32)
        self.asks = np.empty(len(trie.byte), np.int32)
        path = np.empty(index.token_texts.longest + 1, np.int32)
        content = contents(trie.byte, trie.skip, kinds)
        parent = parents(trie.depth)
        self._held = (*trie, parent, path, self.asks, content, kinds, self.row)  # keeps them alive
        self.walked = addresses(*self._held)


class Masks:
    """The masks of one chart for one vocabulary. Thread-safe."""

    def __init__(self, walk: WalkIndex) -> None:
        self._walk = walk
        self._cut: BoundedCache[int, _Row] = BoundedCache(_MOST_BYTES // 2)
        self._whole: BoundedCache[int, Words] = BoundedCache(_MOST_BYTES // 2)

    @property
    def nbytes(self) -> int:
        """Memory of the masks kept."""
        return self._cut.nbytes + self._whole.nbytes

    def fill(self, chart: Chart, column: int, row: Words) -> None:
        """Overwrite `row` with the mask of a column.

        Raises:
            TablesFull: see `Chart.run`.
        """
        size = self._walk.index.words
        row[size:] = 0
        whole = self._whole.get(column)
        if whole is not None:
            row[:size] = whole
            return
        cut = self._cut_row(chart, column)
        row[:size] = cut.words
        if len(cut.asks):
            self._resolve(chart, column, cut, row)
        if chart.may_end(column):
            for token in self._walk.index.vocabulary.end_ids:
                row[token // WORD_BITS] |= np.uint32(1 << token % WORD_BITS)
        if len(cut.asks) > _FEW:
            self._whole.put(column, row[:size].copy(), 4 * size)

    def _cut_row(self, chart: Chart, column: int) -> _Row:
        cut = chart.run(walks.cut, column)
        found = self._cut.get(cut)
        if found is None:
            with self._walk.lock:
                count = chart.run(walks.fill, self._walk.walked, cut)
                found = _Row(self._walk.row.copy(), self._walk.asks[:count].copy())
            self._cut.put(cut, found, found.words.nbytes + found.asks.nbytes)
        return found

    def _resolve(self, chart: Chart, column: int, cut: _Row, row: Words) -> None:
        with self._walk.lock:
            self._walk.row[:] = cut.words
            chart.run(walks.resolve, self._walk.walked, column, cut.asks)
            row[: len(cut.words)] = self._walk.row


def _kinds() -> Ints:
    """The kind of each byte: letters, digits, and other bytes that texts have in common, by themselves."""
    found, own = np.zeros(256, np.int32), 6
    for byte in range(256):
        if byte >= 0x80:
            found[byte] = 1 if byte < 0xC0 else 2
        elif chr(byte).isalpha():
            found[byte] = 3 + chr(byte).isupper()
        elif chr(byte).isdigit():
            found[byte] = 5
        elif byte > 0x1F or byte in b"\t\n\r":
            found[byte] = own
            own += 1
    return found


@kernel
def parents(depth: Ints) -> Ints:
    """The parent of each node of a trie in depth-first order."""
    found, path = np.zeros(len(depth), np.int32), np.zeros(len(depth) + 1, np.int32)
    for node in range(1, len(depth)):
        found[node] = path[depth[node] - 1]
        path[depth[node]] = node
    return found


@kernel
def contents(byte: Bytes, skip: Ints, kind_of: Ints) -> Longs:
    """int64 [nodes]: the kinds of the bytes below each node, as bits."""
    found = np.zeros(len(byte), np.int64)
    for node in range(len(byte) - 1, -1, -1):
        child = node + 1
        while child < skip[node]:
            found[node] |= found[child] | (np.int64(1) << kind_of[byte[child]])
            child = skip[child]
    return found
