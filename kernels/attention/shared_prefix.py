"""Decode attention of many sequences over paged keys and values, with shared prefixes read once.

Does: the products and the online softmax (Dao et al. 2022) of packs of tokens: the common prefix of a pack's contexts
is read once for the pack, then the rest of each context. Does not: detect shared prefixes (the caller orders tokens
into packs), split contexts (`split_kv`, for fewer tokens), or store keys and values.

A matrix product has at least 16 rows, more than the query heads of a key head, so tokens of several sequences share a
product. When thousands of tokens share a prefix, the bandwidth of the L2 cache is the limit, since their
keys come from there; a pack reads each key once for all its tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import PLAIN_SCALING, Packs, Ragged, ScoreScaling
from ..runtime.launch import precision, processors
from .attention_launch import layout, read_by
from .softmax_start import begun
from .split_kv import absorb, few_tokens, product_rows

NEVER = 1 << 30
"""More tokens than any step has."""


@triton.jit(
    do_not_specialize=["tables_stride", "entries"],
    do_not_specialize_on_alignment=[
        "tables_ptr",
        "lengths_ptr",
        "order_ptr",
        "shared_ptr",
        "leads_ptr",
    ],
)
def _packed(
    query_ptr: tl.tensor,
    query_stride: tl.tensor,
    cache_ptr: tl.tensor,
    plane: tl.tensor,
    tables_ptr: tl.tensor,
    tables_stride: tl.tensor,
    lengths_ptr: tl.tensor,
    order_ptr: tl.tensor,
    shared_ptr: tl.tensor,
    leads_ptr: tl.tensor,
    entries: tl.tensor,
    out_ptr: tl.tensor,
    sinks_ptr: tl.tensor,
    scale: tl.tensor,
    KV_HEADS: tl.constexpr,
    GROUP: tl.constexpr,
    ROWS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    TILE: tl.constexpr,
    STAGES: tl.constexpr,
    CAP: tl.constexpr,
    WINDOW: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    HEADS: tl.constexpr = KV_HEADS * GROUP
    TOKENS: tl.constexpr = ROWS // GROUP
    kv_head, pack = tl.program_id(0), tl.program_id(1)
    if EARLY:
        gdc_launch_dependents()
    # Order, lengths and tables are inputs of the step: no kernel that may still run writes them.
    member = tl.arange(0, ROWS)
    dim = tl.arange(0, BLOCK_DIM)
    token = member // GROUP
    at = pack * TOKENS + token
    there = (token < TOKENS) & (at < entries)
    row = tl.load(order_ptr + at, mask=there, other=-1).to(tl.int64)
    lead = tl.load(leads_ptr + at, mask=there, other=-1)
    length = tl.load(lengths_ptr + row, mask=row >= 0, other=0)
    leader = tl.load(order_ptr + pack * TOKENS).to(tl.int64)
    if EARLY:
        gdc_wait()
    if leader < 0:
        return
    common = tl.load(shared_ptr + pack)
    used = (row >= 0)[:, None] & (dim < DIM)[None, :]
    head = (kv_head * GROUP + member % GROUP)[:, None] * DIM
    query_at = query_ptr + row[:, None] * query_stride + head + dim[None, :]
    query = tl.load(query_at, mask=used, other=0.0)
    most, total, acc = begun(sinks_ptr, kv_head * GROUP + member % GROUP, None, ROWS, BLOCK_DIM)
    cache = cache_ptr + kv_head * DIM
    begin, floor = 0, None
    if WINDOW > 0:
        floor = tl.maximum(length - WINDOW, 0)
        begin = tl.min(tl.where(row >= 0, floor, common), 0)
    most, total, acc = absorb(
        query, most, total, acc, begin, common, floor, tl.minimum(length, common),
        tables_ptr + leader * tables_stride, cache, plane, scale,
        KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE, TILE, STAGES, CAP, PRECISION,
    )  # fmt: skip
    for turn in range(TOKENS):
        own = pack * TOKENS + turn
        owner = tl.load(order_ptr + own, mask=own < entries, other=-1).to(tl.int64)
        limit = tl.where(lead == turn, length, 0)
        end = tl.max(limit, 0)
        begin = common
        if WINDOW > 0:
            begin = tl.maximum(common, tl.min(tl.where(lead == turn, floor, end), 0))
        most, total, acc = absorb(
            query, most, total, acc, begin, end, floor, limit,
            tables_ptr + tl.maximum(owner, 0) * tables_stride, cache, plane, scale,
            KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE, TILE, STAGES, CAP, PRECISION,
        )  # fmt: skip
    out = acc / tl.where(total > 0, total, 1.0)[:, None]
    out_at = out_ptr + row[:, None] * (HEADS * DIM) + head + dim[None, :]
    tl.store(out_at, out.to(out_ptr.dtype.element_ty), mask=used)


@dataclass(frozen=True, slots=True)
class PackedShape:
    """Launch parameters: `tile` keys are loaded at once, `stages` tiles are in flight.

    A multiprocessor has registers for `resident` programs.
    """

    tile: int
    stages: int
    warps: int
    resident: int


def packed_shape(group: int) -> PackedShape:
    """Launch parameters as measured on an H200, for packs of few tokens and of more."""
    if few_tokens(group) <= 4:
        return PackedShape(tile=64, stages=3, warps=2, resident=4)
    return PackedShape(tile=128, stages=3, warps=4, resident=2)


def packed_from(group: int, kv_heads: int, device: torch.device) -> int:
    """The least number of tokens for which packs are faster, with or without shared prefixes: three programs per
    multiprocessor."""
    few = few_tokens(group)
    return few * triton.cdiv(3 * processors(device), kv_heads) if few > 1 else NEVER


def packs_at_once(group: int, kv_heads: int, device: torch.device) -> int:
    """The number of packs that run on the device at once; a pack has one program per key head."""
    return max(1, processors(device) * packed_shape(group).resident // kv_heads)


class PackedAttention:
    """Prepared attention of a step's single tokens in packs. Rows in no pack are not touched."""

    def __init__(
        self,
        ragged: Ragged,
        packs: Packs,
        heads: int,
        cache_shape: Sequence[int],
        shape: PackedShape | None = None,
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> None:
        sizes = layout(heads, cache_shape, scores, window)
        shape = packed_shape(sizes.group) if shape is None else shape
        self._ragged, self._packs, self._scale = ragged, packs, sizes.scale
        self._grid = sizes.kv_heads, triton.cdiv(packs.order.shape[0], few_tokens(sizes.group))
        self._options = sizes.options(shape, packs.order) | {"ROWS": product_rows(sizes.group)}

    def run(self, query: Tensor, cache: Tensor, out: Tensor, sinks: Tensor | None = None) -> None:
        """Fill the rows of `out` [N, heads, head_dim] that are in packs. Scores and sums are float32.

        `sinks`: see `AttentionPass.run`.
        """
        order = self._packs.order
        _packed[self._grid](
            *read_by(query, cache, self._ragged),
            order,
            self._packs.shared,
            self._packs.leads,
            order.shape[0],
            out,
            sinks,
            self._scale,
            PRECISION=precision(query.dtype),
            **self._options,
        )
