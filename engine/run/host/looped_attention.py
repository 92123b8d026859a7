"""The attention of a step on a CPU: few tokens of a sequence in compiled loops, prompts in torch.

Does: divide a step's sequences, and run both parts. Does not: attend with windows, soft caps or latents.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from intaglio.kernels.attention.reference_attention import ReferenceAttention
from intaglio.kernels.contracts import Places, QKNorm, Ragged
from torch import Tensor

from .attention_loops import Ints, Longs, attend_few, turn_and_store
from .bfloat16 import Bits, bits, floats

FEW = 16
"""The most tokens of a sequence that are attended by loops. For more, torch's products are faster."""

_NO_NORM = np.zeros(0, np.float32)


@dataclass(frozen=True)
class LoopedPass:
    """`AttentionPass` for bfloat16.

    `few`: the sequences of `ragged` that loops attend. `others`: the attention of the `rows` of all others, None if
    there are none. `scale`: of scores.
    """

    ragged: Ragged
    places: Places
    few: Longs
    others: ReferenceAttention | None
    rows: Tensor
    scale: float

    def run(
        self, fused: Tensor, norms: QKNorm | None, cache: Tensor, sinks: Tensor | None = None
    ) -> Tensor:
        """See `AttentionPass`."""
        if sinks is not None:
            raise ValueError("these kernels have no sinks")
        kv_heads, size = cache.shape[3:]
        query = fused.new_empty((fused.shape[0], fused.shape[1] - 2 * kv_heads, size))
        weights = (_NO_NORM, _NO_NORM, 0.0)
        if norms is not None:
            weights = floats(norms.query), floats(norms.key), norms.eps
        stored = bits(cache)
        turn_and_store(bits(fused), weights, *self._places, stored, bits(query))
        out = torch.zeros_like(query)
        if self.few.size:
            attend_few(bits(query), stored, self.few, *self._sequences, self.scale, bits(out))
        if self.others is not None:
            found = self.others.run(query.index_select(0, self.rows), cache)
            out.index_copy_(0, self.rows, found)
        return out

    @cached_property
    def _places(self) -> tuple[tuple[Bits, Bits], Longs, Longs]:
        places = self.places
        turns = bits(places.cos), bits(places.sin)
        return turns, places.positions.long().numpy(), places.slots.long().numpy()

    @cached_property
    def _sequences(self) -> tuple[Ints, Ints, Ints]:
        ragged = self.ragged
        parts = ragged.query_starts, ragged.context_lengths, ragged.block_tables
        starts, lengths, tables = (part.contiguous().numpy() for part in parts)
        return starts, lengths, tables


def divided(ragged: Ragged) -> tuple[Longs, Ragged | None, Tensor]:
    """The sequences with few tokens; the others as a step of their own, and its rows in the whole step."""
    starts = ragged.query_starts.numpy().astype(np.int64)
    counts = np.diff(starts)
    few, many = np.flatnonzero(counts <= FEW), np.flatnonzero(counts > FEW)
    if not many.size:
        return few, None, torch.zeros(0, dtype=torch.int64)
    rows = np.concatenate([np.arange(starts[s], starts[s + 1]) for s in many])
    own = np.concatenate(([0], np.cumsum(counts[many]))).astype(np.int32)
    at = torch.from_numpy(many)
    others = Ragged(torch.from_numpy(own), ragged.context_lengths[at], ragged.block_tables[at])
    return few, others, torch.from_numpy(rows)
