"""Blocks: states of a rule that are entered into the tables of the machine together.

Does: number the states of a block that are new, and make their rows. Does not: choose the states (rules do).
"""

from collections.abc import Callable, Hashable
from typing import Final

import numpy as np

from ..base.array_types import Flags, Ints
from .lazy_tables import (
    ALPHABET,
    DEAD,
    ENDED,
    LEAF,
    NEAR,
    OUTCOME,
    ROW,
    STATE_COLUMNS,
    GrowingTables,
)
from .rule import Block, Rule

_NONE: Final = -1
_BYTES: Final = tuple(bytes([byte]) for byte in range(256))


class BlockWriter:
    """Enters blocks into the tables of one machine, whose numbers and names of states it shares."""

    def __init__(
        self,
        growing: GrowingTables,
        numbers: dict[Hashable, int],
        names: list[tuple[Rule, Hashable] | None],
        outcome_number: Callable[[int], int],
    ) -> None:
        """`numbers`, `names`: of the states of the machine. `outcome_number`: the number of an outcome."""
        self._growing = growing
        self._numbers = numbers
        self._names = names
        self._outcome_number = outcome_number
        # By byte: the partition into that byte, another one that closes, and the rest.
        self._unbranched: dict[int, Ints] = {}

    def add(self, rule: Rule, block: Block) -> None:
        """Enter the states of a block that the machine does not know yet."""
        named = [(rule, key) for key in block.keys]
        known = np.array([self._numbers.get(name, _NONE) for name in named], np.int64)
        fresh = known < 0
        count, base = int(fresh.sum()), self._growing.states.count
        if not count:
            return
        number = np.where(fresh, base + np.cumsum(fresh) - 1, known)
        made = [named[i] for i in np.flatnonzero(fresh).tolist()]
        self._numbers.update(zip(made, range(base, base + count), strict=True))
        self._names += made
        states = np.full((len(named), STATE_COLUMNS), _NONE, np.int32)
        states[:, NEAR] = 0
        self._write_rows(block, number, fresh & block.whole, states)
        self._growing.states.extend(states[fresh])

    def _write_rows(self, block: Block, number: Ints, wanted: Flags, states: Ints) -> None:
        """Write the rows of the `wanted` states, and their places and alphabets into `states`."""
        growing = self._growing
        ends = np.full(len(states), DEAD, np.int32)
        for outcome in np.unique(block.outcome).tolist():
            if outcome >= 0:
                ends[block.outcome == outcome] = ENDED - self._outcome_number(outcome)
        widths = np.diff(block.first)
        single = np.flatnonzero(wanted & (widths == 1))
        arcs = block.first[single]
        cells = np.empty((len(single), 3), np.int32)
        cells[:, 0], cells[:, 1], cells[:, 2] = DEAD, number[block.target[arcs]], ends[single]
        states[single, ROW] = growing.cells.extend(cells.reshape(-1)) + 3 * np.arange(len(single))
        states[single, ALPHABET] = self._alphabets(block.close)[block.taken[arcs]]
        for i in np.flatnonzero(wanted & (widths != 1)).tolist():
            span = slice(block.first[i], block.first[i + 1])
            parts = tuple(_BYTES[byte] for byte in block.taken[span].tolist())
            row = [DEAD, *number[block.target[span]].tolist(), int(ends[i])]
            states[i, ROW] = growing.cells.extend(row)
            states[i, ALPHABET] = growing.partition((*parts, _BYTES[block.close]))
        states[wanted, OUTCOME] = states[wanted, LEAF] = _NONE

    def _alphabets(self, close: int) -> Ints:
        """int32 [256]: by byte, the partition into that byte, `close` and the rest."""
        found = self._unbranched.get(close)
        if found is None:
            parts = [(_BYTES[byte], _BYTES[close]) for byte in range(256)]
            numbers = [
                _NONE if b == close else self._growing.partition(parts[b]) for b in range(256)
            ]
            found = self._unbranched[close] = np.array(numbers, np.int32)
        return found
