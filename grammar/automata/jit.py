"""Compilation of the inner loops to machine code, kept on disk between runs.

Does: one typed decorator over numba. Does not: hold any loop itself.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """`function` compiled at its first call for the types it gets; releases the interpreter lock while it runs.

    Such functions take and return numbers and arrays only, and never raise.
    """
    return cast("F", numba.njit(cache=True, nogil=True)(function))
