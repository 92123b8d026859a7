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
from ..runtime.tuples import Four, Pair, Tensors, Three
from .attention_launch import layout
from .merge import finish, members_merged
from .rope_and_store import as_kept
from .softmax_start import begun
from .split_kv import DecodeShape, absorb, addresses, fold, product_rows, scored


@triton.jit
def _parts(
    lengths_ptr: tl.tensor,
    starts_ptr: tl.tensor,
    TILE: tl.constexpr,
    SPLITS: tl.constexpr,
    WINDOW: tl.constexpr,
) -> Four:
    """(the first key that the new token sees, the number of earlier keys, keys of a part, parts).

    The number of keys is 0 for a padding row.
    """
    earlier = tl.maximum(tl.load(lengths_ptr) - 1, 0)
    earlier = tl.where(tl.load(starts_ptr + 1) > tl.load(starts_ptr), earlier, 0)
    begin = earlier * 0
    if WINDOW > 0:
        begin = tl.maximum(earlier + 1 - WINDOW, 0)
    per_split = tl.maximum(tl.cdiv(tl.cdiv(earlier - begin, TILE), SPLITS), 1) * TILE
    parts = tl.maximum(tl.cdiv(earlier - begin, per_split), 1)
    return begin, earlier, per_split, parts


@triton.jit
def _partner(dim: tl.tensor, DIM: tl.constexpr) -> tl.tensor:
    """The dimensions that `dim` are rotated with."""
    partner = tl.where(dim < DIM // 2, dim + DIM // 2, dim - DIM // 2)
    if DIM // 2 % 8 == 0:
        partner = tl.max_contiguous(tl.multiple_of(partner, 8), 8)
    return partner


@triton.jit
def _queries(
    heads_ptr: tl.tensor,
    GROUP: tl.constexpr,
    HELD: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
) -> Pair:
    """GROUP of HELD heads from `heads_ptr` on [HELD, BLOCK_DIM], and the same numbers at the partners.

    In one load: of two, the compiler issues the second after the barrier behind which the first is used, and each is a
    round trip to the L2 cache.
    """
    dim = tl.arange(0, BLOCK_DIM)
    row = tl.arange(0, 2 * HELD)[:, None]
    at = tl.where(row < HELD, dim[None, :], _partner(dim, DIM)[None, :])
    used = (row % HELD < GROUP) & (dim < DIM)[None, :]
    both = tl.load(heads_ptr + row % HELD * DIM + at, mask=used, other=0.0)
    own, other = tl.split(tl.permute(tl.reshape(both, (2, HELD, BLOCK_DIM)), (1, 2, 0)))
    return own, other


@triton.jit
def _halves(at: tl.tensor, used: tl.tensor, DIM: tl.constexpr, BLOCK_DIM: tl.constexpr) -> Pair:
    """Numbers [1, BLOCK_DIM] from `at` on, and the same at the partners; zeros unless `used`."""
    dim = tl.arange(0, BLOCK_DIM)
    there = ((dim < DIM) & used)[None, :]
    own = tl.load(at + dim[None, :], mask=there, other=0.0)
    return own, tl.load(at + _partner(dim, DIM)[None, :], mask=there, other=0.0)


@triton.jit
def _loaded(
    fused_ptr: tl.tensor,
    kv_head: tl.tensor,
    is_first: tl.tensor,
    KV_HEADS: tl.constexpr,
    GROUP: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
) -> Tensors:
    """All that the preceding kernel wrote, loaded before any of it is used.

    The new value [1, BLOCK_DIM], the new key and its numbers at the partners, zeros unless `is_first`; then `_queries`.
    """
    HELD: tl.constexpr = triton.next_power_of_2(GROUP)
    dim = tl.arange(0, BLOCK_DIM)
    new_ptr = fused_ptr + (KV_HEADS * GROUP + kv_head) * DIM
    value_at = new_ptr + KV_HEADS * DIM + dim[None, :]
    value = tl.load(value_at, mask=((dim < DIM) & is_first)[None, :], other=0.0)
    key, key_partners = _halves(new_ptr, is_first, DIM, BLOCK_DIM)
    own, other = _queries(fused_ptr + kv_head * GROUP * DIM, GROUP, HELD, DIM, BLOCK_DIM)
    return value, key, key_partners, own, other


@triton.jit
def _rotated(
    halves: Pair,
    norms: Pair,
    cos: tl.tensor,
    sin: tl.tensor,
    eps: tl.tensor,
    DIM: tl.constexpr,
    NORMED: tl.constexpr,
) -> tl.tensor:
    """Heads [H, BLOCK_DIM] normed by weights [1, BLOCK_DIM] and rotated; of both, the numbers and those at partners."""
    own = halves[0].to(tl.float32)
    other = halves[1].to(tl.float32)
    if NORMED:
        scale = tl.rsqrt(tl.sum(own * own, 1) / DIM + eps)[:, None]
        own *= scale * norms[0].to(tl.float32)
        other *= scale * norms[1].to(tl.float32)
    return (own * cos[None, :] + other * sin[None, :]).to(halves[0].dtype)


@triton.jit
def _store(
    key: tl.tensor,
    value: tl.tensor,
    stored_ptr: tl.tensor,
    plane: tl.tensor,
    slot: tl.tensor,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
) -> Pair:
    """Store the new token's key and value [1, BLOCK_DIM] unless `slot` is negative; returns both in the dtype of the
    cache."""
    dim = tl.arange(0, BLOCK_DIM)[None, :]
    key = as_kept(key, stored_ptr)
    value = as_kept(value, stored_ptr)
    keeps = (dim < DIM) & (slot >= 0)
    tl.store(stored_ptr + dim, key, mask=keeps)
    tl.store(stored_ptr + plane + dim, value, mask=keeps)
    return key, value


@triton.jit
def _repeated(rows: tl.tensor, ROWS: tl.constexpr) -> tl.tensor:
    """`rows` [H] or [H, N] as often as it takes to be ROWS."""
    TIMES: tl.constexpr = ROWS // rows.shape[0]
    if len(rows.shape) == 1:
        many = tl.broadcast_to(rows[None, :], (TIMES, rows.shape[0]))
        many = tl.reshape(many, (ROWS,))
    else:
        many = tl.broadcast_to(rows[None, :, :], (TIMES, rows.shape[0], rows.shape[1]))
        many = tl.reshape(many, (ROWS, rows.shape[1]))
    return many


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
    begin, earlier, per_split, parts = _parts(lengths_ptr, starts_ptr, TILE, SPLITS, WINDOW)
    # A program without a part ends before it waits: the next kernel loads its first weights into the registers that it
    # would hold. The first program of each key head always waits, and so does the launch.
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
    floor = tl.zeros((ROWS,), tl.int32) + begin if WINDOW > 0 else None
    query_norms = _halves(query_norm_ptr, NORMED, DIM, BLOCK_DIM)
    key_norms = _halves(key_norm_ptr, NORMED, DIM, BLOCK_DIM)
    if EARLY:
        gdc_wait()
    is_first = split == 0
    loaded = _loaded(fused_ptr, kv_head, is_first, KV_HEADS, GROUP, DIM, BLOCK_DIM)
    new_value, new_halves, halves = loaded[0], (loaded[1], loaded[2]), (loaded[3], loaded[4])
    # Of the rows of a product the first few are query heads: these are normed and rotated, the others repeat them.
    heads = _rotated(halves, query_norms, cos, sin, eps, DIM, NORMED)
    query = _repeated(heads, ROWS)
    head = kv_head * GROUP + tl.arange(0, ROWS) % GROUP
    most, total, acc = begun(sinks_ptr, head, is_first, ROWS, BLOCK_DIM)
    if is_first:
        new_key = _rotated(new_halves, key_norms, cos, sin, eps, DIM, NORMED)
        kept_key, kept_value = _store(
            new_key, new_value, head_cache + slot * (KV_HEADS * DIM), plane, slot, DIM, BLOCK_DIM
        )
        score = scored(tl.sum(heads.to(tl.float32) * kept_key.to(tl.float32), 1), scale, CAP)
        most, total, weight = _counted(most, _repeated(score, ROWS), sinks_ptr)
        acc += weight[:, None] * kept_value.to(tl.float32)
    limit = tl.zeros((ROWS,), tl.int32) + end
    most, total, acc = fold(
        query, key, value, first + tl.arange(0, TILE), floor, limit, most, total, acc, scale, CAP, PRECISION,
    )  # fmt: skip
    most, total, acc = absorb(
        query, most, total, acc, first + TILE, end, floor, limit, table_ptr, head_cache, plane, scale,
        KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE, TILE, STAGES, CAP, PRECISION,
    )  # fmt: skip
    finish(
        most, total, acc, GROUP, parts, kv_head, out_ptr + kv_head * GROUP * DIM, partial_ptr, lse_ptr, arrived_ptr,
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
