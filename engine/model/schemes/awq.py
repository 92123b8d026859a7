"""Checkpoints of AWQ in its layout "gemm": integers of 4 bits, packed along the outputs.

Does: decode the tensors `qweight`, `qzeros` and `scales` as AutoAWQ writes them. Does not: quantise. The method is that
of Lin et al., "AWQ: Activation-aware Weight Quantization for LLM Compression and Acceleration" (2023).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from intaglio.kernels.codes import Codes

from .coded import Coded, Sparing, groups_of
from .packed_integers import WORD, unpacked_awq
from .quantization_settings import Settings
from .scheme import Part, Schemes, Stored

BITS = 4


@dataclass(frozen=True, slots=True)
class Awq(Coded):
    """`group_size` None: one group of all inputs."""

    group_size: int | None

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""
        groups, words = groups_of(inputs, self.group_size or inputs), outputs * BITS // WORD
        return {
            ".qweight": Stored((inputs, words), torch.int32),
            ".qzeros": Stored((groups, words), torch.int32),
            ".scales": Stored((groups, outputs), torch.float32),
        }

    def codes(self, part: Part) -> Codes:
        """See `Coded`."""
        values = unpacked_awq(part(".qweight")).t().contiguous()
        zeros = unpacked_awq(part(".qzeros")).t().to(torch.float32)
        size = self.group_size or values.shape[1]
        return Codes(values, part(".scales").t().contiguous(), zeros.contiguous(), size, BITS)


def awq_schemes(settings: Settings) -> Schemes:
    """The schemes of a checkpoint with `quant_method` "awq"."""
    settings.choice("version", ("gemm",), "gemm")
    settings.count("bits", (BITS,))
    if not settings.flag("zero_point", default=True):
        raise settings.wrong("zero_point", "true")
    spared = settings.names("modules_to_not_convert")
    return Sparing(Awq(settings.group_size()), spared)
