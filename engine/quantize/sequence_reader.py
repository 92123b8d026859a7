"""A decoder that reads one sequence of tokens at a time, without an engine.

Does: hidden states and logits of all positions of a sequence. Does not: generate, batch, or keep anything between
sequences.
"""

from collections.abc import Sequence

import torch
from intaglio.kernels.contracts import Ragged
from torch import Tensor

from ..model.decoder import Decoder
from ..run.kv import KVCache

BLOCK_SIZE = 16


class SequenceReader:
    """Reads sequences of at most `longest` tokens."""

    def __init__(self, decoder: Decoder, longest: int) -> None:
        self._decoder = decoder
        self._device = decoder.embedding.device
        self._blocks = -(-longest // BLOCK_SIZE)
        self._cache = KVCache(
            decoder.spec, self._blocks + 1, BLOCK_SIZE, decoder.embedding.dtype, self._device
        )

    def hidden(self, tokens: Sequence[int]) -> Tensor:
        """The hidden states [N, hidden] of `tokens` after the last layer."""
        count, device = len(tokens), self._device
        blocks = torch.arange(1, self._blocks + 1, dtype=torch.int32, device=device)
        ragged = Ragged(
            torch.tensor([0, count], dtype=torch.int32, device=device),
            torch.tensor([count], dtype=torch.int32, device=device),
            blocks.unsqueeze(0),
        )
        positions = torch.arange(count, device=device)
        step = self._decoder.step(
            ragged, positions, positions + BLOCK_SIZE, self._cache.layers[0].shape
        )
        given = torch.tensor(tokens, dtype=torch.int64, device=device)
        return self._decoder.hidden(given, self._cache.layers, step)

    def logits(self, tokens: Sequence[int], first: int) -> Tensor:
        """The logits [N - first, vocab] float32 that predict the tokens from `first` on, the last token left out."""
        hidden = self.hidden(tokens)[first - 1 : -1]
        return self._decoder.logits(hidden).float()
