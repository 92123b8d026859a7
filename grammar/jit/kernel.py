"""Compilation of the inner loops to machine code, ahead of time or at the first call.

Does: two typed decorators over numba. Does not: hold any loop itself, or find machine code (`machine_code`).
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

import numba

from .machine_code import MachineCode

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """`function` compiled for the types it gets; releases the interpreter lock while it runs.

    Such functions take and return numbers and arrays only, and never raise.
    """
    return cast("F", _compiled(function, nogil=True))


def brief_kernel(function: F) -> F:
    """Like `kernel`, but keeps the interpreter lock: for loops of microseconds."""
    return cast("F", _compiled(function, nogil=False))


def _compiled(function: Callable[..., object], *, nogil: bool) -> Any:
    dispatcher = numba.njit(nogil=nogil)(function)
    dispatcher._cache = MachineCode(function)
    return dispatcher


def kernels_of(module: object) -> Iterator[tuple[str, Any]]:
    """Name and dispatcher of every compiled function that a module defines."""
    for name, value in vars(module).items():
        is_loop = isinstance(getattr(value, "_cache", None), MachineCode)
        if is_loop and value.py_func.__module__ == vars(module)["__name__"]:
            yield name, value
