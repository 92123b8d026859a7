"""Attention of sequences with many new tokens (prefill) over paged keys and values, tile by tile.

Does: causal attention of any mix of query and context lengths (Dao et al. 2022). Does not: sequences with few new
tokens (`split_kv`), or storing keys and values.

A program serves `BLOCK_ROWS` rows: `BLOCK_ROWS // GROUP` tokens times the query heads of one key head. The tiles of
sequence `s` are numbered from `query_starts[s] // tokens + s`, which leaves room for the incomplete last tile of every
sequence. The sequence of each tile is looked up once per step, for all layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import PLAIN_SCALING, Ragged, ScoreScaling
from ..runtime.launch import precision
from ..runtime.softcap import capped
from ..runtime.tuples import Three
from .attention_launch import layout, read_by
from .softmax_start import begun
from .split_kv import few_tokens


@triton.jit
def _absorb(
    query: tl.tensor,
    most: tl.tensor,
    total: tl.tensor,
    acc: tl.tensor,
    first: tl.tensor,
    end: tl.tensor,
    floor: tl.tensor,
    limit: tl.tensor,
    table: tl.tensor,
    cache_ptr: tl.tensor,
    plane: tl.tensor,
    scale: tl.tensor,
    kv_head: tl.tensor,
    KV_HEADS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    TILE: tl.constexpr,
    STAGES: tl.constexpr,
    MASKED: tl.constexpr,
    CAP: tl.constexpr,
    PRECISION: tl.constexpr,
) -> Three:
    """Add keys `first:end` to the running softmax.

    With MASKED, each row sees only keys below its `limit`, from its `floor` on (None: from the first).
    """
    offset = tl.arange(0, TILE)
    dim = tl.arange(0, BLOCK_DIM)
    for at in tl.range(first, end, TILE, num_stages=STAGES):
        position = at + offset
        seen = position < end
        block = tl.load(table + position // BLOCK_SIZE, mask=seen, other=0).to(tl.int64)
        slot = block * BLOCK_SIZE + position % BLOCK_SIZE
        key_at = cache_ptr + slot[:, None] * (KV_HEADS * DIM) + kv_head * DIM + dim[None, :]
        if MASKED or BLOCK_DIM != DIM:
            whole = seen[:, None] & (dim < DIM)[None, :]
            key = tl.load(key_at, mask=whole, other=0.0)
            value = tl.load(key_at + plane, mask=whole, other=0.0)
        else:
            key = tl.load(key_at)
            value = tl.load(key_at + plane)
        scores = tl.dot(query, tl.trans(key.to(query.dtype)), input_precision=PRECISION)
        if CAP > 0:
            scores = capped(scores * scale, CAP)
        if MASKED:
            visible = position[None, :] < limit[:, None]
            if floor is not None:
                visible = visible & (position[None, :] >= floor[:, None])
            scores = tl.where(visible, scores, float("-inf"))
        peak = tl.max(scores, 1)
        if CAP == 0:
            peak *= scale
        higher = tl.maximum(most, peak)
        base = higher
        if MASKED and floor is not None:  # a row may have seen no key so far
            base = tl.where(higher == float("-inf"), 0.0, higher)
        weights = tl.exp2((scores if CAP > 0 else scores * scale) - base[:, None])
        shrink = tl.exp2(most - base)
        total = total * shrink + tl.sum(weights, 1)
        acc = acc * shrink[:, None]
        acc = tl.dot(weights.to(query.dtype), value.to(query.dtype), acc, input_precision=PRECISION)
        most = higher
    return most, total, acc


@triton.jit(
    do_not_specialize=["tables_stride"],
    do_not_specialize_on_alignment=["tables_ptr", "starts_ptr", "lengths_ptr", "owners_ptr"],
)
def _tiles(
    query_ptr: tl.tensor,
    query_stride: tl.tensor,
    cache_ptr: tl.tensor,
    plane: tl.tensor,
    tables_ptr: tl.tensor,
    tables_stride: tl.tensor,
    lengths_ptr: tl.tensor,
    starts_ptr: tl.tensor,
    owners_ptr: tl.tensor,
    out_ptr: tl.tensor,
    sinks_ptr: tl.tensor,
    scale: tl.tensor,
    KV_HEADS: tl.constexpr,
    GROUP: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    FEW: tl.constexpr,
    TILE: tl.constexpr,
    STAGES: tl.constexpr,
    CAP: tl.constexpr,
    WINDOW: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    TOKENS: tl.constexpr = BLOCK_ROWS // GROUP
    kv_head = tl.program_id(0)
    # The last tiles of a long sequence see most keys: they go first, so that the short ones fill the end of the launch.
    number = tl.num_programs(1) - 1 - tl.program_id(1)
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    sequence = tl.load(owners_ptr + number)
    start = tl.load(starts_ptr + sequence)
    count = tl.load(starts_ptr + sequence + 1) - start
    token = (number - (start // TOKENS + sequence)) * TOKENS
    length = tl.load(lengths_ptr + sequence)
    if (token >= count) | (count <= FEW):
        return
    member = tl.arange(0, BLOCK_ROWS)
    dim = tl.arange(0, BLOCK_DIM)
    mine = token + member // GROUP
    row = (start + mine).to(tl.int64)
    head = kv_head * GROUP + member % GROUP
    used = ((member < TOKENS * GROUP) & (mine < count))[:, None] & (dim < DIM)[None, :]
    query_at = query_ptr + row[:, None] * query_stride + head[:, None] * DIM + dim[None, :]
    query = tl.load(query_at, mask=used, other=0.0)
    before = length - count
    # Unused rows see the keys of the last row: a row without keys would be NaN.
    limit = before + tl.minimum(mine, count - 1) + 1
    end = before + tl.minimum(token + TOKENS, count)
    plain = tl.maximum(before + token + 1, 0) // TILE * TILE
    most, total, acc = begun(sinks_ptr, head, None, BLOCK_ROWS, BLOCK_DIM)
    table = tables_ptr + tl.cast(sequence, tl.int64) * tables_stride
    begin, floor = 0, None
    if WINDOW > 0:
        floor = limit - WINDOW
        # The first row sees the earliest key; from `begin` on, after this, all rows see all keys.
        earliest = tl.maximum(before + token + 1 - WINDOW, 0) // TILE * TILE
        begin = tl.minimum(tl.cdiv(tl.maximum(end - WINDOW, 0), TILE) * TILE, plain)
        most, total, acc = _absorb(
            query, most, total, acc, earliest, begin, floor, limit, table, cache_ptr, plane, scale, kv_head,
            KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE, TILE, STAGES, MASKED=True, CAP=CAP, PRECISION=PRECISION,
        )  # fmt: skip
    most, total, acc = _absorb(
        query, most, total, acc, begin, plain, floor, limit, table, cache_ptr, plane, scale, kv_head,
        KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE, TILE, STAGES, MASKED=False, CAP=CAP, PRECISION=PRECISION,
    )  # fmt: skip
    most, total, acc = _absorb(
        query, most, total, acc, plain, end, floor, limit, table, cache_ptr, plane, scale, kv_head,
        KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE, TILE, STAGES, MASKED=True, CAP=CAP, PRECISION=PRECISION,
    )  # fmt: skip
    if length == 0:
        total = total + 1.0
    out_at = out_ptr + row[:, None] * (KV_HEADS * GROUP * DIM) + head[:, None] * DIM + dim[None, :]
    tl.store(out_at, (acc / total[:, None]).to(out_ptr.dtype.element_ty), mask=used)


@dataclass(frozen=True, slots=True)
class TileShape:
    """Launch parameters of the tile kernel: rows and keys of a tile, tiles of keys in flight, warps."""

    rows: int
    tile: int
    stages: int
    warps: int


def tile_shape(dim: int, group: int, element_bytes: int) -> TileShape:
    """Tile shapes: large ones for the common types; the largest that fit for wide heads and float32."""
    if element_bytes > 2:
        return TileShape(rows=max(32, triton.next_power_of_2(group)), tile=32, stages=2, warps=4)
    if dim > 128:
        return TileShape(rows=128, tile=64, stages=2, warps=8)
    return TileShape(rows=128, tile=64, stages=3, warps=4)


class TileAttention:
    """Prepared attention of a step's sequences with many new tokens; the others are not touched."""

    def __init__(
        self,
        ragged: Ragged,
        rows: int,
        heads: int,
        cache_shape: Sequence[int],
        shape: TileShape,
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
        few: int | None = None,
    ) -> None:
        """Prepare the attention of queries [rows, heads, head_dim].

        Sequences with up to `few` new tokens are left out; None: `few_tokens`.
        """
        sizes = layout(heads, cache_shape, scores, window)
        tokens = shape.rows // sizes.group
        starts = ragged.query_starts[:-1]
        device = starts.device
        first_tiles = starts // tokens + torch.arange(len(starts), device=device)
        tiles = torch.arange(rows // tokens + len(starts), device=device)
        self._owners = torch.searchsorted(first_tiles, tiles, right=True, out_int32=True) - 1
        self._ragged, self._scale = ragged, sizes.scale
        self._grid = sizes.kv_heads, len(tiles)
        self._options = sizes.options(shape, starts) | {
            "BLOCK_ROWS": shape.rows,
            "FEW": few_tokens(sizes.group) if few is None else few,
        }

    def run(self, query: Tensor, cache: Tensor, out: Tensor, sinks: Tensor | None = None) -> None:
        """Fill the rows of `out` [rows, heads, head_dim] that sequences with many tokens own.

        `query` has contiguous rows, `cache` and `out` are contiguous. Scores and sums are float32. `sinks`: see
        `AttentionPass.run`.
        """
        _tiles[self._grid](
            *read_by(query, cache, self._ragged),
            self._ragged.query_starts,
            self._owners,
            out,
            sinks,
            self._scale,
            PRECISION=precision(query.dtype),
            **self._options,
        )
