"""Compiled loops around a product of integers: rows to whole numbers before it, sums to results after it.

Does: norm and round the rows of a matrix (`kernels/linear/packed.py` says how), scale products, and apply what follows
a product. Does not: multiply.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from intaglio.grammar.api import arithmetic_kernel
from intaglio.kernels.linear.packed import SMALLEST, STEPS, UNEVEN

from .bfloat16 import (
    Bits,
    Floats,
    dot,
    exponential,
    largest_magnitude,
    narrowed,
    normed,
    rounded,
    widen,
    widened,
)

_STEPS, _SMALLEST = np.float32(STEPS), np.float32(SMALLEST)
_REST = np.float32(2 * STEPS)
_EVEN = np.float32((STEPS / UNEVEN) ** 2)
_ONE = np.float32(1)

Places = npt.NDArray[np.int32]


@arithmetic_kernel
def round_rows(
    x: Bits, norm: Floats, eps: float, steps: Floats, sizes: Floats, rests: Places
) -> int:
    """Round the rows of `x` [N, K], normed by `norm` unless it is empty, to whole numbers of steps.

    The first N rows of `steps` [2N, K] are the results, in steps of `sizes` [N]. `rests` [N]: which of the rows after
    them holds what was rounded off, -1 for none. Returns the number of these.
    """
    count = 0
    for i in range(len(x)):
        row = steps[i]
        widen(x[i], row)
        if len(norm):
            normed(row, norm, eps)
        largest = largest_magnitude(row)
        if largest < _SMALLEST:
            largest = _SMALLEST
        factor = _STEPS / largest
        for j in range(len(row)):
            row[j] = row[j] * factor
        sizes[i] = largest / _STEPS
        if dot(row, row) / np.float32(len(row)) < _EVEN:
            rests[i] = count
            rest = steps[len(x) + count]
            for j in range(len(row)):
                whole = rounded(row[j])
                rest[j] = rounded((row[j] - whole) * _REST)
                row[j] = whole
            count += 1
        else:
            rests[i] = -1
            for j in range(len(row)):
                row[j] = rounded(row[j])
    return count


@arithmetic_kernel
def _scale(product: Floats, i: int, count: int, size: Any, rest: int) -> None:
    """Finish row `i` of a product, of which `count` rows are results and the others rests, in place."""
    row = product[i]
    if rest >= 0:
        added = product[count + rest]
        for j in range(len(row)):
            row[j] = np.float32(row[j] + added[j] * (_ONE / _REST)) * size
    else:
        for j in range(len(row)):
            row[j] = row[j] * size


@arithmetic_kernel
def finish_rows(product: Floats, sizes: Floats, rests: Places, out: Bits) -> None:
    """The product of the rows of `round_rows`, rounded to `out` [N, outputs]. `product` is overwritten."""
    for i in range(len(out)):
        _scale(product, i, len(out), sizes[i], rests[i])
        row, narrow = product[i], out[i]
        for j in range(len(narrow)):
            narrow[j] = narrowed(row[j])


@arithmetic_kernel
def add_rows(product: Floats, sizes: Floats, rests: Places, out: Bits) -> None:
    """Like `finish_rows`, added to `out`."""
    for i in range(len(out)):
        _scale(product, i, len(out), sizes[i], rests[i])
        row, narrow = product[i], out[i]
        for j in range(len(narrow)):
            narrow[j] = narrowed(row[j] + widened(narrow[j]))


@arithmetic_kernel
def gate_rows(product: Floats, sizes: Floats, rests: Places, out: Bits) -> None:
    """Like `finish_rows`: the first half of each row times its sigmoid, times the second half, [N, outputs / 2]."""
    half = out.shape[1]
    for i in range(len(out)):
        _scale(product, i, len(out), sizes[i], rests[i])
        left, right, narrow = product[i, :half], product[i, half:], out[i]
        for j in range(half):
            narrow[j] = narrowed(left[j] / (_ONE + exponential(-left[j])) * right[j])
