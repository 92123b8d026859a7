"""Layers in a step that ranks divide by tokens: each rank computes its tokens with the matrices of all ranks.

Does: norm, multiply and add for this rank's tokens; exchange, so that each rank attends with its own heads over all
tokens, as where ranks divide the matrices. Does not: read matrices (`sequence_weights`), or choose the steps.

Jacobs et al. 2023 (Ulysses) exchange twice a layer as here. Keys and values are stored where tensor parallelism stores
them, so each step may divide the one or the other (Hidayetoglu et al. 2025).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from intaglio.kernels.contracts import AddTo, Kernels, Weight
from torch import Tensor
from torch.nn.functional import pad

from ..parallel.parallel_layout import TensorParallel
from .layers import Attention, GatedMlp, Layer, Residual, StepContext


@dataclass(frozen=True, slots=True)
class RankMatrices:
    """The matrices of a layer, each as the parts of all ranks, in their order; together the parts are the matrix."""

    qkv: tuple[Weight, ...]
    output: tuple[Weight, ...]
    gate_up: tuple[Weight, ...]
    down: tuple[Weight, ...]


@dataclass(frozen=True, slots=True)
class DividedTokens:
    """The layers of a model for steps of at least `least` tokens, with the `matrices` of each layer.

    Of N tokens, rank r computes those from r * n on, n = ceil(N / ranks); after the last token come rows of zeros. All
    ranks have the same steps, and so choose alike.
    """

    parallel: TensorParallel
    least: int
    matrices: tuple[RankMatrices, ...]
    kernels: Kernels

    def takes(self, tokens: int) -> bool:
        """Whether a step of so many tokens is divided by its tokens."""
        return tokens >= self.least

    def last(self, count: int) -> "DividedTokens":
        """The last `count` layers."""
        return replace(self, matrices=self.matrices[-count:])

    def run(
        self,
        layers: Sequence[Layer],
        residual: Tensor,
        caches: Sequence[Tensor],
        step: StepContext,
        logits_indices: Tensor,
    ) -> Tensor:
        """The hidden states [R, hidden] after the last layer of the rows `logits_indices` [R], on every rank.

        `residual` [N, hidden]: the embeddings of all tokens; those of this rank may be overwritten. `layers` and
        `caches` [layers] are this rank's parts, with which `step` attends. The rest of the last layer needs few rows:
        there ranks divide the matrices.
        """
        own, count = self._own(residual), residual.shape[0]
        *before, last = zip(layers, self.matrices, caches, strict=True)
        for layer, matrices, cache in before:
            attended = self._attended(layer.attention, matrices, own, cache, step, count)
            returned = self._returned(attended, own.shape[0])
            self._add(matrices.output, returned, layer.attention.residual, own)
            self._add_mlp(layer, matrices, own)
        layer, matrices, cache = last
        attended = self._attended(layer.attention, matrices, own, cache, step, count)
        rows = self._picked(own, logits_indices)
        layer.attention.add(attended.index_select(0, logits_indices), rows)
        layer.mlp.add(rows)
        return rows

    def _own(self, residual: Tensor) -> Tensor:
        """This rank's rows [n, hidden] of `residual` [N, hidden]."""
        layout = self.parallel.layout
        rows = -(-residual.shape[0] // layout.tp)
        own = residual[layout.rank * rows : (layout.rank + 1) * rows]
        missing = rows - own.shape[0]
        return pad(own, (0, 0, 0, missing)) if missing else own

    def _attended(
        self,
        attention: Attention,
        matrices: RankMatrices,
        own: Tensor,
        cache: Tensor,
        step: StepContext,
        count: int,
    ) -> Tensor:
        """Attended values [N, heads * head_dim] of all `count` tokens, by this rank's heads."""
        x = own if attention.norm is None else self.kernels.rms_norm(own, attention.norm)
        received = self.parallel.communicator.all_to_all([part.matmul(x) for part in matrices.qkv])
        heads = received.view(-1, received.shape[2] // attention.head_dim, attention.head_dim)
        attending = step.passes[attention.variant]
        attended = attending.run(heads[:count], attention.qk_norm, cache, attention.sinks)
        return attended.view(count, -1)

    def _returned(self, attended: Tensor, rows: int) -> Tensor:
        """The values of this rank's `rows` tokens [ranks, n, heads * head_dim], by the rank of the heads."""
        ranks = self.parallel.layout.tp
        missing = ranks * rows - attended.shape[0]
        if missing:
            attended = pad(attended, (0, 0, 0, missing))
        return self.parallel.communicator.all_to_all(attended.view(ranks, rows, -1).unbind(0))

    def _add_mlp(self, layer: Layer, matrices: RankMatrices, own: Tensor) -> None:
        """Add the output of the MLP to this rank's rows."""
        mlp = layer.mlp
        assert isinstance(mlp, GatedMlp), "mixtures of experts are refused"
        x = own if mlp.norm is None else self.kernels.rms_norm(own, mlp.norm)
        gated = (part.matmul(x, epilogue=mlp.gate) for part in matrices.gate_up)
        self._add(matrices.down, gated, mlp.residual, own)

    def _add(
        self, parts: Iterable[Weight], inputs: Iterable[Tensor], how: Residual, own: Tensor
    ) -> None:
        """Add the sum of the products of `parts`, each with its inputs, to this rank's rows."""
        plain = how.norm is None and how.scale is None
        total = own if plain else torch.zeros_like(own)
        for part, x in zip(parts, inputs, strict=True):
            part.matmul(x, epilogue=AddTo(total))
        if not plain:
            how.add_output(total, own, self.kernels)

    def _picked(self, own: Tensor, indices: Tensor) -> Tensor:
        """The rows `indices` [R] of all ranks' rows, on every rank."""
        rows = own.shape[0]
        at = indices - self.parallel.layout.rank * rows
        picked = own.index_select(0, at.clamp(0, rows - 1))
        picked.masked_fill_(((at < 0) | (at >= rows))[:, None], 0)
        return self.parallel.communicator.all_reduce(picked)
