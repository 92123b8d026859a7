"""The CPU implementation of `Kernels`: the functions of `reference` as one object.

Does: pass each call to its function. Does not: compute.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from . import reference
from .attention import reference_attention
from .codes import Codes
from .contracts import (
    PLAIN_SCALING,
    AdapterRows,
    AttentionPass,
    Epilogue,
    ExpertMlp,
    Experts,
    LowRank,
    MixtureRule,
    Places,
    QKNorm,
    Ragged,
    RmsNorm,
    ScoreScaling,
    Weight,
)
from .drafts import reference_verify
from .experts.reference_experts import ReferenceExperts
from .linear import packed
from .linear.widened import WidenedWeight, is_widened
from .sample import reference_logits
from .sampling_contracts import SampleArgs, Sampled
from .verified import Verified


@dataclass(frozen=True, slots=True)
class ReferencePass:
    """`AttentionPass` in torch: store the new keys and values, then attend."""

    places: Places
    attention: reference_attention.ReferenceAttention

    def run(
        self, fused: Tensor, norms: QKNorm | None, cache: Tensor, sinks: Tensor | None = None
    ) -> Tensor:
        query = reference.rope_and_store(fused, self.places, norms, cache)
        return self.attention.run(query, cache, sinks)


@dataclass(frozen=True, slots=True)
class ReferenceKernels:
    """`Kernels` in torch, on the CPU. One instance serves one thread."""

    _workspace: reference_attention.Workspace = field(default_factory=reference_attention.Workspace)

    @property
    def keeps_matrices(self) -> bool:
        return False

    def weight(self, matrix: Tensor, bias: Tensor | None = None) -> Weight:
        if is_widened(matrix.dtype):
            if packed.is_available() and packed.fits_float16(matrix):
                return packed.PackedWeight(packed.PackedFloat16(matrix), bias)
            return WidenedWeight(matrix, bias)
        return reference.ReferenceWeight(matrix, bias)

    def settled(self, weight: Weight) -> Weight:
        return weight

    def coded(
        self,
        blocks: Sequence[Codes],
        bias: Tensor | None,
        dtype: torch.dtype,
    ) -> Weight | None:
        if is_widened(dtype) and packed.is_available() and all(map(packed.fits_int8, blocks)):
            # Its rows do not depend on each other: nothing is to be settled.
            return packed.PackedWeight(packed.PackedInt8(blocks), bias)
        return None

    def experts(
        self, mlps: Sequence[ExpertMlp], rule: MixtureRule, correction: Tensor | None = None
    ) -> Experts:
        return ReferenceExperts(mlps, rule, correction)

    def rms_norm(self, x: Tensor, norm: RmsNorm) -> Tensor:
        return reference.rms_norm(x, norm.weight, norm.eps)

    def finish(self, product: Tensor, epilogue: Epilogue | None) -> Tensor:
        return reference.finish(product, epilogue)

    def adapter_rows(self, places: Tensor, count: int) -> AdapterRows:  # noqa: ARG002 - any number
        return AdapterRows(places)

    def add_low_rank(self, product: Tensor, x: Tensor, factors: LowRank, rows: AdapterRows) -> None:
        reference.add_low_rank(product, x, factors, rows.places)

    def attend(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> AttentionPass:
        attention = reference_attention.ReferenceAttention(
            ragged, heads, cache_shape, self._workspace, scores, window
        )
        return ReferencePass(places, attention)

    def sample(self, logits: Tensor, args: SampleArgs) -> Sampled:
        return reference_logits.sample(logits, args)

    def verify(self, sampled: Sampled, given: Tensor, starts: Tensor) -> Verified:
        return reference_verify.verify(sampled, given, starts)
