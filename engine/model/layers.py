"""The parts of a decoder layer, as plain values that hold their weights.

Does: a linear, a norm, attention and the gated MLP, each over the kernels it was given. Does not: load weights, keep
state between steps, or know about sequences.
"""

from dataclasses import dataclass

from torch import Tensor

from ...kernels.contracts import AttentionPass, Kernels, Packed, RopeRows


@dataclass(frozen=True, slots=True)
class Linear:
    """`x` [N, inputs] to [N, outputs]."""

    kernels: Kernels
    weight: Packed
    bias: Tensor | None = None

    def __call__(self, x: Tensor) -> Tensor:
        return self.kernels.linear(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True)
class Norm:
    """RMSNorm over the last axis. `weight` [hidden], or [heads, head_dim] to norm each head with its own."""

    kernels: Kernels
    weight: Tensor
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        return self.kernels.rms_norm(x, self.weight, self.eps)

    def after_adding(self, x: Tensor, residual: Tensor) -> Tensor:
        """Add `x` to `residual` in place, and norm the sum."""
        return self.kernels.add_rms_norm(x, residual, self.weight, self.eps)


@dataclass(frozen=True, slots=True)
class StepContext:
    """What all layers of one step share. `slots` [M]: where the keys and values of the first M rows go."""

    rope: RopeRows
    attention: AttentionPass
    slots: Tensor


@dataclass(frozen=True, slots=True)
class Attention:
    """Grouped-query attention. `qkv` is fused: query heads, then key heads, then value heads."""

    kernels: Kernels
    heads: int
    kv_heads: int
    head_dim: int
    qkv: Linear
    output: Linear
    qk_norm: Norm | None

    def __call__(self, x: Tensor, cache: Tensor, step: StepContext) -> Tensor:
        """`x` [N, hidden] to [N, hidden]; writes this step's keys and values into `cache` first."""
        rotated = self.heads + self.kv_heads
        fused = self.qkv(x).view(x.shape[0], rotated + self.kv_heads, self.head_dim)
        qk = fused[:, :rotated]
        if self.qk_norm is not None:
            qk = self.qk_norm(qk)
        qk = self.kernels.rope(qk, step.rope)
        count = step.slots.shape[0]
        self.kernels.kv_write(cache, qk[:count, self.heads :], fused[:count, rotated:], step.slots)
        attended = step.attention.run(qk[:, : self.heads], cache)
        return self.output(attended.view(x.shape[0], -1))


@dataclass(frozen=True, slots=True)
class Mlp:
    """SiLU-gated MLP. `gate_up` is fused: gate, then up."""

    kernels: Kernels
    gate_up: Linear
    down: Linear

    def __call__(self, x: Tensor) -> Tensor:
        return self.down(self.kernels.gate(self.gate_up(x)))


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer, pre-norm."""

    attention_norm: Norm
    attention: Attention
    mlp_norm: Norm
    mlp: Mlp
