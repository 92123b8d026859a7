"""The attention of a step on a CPU, in compiled loops.

Does: cut a step into pieces, and have threads run the loops on them. Does not: attend with windows, soft caps or
latents.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from intaglio.kernels.contracts import Places, QKNorm, Ragged
from torch import Tensor

from .attention_loops import QUERY_TILE, Ints, Longs, attend, rotate_and_store
from .bfloat16 import Bits, bits, floats
from .shares import ShareThreads, divided

LEAST_OPERATIONS = 50_000_000
"""The fewest operations of a thread: a quarter of a millisecond, several times the cost of waking it."""
OPERATIONS = 4
"""Operations for each query, key and element of a head: two products and two sums."""
_NO_NORM = np.zeros(0, np.float32)


@dataclass(frozen=True)
class LoopedPass:
    """`AttentionPass` for bfloat16; `scale` multiplies the scores."""

    ragged: Ragged
    places: Places
    scale: float
    threads: ShareThreads

    def run(
        self, fused: Tensor, norms: QKNorm | None, cache: Tensor, sinks: Tensor | None = None
    ) -> Tensor:
        """See `AttentionPass`."""
        if sinks is not None:
            raise ValueError("these kernels do not support attention sinks")
        kv_heads, size = cache.shape[3:]
        query = fused.new_empty((fused.shape[0], fused.shape[1] - 2 * kv_heads, size))
        weights = (_NO_NORM, _NO_NORM, 0.0)
        if norms is not None:
            weights = floats(norms.query), floats(norms.key), norms.eps
        stored = bits(cache)
        rotate_and_store(bits(fused), weights, *self._places, stored, bits(query))
        out = torch.zeros_like(query)
        pieces, costs, tables = self._pieces
        queries, target = bits(query), bits(out)
        each = OPERATIONS * query.shape[1] * size
        shares = divided(costs * each, LEAST_OPERATIONS, self.threads.count)
        self.threads.run(
            lambda share: attend(queries, stored, pieces[share], tables, self.scale, target), shares
        )
        return out

    @cached_property
    def _places(self) -> tuple[tuple[Bits, Bits], Longs, Longs]:
        places = self.places
        rotation = bits(places.cos), bits(places.sin)
        return rotation, places.positions.long().numpy(), places.slots.long().numpy()

    @cached_property
    def _pieces(self) -> tuple[Longs, Longs, Ints]:
        """The pieces and block tables of `attend`, with the query-key pairs of each piece as its cost."""
        starts, lengths = (
            part.numpy().astype(np.int64)
            for part in (self.ragged.query_starts, self.ragged.context_lengths)
        )
        counts = -(-np.diff(starts) // QUERY_TILE)
        owners = np.repeat(np.arange(len(counts)), counts)
        places = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        first, end = starts[owners] + places * QUERY_TILE, starts[owners + 1]
        rows = np.minimum(end - first, QUERY_TILE)
        seen = lengths[owners] - (end - first - rows)
        pieces = np.stack((owners, first, rows, seen), 1)
        return pieces, rows * seen, self.ragged.block_tables.contiguous().numpy()
