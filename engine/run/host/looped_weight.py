"""Products of int8 weights with compiled loops before and after them, for models in bfloat16.

Does: norm, multiply, and apply what follows, in three calls. Does not: multiply by itself (`kernels/linear/packed.py`).
"""

from collections.abc import Sequence

import numpy as np
import torch
from intaglio.kernels import reference
from intaglio.kernels.codes import Codes
from intaglio.kernels.contracts import Activation, AddTo, Epilogue, Gate, RmsNorm
from intaglio.kernels.linear.packed import Grid, PackedInt8
from torch import Tensor

from .bfloat16 import bits, floats
from .row_loops import add_rows, finish_rows, gate_rows, quantise_rows

ROWS = 64
"""Rows that are multiplied at once: their integers and sums stay in a core's cache."""

_NO_NORM = np.zeros(0, np.float32)


class LoopedWeight:
    """The outputs of `blocks` one after the other, as a `Weight` for rows of bfloat16.

    Results differ from those of `PackedWeight` by rounding: normed rows are not rounded to bfloat16 before the product,
    nor products before they are gated or added.
    """

    def __init__(self, blocks: Sequence[Codes], grid: Grid | None = None) -> None:
        """See `PackedInt8`: `packed.fits_int8` must hold for each block."""
        self._product = PackedInt8(blocks, grid)
        self._grid = self._product.grid.steps, self._product.grid.crest
        self.outputs, self.inputs = self._product.outputs, self._product.inputs

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        weight, eps = (_NO_NORM, 0.0) if norm is None else (floats(norm.weight), norm.eps)
        finish = finish_rows
        match epilogue:
            case AddTo(residual, None):
                out, finish = residual, add_rows
            case Gate(Activation.SILU):
                out, finish = x.new_empty((x.shape[0], self.outputs // 2)), gate_rows
            case _:
                out = x.new_empty((x.shape[0], self.outputs))
        rows, target = bits(x), bits(out)
        for first in range(0, len(rows), ROWS):
            part = rows[first : first + ROWS]
            quantised = torch.empty((2 * len(part), self.inputs))
            scales, rows_of = np.empty((len(part), 2), np.float32), np.empty(len(part), np.int32)
            residuals = quantise_rows(
                part, weight, eps, self._grid, quantised.numpy(), scales, rows_of
            )
            product = self._product.sums(quantised[: len(part) + residuals])
            finish(product.numpy(), scales, rows_of, target[first : first + ROWS])
        return out if finish is not finish_rows else reference.finish(out, epilogue)
