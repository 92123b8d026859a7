"""The block tables of the running sequences, by block group and row, in arrays of fixed size.

Does: append blocks, and forget those behind a window. Does not: assign blocks (`memory.manager` does), or rows
(`slots`).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from intaglio.kernels.contracts import NULL_BLOCK

from ..errors import InternalError
from ..memory.block_groups import BlockGroups

Words = npt.NDArray[np.int32]


class Entries(NamedTuple):
    """Entries of a block table that changed: `blocks`, from index `first` on."""

    group: int
    row: int
    first: int
    blocks: Sequence[int]


class RowTables:
    """`tables` int32 [groups, rows, blocks] and the number of entries in each row."""

    def __init__(self, rows: int, width: int, groups: BlockGroups) -> None:
        self.tables: Final[Words] = np.full((groups.count, rows, width), NULL_BLOCK, dtype=np.int32)
        self.has_windows: Final = any(window is not None for window in groups.windows)
        self._groups = groups
        self._lengths = [[0] * rows for _ in range(groups.count)]
        self._begins = [[0] * rows for _ in range(groups.count)]

    def replace(self, row: int, parts: Sequence[Sequence[int]]) -> list[Entries]:
        """Give a row the tables of a new sequence, one for each group. Raises `InternalError` if they do not fit."""
        if len(parts) != self._groups.count:
            raise InternalError(f"{len(parts)} block tables, not {self._groups.count}")
        self.tables[:, row] = NULL_BLOCK
        for group in range(len(parts)):
            self._lengths[group][row] = self._begins[group][row] = 0
        return self.append(row, parts)

    def append(self, row: int, parts: Sequence[Sequence[int]]) -> list[Entries]:
        """Append to the tables of a row. Raises `InternalError` if they do not fit."""
        changed = []
        for group, blocks in enumerate(parts):
            held = self._lengths[group][row]
            if held + len(blocks) > self.tables.shape[2]:
                raise InternalError(f"{held + len(blocks)} blocks do not fit a block table")
            self.tables[group, row, held : held + len(blocks)] = blocks
            self._lengths[group][row] = held + len(blocks)
            changed.append(Entries(group, row, held, blocks))
        return changed

    def drop(self, row: int, computed: int) -> list[Entries]:
        """Forget the blocks of a row that steps after `computed` tokens do not read."""
        changed = []
        for group in range(self._groups.count):
            begin, first = self._groups.begin(group, computed), self._begins[group][row]
            if begin > first:
                entries = self.tables[group, row, first:begin]
                if entries.any():
                    entries[:] = NULL_BLOCK
                    changed.append(Entries(group, row, first, entries.tolist()))
                self._begins[group][row] = begin
        return changed
