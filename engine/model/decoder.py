"""The one decoder for the Llama-shaped families.

Does: token ids to hidden states, and chosen hidden states to logits. Does not: know families (they are data in
`ModelSpec`), sequences, or where its inputs live.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ...kernels.contracts import Kernels, Legal, RmsNorm
from .layers import Layer, Matrix, StepContext
from .rope import RopeTable
from .spec import ModelSpec


@dataclass(frozen=True, slots=True)
class Decoder:
    """Weights and layers of a model, ready to run. `embedding` [vocab, hidden]."""

    spec: ModelSpec
    kernels: Kernels
    embedding: Tensor
    layers: tuple[Layer, ...]
    norm: RmsNorm
    head: Matrix
    rope: RopeTable

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
        for layer, cache in zip(self.layers[:-1], caches[:-1], strict=True):
            residual = layer.run(residual, cache, step)
        return self.layers[-1].run(residual, caches[-1], step, wanted)

    def logits(self, hidden: Tensor, legal: Legal | None = None) -> Tensor:
        """Logits [R, vocab], in the weights' dtype, of `hidden` [R, hidden]; with `legal`, of legal tokens at least."""
        return self.kernels.head(hidden, self.norm, self.head.weight, self.head.bias, legal)
