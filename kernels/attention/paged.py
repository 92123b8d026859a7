"""Paged causal attention on an accelerator, for any mix of query and context lengths.

Does: choose the kernels of a step. A step of one token has a kernel of its own. In other steps the new tokens are first
normed, rotated and stored; then the split kernel serves sequences with few new tokens, and the tile kernel the others.
Does not: compute. Reference: `reference_attention.ReferenceAttention`.
"""

from collections.abc import Sequence

import torch
import triton
from torch import Tensor

from ..contracts import PLAIN_SCALING, AttentionPass, Places, QKNorm, Ragged, ScoreScaling
from .prefill import TileAttention, TileShape, tile_shape
from .rope_and_store import rope_and_store
from .shared_prefix import PackedAttention
from .single_token import LoneAttention
from .split_kv import DecodeAttention, decode_shape

HEADS_TOGETHER = 4
"""Heads that a program of `rope_and_store` norms in a deterministic step of any number of rows."""


def split_attention(
    ragged: Ragged,
    heads: int,
    cache_shape: Sequence[int],
    scores: ScoreScaling = PLAIN_SCALING,
    window: int | None = None,
) -> DecodeAttention:
    """The split kernel, with the number of splits chosen by the number of sequences."""
    lengths = ragged.context_lengths
    shape = decode_shape(lengths.shape[0], cache_shape[3], lengths.device)
    return DecodeAttention(ragged, heads, cache_shape, shape, scores, window)


def tile_attention(
    ragged: Ragged,
    query: Tensor,
    cache_shape: Sequence[int],
    scores: ScoreScaling = PLAIN_SCALING,
    window: int | None = None,
) -> TileAttention:
    """The tile kernel, with tile shapes chosen for these queries."""
    rows, heads, dim = query.shape
    shape = tile_shape(dim, heads // cache_shape[3], query.element_size())
    return TileAttention(ragged, rows, heads, cache_shape, shape, scores, window)


def unsplit_shape(group: int, element_bytes: int) -> TileShape:
    """The tiles of `UnsplitAttention` for `group` query heads per key head: small, for steps of few tokens."""
    rows = max(16, triton.next_power_of_2(group))
    return TileShape(rows=rows, tile=32 if element_bytes > 2 else 64, stages=3, warps=4)


def attend(
    ragged: Ragged,
    places: Places,
    heads: int,
    cache_shape: Sequence[int],
    scores: ScoreScaling = PLAIN_SCALING,
    window: int | None = None,
) -> AttentionPass:
    """See `Kernels.attend`."""
    if places.positions.shape[0] == ragged.context_lengths.shape[0] == 1:
        return LoneAttention(ragged, places, heads, cache_shape, scores=scores, window=window)
    return PagedAttention(ragged, places, heads, cache_shape, scores, window)


class UnsplitAttention:
    """Prepared attention of a deterministic step: a row's result does not depend on the other rows of the step.

    One kernel with tiles of one shape serves prompts and single tokens, and reads a row's keys in order, so a step of
    few long contexts does not fill the device.
    """

    def __init__(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> None:
        self._ragged, self._places = ragged, places
        self._prepared = heads, cache_shape, scores, window
        self._tiles: TileAttention | None = None

    def run(
        self, fused: Tensor, norms: QKNorm | None, cache: Tensor, sinks: Tensor | None = None
    ) -> Tensor:
        """See `AttentionPass.run`; `fused` has contiguous rows and `cache` is contiguous."""
        query = rope_and_store(fused, self._places, norms, cache, together=HEADS_TOGETHER)
        rows = query.shape[0]
        if self._tiles is None:
            heads, cache_shape, scores, window = self._prepared
            shape = unsplit_shape(heads // cache_shape[3], query.element_size())
            self._tiles = TileAttention(
                self._ragged, rows, heads, cache_shape, shape, scores, window, few=0
            )
        out = torch.empty_like(query)
        self._tiles.run(query, cache, out, sinks)
        return out


class PagedAttention:
    """Prepared attention of a step; `run` serves every layer. Nothing is read back from the device.

    If there are as many rows as sequences, no sequence has many new tokens (see `Ragged`), and the tile kernel is not
    launched. Rows that belong to no sequence are left uninitialised.
    """

    def __init__(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> None:
        self._ragged = ragged
        self._places = places
        self._heads = heads
        self._scores = scores
        self._window = window
        self._sequences = ragged.context_lengths.shape[0]
        self._few: PackedAttention | DecodeAttention
        if ragged.packs is None:
            self._few = split_attention(ragged, heads, cache_shape, scores, window)
        else:
            self._few = PackedAttention(
                ragged, ragged.packs, heads, cache_shape, scores=scores, window=window
            )
        self._tiles: TileAttention | None = None

    def run(
        self, fused: Tensor, norms: QKNorm | None, cache: Tensor, sinks: Tensor | None = None
    ) -> Tensor:
        """See `AttentionPass.run`; `fused` has contiguous rows and `cache` is contiguous."""
        rows, _, dim = fused.shape
        out = torch.empty((rows, self._heads, dim), dtype=fused.dtype, device=fused.device)
        query = rope_and_store(fused, self._places, norms, cache)
        self._few.run(query, cache, out, sinks)
        if rows != self._sequences:
            if self._tiles is None:
                self._tiles = tile_attention(
                    self._ragged, query, cache.shape, self._scores, self._window
                )
            self._tiles.run(query, cache, out, sinks)
        return out
