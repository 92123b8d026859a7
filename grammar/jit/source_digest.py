"""Digest of a compiled loop: its byte code, that of all compiled functions it calls, and the constants it reads.

Does: hash them. Does not: read source files. A comment or a moved line does not change the digest; a constant in
another module does.
"""

import hashlib
from collections.abc import Callable, Iterator
from enum import Enum
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic as Intrinsic

_PLAIN = (bool, int, float, str, bytes, type(None), Enum, np.generic, np.dtype)


def identity(function: Callable[..., object]) -> str:
    """SHA-256 of everything that determines the machine code of `function`, apart from the types of its arguments.

    Raises:
        TypeError: the function reads a global of a kind that cannot be hashed here.
    """
    digest = hashlib.sha256()
    for part in _parts(function, set()):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def liberties(loop: Any) -> tuple[str, ...]:
    """What the compiler may do with the floats of a compiled function, by LLVM's names."""
    return tuple(sorted(loop.targetoptions.get("fastmath") or ()))


def is_inlined(loop: Any) -> bool:
    """Whether a compiled function is copied into those that call it."""
    return bool(loop.targetoptions.get("forceinline"))


def _parts(function: Any, seen: set[Any]) -> Iterator[str]:
    yield f"{function.__module__}.{function.__qualname__}"
    if function in seen:  # a recursive call
        return
    seen.add(function)
    yield repr((function.__defaults__, function.__kwdefaults__))
    codes = list(_codes(function.__code__))
    for code in codes:
        yield code.co_code.hex()
        yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
        yield from (repr(each) for each in code.co_consts if not isinstance(each, CodeType))
    names = sorted({name for code in codes for name in code.co_names})
    for name in names:
        if name in function.__globals__:
            yield name
            yield from _value(function.__globals__[name], names, seen)
    for cell in function.__closure__ or ():
        yield from _value(cell.cell_contents, names, seen)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _value(value: Any, names: list[str], seen: set[Any]) -> Iterator[str]:
    if isinstance(value, Dispatcher):
        yield from (*liberties(value), *(("inlined",) if is_inlined(value) else ()))
        yield from _parts(value.py_func, seen)
    elif isinstance(value, Intrinsic):
        yield from _parts(value._defn, seen)
    elif isinstance(value, FunctionType) and value.__module__.startswith("intaglio."):
        yield from _parts(value, seen)  # it writes a part of an intrinsic
    elif isinstance(value, _PLAIN):
        yield repr(value)
    elif isinstance(value, tuple):
        for each in value:
            yield from _value(each, names, seen)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype}{value.shape}{value.tobytes().hex()}"
    elif isinstance(value, ModuleType):
        yield value.__name__
        if value.__name__.startswith("intaglio."):
            for name in names:
                yield from _value(getattr(value, name, None), names, seen)
    elif isinstance(value, type | FunctionType | BuiltinFunctionType):
        yield f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    else:
        raise TypeError(f"a compiled function reads {value!r}, which cannot be hashed")
