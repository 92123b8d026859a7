"""Weights in MXFP4: 4-bit floats (E2M1) in groups of 32 inputs, each with a power of two as its scale (E8M0).

Does: decode them as the OCP Microscaling Formats specification (version 1.0) defines, and multiply with a converted
matrix. Does not: know where a checkpoint holds them (`engine/model/schemes/mxfp4`), or multiply by codes on a GPU
(`experts`).
"""

import torch
from torch import Tensor

from .contracts import Epilogue, Kernels, RmsNorm
from .linear.widened import product

GROUP = 32
_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
UNIT_SCALE = 127
"""The code of the scale 1."""


def decoded(blocks: Tensor, scales: Tensor, dtype: torch.dtype) -> Tensor:
    """The matrix [outputs, inputs] of `blocks` [outputs, groups, 16] and `scales` [outputs, groups], both uint8.

    The low half of a byte is the first of its two weights.
    """
    wide = torch.float32 if dtype == torch.float16 else dtype
    values = (*_MAGNITUDES, *(-each for each in _MAGNITUDES))
    pairs = torch.tensor([(values[byte & 15], values[byte >> 4]) for byte in range(256)])
    floats = pairs.to(blocks.device, wide)[blocks.to(torch.int32)]
    powers = torch.exp2(scales.to(torch.float32) - UNIT_SCALE).to(wide)
    outputs, groups, half = blocks.shape
    matrix = floats.view(outputs, groups, 2 * half) * powers.unsqueeze(2)
    return matrix.view(outputs, -1).to(dtype)


class Mxfp4Weight:
    """A matrix in MXFP4, 4.25 bits a weight, that is converted to the model's dtype for each product. See `Weight`.

    In bfloat16 and float32 the conversion is exact.
    """

    def __init__(
        self, blocks: Tensor, scales: Tensor, bias: Tensor | None, kernels: Kernels
    ) -> None:
        """`blocks` and `scales`: see `decoded`."""
        self.outputs, self.inputs = blocks.shape[0], blocks.shape[1] * GROUP
        self.blocks, self.scales = blocks, scales
        self.bias = bias
        self._kernels = kernels

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        if norm is not None:
            x = self._kernels.rms_norm(x, norm)
        outputs = product(x, decoded(self.blocks, self.scales, x.dtype))
        if self.bias is not None:
            outputs.add_(self.bias)
        return self._kernels.finish(outputs, epilogue)
