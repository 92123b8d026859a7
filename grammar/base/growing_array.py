"""Allocates large int32 arrays in memory pages of their own, for tables that grow.

Does: allocate pages that the system provides at the first write and takes back as soon as the array is freed; choose
the room of an array that has become full. Does not: do this for small arrays, for which the allocator of the process is
better.

Machines are created and freed by the thousand, and each leaves holes of some hundred kilobytes between objects that
stay. The allocator fills such holes badly and returns none of them: a process that kept 500 MiB of grammars had 400 MiB
of holes after 6,000 schemas.
"""

import mmap
from typing import Final

import numpy as np

from .array_types import Ints

LEAST_BYTES: Final = 32 << 10  # the size from which an array gets pages of its own
# The room of an array with pages of its own, as a multiple of its rows, up to a number of bytes. Unwritten pages cost
# no memory, and a copy at each doubling took up to 10 ms of a token.
_TIMES: Final = 64
_MOST_RESERVED: Final = 32 << 20
_INT_BYTES: Final = 4


def roomier(array: Ints, used: int, count: int) -> Ints:
    """A copy of the first `used` rows of an array, with room for `count` rows and more."""
    row = _INT_BYTES * (array.size // len(array))
    room = 2 * count
    if room * row >= LEAST_BYTES:
        room = max(room, min(_TIMES * count, _MOST_RESERVED // row))
    larger = empty((room, *array.shape[1:]))
    larger[:used] = array[:used]
    return larger


def empty(shape: tuple[int, ...]) -> Ints:
    """Allocate an int32 array of a shape, with undefined content."""
    count = 1
    for size in shape:
        count *= size
    if count * _INT_BYTES < LEAST_BYTES:
        return np.empty(shape, np.int32)
    # Private: a forked process gets a copy.
    pages = mmap.mmap(-1, count * _INT_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):  # a huge page would hold 2 MiB from the first write on
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, np.int32, count).reshape(shape)


def held_bytes(array: Ints, count: int) -> int:
    """Memory held by an array from `empty` after the first `count` rows have been written."""
    if array.nbytes < LEAST_BYTES:
        return array.nbytes
    used = array[:count].nbytes
    return min(array.nbytes, -(-used // mmap.PAGESIZE) * mmap.PAGESIZE)
