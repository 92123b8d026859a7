"""The decoder of all families.

Does: token ids to hidden states, and chosen hidden states to logits. Does not: know families (they are data in
`ModelSpec`), sequences, or where its inputs live.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from intaglio.kernels.contracts import Kernels, Legal, Logits, Places, Ragged, RmsNorm, Weight
from torch import Tensor

from .layers import Layer, StepContext
from .rotary import RopeTable
from .spec import ModelSpec


@dataclass(frozen=True, slots=True)
class Decoder:
    """Weights and layers of a model, ready to run.

    `embedding` [vocab, hidden]; looked-up rows are multiplied by `embedding_scale`, None for 1.
    """

    spec: ModelSpec
    kernels: Kernels
    embedding: Tensor
    embedding_scale: float | None
    layers: tuple[Layer, ...]
    norm: RmsNorm
    head: Weight
    rope: RopeTable

    def step(
        self, ragged: Ragged, positions: Tensor, slots: Tensor, cache_shape: Sequence[int]
    ) -> StepContext:
        """Prepare a step of N tokens at `positions` [N], whose keys and values go to `slots`.

        See `Kernels.attend`.
        """
        places = Places(self.rope.cos, self.rope.sin, positions, slots)
        spec = self.spec
        attention = self.kernels.attend(ragged, places, spec.heads, cache_shape, spec.scores)
        return StepContext(attention)

    def hidden(
        self,
        tokens: Tensor,
        caches: Sequence[Tensor],
        step: StepContext,
        wanted: Tensor | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Hidden states [N, hidden] after the last layer, of `tokens` [N]; `caches` is one KV tensor a layer.

        With `wanted` [R] those of these rows alone, [R, hidden]. Of a prompt one row is wanted, so the last layer comes
        almost free. `out` [N, hidden] is the memory to begin in; without `wanted` they are there in the end.
        """
        residual = torch.index_select(self.embedding, 0, tokens, out=out)
        if self.embedding_scale is not None:
            residual.mul_(self.embedding_scale)
        for layer, cache in zip(self.layers[:-1], caches[:-1], strict=True):
            residual = layer.run(residual, cache, step)
        return self.layers[-1].run(residual, caches[-1], step, wanted)

    def logits(self, hidden: Tensor, legal: Legal | None = None) -> Tensor:
        """Logits [R, vocab], in the weights' dtype, of `hidden` [R, hidden]; with `legal`, of legal tokens at least."""
        return self.head.matmul(hidden, self.norm, Logits(legal, self.spec.logit_softcap))
