"""Masks of columns: which tokens of a vocabulary are legal next.

Does: walk a vocabulary from a column cut at some depth, keep the result for all columns that are equal down to there,
and look up the few tokens that leave the cut. Does not: make columns (`chart`).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..base.addresses import addresses
from ..base.array_types import Ints, Words
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


class Masks:
    """The masks of one chart for one vocabulary. Thread-safe."""

    def __init__(self, index: TokenIndex) -> None:
        self._index = index
        self._cut: BoundedCache[int, _Row] = BoundedCache(_MOST_BYTES // 2)
        self._whole: BoundedCache[int, Words] = BoundedCache(_MOST_BYTES // 2)
        trie = index.trie
        path = np.empty(index.token_texts.longest + 1, np.int32)
        self._row = np.zeros(index.words, np.uint32)
        self._asks = np.empty(len(trie.byte), np.int32)
        self._held = (*trie, parents(trie.depth), path, self._asks, self._row)  # keeps them alive
        self._walked = addresses(*self._held)

    @property
    def nbytes(self) -> int:
        """Memory of the masks kept, and of the arrays of a walk."""
        own = self._asks.nbytes + self._row.nbytes + self._asks.nbytes
        return self._cut.nbytes + self._whole.nbytes + own

    def fill(self, chart: Chart, column: int, row: Words) -> None:
        """Overwrite `row` with the mask of a column.

        Raises:
            TablesFull: see `Chart.run`.
        """
        size = len(self._row)
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
            for token in self._index.vocabulary.end_ids:
                row[token // WORD_BITS] |= np.uint32(1 << token % WORD_BITS)
        if len(cut.asks) > _FEW:
            self._whole.put(column, row[:size].copy(), 4 * size)

    def _cut_row(self, chart: Chart, column: int) -> _Row:
        cut = chart.run(walks.cut, column)
        found = self._cut.get(cut)
        if found is None:
            with chart.lock:
                count = chart.run_locked(walks.fill, self._walked, cut)
                found = _Row(self._row.copy(), self._asks[:count].copy())
            self._cut.put(cut, found, found.words.nbytes + found.asks.nbytes)
        return found

    def _resolve(self, chart: Chart, column: int, cut: _Row, row: Words) -> None:
        with chart.lock:
            self._row[:] = cut.words
            chart.run_locked(walks.resolve, self._walked, column, cut.asks)
            row[: len(self._row)] = self._row


@kernel
def parents(depth: Ints) -> Ints:
    """The parent of each node of a trie in depth-first order."""
    found, path = np.zeros(len(depth), np.int32), np.zeros(len(depth) + 1, np.int32)
    for node in range(1, len(depth)):
        found[node] = path[depth[node] - 1]
        path[depth[node]] = node
    return found
