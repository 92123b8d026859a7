"""Returns free heap memory of this process to the system.

Does: make glibc release free pages between used ones; by itself it does so only at the end of a heap. Does not: free
any object. With another C library it does nothing.
"""

import ctypes
from collections.abc import Callable
from functools import cache


@cache
def _trim() -> Callable[[int], int]:
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim or (lambda _: 0)


def trim_heap() -> None:
    """Release all free pages. Takes some milliseconds, during which other threads can run Python."""
    _trim()(0)
