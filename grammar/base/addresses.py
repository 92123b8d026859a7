"""Passes many arrays to compiled code as one array of their addresses.

Does: collect addresses and sizes, so that a call passes one argument instead of twenty; view the arrays again inside
compiled code. Does not: keep the arrays alive; the caller has to hold them until the call returns.

A call from Python examines each array argument: 0.15 us for a plain one, 0.5 us for one in a named tuple. A call
between compiled functions counts a reference per array. One array of addresses costs 0.3 us, and views through it are
not counted.
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
def describe(held: Longs, i: int, array: npt.NDArray[Any]) -> None:
    """Write the address and sizes of array i to `held`; it must be contiguous."""
    held[3 * i], held[3 * i + 1] = array.ctypes.data, len(array)
    held[3 * i + 2] = array.strides[0] // array.itemsize


def addresses(*arrays: npt.NDArray[Any]) -> Longs:
    """int64 [3 x arrays]: (address, length, columns) of each; contiguous arrays of one or two dimensions."""
    held = np.empty(3 * len(arrays), np.int64)
    for i, array in enumerate(arrays):
        assert array.dtype.char in _KINDS
        assert array.flags.c_contiguous
        describe(held, i, array)
    return held


def _code(typing: Any, address: Any) -> Any:  # noqa: ARG001 - the signature of an intrinsic
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.inttoptr(given[0], context.get_value_type(signature.return_type))

    return numba.types.voidptr(address), generate


_pointer = cast("Callable[[int], int]", intrinsic(_code))
_view = cast("Callable[[int, tuple[int, ...], type], Any]", carray)


@kernel
def line(held: Longs, i: int) -> Ints:
    """Array i: int32, one dimension."""
    array: Ints = _view(_pointer(held[3 * i]), (held[3 * i + 1],), np.int32)
    return array


@kernel
def grid(held: Longs, i: int) -> Ints:
    """Array i: int32, two dimensions."""
    array: Ints = _view(_pointer(held[3 * i]), (held[3 * i + 1], held[3 * i + 2]), np.int32)
    return array


@kernel
def octets(held: Longs, i: int) -> Bytes:
    """Array i: uint8, one dimension."""
    array: Bytes = _view(_pointer(held[3 * i]), (held[3 * i + 1],), np.uint8)
    return array


@kernel
def words(held: Longs, i: int) -> Words:
    """Array i: uint32, one dimension."""
    array: Words = _view(_pointer(held[3 * i]), (held[3 * i + 1],), np.uint32)
    return array


@kernel
def longs(held: Longs, i: int) -> Longs:
    """Array i: int64, one dimension."""
    array: Longs = _view(_pointer(held[3 * i]), (held[3 * i + 1],), np.int64)
    return array
