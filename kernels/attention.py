"""Paged causal attention on an accelerator, for any mix of query and context lengths.

Does: send sequences with one new token to the split kernel and the others to the tile kernel. Does not: store keys and
values. Reference: `reference_attention.PagedAttention`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from .attention_decode import DecodeAttention, decode_shape
from .attention_tiles import attend_tiles, tile_shape
from .contracts import Ragged


class PagedAttention:
    """A step's attention, prepared; `run` serves every layer. Nothing is read back from the device.

    Where there are as many rows as sequences every sequence has one new token, and the tile kernel is not launched.
    Rows that no sequence owns are left as they come from the allocator.
    """

    def __init__(self, ragged: Ragged, heads: int, cache_shape: Sequence[int]) -> None:
        self._ragged = ragged
        lengths = ragged.context_lengths
        self._sequences = lengths.shape[0]
        shape = decode_shape(self._sequences, cache_shape[3], lengths.device)
        self._single = DecodeAttention(ragged, heads, cache_shape, shape)

    def run(self, query: Tensor, cache: Tensor) -> Tensor:
        """Attention of `query` [N, heads, head_dim] over one layer's contiguous `cache`; a new tensor of that shape."""
        out = torch.empty(query.shape, dtype=query.dtype, device=query.device)
        self._single.run(query, cache, out)
        if query.shape[0] != self._sequences:
            dim, group = query.shape[2], query.shape[1] // cache.shape[3]
            shape = tile_shape(dim, group, query.element_size())
            attend_tiles(self._ragged, query, cache, out, shape)
        return out
