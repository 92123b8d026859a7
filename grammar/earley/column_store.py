"""The sets of items that outputs have reached, in arrays that grow.

Does: own the arrays and their growth up to a bound. Does not: make sets (`close_items`) or frames (`stack_frames`).

A *column* is a set of items after some prefix of an output. An item is one number with the fields

    leaf (20 bits)   the state in the leaf that is being read
    next (20 bits)   the state of the calling body after that
    frame (22 bits)  where the outer rules go on once the rule of that body has ended

A *frame* is a set of calls: each a state of a calling body, and the frame of that body's rule. Columns and frames say
what may follow, never where something began. So two prefixes with the same future have the same column, which is
stored once, with its moves; and rules that begin anywhere have the same frame if the same may follow them.
"""

from typing import Final, NamedTuple

import numpy as np

from ..base.addresses import addresses, line, longs
from ..base.array_types import Ints, Longs
from ..contract.errors import TablesFull
from ..jit.kernel import kernel
from .rule_arrays import COUNT, RuleArrays

DEPTHS: Final = (4, 12)
"""Numbers of frames down to which masks look, one after the other where the first do not suffice."""
DEEPEST: Final = DEPTHS[-1]
OUTPUT: Final = 0  # the frame of the start rule: nothing follows it
OPEN: Final = 1  # the frame that stands for every frame below some depth
MOST_ITEMS: Final = 1 << 12
"""Items of one column; a text that needs more has too many readings and is refused."""
MOST_CALLERS: Final = 1 << 13
"""Callers that one byte may visit; ambiguous texts need a number that grows with the square of their length."""
MOST_COLUMNS: Final = 1 << 20
MOST_FRAMES: Final = (1 << 22) - (
    1 << 16
)  # fits the field of an item; see `stack_frames` for the rest of it
SLOTS: Final = 1 << 11
MOST_DIRECT: Final = 5
SLOT: Final = MOST_DIRECT + 3
"""Fields of a slot of `direct`: the number of items, the number of entries of `work`, the column, items and entries."""
DEAD: Final = -1
NO_ROOM: Final = -2
UNKNOWN: Final = -3
DONE: Final = 1  # flag: the output may end here
CUT: Final = 2  # flag: a rule has ended, and its caller is cut off
# Fields of `note`.
COLUMNS: Final = 0
ITEMS: Final = 1
FRAMES: Final = 2
CALLS: Final = 3
GENERATION: Final = 4
FULL: Final = 5  # columns that were refused because they had too many items
UNRESOLVED: Final = 6
VISITED: Final = 7  # callers visited by the present byte
_NOTES: Final = 8


class Columns(NamedTuple):
    """All columns and frames. Items of column c: `items[first[c] : first[c + 1]]`, ascending; calls likewise.

    The rules of a group begin together; their frames are numbered one after the other, by their places.
    """

    items: Longs
    first: Ints  # [columns + 1]
    flags: Ints  # [columns]
    moves: Ints  # [columns x classes], the next column, `DEAD` or `UNKNOWN`
    cuts: Ints  # [columns x DEPTHS], the column cut at each depth, or `UNKNOWN`
    loops: Longs  # [columns], the kinds of bytes of which any text can be read, or `UNKNOWN`
    hashed: Ints  # [power of two], columns by the hash of their items, -1 where free
    calls: Longs  # place of the frame in its group, state of the caller's body, frame of the caller's rule
    first_call: Ints  # [frames + 1]
    best: Ints  # [frames], fewest bytes from the end of the rule to the end of the output
    home: Ints  # [frames], the first frame of the group
    lowered: Ints  # [frames x DEEPEST], the frame cut at depth 1, 2 ..., or `UNKNOWN`
    found: Ints  # [power of two], first frames of groups by the hash of their calls, -1 where free
    work: Longs  # body states with frames, to be looked at
    stamps: Longs  # [power of two], what has been in `work`
    stamped: Ints  # [power of two], the generation of each stamp
    made: Longs  # the items of a new column
    predicted: Longs  # calls of rules that are about to begin
    after: Ints  # [as `predicted`], the call of the same group before it, or -1
    last: Ints  # [groups], the last call of each group in `predicted`
    begun: Longs  # [groups / 32], the groups that have calls in `predicted`, as bits
    sorted: Longs  # the calls of a new group
    direct: Longs  # [`SLOTS` x `SLOT`], some columns by what a byte leads to before anything is completed or predicted
    note: Longs


@kernel
def columns_at(held: Longs) -> Columns:
    """The arrays after those of the rules, among the arrays at the addresses `held`."""
    i = COUNT
    return Columns(
        longs(held, i), line(held, i + 1), line(held, i + 2), line(held, i + 3), line(held, i + 4),
        longs(held, i + 5), line(held, i + 6), longs(held, i + 7), line(held, i + 8), line(held, i + 9),
        line(held, i + 10), line(held, i + 11), line(held, i + 12), longs(held, i + 13), longs(held, i + 14),
        line(held, i + 15), longs(held, i + 16), longs(held, i + 17), line(held, i + 18), line(held, i + 19),
        longs(held, i + 20), longs(held, i + 21), longs(held, i + 22), longs(held, i + 23),
    )  # fmt: skip


class ColumnStore:
    """Owner of the columns of one grammar. `held`: the addresses of the rules and columns, for compiled code."""

    def __init__(self, rules: RuleArrays, most_bytes: int) -> None:
        self._rules = rules
        self._most_bytes = most_bytes
        self._width = len(rules.only)
        columns, items, frames, note = 64, 1024, 64, np.zeros(_NOTES, np.int64)
        note[FRAMES] = OPEN + 1
        self.columns = Columns(
            items=np.empty(items, np.int64),
            first=np.zeros(columns + 1, np.int32),
            flags=np.zeros(columns, np.int32),
            moves=np.full(columns * self._width, UNKNOWN, np.int32),
            cuts=np.full(columns * len(DEPTHS), UNKNOWN, np.int32),
            loops=np.full(columns, UNKNOWN, np.int64),
            hashed=np.full(2 * columns, -1, np.int32),
            calls=np.empty(items, np.int64),
            first_call=np.zeros(frames + 1, np.int32),
            best=np.zeros(frames, np.int32),
            home=np.zeros(frames, np.int32),
            lowered=np.full(frames * DEEPEST, UNKNOWN, np.int32),
            found=np.full(2 * frames, -1, np.int32),
            work=np.empty(2 * MOST_CALLERS, np.int64),
            stamps=np.empty(4 * MOST_CALLERS, np.int64),
            stamped=np.zeros(4 * MOST_CALLERS, np.int32),
            made=np.empty(2 * MOST_ITEMS, np.int64),
            predicted=np.empty(2 * MOST_CALLERS, np.int64),
            after=np.empty(2 * MOST_CALLERS, np.int32),
            last=np.empty(len(rules.loops), np.int32),
            begun=np.zeros(len(rules.loops) // 32 + 1, np.int64),
            sorted=np.empty(2 * MOST_CALLERS, np.int64),
            direct=np.full(SLOTS * SLOT, UNKNOWN, np.int64),
            note=note,
        )
        self.held = addresses(*rules, *self.columns)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in (*self._rules, *self.columns))

    def grow(self) -> None:
        """Make room for more columns, items, frames or calls.

        Raises:
            TablesFull: the bound is reached.
        """
        note = self.columns.note
        if (
            self.nbytes > self._most_bytes
            or note[COLUMNS] * 2 > MOST_COLUMNS
            or note[FRAMES] * 2 > MOST_FRAMES
        ):
            raise TablesFull("the sets of items of this grammar have reached the limit of memory")
        self._grow_columns()
        self._grow_frames()
        self.held = addresses(*self._rules, *self.columns)
        rehash(self.held)

    def _grow_columns(self) -> None:
        had, note = self.columns, self.columns.note
        if len(had.items) - note[ITEMS] < 2 * MOST_ITEMS:
            room = 2 * len(had.items) + 2 * MOST_ITEMS
            self.columns = had = had._replace(items=_longer_longs(had.items, room))
        if note[COLUMNS] + 1 >= len(had.flags):
            size = 2 * len(had.flags)
            self.columns = had._replace(
                first=_longer(had.first, size + 1),
                flags=_longer(had.flags, size),
                moves=_longer(had.moves, size * self._width, UNKNOWN),
                cuts=_longer(had.cuts, size * len(DEPTHS), UNKNOWN),
                loops=_longer_longs(had.loops, size, UNKNOWN),
                hashed=np.full(2 * size, -1, np.int32),
            )

    def _grow_frames(self) -> None:
        had, note = self.columns, self.columns.note
        if len(had.calls) - note[CALLS] < 2 * MOST_CALLERS:
            room = 2 * len(had.calls) + 2 * MOST_CALLERS
            self.columns = had = had._replace(calls=_longer_longs(had.calls, room))
        if note[FRAMES] + len(self._rules.group) >= len(had.best):
            size = 2 * len(had.best) + len(self._rules.group)
            self.columns = had._replace(
                first_call=_longer(had.first_call, size + 1),
                best=_longer(had.best, size),
                home=_longer(had.home, size),
                lowered=_longer(had.lowered, size * DEEPEST, UNKNOWN),
                found=np.full(1 << (2 * size).bit_length(), -1, np.int32),
            )


def _longer(array: Ints, size: int, fill: int = 0) -> Ints:
    new = np.full(size, fill, np.int32)
    new[: len(array)] = array
    return new


def _longer_longs(array: Longs, size: int, fill: int = 0) -> Longs:
    new = np.full(size, fill, np.int64)
    new[: len(array)] = array
    return new


@kernel
def digest(numbers: Longs, more: int | np.int64) -> int:
    """A hash of some numbers."""
    found = np.uint64(more + 1)
    for i in range(len(numbers)):
        found = (found ^ np.uint64(numbers[i])) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return int(found & np.uint64(0x7FFFFFFF))


@kernel
def rehash(held: Longs) -> None:
    """Enter all columns and frames into `hashed` and `found`."""
    columns = columns_at(held)
    columns.hashed[:] = -1
    for c in range(columns.note[COLUMNS]):
        items = columns.items[columns.first[c] : columns.first[c + 1]]
        _enter(columns.hashed, digest(items, columns.flags[c]), c)
    columns.found[:] = -1
    end = columns.note[FRAMES]
    while end > OPEN + 1:
        home = np.int64(columns.home[end - 1])
        calls = columns.calls[columns.first_call[home] : columns.first_call[end]]
        _enter(columns.found, digest(calls, 0), home)
        end = home


@kernel
def _enter(table: Ints, hashed: int, number: int | np.int64) -> None:
    at = hashed & (len(table) - 1)
    while table[at] >= 0:
        at = (at + 1) & (len(table) - 1)
    table[at] = number
