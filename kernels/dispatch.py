"""Choice of an implementation, made once when a runner is built.

Does: map a device to the kernels that serve it. Does not: fall back silently; a device without kernels is an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from . import reference, reference_attention, reference_logits, reference_verify
from .contracts import (
    Attend,
    AttentionPass,
    Kernels,
    Legal,
    Packed,
    Places,
    QKNorm,
    Ragged,
    RmsNorm,
    SampleArgs,
    Sampled,
    Verified,
)


@dataclass(frozen=True, slots=True)
class ReferencePass:
    """`AttentionPass` in torch: store the new keys and values, then attend."""

    places: Places
    attention: reference_attention.PagedAttention

    def run(self, fused: Tensor, norms: QKNorm | None, cache: Tensor) -> Tensor:
        return self.attention.run(reference.rope_and_store(fused, self.places, norms, cache), cache)


@dataclass(frozen=True, slots=True)
class ReferenceKernels:
    """The torch kernels of `reference*`, on the CPU. One instance serves one thread."""

    _workspace: reference_attention.Workspace = field(default_factory=reference_attention.Workspace)

    def pack(self, weight: Tensor) -> Packed:
        return reference.pack(weight)

    def linear(self, x: Tensor, weight: Packed, bias: Tensor | None) -> Tensor:
        return reference.linear(x, weight, bias)

    def norm_linear(self, x: Tensor, norm: RmsNorm, weight: Packed, bias: Tensor | None) -> Tensor:
        return reference.norm_linear(x, norm, weight, bias)

    def head(
        self,
        x: Tensor,
        norm: RmsNorm,
        weight: Packed,
        bias: Tensor | None,
        legal: Legal | None,  # noqa: ARG002 - the host makes all logits
    ) -> Tensor:
        return reference.norm_linear(x, norm, weight, bias)

    def norm_gated(self, x: Tensor, norm: RmsNorm, weight: Packed, bias: Tensor | None) -> Tensor:
        return reference.norm_gated(x, norm, weight, bias)

    def linear_add(self, x: Tensor, weight: Packed, bias: Tensor | None, residual: Tensor) -> None:
        reference.linear_add(x, weight, bias, residual)

    def kv_copy(self, caches: Tensor, sources: Tensor, targets: Tensor) -> None:
        reference.kv_copy(caches, sources, targets)

    def attend(
        self, ragged: Ragged, places: Places, heads: int, cache_shape: Sequence[int]
    ) -> AttentionPass:
        attention = reference_attention.PagedAttention(ragged, heads, cache_shape, self._workspace)
        return ReferencePass(places, attention)

    def sample(self, logits: Tensor, args: SampleArgs) -> Sampled:
        return reference_logits.sample(logits, args)

    def verify(self, sampled: Sampled, given: Tensor, starts: Tensor) -> Verified:
        return reference_verify.verify(sampled, given, starts)


def choose(device: torch.device, prompts: Attend | None = None) -> Kernels:
    """Kernels for `device`, with another attention for `prompts` if one is given.

    Raises `ValueError` for a device that has none, and for a host that is given another attention.
    """
    if device.type == "cpu":
        if prompts is not None:
            raise ValueError("a host has one attention, that of torch")
        return ReferenceKernels()
    if device.type == "cuda":
        from .gpu import GpuKernels  # Triton is loaded where there is a GPU to run it

        return GpuKernels(device, prompts)
    raise ValueError(f"no kernels for device {device}: 'cpu' and 'cuda' are supported")
