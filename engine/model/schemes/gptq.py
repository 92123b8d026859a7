"""Checkpoints of GPTQ: integers of 2, 3, 4 or 8 bits, packed along the inputs, also in the order of activations.

Does: decode the tensors `qweight`, `qzeros`, `scales` and `g_idx` as AutoGPTQ (version 1) and GPTQModel (version 2)
write them. Does not: quantise. The method is that of Frantar et al., "GPTQ: Accurate Post-Training Quantization for
Generative Pre-trained Transformers" (2022). A zero point of version 1 is stored as one less than its value.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from intaglio.kernels.codes import Codes
from torch import Tensor

from ...errors import ModelError
from .coded import Coded, Sparing, groups_of
from .packed_integers import WORD, unpacked
from .quantization_settings import Settings
from .scheme import Part, Schemes, Stored


@dataclass(frozen=True, slots=True)
class Gptq(Coded):
    """`group_size` None: one group of all inputs. `zero_offset` is added to stored zero points."""

    bits: int
    group_size: int | None
    zero_offset: int

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`. Sizes that do not fill their words are refused by the shapes."""
        groups = groups_of(inputs, self.group_size or inputs)
        return {
            ".qweight": Stored((inputs * self.bits // WORD, outputs), torch.int32),
            ".qzeros": Stored((groups, outputs * self.bits // WORD), torch.int32),
            ".scales": Stored((groups, outputs), torch.float32),
            ".g_idx": Stored((inputs,), torch.int32, optional=True),
        }

    def codes(self, part: Part) -> Codes:
        """See `Coded`."""
        values = unpacked(part(".qweight"), self.bits, 0).t()
        zeros = unpacked(part(".qzeros"), self.bits, 1).t().to(torch.float32)
        scales = part(".scales").t().contiguous()
        size = self.group_size or values.shape[1]
        order = input_order(part(".g_idx"), size) if part.has(".g_idx") else None
        if order is not None:
            values = values[:, order]
        zeros = (zeros + self.zero_offset).contiguous()
        return Codes(values.contiguous(), scales, zeros, size, self.bits, order)


def input_order(groups: Tensor, group_size: int) -> Tensor | None:
    """The inputs, group by group, for the group of each input; None if they are in this order already.

    Raises:
        ModelError: a group does not have `group_size` inputs.
    """
    order = torch.argsort(groups, stable=True)
    expected = torch.arange(len(groups), device=groups.device) // group_size
    if not torch.equal(groups[order].to(torch.int64), expected):
        raise ModelError(
            f"the groups in g_idx do not have {group_size} inputs each",
            where="g_idx",
            hint="the file is damaged, or group_size in config.json is that of another checkpoint",
        )
    in_order = torch.equal(order, torch.arange(len(order), device=order.device))
    return None if in_order else order


def gptq_schemes(settings: Settings) -> Schemes:
    """The schemes of a checkpoint with `quant_method` "gptq"."""
    settings.absent("dynamic", "lm_head", "is_marlin_format", "modules_in_block_to_quantize")
    version = settings.choice("checkpoint_format", ("gptq", "gptq_v2"), "gptq")
    bits = settings.count("bits", (2, 3, 4, 8))
    scheme = Gptq(bits, settings.group_size(), 1 if version == "gptq" else 0)
    return Sparing(scheme)
