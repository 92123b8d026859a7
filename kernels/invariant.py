"""Batch-invariant kernels for the CPU: a row's results have the same bits in every step.

Does: restrict `reference_kernels` to call shapes that give equal bits on this processor, which is tested when they are
built. Does not: trust that a library sums in one order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from . import reference
from .attention.chunk_agreement import chunks_agree
from .attention.reference_attention import CHUNK, ReferenceAttention
from .contracts import (
    PLAIN_SCALING,
    AttentionPass,
    ExpertMlp,
    Experts,
    MixtureRule,
    Places,
    Ragged,
    ScoreScaling,
    Weight,
)
from .experts.reference_experts import ReferenceExperts
from .linear.row_tiles import TiledWeight, agreeing_sizes
from .reference_kernels import ReferenceKernels, ReferencePass


@dataclass(frozen=True, slots=True)
class InvariantKernels(ReferenceKernels):
    """`ReferenceKernels` for a model in `dtype`; a row does not depend on the other rows of a step.

    The test runs once for each shape.
    """

    dtype: torch.dtype = torch.float32
    _sizes: dict[tuple[type, int, int], tuple[int, ...]] = field(default_factory=dict)
    _chunks: dict[tuple[int, int, int, ScoreScaling], int] = field(default_factory=dict)

    def weight(self, matrix: Tensor, bias: Tensor | None = None) -> Weight:
        return self.settled(ReferenceKernels.weight(self, matrix, bias))

    def settled(self, weight: Weight) -> Weight:
        shape = type(weight), weight.outputs, weight.inputs
        sizes = self._sizes.get(shape)
        if sizes is None:
            sizes = self._sizes[shape] = agreeing_sizes(weight.matmul, weight.inputs, self.dtype)
        return TiledWeight(weight, sizes, self)

    def experts(
        self, mlps: Sequence[ExpertMlp], rule: MixtureRule, correction: Tensor | None = None
    ) -> Experts:
        return ReferenceExperts(mlps, rule, correction, sigmoid=reference.sigmoid)

    def attend(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> AttentionPass:
        kv_heads, head_dim = cache_shape[3:]
        shape = heads, kv_heads, head_dim, scores
        chunk = self._chunks.get(shape)
        if chunk is None:
            agree = chunks_agree(heads, kv_heads, head_dim, scores, self.dtype)
            chunk = self._chunks[shape] = CHUNK if agree else 1
        attention = ReferenceAttention(
            ragged, heads, cache_shape, self._workspace, scores, window, chunk
        )
        return ReferencePass(places, attention)
