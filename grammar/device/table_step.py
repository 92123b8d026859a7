"""The compiled step of device tables: read one byte, decide whether the output may end.

Does: the same as `DeviceTables.follow` and `can_end`, which are Python; the given stack stays unchanged. Does not:
handle tokens (`batch_step`).
"""

from typing import Final, NamedTuple

import numpy as np

from ..base.array_types import Ints
from ..jit.kernel import kernel
from .device_tables import CALLS, END_COLUMN, ENDS, STAY_COLUMN

FIRST_COLUMN: Final = STAY_COLUMN + 1  # the first column of bytes
MOST_CALLS: Final = 64  # nested rules that one byte may open
_MOST_MOVES: Final = 4096  # for one byte

# Values from arrays are cast to int64, since numba needs one type for each variable.
Whole = int | np.int64


class Codes(NamedTuple):
    """`cells`, `sites` and `returns` of `DeviceTables`."""

    cells: Ints
    sites: Ints
    returns: Ints


class TableStep(NamedTuple):
    """The result of one byte: the state (-1: illegal), the frames of the stack that stay, and the frames above them.

    `outcome`: the outcome of the outermost rule if it has ended, with this byte or before it; else -1.
    """

    state: Whole
    kept: Whole
    more: Whole
    outcome: Whole


@kernel
def end_rule(codes: Codes, stack: Ints, at: TableStep, calls: Ints, outcome: Whole) -> TableStep:
    """End the innermost rule with an outcome. The new frames of the step are `calls[:more]`."""
    _, kept, more, _ = at
    while True:
        if more > 0:
            more -= 1
            back = np.int64(calls[more])
        elif kept > 0:
            kept -= 1
            back = np.int64(stack[kept])
        else:
            return TableStep(len(codes.cells), 0, 0, outcome)
        found = np.int64(codes.returns[back + outcome])
        if found >= 0:
            return TableStep(found - 1, kept, more, -1)
        outcome = (-1 - found) >> 2


@kernel
def step(
    codes: Codes, stack: Ints, depth: Whole, state: Whole, column: Whole, calls: Ints
) -> TableStep:
    """Read a byte of `column` in a state with `stack[:depth]`; new frames are written to `calls`."""
    at = TableStep(np.int64(state), np.int64(depth), 0, -1)
    for _ in range(_MOST_MOVES):
        found = np.int64(codes.cells[at.state, column])
        if found >= 0:
            return TableStep(found - 1, at.kept, at.more, -1)
        kind, value = (-1 - found) & 3, (-1 - found) >> 2
        if kind == CALLS:
            if at.more == len(calls):
                break
            calls[at.more] = codes.sites[value, 1]
            at = TableStep(np.int64(codes.sites[value, 0]) - 1, at.kept, at.more + 1, -1)
        else:
            at = end_rule(codes, stack, at, calls, value)
            if kind == ENDS or at.state < 0:
                return at
            if at.state == len(codes.cells):
                return TableStep(-1, 0, 0, at.outcome)
    return TableStep(-1, 0, 0, -1)


@kernel
def can_end(codes: Codes, stack: Ints, depth: Whole, state: Whole) -> bool:
    """Whether the output may end in a state with `stack[:depth]`."""
    at = TableStep(np.int64(state), np.int64(depth), 0, -1)
    while 0 <= at.state < len(codes.cells):
        end = np.int64(codes.cells[at.state, END_COLUMN])
        if end == 0:
            return False
        at = end_rule(codes, stack, at, stack[:0], (-1 - end) >> 2)
    return bool(at.state >= 0)
