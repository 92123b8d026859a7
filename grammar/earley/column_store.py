"""The sets of items that outputs have reached, in arrays that grow.

Does: own the arrays and their growth up to a bound. Does not: make sets (`close_items`).

A *column* is a set of items after some prefix of an output. An item is one number with the fields

    kind (1 bit)     0: reads a leaf; 1: waits for the end of a rule
    what (20 bits)   the state in the leaf, or the awaited rule
    next (20 bits)   the state of the calling body after that
    origin (21 bits) 1 + the column where the calling body began; 0: this very column

Origins are columns again, never positions of an output. So two prefixes with the same future have the same column,
which is stored once, with its moves.
"""

from typing import Final, NamedTuple

import numpy as np

from ..base.addresses import addresses, line, longs
from ..base.array_types import Ints, Longs
from ..contract.errors import TablesFull
from ..jit.kernel import kernel
from .rule_arrays import COUNT, RuleArrays

DEPTH: Final = 4
"""Depth down to which masks look into origins; see `close_items.cut_at`."""
OPEN: Final = 0  # the column that stands for every origin below that depth
MOST_ITEMS: Final = 1 << 12
"""Items of one column; a text that needs more has too many readings and is refused."""
MOST_CALLERS: Final = 1 << 13
"""Callers that one byte may visit; ambiguous texts need a number that grows with the square of their length."""
MOST_COLUMNS: Final = 1 << 20
DEAD: Final = -1
NO_ROOM: Final = -2
UNKNOWN: Final = -3
DONE: Final = 1  # flag: the output may end here
CUT: Final = 2  # flag: a rule has ended, and its caller is cut off
# Fields of `note`.
COLUMNS: Final = 0
ITEMS: Final = 1
GENERATION: Final = 2
FULL: Final = 3  # columns that were refused because they had too many items
ASKED: Final = 4
VISITED: Final = 5  # callers visited by the present byte
_NOTES: Final = 8


class Columns(NamedTuple):
    """All columns. Items of column c: `items[first[c] : first[c + 1]]`, ascending; from `waiting[c]` on they wait."""

    items: Longs
    cost: Ints  # [items], fewest bytes from the end of what the item reads or awaits to the end of the output
    best: Ints  # [items], the least `cost` of all items that await this rule; only at the first of them
    first: Ints  # [columns + 1]
    waiting: Ints  # [columns]
    flags: Ints  # [columns]
    moves: Ints  # [columns x classes], the next column, `DEAD` or `UNKNOWN`
    cuts: Ints  # [columns x DEPTH], the column cut at depth 1, 2 ..., or `UNKNOWN`
    loops: Longs  # [columns], the kinds of bytes after which the column is the same, or `UNKNOWN`
    hashed: Ints  # [power of two], columns by the hash of their items, -1 where free
    work: Longs  # body states with origins, to be looked at
    stamps: Longs  # [power of two], what has been in `work`
    stamped: Ints  # [power of two], the generation of each stamp
    made: Longs  # the items of a new column
    note: Longs


@kernel
def columns_at(held: Longs) -> Columns:
    """The arrays after those of the rules, among the arrays at the addresses `held`."""
    i = COUNT
    return Columns(
        longs(held, i), line(held, i + 1), line(held, i + 2), line(held, i + 3), line(held, i + 4),
        line(held, i + 5), line(held, i + 6), line(held, i + 7), longs(held, i + 8), line(held, i + 9),
        longs(held, i + 10), longs(held, i + 11), line(held, i + 12), longs(held, i + 13), longs(held, i + 14),
    )  # fmt: skip


class ColumnStore:
    """Owner of the columns of one grammar. `held`: the addresses of the rules and columns, for compiled code."""

    def __init__(self, rules: RuleArrays, most_bytes: int) -> None:
        self._rules = rules
        self._most_bytes = most_bytes
        self._width = len(rules.only)
        columns, items, note = 64, 1024, np.zeros(_NOTES, np.int64)
        note[COLUMNS] = 1
        self.columns = Columns(
            np.empty(items, np.int64),
            np.empty(items, np.int32),
            np.empty(items, np.int32),
            np.zeros(columns + 1, np.int32),
            np.zeros(columns, np.int32),
            np.full(columns, CUT, np.int32),
            np.full(columns * self._width, UNKNOWN, np.int32),
            np.full(columns * DEPTH, UNKNOWN, np.int32),
            np.full(columns, UNKNOWN, np.int64),
            np.full(2 * columns, -1, np.int32),
            np.empty(MOST_ITEMS, np.int64),
            np.empty(4 * MOST_ITEMS, np.int64),
            np.zeros(4 * MOST_ITEMS, np.int32),
            np.empty(2 * MOST_ITEMS, np.int64),
            note,
        )
        self.held = addresses(*rules, *self.columns)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in (*self._rules, *self.columns))

    def grow(self) -> None:
        """Make room for more columns or items.

        Raises:
            TablesFull: the bound is reached.
        """
        if self.nbytes > self._most_bytes or self.columns.note[COLUMNS] * 2 > MOST_COLUMNS:
            raise TablesFull("the sets of items of this grammar have reached the limit of memory")
        had, count, hashed = self.columns, int(self.columns.note[COLUMNS]), None
        if len(had.items) - had.note[ITEMS] < 2 * MOST_ITEMS:
            room = 2 * len(had.items) + 2 * MOST_ITEMS
            had = had._replace(
                items=_longer_longs(had.items, room),
                cost=_longer(had.cost, room),
                best=_longer(had.best, room),
            )
        if count + 1 >= len(had.flags):
            size = 2 * len(had.flags)
            hashed = np.full(2 * size, -1, np.int32)
            had = had._replace(
                first=_longer(had.first, size + 1),
                waiting=_longer(had.waiting, size),
                flags=_longer(had.flags, size),
                moves=_longer(had.moves, size * self._width, UNKNOWN),
                cuts=_longer(had.cuts, size * DEPTH, UNKNOWN),
                loops=_longer_longs(had.loops, size, UNKNOWN),
                hashed=hashed,
            )
        self.columns = had
        self.held = addresses(*self._rules, *had)
        if hashed is not None:
            hash_again(self.held)


def _longer(array: Ints, size: int, fill: int = 0) -> Ints:
    new = np.full(size, fill, np.int32)
    new[: len(array)] = array
    return new


def _longer_longs(array: Longs, size: int, fill: int = 0) -> Longs:
    new = np.full(size, fill, np.int64)
    new[: len(array)] = array
    return new


@kernel
def digest(items: Longs, flags: int | np.int64) -> int:
    """A hash of a column."""
    found = np.uint64(flags + 1)
    for i in range(len(items)):
        found = (found ^ np.uint64(items[i])) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return int(found & np.uint64(0x7FFFFFFF))


@kernel
def hash_again(held: Longs) -> None:
    """Enter all columns into an empty `hashed`."""
    columns = columns_at(held)
    for c in range(1, columns.note[COLUMNS]):
        items = columns.items[columns.first[c] : columns.first[c + 1]]
        at = digest(items, columns.flags[c]) & (len(columns.hashed) - 1)
        while columns.hashed[at] >= 0:
            at = (at + 1) & (len(columns.hashed) - 1)
        columns.hashed[at] = c
