"""Compiled loops around a product of integers: rows are quantised before it, sums are dequantised after it.

Does: norm and quantise the rows of a matrix (`kernels/linear/packed.py` says how), scale products, and apply the
epilogue. Does not: multiply.
"""

import numpy as np
import numpy.typing as npt
from intaglio.grammar.api import arithmetic_kernel
from intaglio.kernels.linear.packed import SMALLEST

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

_SMALLEST = np.float32(SMALLEST)
_ONE, _TWO = np.float32(1), np.float32(2)

Ints = npt.NDArray[np.int32]


@arithmetic_kernel
def quantise_rows(
    x: Bits,
    norm: Floats,
    eps: float,
    grid: tuple[int, int],
    quantised: Floats,
    scales: Floats,
    residual_rows: Ints,
) -> int:
    """Quantise the rows of `x` [N, K], normed by `norm` [K] unless it is empty, to integers stored as float32.

    `grid`: the steps on either side of zero, and the crest factor above which a row has a residual (`packed.Grid`). The
    first N rows of `quantised` [2N, K] are the integers of the rows, the rows after them those of the residuals.
    `residual_rows` int32 [N]: which of the latter belongs to each row, -1 for none. `scales` [N, 2]: the size of a step
    of the row, and that of a step of its residual in steps of the row. Returns the number of residuals.
    """
    count, most = 0, np.float32(grid[0])
    least_square, finer = (most / np.float32(grid[1])) ** 2, _TWO * most
    for i in range(len(x)):
        row = quantised[i]
        widen(x[i], row)
        if len(norm):
            normed(row, norm, eps)
        largest = largest_magnitude(row)
        if largest < _SMALLEST:
            largest = _SMALLEST
        factor = most / largest
        for j in range(len(row)):
            row[j] = row[j] * factor
        scales[i, 0], scales[i, 1] = largest / most, _ONE / finer
        if dot(row, row) / np.float32(len(row)) < least_square:
            residual_rows[i] = count
            residual = quantised[len(x) + count]
            for j in range(len(row)):
                whole = rounded(row[j])
                residual[j] = rounded((row[j] - whole) * finer)
                row[j] = whole
            count += 1
        else:
            residual_rows[i] = -1
            for j in range(len(row)):
                row[j] = rounded(row[j])
    return count


@arithmetic_kernel
def _scale(product: Floats, i: int, count: int, scales: Floats, residual: int) -> None:
    """Scale row `i` of a product in place; its residual, if any, is row `count + residual` of the product."""
    row, scale, finer = product[i], scales[i, 0], scales[i, 1]
    if residual >= 0:
        added = product[count + residual]
        for j in range(len(row)):
            row[j] = np.float32(row[j] + added[j] * finer) * scale
    else:
        for j in range(len(row)):
            row[j] = row[j] * scale


@arithmetic_kernel
def finish_rows(product: Floats, scales: Floats, residual_rows: Ints, out: Bits) -> None:
    """Write the product of quantised rows to `out` [N, outputs], as bfloat16.

    `product` float32 [N + residuals, outputs] is overwritten; `scales`, `residual_rows`: see `quantise_rows`.
    """
    for i in range(len(out)):
        _scale(product, i, len(out), scales, residual_rows[i])
        row, narrow = product[i], out[i]
        for j in range(len(narrow)):
            narrow[j] = narrowed(row[j])


@arithmetic_kernel
def add_rows(product: Floats, scales: Floats, residual_rows: Ints, out: Bits) -> None:
    """Like `finish_rows`, added to `out`."""
    for i in range(len(out)):
        _scale(product, i, len(out), scales, residual_rows[i])
        row, narrow = product[i], out[i]
        for j in range(len(narrow)):
            narrow[j] = narrowed(row[j] + widened(narrow[j]))


@arithmetic_kernel
def gate_rows(product: Floats, scales: Floats, residual_rows: Ints, out: Bits) -> None:
    """Like `finish_rows`: the first half of each row times its sigmoid, times the second half, [N, outputs / 2]."""
    half = out.shape[1]
    for i in range(len(out)):
        _scale(product, i, len(out), scales, residual_rows[i])
        left, right, narrow = product[i, :half], product[i, half:], out[i]
        for j in range(half):
            narrow[j] = narrowed(left[j] / (_ONE + exponential(-left[j])) * right[j])
