"""The GPU implementation of `Kernels`: all Triton kernels as one object.

Does: hold what they share (counters), and hand each call to its kernel. Does not: compute. Imported only where a GPU is
asked for: hosts without one need no Triton.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from .attention import attend
from .contracts import (
    Attend,
    AttentionPass,
    Packed,
    Places,
    Ragged,
    SampleArgs,
    Sampled,
    Verified,
)
from .kv_copy import kv_copy
from .linear import Linears, pack
from .pick import TokenSampler
from .verify import verify

COUNTERS = 1 << 16
"""Tiles of outputs that a split product may have, and rows that may be sampled at once."""


class GpuKernels(Linears):
    """`Kernels` for a GPU. One instance serves one stream."""

    def __init__(self, device: torch.device, prompts: Attend | None = None) -> None:
        """`prompts` prepares attention of steps whose layout the host knows as well; None: our own kernels do."""
        super().__init__(torch.zeros(COUNTERS, dtype=torch.int32, device=device))
        self._sampler = TokenSampler(device, COUNTERS)
        self._prompts = prompts

    def pack(self, weight: Tensor) -> Packed:
        """The matrix itself."""
        return pack(weight)

    def kv_copy(self, caches: Tensor, sources: Tensor, targets: Tensor) -> None:
        """One launch."""
        kv_copy(caches, sources, targets)

    def attend(
        self, ragged: Ragged, places: Places, heads: int, cache_shape: Sequence[int]
    ) -> AttentionPass:
        """A launch a layer for a lone token, else two; three where sequences have several tokens."""
        if self._prompts is not None and ragged.host is not None:
            return self._prompts(ragged, places, heads, cache_shape)
        return attend(ragged, places, heads, cache_shape)

    def sample(self, logits: Tensor, args: SampleArgs) -> Sampled:
        """One launch, or three with truncation."""
        return self._sampler.sample(logits, args)

    def verify(self, sampled: Sampled, given: Tensor, starts: Tensor) -> Verified:
        """One launch."""
        return verify(sampled, given, starts)
