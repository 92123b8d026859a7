"""`Kernels` for models in bfloat16 on CPUs that multiply packed weights: compiled loops in place of small operations.

Does: replace the weights of int8 and the attention of `ReferenceKernels`. Does not: give a row the same bits in every
step (`kernels/invariant.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from intaglio.kernels.attention.reference_attention import ReferenceAttention
from intaglio.kernels.codes import Codes
from intaglio.kernels.contracts import (
    PLAIN_SCALING,
    AttentionPass,
    Places,
    Ragged,
    ScoreScaling,
    Weight,
)
from intaglio.kernels.linear import packed
from intaglio.kernels.reference_kernels import ReferenceKernels
from torch import Tensor

from ...model.spec import ModelSpec
from .looped_attention import LoopedPass, divided
from .looped_weight import LoopedWeight

WIDEST = 1024
"""The most query heads times their width. Loops run in one thread: the layers of a wider model have enough work for
several, among which torch divides it."""


@dataclass(frozen=True, slots=True)
class LoopedKernels(ReferenceKernels):
    """`ReferenceKernels` in loops, where there are some."""

    def coded(
        self, blocks: Sequence[Codes], bias: Tensor | None, dtype: torch.dtype
    ) -> Weight | None:
        """See `Kernels`."""
        if bias is None and all(map(packed.fits_int8, blocks)):
            return LoopedWeight(blocks)
        return ReferenceKernels.coded(self, blocks, bias, dtype)

    def attend(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> AttentionPass:
        """See `Kernels`."""
        planes, *_, size = cache_shape
        whole = places.cos.shape[-1] == size and planes == 2
        if not whole or window is not None or scores.softcap is not None:
            return ReferenceKernels.attend(self, ragged, places, heads, cache_shape, scores, window)
        few, many, rows = divided(ragged)
        others = None
        if many is not None:
            others = ReferenceAttention(many, heads, cache_shape, self._workspace, scores)
        return LoopedPass(
            ragged=ragged,
            places=places,
            few=few,
            others=others,
            rows=rows,
            scale=size**-0.5 if scores.scale is None else scores.scale,
        )


def has_loops(spec: ModelSpec, device: torch.device, dtype: torch.dtype) -> bool:
    """Whether a model in `dtype` runs on `device` with these kernels."""
    is_ours = device.type == "cpu" and dtype == torch.bfloat16 and packed.is_available()
    return is_ours and not spec.family.sinks and spec.heads * spec.head_dim <= WIDEST
