"""Arrays handed to compiled code by where they lie.

Does: name many arrays in one, so that a call passes one argument in place of twenty; view them again inside. Does not:
keep them alive: whoever calls holds them until the call is over.

A call from Python looks at each array it passes, 0.15 us for one by itself and 0.5 us within a named tuple, and one
between compiled functions counts references to it. One array of addresses costs 0.3 us, and what is viewed through it
is not counted.
"""

from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from .automata.jit import kernel
from .automata.minimal import Ints, Longs

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint32]

_KINDS = (np.dtype(np.int32), np.dtype(np.uint8), np.dtype(np.uint32), np.dtype(np.int64))


def addresses(*arrays: npt.NDArray[Any]) -> Longs:
    """int64 [arrays x 3]: (address, length, columns) of each, which has one or two dimensions and lies in one piece."""
    rows = []
    for array in arrays:
        assert array.dtype in _KINDS
        assert array.flags.c_contiguous
        rows += [array.ctypes.data, len(array), array.shape[1] if array.ndim == 2 else 1]
    return np.array(rows, np.int64)


def _code(typing: Any, address: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.inttoptr(given[0], context.get_value_type(signature.return_type))

    return numba.types.voidptr(address), generate


_pointer = cast("Callable[[int], int]", intrinsic(_code))
_view = cast("Callable[[int, tuple[int, ...], type], Any]", carray)


@kernel
def line(held: Longs, i: int) -> Ints:
    """Array i, int32 of one dimension."""
    array: Ints = _view(_pointer(held[3 * i]), (held[3 * i + 1],), np.int32)
    return array


@kernel
def grid(held: Longs, i: int) -> Ints:
    """Array i, int32 of two dimensions."""
    array: Ints = _view(_pointer(held[3 * i]), (held[3 * i + 1], held[3 * i + 2]), np.int32)
    return array


@kernel
def octets(held: Longs, i: int) -> Bytes:
    """Array i, uint8 of one dimension."""
    array: Bytes = _view(_pointer(held[3 * i]), (held[3 * i + 1],), np.uint8)
    return array


@kernel
def words(held: Longs, i: int) -> Words:
    """Array i, uint32 of one dimension."""
    array: Words = _view(_pointer(held[3 * i]), (held[3 * i + 1],), np.uint32)
    return array


@kernel
def longs(held: Longs, i: int) -> Longs:
    """Array i, int64 of one dimension."""
    array: Longs = _view(_pointer(held[3 * i]), (held[3 * i + 1],), np.int64)
    return array
