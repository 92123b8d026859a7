"""The parts of a decoder layer, as plain values that hold their weights.

Does: attention and the gated MLP of a pre-norm layer, each as the fewest calls of the kernels it was given; both add
what they computed to the residual. Does not: load weights, keep state between steps, or know about sequences.
"""

from dataclasses import dataclass

from torch import Tensor

from ...kernels.contracts import AttentionPass, Kernels, Packed, QKNorm, RmsNorm


@dataclass(frozen=True, slots=True)
class Matrix:
    """The weights of a linear: `weight` from `inputs` to `outputs`, `bias` [outputs]."""

    weight: Packed
    bias: Tensor | None = None


@dataclass(frozen=True, slots=True)
class StepContext:
    """What all layers of one step share."""

    attention: AttentionPass


@dataclass(frozen=True, slots=True)
class Attention:
    """Grouped-query attention. `qkv` is fused: query heads, then key heads, then value heads."""

    kernels: Kernels
    norm: RmsNorm
    qkv: Matrix
    output: Matrix
    qk_norm: QKNorm | None
    head_dim: int

    def attend(self, residual: Tensor, cache: Tensor, step: StepContext) -> Tensor:
        """What the rows of `residual` [N, hidden] attend to, [N, heads * head_dim].

        Writes this step's keys and values into `cache` first.
        """
        rows = residual.shape[0]
        fused = self.kernels.norm_linear(residual, self.norm, self.qkv.weight, self.qkv.bias)
        fused = fused.view(rows, -1, self.head_dim)
        return step.attention.run(fused, self.qk_norm, cache).view(rows, -1)

    def add(self, attended: Tensor, residual: Tensor) -> None:
        """Add what `attend` returned for the rows of `residual` [N, hidden] to them."""
        self.kernels.linear_add(attended, self.output.weight, self.output.bias, residual)


@dataclass(frozen=True, slots=True)
class Mlp:
    """SiLU-gated MLP. `gate_up` is fused: gate, then up."""

    kernels: Kernels
    norm: RmsNorm
    gate_up: Matrix
    down: Matrix

    def add(self, residual: Tensor) -> None:
        """Add the MLP of `residual` [N, hidden] to it."""
        gated = self.kernels.norm_gated(residual, self.norm, self.gate_up.weight, self.gate_up.bias)
        self.kernels.linear_add(gated, self.down.weight, self.down.bias, residual)


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer."""

    attention: Attention
    mlp: Mlp

    def run(
        self, residual: Tensor, cache: Tensor, step: StepContext, wanted: Tensor | None = None
    ) -> Tensor:
        """`residual` [N, hidden] with what the layer adds to it; may be the same tensor.

        With `wanted` [R] only these rows: of the others nothing but keys and values is made.
        """
        attended = self.attention.attend(residual, cache, step)
        if wanted is not None:
            attended, residual = attended.index_select(0, wanted), residual.index_select(0, wanted)
        self.attention.add(attended, residual)
        self.mlp.add(residual)
        return residual
