"""The Triton kernels as one set, for a GPU.

Does: hold what they share (counters), and hand each call to its kernel. Does not: compute. Imported only where a GPU is
asked for: hosts without one need no Triton.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from . import reference
from .attention import PagedAttention
from .contracts import (
    AttentionPass,
    Drawn,
    Packed,
    PickArgs,
    Places,
    QKNorm,
    Ragged,
    RopeRows,
)
from .kv_copy import kv_copy
from .linear import Linears, pack
from .pick import Picker
from .rope import rope_and_store

COUNTERS = 1 << 16
"""Tiles of outputs that a split product may have, and rows that may be picked at once."""


class GpuKernels(Linears):
    """`Kernels` for a GPU. One instance serves one stream."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(torch.zeros(COUNTERS, dtype=torch.int32, device=device))
        self._picker = Picker(device, COUNTERS)

    def pack(self, weight: Tensor) -> Packed:
        """The matrix itself."""
        return pack(weight)

    def rope_and_store(
        self, fused: Tensor, places: Places, norms: QKNorm | None, cache: Tensor
    ) -> Tensor:
        """One launch."""
        return rope_and_store(fused, places, norms, cache)

    def kv_copy(self, caches: Tensor, sources: Tensor, targets: Tensor) -> None:
        """One launch."""
        kv_copy(caches, sources, targets)

    def rms_norm(self, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        """In torch."""
        return reference.rms_norm(x, weight, eps)

    def add_rms_norm(self, x: Tensor, residual: Tensor, weight: Tensor, eps: float) -> Tensor:
        """In torch."""
        return reference.add_rms_norm(x, residual, weight, eps)

    def rope(self, x: Tensor, rows: RopeRows) -> Tensor:
        """In torch."""
        return reference.rope(x, rows)

    def gate(self, x: Tensor) -> Tensor:
        """In torch."""
        return reference.gate(x)

    def kv_write(self, cache: Tensor, keys: Tensor, values: Tensor, slots: Tensor) -> None:
        """In torch."""
        reference.kv_write(cache, keys, values, slots)

    def attend(self, ragged: Ragged, heads: int, cache_shape: Sequence[int]) -> AttentionPass:
        """One launch a layer for steps of single tokens, two for mixed ones."""
        return PagedAttention(ragged, heads, cache_shape)

    def pick(self, logits: Tensor, args: PickArgs) -> Drawn:
        """One launch, or three with truncation."""
        return self._picker.pick(logits, args)
