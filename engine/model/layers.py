"""The parts of a decoder layer: attention and MLP, as frozen values with their weights.

Does: compute attention and the gated MLP, each with the fewest matrix products; both add their output to the residual,
normed first in families with post-norms. Does not: load weights, keep state between steps, or know about sequences.
"""

from dataclasses import dataclass
from typing import Protocol

from intaglio.kernels.contracts import AddTo, AttentionPass, Gate, QKNorm, RmsNorm, Weight
from torch import Tensor


@dataclass(frozen=True, slots=True)
class StepContext:
    """State that all layers of one step share."""

    attention: AttentionPass


@dataclass(frozen=True, slots=True)
class Attention:
    """Grouped-query attention. `qkv` is fused: query heads, then key heads, then value heads.

    `norm` normalises the input, `post_norm` the output.
    """

    norm: RmsNorm | None
    qkv: Weight
    output: Weight
    post_norm: RmsNorm | None
    qk_norm: QKNorm | None
    head_dim: int

    def attend(self, residual: Tensor, cache: Tensor, step: StepContext) -> Tensor:
        """Attended values [N, heads * head_dim] of the rows of `residual` [N, hidden].

        First stores the keys and values of this step in `cache`.
        """
        rows = residual.shape[0]
        fused = self.qkv.matmul(residual, self.norm).view(rows, -1, self.head_dim)
        return step.attention.run(fused, self.qk_norm, cache).view(rows, -1)

    def add(self, attended: Tensor, residual: Tensor) -> None:
        """Add the output for `attended`, the result of `attend`, to `residual` [N, hidden], in place."""
        self.output.matmul(attended, epilogue=AddTo(residual, self.post_norm))


class Mlp(Protocol):
    """The feed-forward part of a layer: one gated MLP, or a mixture of experts."""

    def add(self, residual: Tensor) -> None:
        """Add the output to `residual` [N, hidden], in place."""
        ...


@dataclass(frozen=True, slots=True)
class GatedMlp:
    """Gated MLP (Shazeer 2020). `gate_up` is fused: gate, then up.

    `norm` normalises the input, `post_norm` the output.
    """

    norm: RmsNorm | None
    gate_up: Weight
    gate: Gate
    down: Weight
    post_norm: RmsNorm | None

    def add(self, residual: Tensor) -> None:
        """See `Mlp`."""
        gated = self.gate_up.matmul(residual, self.norm, self.gate)
        self.down.matmul(gated, epilogue=AddTo(residual, self.post_norm))


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer."""

    attention: Attention
    mlp: Mlp

    def run(
        self, residual: Tensor, cache: Tensor, step: StepContext, wanted: Tensor | None = None
    ) -> Tensor:
        """`residual` [N, hidden] plus the layer's outputs, possibly in the same tensor.

        With `wanted` [R] only these rows: for the others only keys and values are computed.
        """
        attended = self.attention.attend(residual, cache, step)
        if wanted is not None:
            attended, residual = attended.index_select(0, wanted), residual.index_select(0, wanted)
        self.attention.add(attended, residual)
        self.mlp.add(residual)
        return residual
