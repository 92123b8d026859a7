"""QK norm, rotary embedding and KV-cache store in one pass. Reference: `reference.rope_and_store`."""

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import Places, QKNorm
from ..runtime.launch import overlap

FEW_ROWS = 64
MOST_FP8: tl.constexpr = tl.constexpr(448.0)


def _heads(rows: int) -> int:
    """The number of heads per program, four to a warp; with many rows, fewer and larger programs fill the device."""
    return 4 if rows <= FEW_ROWS else 16


@triton.jit
def as_kept(x: tl.tensor, cache_ptr: tl.tensor) -> tl.tensor:
    """Keys or values converted to the dtype of the cache."""
    kept: tl.constexpr = cache_ptr.dtype.element_ty
    if kept == tl.float8e4nv:  # it has no infinity: larger values would become NaN
        x = tl.clamp(x.to(tl.float32), -MOST_FP8, MOST_FP8)
    return x.to(kept)


@triton.jit(
    do_not_specialize=["slots"],
    do_not_specialize_on_alignment=["positions_ptr", "slots_ptr"],
)
def _rope_and_store(
    fused_ptr: tl.tensor,
    fused_stride: tl.tensor,
    query_ptr: tl.tensor,
    cache_ptr: tl.tensor,
    plane: tl.tensor,
    cos_ptr: tl.tensor,
    sin_ptr: tl.tensor,
    positions_ptr: tl.tensor,
    slots_ptr: tl.tensor,
    slots: tl.tensor,
    query_norm_ptr: tl.tensor,
    key_norm_ptr: tl.tensor,
    eps: tl.tensor,
    QUERY_HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    HALF: tl.constexpr,
    NORMED: tl.constexpr,
    HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    DIM: tl.constexpr = 2 * HALF
    row = tl.program_id(1).to(tl.int64)
    head = tl.program_id(0) * HEADS + tl.arange(0, HEADS)
    pair = tl.arange(0, BLOCK)
    is_query = head < QUERY_HEADS
    is_key = (head >= QUERY_HEADS) & (head < QUERY_HEADS + KV_HEADS)
    is_value = (head >= QUERY_HEADS + KV_HEADS) & (head < QUERY_HEADS + 2 * KV_HEADS)
    low = pair < HALF
    if EARLY:
        gdc_launch_dependents()
    # Positions, slots and tables are inputs of the step: no kernel that may still run writes them.
    position = tl.load(positions_ptr + row).to(tl.int64)
    slot = tl.load(slots_ptr + tl.minimum(row, slots - 1)).to(tl.int64)
    cos = tl.load(cos_ptr + position * DIM + pair, mask=low, other=0.0).to(tl.float32)[None, :]
    sin = tl.load(sin_ptr + position * DIM + HALF + pair, mask=low, other=0.0)
    sin = sin.to(tl.float32)[None, :]
    if NORMED:
        q1 = tl.load(query_norm_ptr + pair, mask=low, other=0.0).to(tl.float32)[None, :]
        q2 = tl.load(query_norm_ptr + HALF + pair, mask=low, other=0.0).to(tl.float32)[None, :]
        k1 = tl.load(key_norm_ptr + pair, mask=low, other=0.0).to(tl.float32)[None, :]
        k2 = tl.load(key_norm_ptr + HALF + pair, mask=low, other=0.0).to(tl.float32)[None, :]
    if EARLY:
        gdc_wait()
    used = low[None, :] & (head < QUERY_HEADS + 2 * KV_HEADS)[:, None]
    at = fused_ptr + row * fused_stride + head[:, None] * DIM + pair[None, :]
    first = tl.load(at, mask=used, other=0.0).to(tl.float32)
    second = tl.load(at + HALF, mask=used, other=0.0).to(tl.float32)
    rotated = (is_query | is_key)[:, None]
    if NORMED:
        squares = tl.sum(first * first, 1) + tl.sum(second * second, 1)
        scale = tl.where(is_value, 1.0, tl.rsqrt(squares / DIM + eps))[:, None]
        first *= scale * tl.where(is_query[:, None], q1, tl.where(is_key[:, None], k1, 1.0))
        second *= scale * tl.where(is_query[:, None], q2, tl.where(is_key[:, None], k2, 1.0))
    out_first = tl.where(rotated, first * cos - second * sin, first).to(query_ptr.dtype.element_ty)
    out_second = tl.where(rotated, second * cos + first * sin, second).to(
        query_ptr.dtype.element_ty
    )
    to_query = used & is_query[:, None]
    at = query_ptr + row * QUERY_HEADS * DIM + head[:, None] * DIM + pair[None, :]
    tl.store(at, out_first, mask=to_query)
    tl.store(at + HALF, out_second, mask=to_query)
    slot = tl.where((row < slots) & (is_key | is_value), slot, -1)
    kv_head = tl.where(is_value, head - QUERY_HEADS - KV_HEADS, head - QUERY_HEADS)
    base = cache_ptr + slot * (KV_HEADS * DIM) + tl.where(is_value, 1, 0).to(tl.int64) * plane
    at = base[:, None] + kv_head[:, None] * DIM + pair[None, :]
    to_cache = used & (slot >= 0)[:, None]
    tl.store(at, as_kept(out_first, cache_ptr), mask=to_cache)
    tl.store(at + HALF, as_kept(out_second, cache_ptr), mask=to_cache)


def rope_and_store(
    fused: Tensor,
    places: Places,
    norms: QKNorm | None,
    cache: Tensor,
    *,
    together: int | None = None,
) -> Tensor:
    """Norm and rotate queries and keys, store keys and values; returns the queries.

    `fused` has contiguous rows; `cache` [2, num_blocks, block_size, kv_heads, head_dim] and the tables are contiguous.
    Arithmetic is float32. `together`: the heads of a program, 4 or more; None: chosen by the number of rows, with which
    the order of a norm's sum may change.
    """
    rows, all_heads, dim = fused.shape
    kv_heads = cache.shape[3]
    heads = all_heads - 2 * kv_heads
    query = torch.empty((rows, heads, dim), dtype=fused.dtype, device=fused.device)
    half = dim // 2
    together = together or _heads(rows)
    _rope_and_store[(triton.cdiv(all_heads, together), rows)](
        fused,
        fused.stride(0),
        query,
        cache,
        cache.stride(0),
        places.cos,
        places.sin,
        places.positions,
        places.slots,
        places.slots.shape[0],
        query if norms is None else norms.query,
        query if norms is None else norms.key,
        0.0 if norms is None else norms.eps,
        QUERY_HEADS=heads,
        KV_HEADS=kv_heads,
        HALF=half,
        NORMED=norms is not None,
        HEADS=together,
        BLOCK=triton.next_power_of_2(half),
        num_warps=together // 4 * (1 if half <= 64 else 2),
        **overlap(fused),
    )
    return query
