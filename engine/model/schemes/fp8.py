"""Weights in 8-bit floats (E4M3), with a scale for the matrix, for each output, or for each block.

Does: decode them, and say whether the format also rounds activations. Does not: use the scales of inputs that a
checkpoint may hold: activations that are rounded have a scale for each token, which is at least as exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from intaglio.kernels.codes import Codes

from .coded import Coded, Sparing, groups_of
from .quantization_settings import Settings
from .scheme import Part, Schemes, Stored

FP8 = torch.float8_e4m3fn


@dataclass(frozen=True, slots=True)
class Fp8Blocks(Coded):
    """One scale for each block of `rows` outputs and `columns` inputs, in the tensor of suffix `scale`."""

    rows: int
    columns: int
    scale: str = ".weight_scale_inv"

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""
        blocks = (groups_of(outputs, self.rows), groups_of(inputs, self.columns))
        return {
            ".weight": Stored((outputs, inputs), FP8),
            self.scale: Stored(blocks, torch.float32),
            ".input_scale": Stored((1,), torch.float32, optional=True),
        }

    def codes(self, part: Part) -> Codes:
        """See `Coded`."""
        values = part(".weight")
        scales = part(self.scale).repeat_interleave(self.rows, 0)[: values.shape[0]]
        return Codes(values, scales, None, self.columns, 0)


@dataclass(frozen=True, slots=True)
class Fp8Rows(Coded):
    """One scale for each output, or one for the matrix. `activations`: see `Codes`."""

    by_output: bool
    activations: bool = False

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""
        return {
            ".weight": Stored((outputs, inputs), FP8),
            ".weight_scale": Stored((outputs, 1) if self.by_output else (1,), torch.float32),
            ".input_scale": Stored((1,), torch.float32, optional=True),
        }

    def codes(self, part: Part) -> Codes:
        """See `Coded`."""
        values = part(".weight")
        scales = part(".weight_scale").reshape(-1, 1).expand(values.shape[0], 1)
        return Codes(
            values, scales.contiguous(), None, values.shape[1], 0, activations=self.activations
        )


def fp8_schemes(settings: Settings) -> Schemes:
    """The schemes of a checkpoint with `quant_method` "fp8"."""
    settings.choice("fmt", ("e4m3",), "e4m3")
    block = settings.pair("weight_block_size")
    scheme = Fp8Rows(by_output=False, activations=True) if block is None else Fp8Blocks(*block)
    spared = settings.names("modules_to_not_convert") + settings.names("ignored_layers")
    return Sparing(scheme, spared)
