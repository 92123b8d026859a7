"""The one decoder for the Llama-shaped families.

Does: token ids to final hidden states, and chosen hidden states to logits. Does not: know families (they are data in
`ModelSpec`), sequences, or where its inputs live.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from .layers import Layer, Linear, Norm, StepContext
from .rope import RopeTable
from .spec import ModelSpec


@dataclass(frozen=True, slots=True)
class Decoder:
    """Weights and layers of a model, ready to run. `embedding` [vocab, hidden]."""

    spec: ModelSpec
    embedding: Tensor
    layers: tuple[Layer, ...]
    norm: Norm
    head: Linear
    rope: RopeTable

    def hidden(self, tokens: Tensor, caches: Sequence[Tensor], step: StepContext) -> Tensor:
        """Final hidden states [N, hidden], normed, of `tokens` [N] int64; `caches` is one KV tensor a layer."""
        residual = self.embedding.index_select(0, tokens)
        # The residual is added inside the norm that follows: one pass over the rows instead of two.
        following = (*(layer.attention_norm for layer in self.layers[1:]), self.norm)
        x = self.layers[0].attention_norm(residual)
        for layer, cache, norm in zip(self.layers, caches, following, strict=True):
            x = layer.mlp_norm.after_adding(layer.attention(x, cache, step), residual)
            x = norm.after_adding(layer.mlp(x), residual)
        return x

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits [R, vocab] float32 of `hidden` [R, hidden]."""
        return self.head(hidden).float()
