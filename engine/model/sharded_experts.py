"""The part of a layer's stacked experts that one rank holds: some hidden units of every expert.

Does: cut the tensors of a checkpoint, unquantised and in MXFP4. Does not: read them, or name them (`stacked_experts`).

A rank has the gate, the up and the down projection of its own units. The outputs of all ranks are added up, so the
first rank alone has the bias of the down projection.
"""

from dataclasses import dataclass

import torch
from intaglio.kernels.mxfp4_weight import GROUP
from torch import Tensor

from ..parallel.parallel_layout import ParallelLayout
from .schemes.mxfp4 import BLOCKS, SCALES, Mxfp4Experts
from .spec import ModelSpec
from .stacked_experts import BIAS, DOWN


@dataclass(frozen=True, slots=True)
class StackPart:
    """What a tensor of stacked experts holds: `part` of each expert, "gate_up" or "down"; its `kind` is a suffix."""

    part: str
    kind: str

    @classmethod
    def named(cls, name: str, spec: ModelSpec) -> "StackPart | None":
        """That of the tensor of this name in a checkpoint of `spec`; None for tensors of other things."""
        layout = spec.family.experts
        if layout is None or layout.stacked is None:
            return None
        tail = name.rpartition(".")[2]
        for part, linear in layout.linears.items():
            stem = linear.rpartition(".")[2]
            if tail in (stem, stem + BIAS, stem + BLOCKS, stem + SCALES):
                return cls(part, tail.removeprefix(stem))
        return None

    def cut(self, tensor: Tensor, spec: ModelSpec, layout: ParallelLayout) -> Tensor:
        """The part of one rank of `tensor`, which may be overwritten. `spec` is that of the whole model.

        Unquantised matrices are [experts, inputs, outputs]; codes, scales and biases are [experts, outputs, ...].
        """
        own = layout.part(_units(spec))
        if self.part == DOWN:
            if self.kind == BIAS:
                return tensor if layout.rank == 0 else tensor.zero_()
            if self.kind:
                return tensor[:, :, own.start // GROUP : own.stop // GROUP].clone()
            return tensor[:, own].clone()
        outputs = 1 if self.kind else 2
        width = own.stop - own.start
        if _alternates(spec):
            return tensor.narrow(outputs, 2 * own.start, 2 * width).clone()
        starts = (own.start, own.start + _units(spec))
        return torch.cat([tensor.narrow(outputs, start, width) for start in starts], outputs)


def coded_groups(spec: ModelSpec) -> int | None:
    """The groups of MXFP4 in a row of an expert's down projection, which are never cut; None for other models."""
    return _units(spec) // GROUP if isinstance(spec.schemes, Mxfp4Experts) else None


def _units(spec: ModelSpec) -> int:
    return 0 if spec.experts is None else spec.experts.ffn


def _alternates(spec: ModelSpec) -> bool:
    layout = spec.family.experts
    return layout is not None and layout.stacked is not None and layout.stacked.alternates
