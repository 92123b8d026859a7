"""Decode attention at batch 1 in one launch, with the norm, the rotation and the KV store that precede it.

Does: the work of `rope` and `split_kv`, which take two launches, split along the context in the same way. Does not:
more tokens, or several sequences.

At batch 1 a layer is a chain of dependent launches, and attention has the longest wait: for the query, then for keys.
Keys and values of earlier tokens were written in previous steps, so every program loads its first tile of them before
the preceding kernel has finished. (With several sequences this would be wrong: a sequence may share a block that
another one fills in the same step.) The first program of a key head computes and stores the key and value of the new
token; no program reads them back.
"""

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import PLAIN_SCALING, Places, QKNorm, Ragged, ScoreScaling
from ..runtime.launch import precision, processors
from ..runtime.tuples import Pair, Three
from .attention_launch import layout
from .merge import finish, members_merged
from .rope_and_store import as_kept
from .softmax_start import begun
from .split_kv import DecodeShape, absorb, addresses, fold, product_rows, scored


@triton.jit
def _rotated(
    heads_at: tl.tensor,
    used: tl.tensor,
    norm_ptr: tl.tensor,
    cos: tl.tensor,
    sin: tl.tensor,
    eps: tl.tensor,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    NORMED: tl.constexpr,
) -> tl.tensor:
    """The heads [H, BLOCK_DIM] at `heads_at` [H, 1], normed and rotated; only those `used` are loaded."""
    dim = tl.arange(0, BLOCK_DIM)
    partner = tl.where(dim < DIM // 2, dim + DIM // 2, dim - DIM // 2)
    own = tl.load(heads_at + dim[None, :], mask=used, other=0.0).to(tl.float32)
    other = tl.load(heads_at + partner[None, :], mask=used, other=0.0).to(tl.float32)
    if NORMED:
        scale = tl.rsqrt(tl.sum(own * own, 1) / DIM + eps)[:, None]
        real = dim < DIM
        own *= scale * tl.load(norm_ptr + dim, mask=real, other=0.0).to(tl.float32)[None, :]
        other *= scale * tl.load(norm_ptr + partner, mask=real, other=0.0).to(tl.float32)[None, :]
    return (own * cos[None, :] + other * sin[None, :]).to(heads_at.dtype.element_ty)


@triton.jit
def _place(
    key_at: tl.tensor,
    norm_ptr: tl.tensor,
    cos: tl.tensor,
    sin: tl.tensor,
    eps: tl.tensor,
    stored_ptr: tl.tensor,
    plane: tl.tensor,
    slot: tl.tensor,
    KV_HEADS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    NORMED: tl.constexpr,
) -> Pair:
    """Store the new token's key and value unless `slot` is negative; returns both [1, BLOCK_DIM] in the dtype of the
    cache."""
    dim = tl.arange(0, BLOCK_DIM)[None, :]
    one = tl.zeros((1, 1), tl.int32)
    key = _rotated(key_at + one, dim < DIM, norm_ptr, cos, sin, eps, DIM, BLOCK_DIM, NORMED)
    key = as_kept(key, stored_ptr)
    value = tl.load(key_at + KV_HEADS * DIM + dim, mask=dim < DIM, other=0.0)
    value = as_kept(value, stored_ptr)
    keeps = (dim < DIM) & (one + slot >= 0)
    tl.store(stored_ptr + dim, key, mask=keeps)
    tl.store(stored_ptr + plane + dim, value, mask=keeps)
    return key, value


@triton.jit
def _counted(sink: tl.tensor, score: tl.tensor, sinks_ptr: tl.tensor) -> Three:
    """(maxima, sums, weights of the new token) of its scores [H], after the sinks if `sinks_ptr` is not None."""
    most = score
    weight = tl.full(score.shape, 1.0, tl.float32)
    total = weight
    if sinks_ptr is not None:
        most = tl.maximum(sink, score)
        weight = tl.exp2(score - most)
        total = tl.exp2(sink - most) + weight
    return most, total, weight


@triton.jit(
    do_not_specialize=["slots"],
    do_not_specialize_on_alignment=[
        "table_ptr", "starts_ptr", "lengths_ptr", "positions_ptr", "slots_ptr",
    ],
)  # fmt: skip
def _lone(
    fused_ptr: tl.tensor,
    cache_ptr: tl.tensor,
    plane: tl.tensor,
    table_ptr: tl.tensor,
    starts_ptr: tl.tensor,
    lengths_ptr: tl.tensor,
    cos_ptr: tl.tensor,
    sin_ptr: tl.tensor,
    positions_ptr: tl.tensor,
    slots_ptr: tl.tensor,
    slots: tl.tensor,
    query_norm_ptr: tl.tensor,
    key_norm_ptr: tl.tensor,
    eps: tl.tensor,
    out_ptr: tl.tensor,
    partial_ptr: tl.tensor,
    lse_ptr: tl.tensor,
    arrived_ptr: tl.tensor,
    sinks_ptr: tl.tensor,
    scale: tl.tensor,
    KV_HEADS: tl.constexpr,
    GROUP: tl.constexpr,
    ROWS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    TILE: tl.constexpr,
    SPLITS: tl.constexpr,
    MEMBERS: tl.constexpr,
    STAGES: tl.constexpr,
    NORMED: tl.constexpr,
    CAP: tl.constexpr,
    WINDOW: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    HEADS: tl.constexpr = KV_HEADS * GROUP
    kv_head, split = tl.program_id(0), tl.program_id(1)
    if EARLY:
        gdc_launch_dependents()
    # Inputs of the step, the tables of the model and all earlier keys: no kernel that may still run writes them.
    earlier = tl.maximum(tl.load(lengths_ptr) - 1, 0)
    earlier = tl.where(tl.load(starts_ptr + 1) > tl.load(starts_ptr), earlier, 0)
    begin, floor = 0, None
    if WINDOW > 0:
        begin = tl.maximum(earlier + 1 - WINDOW, 0)
        floor = tl.zeros((ROWS,), tl.int32) + begin
    per_split = tl.maximum(tl.cdiv(tl.cdiv(earlier - begin, TILE), SPLITS), 1) * TILE
    parts = tl.maximum(tl.cdiv(earlier - begin, per_split), 1)
    # A program without a part ends before it waits: the registers it would hold are where the next kernel loads its
    # first weights. The first program of each key head always waits, so this kernel never ends before the preceding one.
    if split >= parts:
        return
    first = begin + split * per_split
    end = tl.minimum(first + per_split, earlier)
    head_cache = cache_ptr + kv_head * DIM
    dim = tl.arange(0, BLOCK_DIM)
    real = dim < DIM
    tile_at, there = addresses(
        first + tl.arange(0, TILE), end, table_ptr, head_cache, KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE
    )
    key = tl.load(tile_at, mask=there, other=0.0)
    value = tl.load(tile_at + plane, mask=there, other=0.0)
    position = tl.load(positions_ptr).to(tl.int64)
    slot = tl.load(slots_ptr, mask=slots > 0, other=-1).to(tl.int64)
    cos = tl.load(cos_ptr + position * DIM + dim, mask=real, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + position * DIM + dim, mask=real, other=0.0).to(tl.float32)
    if EARLY:
        gdc_wait()
    member = tl.arange(0, ROWS)
    used = (member < GROUP)[:, None] & real[None, :]
    out_first = out_ptr + kv_head * GROUP * DIM
    heads_at = fused_ptr + (kv_head * GROUP + member)[:, None] * DIM
    query = _rotated(heads_at, used, query_norm_ptr, cos, sin, eps, DIM, BLOCK_DIM, NORMED)
    head = kv_head * GROUP + member % GROUP
    most, total, acc = begun(sinks_ptr, head, split == 0, ROWS, BLOCK_DIM)
    if split == 0:
        new_key, new_value = _place(
            fused_ptr + (HEADS + kv_head) * DIM, key_norm_ptr, cos, sin, eps,
            head_cache + slot * (KV_HEADS * DIM), plane, slot, KV_HEADS, DIM, BLOCK_DIM, NORMED,
        )  # fmt: skip
        score = scored(tl.sum(query.to(tl.float32) * new_key.to(tl.float32), 1), scale, CAP)
        most, total, weight = _counted(most, score, sinks_ptr)
        acc += weight[:, None] * new_value.to(tl.float32)
    limit = tl.zeros((ROWS,), tl.int32) + end
    most, total, acc = fold(
        query, key, value, first + tl.arange(0, TILE), floor, limit, most, total, acc, scale, CAP, PRECISION,
    )  # fmt: skip
    most, total, acc = absorb(
        query, most, total, acc, first + TILE, end, floor, limit, table_ptr, head_cache, plane, scale,
        KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE, TILE, STAGES, CAP, PRECISION,
    )  # fmt: skip
    finish(
        most, total, acc, GROUP, parts, kv_head, out_first, partial_ptr, lse_ptr, arrived_ptr,
        GROUP, ROWS, HEADS, DIM, BLOCK_DIM, SPLITS, MEMBERS,
    )  # fmt: skip


def lone_shape(kv_heads: int, device: torch.device) -> DecodeShape:
    """Splits as measured on an H200: two programs on each multiprocessor, never more than 32 splits."""
    wanted = max(1, min(32, 2 * processors(device) // kv_heads))
    return DecodeShape(splits=1 << (wanted.bit_length() - 1), tile=64, stages=2, warps=4)


class LoneAttention:
    """Prepared attention of a step of one token. A padding row attends only to itself and is not stored."""

    def __init__(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        shape: DecodeShape | None = None,
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> None:
        sizes, device = layout(heads, cache_shape, scores, window), ragged.context_lengths.device
        shape = lone_shape(sizes.kv_heads, device) if shape is None else shape
        self._ragged, self._places, self._scale = ragged, places, sizes.scale
        self._out_shape = 1, heads, sizes.dim
        self._grid = sizes.kv_heads, shape.splits
        rows = product_rows(sizes.group)
        self._options = sizes.options(shape, ragged.context_lengths) | {
            "ROWS": rows,
            "SPLITS": shape.splits,
            "MEMBERS": members_merged(shape.splits, sizes.dim, sizes.group, shape.warps),
        }
        parts = sizes.kv_heads * rows * shape.splits
        self._partial = torch.empty((parts, sizes.dim), dtype=torch.float32, device=device)
        self._lse = torch.empty(parts, dtype=torch.float32, device=device)
        # Programs count themselves in and the last one resets the count, layer after layer.
        self._arrived = torch.zeros(sizes.kv_heads, dtype=torch.int32, device=device)

    def run(
        self, fused: Tensor, norms: QKNorm | None, cache: Tensor, sinks: Tensor | None = None
    ) -> Tensor:
        """See `AttentionPass.run`; `fused` [1, heads + 2 * kv_heads, head_dim] and `cache` are contiguous."""
        ragged, places = self._ragged, self._places
        out = torch.empty(self._out_shape, dtype=fused.dtype, device=fused.device)
        _lone[self._grid](
            fused,
            cache,
            cache.stride(0),
            ragged.block_tables,
            ragged.query_starts,
            ragged.context_lengths,
            places.cos,
            places.sin,
            places.positions,
            places.slots,
            places.slots.shape[0],
            fused if norms is None else norms.query,
            fused if norms is None else norms.key,
            0.0 if norms is None else norms.eps,
            out,
            self._partial,
            self._lse,
            self._arrived,
            sinks,
            self._scale,
            NORMED=norms is not None,
            PRECISION=precision(fused.dtype),
            **self._options,
        )
        return out
