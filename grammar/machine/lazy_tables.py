"""The byte machine as growing integer tables: what is known of it so far.

Does: the encoding of moves, arrays with room to grow. Does not: decide what stands in them (`machine`), walk them
(`walk`).

A state's row holds, by byte class, one number: a state to go to, or

* `DEAD`: no text goes on with this byte;
* `LEAVE`: the rule ends here before the byte, with the state's own outcome, and the caller reads it;
* `ENDED - outcome`: the byte is read and the rule ends with `outcome`;
* `CALLED - site`: a callee is entered at this call site, and reads the byte.

A call site has two entries for each outcome of its callee (the second for texts met before): where its rule goes on, as
a state, `DEAD`, `ENDED - outcome`, or `UNRESOLVED`.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from weakref import WeakMethod

import numpy as np

from ..base.addresses import addresses, grid, line, octets
from ..base.array_types import Bytes, Ints, Longs
from ..base.growing_array import empty, held_bytes
from ..jit.kernel import kernel

DEAD: Final = -1
LEAVE: Final = -2
UNRESOLVED: Final = -2
ENDED: Final = -3
CALLED: Final = -(1 << 30)

# Columns of `states`.
ROW: Final = 0  # offset of the row in `cells`; -1 until the state is expanded
ALPHABET: Final = 1
OUTCOME: Final = 2  # at which the rule may end here without reading, or -1
LEAF: Final = 3  # number of the leaf the state belongs to, or -1
# 1 where a row made once for all grammars pays: `MANY_BYTES` can come, now or after one more.
NEAR: Final = 4
STATE_COLUMNS: Final = 5
# Columns of `sites`.
ENTRY: Final = 0  # first state of the callee
FIRST: Final = 1  # offset in `returns`
SIZE: Final = 2  # outcomes there is room for
FLAGS: Final = 3
# Offset in `live` of the first state of the leaf called here, or -1: all of it may be used.
LIVE: Final = 4
SITE_COLUMNS: Final = 5
# Bits of `FLAGS`.
REMEMBERS: Final = 1  # the text is compared with earlier ones of this activation
AS_WRITTEN: Final = 2  # ... byte by byte
JUDGED: Final = 4  # the outcome is corrected by a function of the text

FINAL: Final = 0  # the state after the end of the root
ROOT: Final = 0  # the site of the bottom frame

# If so many bytes can come in a state of a leaf, it lets a good part of the vocabulary through.
MANY_BYTES: Final = 24


class Tables(NamedTuple):
    """A snapshot for compiled code. Entries only ever go from unknown to known, so an old one is merely ignorant."""

    states: Ints  # [states, `STATE_COLUMNS`]
    cells: Ints  # [n], the rows of all states
    alphabets: Ints  # [alphabets, 256], class of each byte
    sites: Ints  # [sites, `SITE_COLUMNS`]
    returns: Ints  # [n], two for each outcome at each site
    live: Bytes  # of leaf states at some sites: 0 where no outcome is in reach that counts there
    addresses: Longs  # of the arrays above


@kernel
def tables_at(held: Longs) -> Tables:
    """The tables whose `addresses` are given."""
    return Tables(
        grid(held, 0),
        line(held, 1),
        grid(held, 2),
        grid(held, 3),
        line(held, 4),
        octets(held, 5),
        held,
    )


class Growing:
    """A numpy array of int32 that doubles. What is past `count` means nothing."""

    def __init__(self, moved: Callable[[], None], width: int, room: int = 64) -> None:
        """`width`: columns, 0 for a plain vector; `room`: rows at first.

        `moved`, a method, is called when a larger array has taken the place of one. Its owner is not kept alive, so
        that tables go the moment nothing refers to them, and not when cycles are looked for.
        """
        shape = (room, width) if width else (room,)
        self.array: Ints = empty(shape)
        self.count = 0
        self._moved = WeakMethod(moved)

    @property
    def held_bytes(self) -> int:
        """Memory held: that of pages not yet written is not."""
        return held_bytes(self.array, self.count)

    def extend(self, rows: Sequence[int] | Ints) -> int:
        """Append rows; the number of the first."""
        first = self._more(len(rows))
        self.array[first : self.count] = rows
        return first

    def append(self, row: Sequence[int] | Ints) -> int:
        """Append one row of several columns; its number."""
        first = self._more(1)
        self.array[first] = row
        return first

    def _more(self, count: int) -> int:
        """Make room for so many rows; the number of the first."""
        first, self.count = self.count, self.count + count
        if self.count > len(self.array):
            shape = (2 * self.count, *self.array.shape[1:])
            larger = empty(shape)
            larger[:first] = self.array[:first]
            self.array = larger
            moved = self._moved()
            assert moved is not None
            moved()
        return first


class GrowingTables:
    """The growing arrays of one machine. Rows are only added, and filled in where they were unknown."""

    def __init__(self) -> None:
        self.states = Growing(self._moved, STATE_COLUMNS)
        self.cells = Growing(self._moved, 0)
        self.sites = Growing(self._moved, SITE_COLUMNS)
        self.returns = Growing(self._moved, 0)
        self.live: Bytes = np.zeros(64, np.uint8)
        self._lives = 0
        self._live_at: dict[bytes, int] = {}
        self._alphabets = Growing(self._moved, 256, room=8)
        self._numbers: dict[bytes, int] = {}
        self._partitions: dict[tuple[bytes, ...], int] = {}
        self.tables: Tables  # what is known now
        self.nbytes = 0  # room in all of them
        self._moved()

    @property
    def held_bytes(self) -> int:
        """Memory held, without that of pages not yet written."""
        growing = self.states, self.cells, self.sites, self.returns, self._alphabets
        return sum(each.held_bytes for each in growing) + self.live.nbytes

    def _moved(self) -> None:
        """One of the arrays is another one now: others see the new snapshot at once or not yet."""
        arrays = (
            self.states.array,
            self.cells.array,
            self._alphabets.array,
            self.sites.array,
            self.returns.array,
            self.live,
        )
        self.tables = Tables(*arrays, addresses(*arrays))
        self.nbytes = sum(array.nbytes for array in self.tables)

    def alphabet(self, classes: Ints) -> int:
        """The number of a partition of the bytes; int32 [256]."""
        name = classes.tobytes()
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self._alphabets.append(classes)
        return number

    def partition(self, parts: tuple[bytes, ...]) -> int:
        """The number of the partition of the bytes into these parts, from 1 on, and the rest, which is 0."""
        number = self._partitions.get(parts)
        if number is None:
            classes = np.zeros(256, np.int32)
            for part, taken in enumerate(parts, 1):
                classes[np.frombuffer(taken, np.uint8)] = part
            number = self._partitions[parts] = self.alphabet(classes)
        return number

    def alive(self, states: Bytes) -> int:
        """The offset of such a vector in `live`."""
        name = states.tobytes()
        at = self._live_at.get(name)
        if at is None:
            at, self._lives = self._lives, self._lives + len(states)
            if self._lives > len(self.live):
                self.live = np.concatenate((self.live, np.zeros(self._lives, np.uint8)))
                self._moved()
            self.live[at : self._lives] = states
            self._live_at[name] = at
        return at

    def enlarge(self, site: int, least: int) -> None:
        """Room for more outcomes at a site. Readers of the old array see the old place and size together."""
        sites = self.sites.array.copy()
        first, room = int(sites[site, FIRST]), int(sites[site, SIZE])
        known = self.returns.array[first : first + 2 * room]
        larger = max(least, 2 * room)
        added = np.append(known, np.full(2 * (larger - room), UNRESOLVED, np.int32))
        sites[site, FIRST] = self.returns.extend(added)
        sites[site, SIZE] = larger
        self.sites.array = sites
        self._moved()
