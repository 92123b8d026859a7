"""Arithmetic on bfloat16 in compiled loops, as int16 with the same bits: numpy has no such type.

Does: widen, round, and sum, in float32. Does not: know what the numbers mean.

A row has the same bits whatever rows are computed with it: every loop reads one row at a time, and the order of its
sums depends on the number of its elements alone.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from intaglio.grammar.api import arithmetic_kernel, summing_kernel
from torch import Tensor

Bits = npt.NDArray[np.int16]
Floats = npt.NDArray[np.float32]

_SIXTEEN, _HALF, _ODD = np.int32(16), np.int32(0x7FFF), np.int32(1)
_SIGN, _ALL = np.int32(31), np.int32(0x7FFFFFFF)
_ONE = np.float32(1)
_SHIFT = np.float32(1.5 * 2**23)
"""Adding and subtracting this rounds a number from -2**22 to 2**22 to the nearest integer, ties to even."""
_LOWEST, _HIGHEST = np.float32(-87), np.float32(88)
_PER_LN2, _LN2, _LN2_REST = (
    np.float32(1.44269504),
    np.float32(0.693359375),
    np.float32(-2.12194440e-4),
)
_SERIES = tuple(
    np.float32(term)
    for term in (1.9875691e-4, 1.3981999e-3, 8.3334519e-3, 4.1665796e-2, 1.6666665e-1, 0.5)
)
"""Cephes' polynomial for `exp` between plus and minus half of ln 2, the highest power first."""
_EXPONENT_ONE, _MANTISSA = np.int32(127), np.int32(23)


def bits(tensor: Tensor) -> Bits:
    """A view of a tensor of bfloat16."""
    view: Bits = tensor.view(torch.int16).numpy()
    return view


def floats(weight: Tensor) -> Floats:
    """The weight of a norm: some families keep it in float32."""
    wide: Floats = weight.float().numpy()
    return wide


@arithmetic_kernel
def widened(value: Any) -> Any:
    """A bfloat16 as float32."""
    return np.int32(np.int32(value) << _SIXTEEN).view(np.float32)


@arithmetic_kernel
def narrowed(value: Any) -> Any:
    """A float32 as the nearest bfloat16, ties to even."""
    whole = np.float32(value).view(np.int32)
    odd = np.int32(np.int32(whole >> _SIXTEEN) & _ODD)
    return np.int16(np.int32(np.int32(whole + _HALF) + odd) >> _SIXTEEN)


@arithmetic_kernel
def rounded(value: Any) -> Any:
    """A float32 between -2**22 and 2**22, rounded to the nearest integer, ties to even."""
    return np.float32(np.float32(value + _SHIFT) - _SHIFT)


@arithmetic_kernel
def exponential(value: Any) -> Any:
    """`exp` within 2 ulp, of a value clamped to [-87, 88]; NaN stays NaN."""
    if value < _LOWEST:
        value = _LOWEST
    if value > _HIGHEST:
        value = _HIGHEST
    power = rounded(value * _PER_LN2)
    rest = np.float32(value - power * _LN2) - power * _LN2_REST
    sum_of_terms = _SERIES[0]
    sum_of_terms = sum_of_terms * rest + _SERIES[1]
    sum_of_terms = sum_of_terms * rest + _SERIES[2]
    sum_of_terms = sum_of_terms * rest + _SERIES[3]
    sum_of_terms = sum_of_terms * rest + _SERIES[4]
    sum_of_terms = sum_of_terms * rest + _SERIES[5]
    found = sum_of_terms * rest * rest + rest + _ONE
    scale = np.int32((np.int32(power) + _EXPONENT_ONE) << _MANTISSA).view(np.float32)
    return np.float32(found * scale)


@arithmetic_kernel
def widen(row: Bits, out: Floats) -> None:
    """Fill `out` with a row in float32."""
    for i in range(len(out)):
        out[i] = widened(row[i])


@summing_kernel
def dot(left: Floats, right: Floats) -> Any:
    """The sum of products."""
    total = np.float32(0)
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@summing_kernel
def total(values: Floats) -> Any:
    """The sum of values."""
    found = np.float32(0)
    for i in range(len(values)):
        found += values[i]
    return found


@arithmetic_kernel
def normed(row: Floats, weight: Floats, eps: Any) -> None:
    """Divide a row by its root mean square, and multiply it by `weight`, in place."""
    scale = _ONE / np.float32(np.sqrt(dot(row, row) / np.float32(len(row)) + np.float32(eps)))
    for i in range(len(row)):
        row[i] = row[i] * scale * weight[i]


@arithmetic_kernel
def _ordered(whole: Any) -> Any:
    """The bits of a float32 as an integer in the order of the floats, and back."""
    return np.int32(whole ^ np.int32(np.int32(whole >> _SIGN) & _ALL))


@arithmetic_kernel
def largest(values: Floats) -> Any:
    """The largest value, or a positive NaN if there is one; compared as integers, which is faster."""
    most = np.int32(-1 - _ALL)
    for i in range(len(values)):
        most = max(most, np.int32(_ordered(np.float32(values[i]).view(np.int32))))
    return np.int32(_ordered(most)).view(np.float32)


@arithmetic_kernel
def largest_magnitude(values: Floats) -> Any:
    """The largest magnitude of some values; NaN if one is NaN."""
    most = np.int32(0)
    for i in range(len(values)):
        most = max(most, np.int32(np.float32(values[i]).view(np.int32) & _ALL))
    return np.int32(most).view(np.float32)
