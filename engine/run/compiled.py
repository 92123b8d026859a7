"""Compilation of the loops over a step's tokens to machine code, kept on disk between runs.

Does: one typed decorator over numba. Does not: hold any loop itself.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """`function`, compiled at its first call for the types it gets.

    Such functions take and return numbers and arrays only, and never raise. They keep the interpreter lock: they take
    microseconds.
    """
    return cast("F", numba.njit(cache=True)(function))
