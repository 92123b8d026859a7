"""The matrices of all experts of a layer in one tensor, as the kernels read them.

Does: stack them, and lay out the codes of MXFP4. Does not: multiply (`expert_product`).

Codes of a group of 32 inputs take 16 bytes; byte `i` holds input `i` of the group in its low half and input `i + 16` in
its high half. So the halves of a tile of bytes multiply two tiles of `x`, each of whole runs of inputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..contracts import Weight
from ..linear.linear import DenseWeight
from ..mxfp4_weight import GROUP, Mxfp4Weight


@dataclass(frozen=True, slots=True)
class ExpertMatrices:
    """One matrix of each expert, [experts, outputs, inputs], and `biases` [experts, outputs] if they have any.

    `values` are the elements; with `scales` [experts, outputs, inputs / 32] uint8 they are codes of MXFP4 in bytes,
    [experts, outputs, inputs / 2]. All tensors are contiguous.
    """

    values: Tensor
    scales: Tensor | None = None
    biases: Tensor | None = None

    @property
    def experts(self) -> int:
        """The number of matrices."""
        return int(self.values.shape[0])

    @property
    def outputs(self) -> int:
        """The rows of each matrix."""
        return int(self.values.shape[1])

    @property
    def inputs(self) -> int:
        """The columns of each matrix."""
        return int(self.values.shape[2]) * (1 if self.scales is None else 2)


def stacked(weights: Sequence[Weight]) -> ExpertMatrices:
    """The matrices of `weights`, copied.

    Raises:
        ValueError: they are neither all unquantised nor all in MXFP4, or only some have biases.
    """
    dense = [weight for weight in weights if isinstance(weight, DenseWeight)]
    coded = [weight for weight in weights if isinstance(weight, Mxfp4Weight)]
    if len(weights) not in (len(dense), len(coded)):
        raise ValueError("experts on a GPU are unquantised or in MXFP4")
    biases = [weight.bias for weight in dense or coded if weight.bias is not None]
    if biases and len(biases) < len(weights):
        raise ValueError("only some experts have biases")
    each = torch.stack(biases) if biases else None
    if dense:
        return ExpertMatrices(torch.stack([weight.matrix for weight in dense]), None, each)
    scales = torch.stack([weight.scales for weight in coded])
    return ExpertMatrices(torch.stack([_laid_out(w.blocks) for w in coded]), scales, each)


def _laid_out(blocks: Tensor) -> Tensor:
    """The bytes [outputs, inputs / 2] of `blocks`; see `mxfp4_weight.decoded`."""
    codes = torch.stack((blocks & 15, blocks >> 4), -1).flatten(-2)
    return (codes[..., : GROUP // 2] | codes[..., GROUP // 2 :] << 4).flatten(1)
