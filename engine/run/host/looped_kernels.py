"""`Kernels` for small bfloat16 models on x86-64 CPUs: compiled loops in place of many small torch operations.

Does: replace the weights of int8 and the attention of `ReferenceKernels`. Does not: give a row the same bits in every
step (`kernels/invariant.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
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
from .looped_attention import LoopedPass
from .looped_weight import LoopedWeight
from .shares import ShareThreads

WIDEST = 1024
"""The most query heads times their width. The loops around products run in one thread: the layers of a wider model have
enough work for several, among which torch divides it."""


@dataclass(frozen=True, slots=True)
class LoopedKernels(ReferenceKernels):
    """`ReferenceKernels`, with compiled loops for int8 weights and for attention that they support."""

    threads: ShareThreads = field(default_factory=ShareThreads)

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
        scale = size**-0.5 if scores.scale is None else scores.scale
        return LoopedPass(ragged, places, scale, self.threads)


def has_loops(spec: ModelSpec, device: torch.device, dtype: torch.dtype) -> bool:
    """Whether a model in `dtype` runs on `device` with these kernels."""
    is_ours = device.type == "cpu" and dtype == torch.bfloat16 and packed.is_available()
    return is_ours and not spec.family.sinks and spec.heads * spec.head_dim <= WIDEST
