"""Decorators that compile the inner loops to machine code, ahead of time or at the first call.

Does: wrap numba in typed decorators. Does not: define loops, or find cached machine code (`machine_code`).
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeVar, cast

import numba

from .machine_code import MachineCode

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` for the types of its arguments; it releases the interpreter lock while it runs.

    A kernel takes and returns only numbers, arrays and tuples of them, and never raises.
    """
    return cast("F", _compiled(function, nogil=True))


def brief_kernel(function: F) -> F:
    """Like `kernel`, but holds the interpreter lock: for loops that take microseconds."""
    return cast("F", _compiled(function, nogil=False))


def inner_kernel(function: F) -> F:
    """Like `kernel`, copied into each loop that calls it: a call between loops counts a reference for each array.

    For small functions that are called for each byte or text: each copy is compiled anew.
    """
    return cast("F", _compiled(function, nogil=True, inlined=True))


def machine_code_of(loop: F) -> F:
    """The machine code of a loop that is always called with arguments of the same types; before its first call, itself.

    A call of a loop looks at the type of each argument to choose its machine code, which takes 0.3 us.
    """
    return cast("F", _only_code(loop)) if len(cast("Any", loop).overloads) == 1 else loop


@cache
def _only_code(loop: Any) -> Any:
    (compiled,) = loop.overloads.values()
    return compiled.entry_point


def arithmetic_kernel(function: F) -> F:
    """Like `kernel`, for arithmetic on floats: a product and a sum may be rounded once instead of twice."""
    return cast("F", _compiled(function, nogil=True, liberties=("contract",)))


def summing_kernel(function: F) -> F:
    """Like `arithmetic_kernel`, and sums may be in another order, the same at each call with as many numbers."""
    return cast("F", _compiled(function, nogil=True, liberties=("contract", "reassoc")))


def _compiled(
    function: Callable[..., object],
    *,
    nogil: bool,
    inlined: bool = False,
    liberties: tuple[str, ...] = (),
) -> Any:
    # Quotients by zero are what they are in numpy: a check for each would keep loops from being vectorised.
    floats: dict[str, Any] = {}
    if liberties:
        floats = {"fastmath": set(liberties), "error_model": "numpy"}
    dispatcher: Any = numba.njit(nogil=nogil, forceinline=inlined, **floats)(function)
    # Nothing calls a loop from C, and the wrapper for that takes time to compile.
    dispatcher.targetoptions["no_cfunc_wrapper"] = True
    dispatcher._cache = MachineCode(function, liberties, inlined=inlined)
    return dispatcher


def kernels_of(module: object) -> Iterator[tuple[str, Any]]:
    """(name, dispatcher) of every compiled function that a module defines."""
    for name, value in vars(module).items():
        is_loop = isinstance(getattr(value, "_cache", None), MachineCode)
        if is_loop and value.py_func.__module__ == vars(module)["__name__"]:
            yield name, value
