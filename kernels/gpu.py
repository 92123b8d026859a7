"""The GPU implementation of `Kernels`: all Triton kernels as one object.

Does: hold what they share (counters), and hand each call to its kernel. Does not: compute. Imported only where a GPU is
asked for: hosts without one need no Triton.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from .attention.paged import attend
from .contracts import (
    PLAIN_SCALING,
    Attend,
    AttentionPass,
    Epilogue,
    Places,
    Ragged,
    RmsNorm,
    SampleArgs,
    Sampled,
    ScoreScaling,
    Verified,
    Weight,
)
from .drafts.verify import verify
from .linear.linear import DenseWeight, finish
from .linear.rms_norm import rms_norm
from .memory.kv_copy import kv_copy
from .sample.logits_pipeline import TokenSampler

COUNTERS = 1 << 16
"""Tiles of outputs that a split product may have, and rows that may be sampled at once."""


class GpuKernels:
    """`Kernels` for a GPU. One instance serves one stream."""

    def __init__(self, device: torch.device, prompts: Attend | None = None) -> None:
        """`prompts` prepares the attention of steps that the host describes, too; None: our kernels do."""
        self._counters = torch.zeros(COUNTERS, dtype=torch.int32, device=device)
        self._sampler = TokenSampler(device, COUNTERS)
        self._prompts = prompts

    def weight(self, matrix: Tensor, bias: Tensor | None = None) -> Weight:
        """The matrix itself, copied only where it is not contiguous."""
        return DenseWeight(matrix, bias, self._counters)

    def rms_norm(self, x: Tensor, norm: RmsNorm) -> Tensor:
        """One launch, which does not begin before the kernel ahead of it has finished."""
        return rms_norm(x, norm, early=False)

    def finish(self, product: Tensor, epilogue: Epilogue | None) -> Tensor:
        """One launch, none without an epilogue."""
        return finish(product, epilogue)

    def kv_copy(self, caches: Tensor, sources: Tensor, targets: Tensor) -> None:
        """One launch."""
        kv_copy(caches, sources, targets)

    def attend(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
    ) -> AttentionPass:
        """A launch a layer for a lone token, else two; three where sequences have several tokens."""
        if self._prompts is not None and ragged.host is not None:
            return self._prompts(ragged, places, heads, cache_shape, scores)
        return attend(ragged, places, heads, cache_shape, scores)

    def sample(self, logits: Tensor, args: SampleArgs) -> Sampled:
        """One launch, or three with truncation."""
        return self._sampler.sample(logits, args)

    def verify(self, sampled: Sampled, given: Tensor, starts: Tensor) -> Verified:
        """One launch."""
        return verify(sampled, given, starts)
