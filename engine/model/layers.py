"""The parts of a decoder layer: attention and MLP, as frozen values with their weights.

Does: compute attention and the gated MLP, each with the fewest matrix products; both add their output to the residual,
normed and scaled first in families that do so. Does not: load weights, keep state between steps, or know sequences.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from intaglio.kernels.contracts import (
    AddTo,
    AttentionPass,
    Gate,
    Kernels,
    QKNorm,
    RmsNorm,
    Weight,
)
from torch import Tensor


@dataclass(frozen=True, slots=True)
class StepContext:
    """State that all layers of one step share: a pass for each `AttentionVariant` of the model.

    `narrow`, called with indices of rows, prepares the weights for products of these rows only.
    """

    passes: tuple[AttentionPass, ...]
    narrow: Callable[[Tensor], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Residual:
    """The addition of a layer part's output to the residual.

    The output is normed by `norm`, then multiplied by `scale`; None for neither.
    """

    norm: RmsNorm | None
    scale: float | None

    def add(self, weight: Weight, x: Tensor, residual: Tensor) -> None:
        """Add the product of `x` [N, inputs] with `weight` to `residual` [N, outputs], in place."""
        if self.scale is None:
            weight.matmul(x, epilogue=AddTo(residual, self.norm))
            return
        output = torch.zeros_like(residual)
        weight.matmul(x, epilogue=AddTo(output, self.norm))
        residual.add_(output, alpha=self.scale)

    def add_output(self, output: Tensor, residual: Tensor, kernels: Kernels) -> None:
        """Add `output` [N, hidden], which may be overwritten, to `residual`, in place."""
        if self.norm is not None:
            output = kernels.rms_norm(output, self.norm)
        residual.add_(output, alpha=1.0 if self.scale is None else self.scale)


@dataclass(frozen=True, slots=True)
class WholeNorm:
    """Norms of all query heads together, and of all key heads together."""

    query: RmsNorm
    key: RmsNorm

    def apply(self, fused: Tensor, kernels: Kernels) -> None:
        """Norm queries and keys in `fused` [N, (heads + 2 * kv_heads) * head_dim], in place."""
        queries, keys = self.query.weight.shape[0], self.key.weight.shape[0]
        for norm, part in (
            (self.query, fused[:, :queries]),
            (self.key, fused[:, queries : queries + keys]),
        ):
            part.copy_(kernels.rms_norm(part, norm))


@dataclass(frozen=True, slots=True)
class Attention:
    """Grouped-query attention. `qkv` is fused: query heads, then key heads, then value heads.

    `norm` normalises the input. `variant` is the index of the attention in `Decoder.variants`. Queries and keys are
    normed by `qk_norm`, head by head, or by `whole_norm`; None for families without. `sinks`: see `AttentionPass.run`.
    """

    norm: RmsNorm | None
    qkv: Weight
    output: Weight
    residual: Residual
    qk_norm: QKNorm | None
    whole_norm: WholeNorm | None
    sinks: Tensor | None
    head_dim: int
    variant: int
    kernels: Kernels

    def attend(self, residual: Tensor, cache: Tensor, step: StepContext) -> Tensor:
        """Attended values [N, heads * head_dim] of the rows of `residual` [N, hidden].

        First stores the keys and values of this step in `cache`.
        """
        rows = residual.shape[0]
        fused = self.qkv.matmul(residual, self.norm)
        if self.whole_norm is not None:
            self.whole_norm.apply(fused, self.kernels)
        heads = fused.view(rows, -1, self.head_dim)
        attention = step.passes[self.variant]
        return attention.run(heads, self.qk_norm, cache, self.sinks).view(rows, -1)

    def add(self, attended: Tensor, residual: Tensor) -> None:
        """Add the output for `attended`, the result of `attend`, to `residual` [N, hidden], in place."""
        self.residual.add(self.output, attended, residual)


class Mlp(Protocol):
    """The feed-forward part of a layer: one gated MLP, or a mixture of experts."""

    def add(self, residual: Tensor) -> None:
        """Add the output to `residual` [N, hidden], in place."""
        ...


@dataclass(frozen=True, slots=True)
class GatedMlp:
    """Gated MLP (Shazeer 2020). `gate_up` is fused: gate, then up.

    `norm` normalises the input.
    """

    norm: RmsNorm | None
    gate_up: Weight
    gate: Gate
    down: Weight
    residual: Residual

    def add(self, residual: Tensor) -> None:
        """See `Mlp`."""
        gated = self.gate_up.matmul(residual, self.norm, self.gate)
        self.residual.add(self.down, gated, residual)


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer."""

    attention: Attention
    mlp: Mlp

    def run(
        self,
        residual: Tensor,
        cache: Tensor,
        step: StepContext,
        logits_indices: Tensor | None = None,
    ) -> Tensor:
        """`residual` [N, hidden] plus the layer's outputs, possibly in the same tensor.

        With `logits_indices` [R] only these rows: for the others only keys and values are computed.
        """
        attended = self.attention.attend(residual, cache, step)
        if logits_indices is not None:
            attended, residual = (
                attended.index_select(0, logits_indices),
                residual.index_select(0, logits_indices),
            )
            step.narrow(logits_indices)
        self.attention.add(attended, residual)
        self.mlp.add(residual)
        return residual
