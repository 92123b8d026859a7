"""Weights in MXFP4: 4-bit floats (E2M1) in groups of 32 inputs, each with a power of two as its scale (E8M0).

Does: decode them as the OCP Microscaling Formats specification (version 1.0) defines, and multiply. Does not: know
where a checkpoint holds them (`stacked_experts`).

The matrix stays in its codes, 4.25 bits a weight, and is converted to the model's dtype for each product. In bfloat16
and float32 the conversion is exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from intaglio.kernels.contracts import Epilogue, Kernels, RmsNorm, Weight
from torch import Tensor

from ...errors import ModelError
from .quantization_settings import Settings
from .scheme import Dense, Part, Scheme, Stored

GROUP = 32
BLOCKS, SCALES = "_blocks", "_scales"

_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
UNIT_SCALE = 127
"""The code of the scale 1."""
NOT_A_NUMBER = 255
"""The code of a scale that is not a number."""


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


@dataclass(frozen=True, slots=True)
class Mxfp4:
    """A matrix in MXFP4. See `Scheme`."""

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""
        if inputs % GROUP:
            raise ModelError(
                f"matrices of {inputs} inputs have no whole groups of {GROUP} for MXFP4",
                where="quantization_config",
            )
        groups = inputs // GROUP
        return {
            BLOCKS: Stored((outputs, groups, GROUP // 2), torch.uint8),
            SCALES: Stored((outputs, groups), torch.uint8),
        }

    def codes_weight(self, part: Part, bias: Tensor | None, kernels: Kernels) -> Weight:
        """The weight of one matrix, in its codes.

        Raises:
            ModelError: a scale is not a number.
        """
        scales = part(SCALES)
        if bool((scales == NOT_A_NUMBER).any()):
            raise ModelError("a scale of MXFP4 is not a number", where=part.name + SCALES)
        return kernels.settled(Mxfp4Weight(part(BLOCKS), scales, bias, kernels))


class Mxfp4Weight:
    """A matrix in MXFP4. See `Weight`."""

    def __init__(
        self, blocks: Tensor, scales: Tensor, bias: Tensor | None, kernels: Kernels
    ) -> None:
        self.outputs, self.inputs = blocks.shape[0], blocks.shape[1] * GROUP
        self._blocks, self._scales = blocks, scales
        self._bias = bias
        self._kernels = kernels

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        if norm is not None:
            x = self._kernels.rms_norm(x, norm)
        product = x @ decoded(self._blocks, self._scales, x.dtype).t()
        if self._bias is not None:
            product.add_(self._bias)
        return self._kernels.finish(product, epilogue)


@dataclass(frozen=True, slots=True)
class Mxfp4Experts:
    """Experts in MXFP4, everything else unquantised. See `Schemes`."""

    def of(self, name: str) -> Scheme:  # noqa: ARG002 - experts are stacked, and read apart
        """See `Schemes`."""
        return Dense()


def mxfp4_schemes(settings: Settings) -> Mxfp4Experts:
    """The schemes of a checkpoint with `quant_method` "mxfp4"."""
    spared = [name for name in settings.names("modules_to_not_convert") if "experts" in name]
    if spared:
        raise ModelError(
            f"experts that are not in MXFP4 ({spared[0]}) are not supported",
            where=f"{settings.where}/modules_to_not_convert",
        )
    return Mxfp4Experts()
