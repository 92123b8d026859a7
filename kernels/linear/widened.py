"""Products of bfloat16 in float32, for CPUs without bfloat16 instructions.

On such a CPU torch computes products of bfloat16 matrices without vector instructions. Measured on two cores of an AMD
EPYC with AVX2: 600 rows times a 3328 x 640 matrix took 188 to 1979 ms, by the layout of the matrix, and 21 ms in
float32 with the conversion of the matrix; a head of 8192 x 640 took 22 ms for one row, and 0.7 ms as a product of
vectors, which torch does vectorise.

Does: multiply on a CPU. Does not: change what is kept in memory, which stays bfloat16 (or int8) in its own layout.
"""

import platform
from functools import cache
from typing import Final

import torch
from torch import Tensor
from torch.nn.functional import linear

from .. import reference
from ..contracts import Epilogue, RmsNorm

BLOCK: Final = 832
"""Outputs that are converted at once: with `PART` inputs in float32 they stay in the cache of a core."""
VECTORS: Final = 2
"""The most rows for which torch's product of bfloat16 vectors is faster than the conversion."""


@cache
def multiplies_bfloat16() -> bool:
    """Whether this CPU has instructions for products of bfloat16; assumed of all but x86-64."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return True
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def is_widened(dtype: torch.dtype) -> bool:
    """Whether products of `dtype` are faster in float32 on this CPU."""
    return dtype == torch.bfloat16 and not multiplies_bfloat16()


def product(x: Tensor, matrix: Tensor) -> Tensor:
    """`x` [N, inputs] times the transpose of `matrix` [outputs, inputs], in the dtype of `x`."""
    if is_widened(x.dtype):
        return widened_product(x, matrix).to(x.dtype)
    return torch.mm(x, matrix.to(x.dtype).t())


def widened_product(x: Tensor, matrix: Tensor) -> Tensor:
    """`x` [N, inputs] times the transpose of `matrix` [outputs, inputs] of any dtype, as float32 [N, outputs].

    Slices of `PART` inputs are summed in order; see `reference.ReferenceWeight`.
    """
    wide = x.float()
    outputs, inputs = matrix.shape
    out = wide.new_empty((x.shape[0], outputs))
    for first in range(0, outputs, BLOCK):
        columns, rows = out[:, first : first + BLOCK], matrix[first : first + BLOCK]
        for at in range(0, inputs, reference.PART):
            part = rows[:, at : at + reference.PART].float().t()
            given = wide[:, at : at + reference.PART]
            if at == 0:
                torch.mm(given, part, out=columns)
            else:
                columns.addmm_(given, part)
    return out


class WidenedWeight:
    """An unquantised bfloat16 matrix [outputs, inputs], multiplied in float32. See `Weight`.

    The matrix is not copied: an embedding that is also the head is in memory once.
    """

    def __init__(self, matrix: Tensor, bias: Tensor | None = None) -> None:
        self.outputs, self.inputs = matrix.shape
        self._matrix, self._bias = matrix, bias

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        if norm is not None:
            x = reference.rms_norm(x, norm.weight, norm.eps)
        if x.shape[0] <= VECTORS:
            return reference.finish(linear(x, self._matrix, self._bias), epilogue)
        wide = widened_product(x, self._matrix)
        if self._bias is not None:
            wide.add_(self._bias)
        return reference.finish(wide.to(x.dtype), epilogue)
