"""Arrays that grow, in pages of their own.

Does: hand out large arrays whose pages are taken from the system when they are first written, and go back to it the
moment the array is gone. Does not: serve small ones, which the allocator of the process is better for.

Machines come and go by the thousand, and each leaves holes of some hundred kilobytes between what stays. The allocator
fills them badly and gives none of them back: a process that kept 500 MiB of grammars had 400 MiB of holes after 6,000
schemas.
"""

import mmap
from typing import Final

import numpy as np

from .array_types import Ints

LEAST_BYTES: Final = 32 << 10  # from which on an array gets pages of its own
_INT_BYTES: Final = 4


def empty(shape: tuple[int, ...]) -> Ints:
    """int32 of a shape, with any content."""
    count = 1
    for size in shape:
        count *= size
    if count * _INT_BYTES < LEAST_BYTES:
        return np.empty(shape, np.int32)
    # Private: a process that is forked off has a copy.
    pages = mmap.mmap(-1, count * _INT_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, np.int32, count).reshape(shape)


def held_bytes(array: Ints, count: int) -> int:
    """Memory of an array made by `empty` of which the first `count` rows were written."""
    if array.nbytes < LEAST_BYTES:
        return array.nbytes
    used = array[:count].nbytes
    return min(array.nbytes, -(-used // mmap.PAGESIZE) * mmap.PAGESIZE)
