"""Masks of columns: which tokens of a vocabulary are legal next.

Does: walk a vocabulary from a column cut at some depth, keep the result for all columns that are equal down to there,
and look up the few tokens that leave the cut. Does not: make columns (`chart`).
"""

from dataclasses import dataclass
from threading import Lock
from typing import Final

import numpy as np

from ..base.addresses import addresses
from ..base.array_types import Ints, Words
from ..base.bounded_cache import BoundedCache
from ..contract.bitmask import WORD_BITS
from ..jit.kernel import kernel
from ..mask.compute_masks import TokenIndex
from . import walk_tokens as walks
from .byte_kinds import byte_kinds, contents
from .chart import Chart
from .column_store import DEPTHS

_MOST_BYTES: Final = 32 << 20


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """A mask. `unresolved`: nodes of the trie below which more tokens may be legal."""

    words: Words
    unresolved: Ints


class WalkIndex:
    """The arrays of a vocabulary for walks, shared by all its grammars. `lock`: for the working arrays."""

    def __init__(self, index: TokenIndex) -> None:
        self.index = index
        trie = index.trie
        self.lock = Lock()
        self.row = np.zeros(index.words, np.uint32)
        self.unresolved = np.empty(len(trie.byte), np.int32)
        path = np.empty(index.token_texts.longest + 1, np.int32)
        content = contents(trie.byte, trie.depth, trie.skip, byte_kinds())
        parent = parents(trie.depth)
        self._held = (*trie, parent, path, self.unresolved, content, self.row)  # keeps them alive
        self.walked = addresses(*self._held)


class Masks:
    """The masks of one chart for one vocabulary. Thread-safe."""

    def __init__(self, walk: WalkIndex) -> None:
        self._walk = walk
        self._rows: BoundedCache[int, _Row] = BoundedCache(_MOST_BYTES - _MOST_BYTES // 8)
        # By column, the cut one (or itself) that has the whole mask.
        self._cut: BoundedCache[int, int] = BoundedCache(_MOST_BYTES // 8)

    @property
    def nbytes(self) -> int:
        """Memory of the masks kept."""
        return self._rows.nbytes + self._cut.nbytes

    def fill(self, chart: Chart, column: int, row: Words) -> None:
        """Overwrite `row` with the mask of a column.

        Raises:
            TablesFull: see `Chart.run`.
        """
        size = self._walk.index.words
        row[size:] = 0
        cut = self._cut.get(column)
        found = None if cut is None else self._rows.get(cut)
        row[:size] = (self._make(chart, column) if found is None else found).words
        if chart.may_end(column):
            for token in self._walk.index.vocabulary.end_ids:
                row[token // WORD_BITS] |= np.uint32(1 << token % WORD_BITS)

    def _make(self, chart: Chart, column: int) -> _Row:
        """The whole mask of a column, from that of the column cut where tokens do not look."""
        found = None
        for level in (*range(len(DEPTHS)), -1):
            cut = column if level < 0 else chart.run(walks.cut, column, level)
            found = self._row(chart, cut, found)
            if not len(found.unresolved):
                break
        assert found is not None
        self._cut.put(column, cut, 0)
        return found

    def _row(self, chart: Chart, column: int, above: _Row | None) -> _Row:
        """The mask of a column. `above`: that of the column cut higher up."""
        found = self._rows.get(column)
        if found is not None:
            return found
        with self._walk.lock:
            if above is None:
                count = chart.run(walks.fill, self._walk.walked, column)
            else:
                self._walk.row[:] = above.words
                count = chart.run(walks.resolve, self._walk.walked, column, above.unresolved)
            found = _Row(self._walk.row.copy(), self._walk.unresolved[:count].copy())
        self._rows.put(column, found, found.words.nbytes + found.unresolved.nbytes)
        return found


@kernel
def parents(depth: Ints) -> Ints:
    """The parent of each node of a trie in depth-first order."""
    found, path = np.zeros(len(depth), np.int32), np.zeros(len(depth) + 1, np.int32)
    for node in range(1, len(depth)):
        found[node] = path[depth[node] - 1]
        path[depth[node]] = node
    return found
