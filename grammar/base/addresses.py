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

from ..jit.kernel import kernel
from .array_types import Bytes, Ints, Longs, Words

_KINDS = "iBIlq"  # int32, uint8, uint32, int64


@kernel
def _tell(held: Longs, i: int, array: npt.NDArray[Any]) -> None:
    held[3 * i], held[3 * i + 1] = array.ctypes.data, len(array)
    held[3 * i + 2] = array.strides[0] // array.itemsize


def addresses(*arrays: npt.NDArray[Any]) -> Longs:
    """int64 [3 x arrays]: (address, length, columns) of each, which has one or two dimensions and lies in one piece."""
    held = np.empty(3 * len(arrays), np.int64)
    for i, array in enumerate(arrays):
        assert array.dtype.char in _KINDS
        assert array.flags.c_contiguous
        _tell(held, i, array)
    return held


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
