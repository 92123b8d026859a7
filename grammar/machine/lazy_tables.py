"""The tables of the byte machine: growing integer arrays with the part that has been computed so far.

Does: define the encoding of moves, and arrays with room to grow. Does not: compute entries (`machine`), follow text
through them (`byte_step`).

The row of a state holds one number for each byte class: the next state, or

* `DEAD`: the byte is illegal;
* `LEAVE`: the rule ends before the byte, with the outcome of the state, and the caller reads the byte;
* `ENDED - outcome`: the rule reads the byte and ends with `outcome`;
* `CALLED - site`: a callee is entered at this call site, and reads the byte.

A call site has two entries for each outcome of its callee from `LOW` on (the second for texts seen before): where its
rule goes on, as a state, `DEAD`, `ENDED - outcome`, or `UNRESOLVED`. Smaller outcomes are refused, and those without
room are `UNRESOLVED`.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from weakref import WeakMethod

import numpy as np

from ..base.addresses import addresses, grid, line, octets
from ..base.array_types import Bytes, Ints, Longs
from ..base.growing_array import LEAST_BYTES, empty, held_bytes, roomier
from ..jit.kernel import kernel

DEAD: Final = -1
LEAVE: Final = -2
UNRESOLVED: Final = -2
ENDED: Final = -3
CALLED: Final = -(1 << 30)

# Columns of `states`.
ROW: Final = 0  # offset of the row in `cells`; -1 until the state is expanded
ALPHABET: Final = 1
OUTCOME: Final = 2  # of the rule if it may end here without reading, or -1
LEAF: Final = 3  # number of the leaf of this state, or -1
# 1 where a mask shared by all grammars pays: `MANY_BYTES` bytes are legal, here or after one more byte.
NEAR: Final = 4
# The bytes that have a move, as `forced_bytes` writes them here when it first looks at the row; -1 before that.
SPAN: Final = 5
STATE_COLUMNS: Final = 6
# Columns of `sites`.
ENTRY: Final = 0  # first state of the callee
FIRST: Final = 1  # offset in `returns`
SIZE: Final = 2  # number of outcomes, from `LOW` on, that have room in `returns`
FLAGS: Final = 3
# Offset in `live` of the first state of the leaf called here, or -1: all its outcomes count.
LIVE: Final = 4
LOW: Final = 5  # the smallest outcome that counts
SITE_COLUMNS: Final = 6
# Bits of `FLAGS`.
REMEMBERS: Final = 1  # the text is compared with earlier texts of this activation
AS_WRITTEN: Final = 2  # ... byte by byte
JUDGED: Final = 4  # a function of the text replaces the outcome

FINAL: Final = 0  # the state after the end of the root
ROOT: Final = 0  # the site of the bottom frame

# A leaf state in which this many bytes are legal allows a large part of the vocabulary.
MANY_BYTES: Final = 24


class Tables(NamedTuple):
    """A snapshot for compiled code. Entries only change from unknown to known, so an old snapshot stays correct.

    Snapshots share arrays, so entries of an old one may become known later. They never refer to rows that its own
    arrays do not have: see `GrowingTables`.
    """

    states: Ints  # [states, `STATE_COLUMNS`]
    cells: Ints  # [n], the rows of all states
    alphabets: Ints  # [alphabets, 256], class of each byte
    sites: Ints  # [sites, `SITE_COLUMNS`]
    returns: Ints  # [n], two for each outcome at each site
    live: Bytes  # leaf states at some sites: 0 if no outcome that counts there can be reached
    addresses: Longs  # of the arrays above


@kernel
def tables_at(held: Longs) -> Tables:
    """The tables behind `Tables.addresses`."""
    return Tables(
        grid(held, 0),
        line(held, 1),
        grid(held, 2),
        grid(held, 3),
        line(held, 4),
        octets(held, 5),
        held,
    )


Moved = Callable[["Growing"], None]


class Growing:
    """A numpy array of int32 that is replaced by a larger one when it is full. Rows from `count` on are undefined."""

    def __init__(self, moved: WeakMethod["Moved"], width: int, room: int = 64) -> None:
        """`width`: number of columns, 0 for a vector; `room`: initial number of rows.

        The method `moved` is called with this object after a larger array has replaced the old one. The reference to it
        is weak: tables are then freed with their last reference, and need no cycle collector.
        """
        shape = (room, width) if width else (room,)
        self.array: Ints = empty(shape)
        self.row_bytes = self.array.strides[0]
        self.count = 0
        self._moved = moved

    @property
    def held_bytes(self) -> int:
        """Memory held; pages that were never written do not count."""
        return held_bytes(self.array, self.count)

    def extend(self, rows: Sequence[int] | Ints) -> int:
        """Append rows; returns the number of the first row."""
        first = self._more(len(rows))
        self.array[first : self.count] = rows
        return first

    def fill(self, count: int, value: int) -> int:
        """Append `count` times the same number; returns the number of the first row."""
        first = self._more(count)
        self.array[first : self.count] = value
        return first

    def append(self, row: Sequence[int] | Ints) -> int:
        """Append one row of several columns; returns its number."""
        first = self._more(1)
        self.array[first] = row
        return first

    def _more(self, count: int) -> int:
        """Make room for `count` more rows; returns the number of the first."""
        first, self.count = self.count, self.count + count
        if self.count > len(self.array):
            self.array = roomier(self.array, first, self.count)
            moved = self._moved()
            assert moved is not None
            moved(self)
        return first

    def renew(self) -> None:
        """Replace the array by a copy, so that holders of the old one do not see what is written from now on."""
        before = self.array
        self.grow_ahead()
        if self.array is before:
            self.array = empty(before.shape)
            self.array[: self.count] = before[: self.count]

    def grow_ahead(self) -> None:
        """Make room in a small array that is half full: once it is full, all others are copied again."""
        if self.array.nbytes < LEAST_BYTES and 2 * self.count > len(self.array):
            self.array = roomier(self.array, self.count, self.count)


class GrowingTables:
    """The growing arrays of one machine. Rows are only added, and unknown entries filled in.

    Other threads may be reading a snapshot from before an array grew. Entries of the arrays refer to rows of one
    another, so all are replaced then: what is written from then on is written where no older snapshot sees it. Arrays
    at least double, so that the copies take time in proportion to the final size.
    """

    def __init__(self) -> None:
        moved: WeakMethod[Moved] = WeakMethod(self._moved)
        # Room for the first states of most grammars: all arrays are replaced when one has become full.
        self.states = Growing(moved, STATE_COLUMNS, room=128)
        self.cells = Growing(moved, 0, room=2_048)
        self.sites = Growing(moved, SITE_COLUMNS)
        self.returns = Growing(moved, 0)
        self.live: Bytes = np.zeros(1_024, np.uint8)
        self._lives = 0
        self._live_at: dict[bytes, int] = {}
        self._alphabets = Growing(moved, 256, room=8)
        self._numbers: dict[bytes, int] = {}
        self._partitions: dict[tuple[bytes, ...], int] = {}
        self.tables: Tables  # the current snapshot
        self.newest: Longs = np.zeros(0, np.int64)  # its addresses, always in this array
        self._take()

    @property
    def held_bytes(self) -> int:
        """Memory held, without pages that were never written."""
        growing = self.states, self.cells, self.sites, self.returns, self._alphabets
        return sum(each.held_bytes for each in growing) + self.live.nbytes

    @property
    def used_bytes(self) -> int:
        """Size of all rows."""
        growing = self.states, self.cells, self.sites, self.returns, self._alphabets
        used = self._lives
        for each in growing:  # read at each expansion
            used += each.count * each.row_bytes
        return used

    def _moved(self, grown: Growing | None) -> None:
        """Take a new snapshot after `grown` (None: `live`) has got a larger array; no other array is shared with it."""
        for each in (self.states, self.cells, self.sites, self.returns):
            if each is not grown:
                each.renew()
        if self._alphabets is not grown:
            self._alphabets.grow_ahead()
        self._take()

    def _take(self) -> None:
        """Take a new snapshot after arrays were replaced; other threads see the old one or the new one.

        The old arrays are freed with `tables`, so nothing may find their addresses after that.
        """
        arrays = (
            self.states.array,
            self.cells.array,
            self._alphabets.array,
            self.sites.array,
            self.returns.array,
            self.live,
        )
        held = addresses(*arrays)
        if not len(self.newest):
            self.newest = held.copy()
        self.newest[:] = held
        self.tables = Tables(*arrays, held)

    def alphabet(self, classes: Ints) -> int:
        """The number of a partition of the bytes into classes, int32 [256]."""
        name = classes.tobytes()
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self._alphabets.append(classes)
        return number

    def partition(self, parts: tuple[bytes, ...]) -> int:
        """The number of the partition of the bytes into these parts, classes 1, 2, ..., and the rest, class 0."""
        number = self._partitions.get(parts)
        if number is None:
            classes = np.zeros(256, np.int32)
            for part, taken in enumerate(parts, 1):
                classes[np.frombuffer(taken, np.uint8)] = part
            number = self._partitions[parts] = self.alphabet(classes)
        return number

    def alive(self, states: Bytes) -> int:
        """The offset in `live` of a vector with 1 for each live state; equal vectors are stored once."""
        name = states.tobytes()
        at = self._live_at.get(name)
        if at is None:
            at, self._lives = self._lives, self._lives + len(states)
            if self._lives > len(self.live):
                self.live = np.concatenate((self.live, np.zeros(self._lives, np.uint8)))
                self._moved(None)
            self.live[at : self._lives] = states
            self._live_at[name] = at
        return at

    def enlarge(self, site: int, least: int) -> None:
        """Make room for more outcomes at a site, `least` or more.

        Compiled code reads the size before the offset. So the offset of the new entries, which begin with the old ones,
        is written before the size.
        """
        first, room = int(self.sites.array[site, FIRST]), int(self.sites.array[site, SIZE])
        known = self.returns.array[first : first + 2 * room]
        larger = max(least, 2 * room)
        added = np.append(known, np.full(2 * (larger - room), UNRESOLVED, np.int32))
        offset = self.returns.extend(added)
        self.sites.array[site, FIRST] = offset
        self.sites.array[site, SIZE] = larger
