"""The free memory of this process's allocator, given back to the system.

Does: ask glibc to let go of free pages between those in use; it does so by itself only at the end of a heap. Does not:
free anything. With another C library it does nothing.
"""

import ctypes
from collections.abc import Callable
from functools import cache


@cache
def _trim() -> Callable[[int], int]:
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim or (lambda _: 0)


def give_back() -> None:
    """Let go of all free pages. Takes some milliseconds, in which no other thread is kept from running Python."""
    _trim()(0)
