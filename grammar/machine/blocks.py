"""Blocks: states of a rule that are entered into the tables of the machine together.

Does: number the states of a block that are new, and make their rows. Does not: choose the states (rules do).
"""

from collections.abc import Callable, Hashable
from typing import Final

import numpy as np

from ..base.array_types import Flags, Ints, Longs
from .lazy_tables import (
    ALPHABET,
    DEAD,
    ENDED,
    NEAR,
    ROW,
    STATE_COLUMNS,
    GrowingTables,
)
from .rule import Block, Rule

_NONE: Final = -1
_BYTES: Final = tuple(bytes([byte]) for byte in range(256))


def enter(
    growing: GrowingTables,
    numbers: dict[Hashable, int],
    names: list[tuple[Rule, Hashable] | None],
    outcome_number: Callable[[int], int],
    rule: Rule,
    block: Block,
) -> None:
    """Enter the states of a block that the machine does not know yet.

    `growing`, `numbers`, `names`: the tables of the machine, and the numbers and names of its states, which are
    extended. `outcome_number`: the number of an outcome.
    """
    named = [(rule, key) for key in block.keys]
    known = np.array([numbers.get(name, _NONE) for name in named], np.int64)
    fresh = known < 0
    count, base = int(fresh.sum()), growing.states.count
    if not count:
        return
    ends = np.full(len(named), DEAD, np.int32)
    for outcome in np.unique(block.outcome).tolist():
        if outcome >= 0:
            ends[block.outcome == outcome] = ENDED - outcome_number(outcome)
    number = np.where(fresh, base + np.cumsum(fresh) - 1, known)
    made = [named[i] for i in np.flatnonzero(fresh).tolist()]
    numbers.update(zip(made, range(base, base + count), strict=True))
    names += made
    growing.states.extend(_rows(growing, block, number, ends, fresh & block.whole)[fresh])


def _rows(growing: GrowingTables, block: Block, number: Longs, ends: Ints, chosen: Flags) -> Ints:
    """The entries of all states; rows are made for the `chosen` ones.

    `number`: of each state. `ends`: the move of each on the byte that closes.
    """
    states = np.full((len(number), STATE_COLUMNS), _NONE, np.int32)
    states[:, NEAR] = 0
    widths = np.diff(block.first)
    single = np.flatnonzero(chosen & (widths == 1))
    arcs = block.first[single]
    cells = np.empty((len(single), 3), np.int32)
    cells[:, 0], cells[:, 1], cells[:, 2] = DEAD, number[block.target[arcs]], ends[single]
    states[single, ROW] = growing.cells.extend(cells.reshape(-1)) + 3 * np.arange(len(single))
    close, alphabets = _BYTES[block.close], np.full(len(_BYTES), _NONE, np.int32)
    for byte in set(block.taken[arcs].tolist()):
        alphabets[byte] = growing.partition((_BYTES[byte], close))
    states[single, ALPHABET] = alphabets[block.taken[arcs]]
    for i in np.flatnonzero(chosen & (widths != 1)).tolist():
        span = slice(block.first[i], block.first[i + 1])
        parts = tuple(_BYTES[byte] for byte in block.taken[span].tolist())
        row = [DEAD, *number[block.target[span]].tolist(), int(ends[i])]
        states[i, ROW] = growing.cells.extend(row)
        states[i, ALPHABET] = growing.partition((*parts, close))
    return states
