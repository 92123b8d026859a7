"""The Triton kernels as one set, for a GPU.

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
    Drawn,
    Packed,
    PickArgs,
    Places,
    Ragged,
    Verified,
)
from .kv_copy import kv_copy
from .linear import Linears, pack
from .pick import Picker
from .verify import verify

COUNTERS = 1 << 16
"""Tiles of outputs that a split product may have, and rows that may be picked at once."""


class GpuKernels(Linears):
    """`Kernels` for a GPU. One instance serves one stream."""

    def __init__(self, device: torch.device, prompts: Attend | None = None) -> None:
        """`prompts` prepares the attention of steps that the host describes, too; None: our kernels do."""
        super().__init__(torch.zeros(COUNTERS, dtype=torch.int32, device=device))
        self._picker = Picker(device, COUNTERS)
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

    def pick(self, logits: Tensor, args: PickArgs) -> Drawn:
        """One launch, or three with truncation."""
        return self._picker.pick(logits, args)

    def verify(self, drawn: Drawn, given: Tensor, starts: Tensor) -> Verified:
        """One launch."""
        return verify(drawn, given, starts)
