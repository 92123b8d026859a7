"""Attention of sequences with few new tokens over paged keys and values, split along the context.

Does: the products, the online softmax (Dao et al. 2022), and the merge of the splits (Dao et al. 2023,
"Flash-Decoding"). Does not: sequences with more new tokens (`prefill`), or storing keys and values.

All query heads of a key head are rows of one product of at least 16 rows, so several tokens of a sequence cost as much
as one. A program serves one key head of one sequence and one of `SPLITS` equal ranges of its context. The last program
of a (sequence, key head) to finish merges the results, which saves a second launch. The number of splits follows from
the number of sequences alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import PLAIN_SCALING, Ragged, ScoreScaling
from ..runtime.launch import precision, prefetch, processors
from ..runtime.softcap import capped
from ..runtime.tuples import Pair, Three
from .attention_launch import layout, read_by
from .merge import finish, members_merged, row_of
from .softmax_start import begun


@triton.jit
def _fetch_ahead(
    cache_ptr: tl.tensor,
    plane: tl.tensor,
    table: tl.tensor,
    first: tl.tensor,
    end: tl.tensor,
    kv_head: tl.tensor,
    KV_HEADS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    TILE: tl.constexpr,
) -> None:
    """Prefetch the first tile of keys and values into the L2 cache, while the kernel ahead still runs."""
    position = first + tl.arange(0, TILE)
    block = tl.load(table + position // BLOCK_SIZE, mask=position < end, other=0).to(tl.int64)
    slot = block * BLOCK_SIZE + position % BLOCK_SIZE
    line = tl.arange(0, (BLOCK_DIM + 63) // 64) * 64
    at = cache_ptr + slot[:, None] * (KV_HEADS * DIM) + kv_head * DIM + line[None, :]
    prefetch(at)
    prefetch(at + plane)


@triton.jit
def addresses(
    position: tl.tensor,
    end: tl.tensor,
    table: tl.tensor,
    cache_ptr: tl.tensor,
    KV_HEADS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
) -> Pair:
    """(pointers [T, BLOCK_DIM] to the keys of `position` [T] of one key head, which of them exist).

    The cache of the key head begins at `cache_ptr`; keys of positions below `end` exist.
    """
    dim = tl.arange(0, BLOCK_DIM)
    seen = position < end
    block = tl.load(table + position // BLOCK_SIZE, mask=seen, other=0).to(tl.int64)
    slot = block * BLOCK_SIZE + position % BLOCK_SIZE
    there = seen[:, None]
    if BLOCK_DIM != DIM:
        there = there & (dim < DIM)[None, :]
    return cache_ptr + slot[:, None] * (KV_HEADS * DIM) + dim[None, :], there


@triton.jit
def scored(products: tl.tensor, scale: tl.tensor, CAP: tl.constexpr) -> tl.tensor:
    """Scores of products of queries and keys, soft-capped at `CAP` unless it is 0."""
    scores = products * scale
    if CAP > 0:
        scores = capped(scores, CAP)
    return scores


@triton.jit
def fold(
    query: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    position: tl.tensor,
    floor: tl.tensor,
    limit: tl.tensor,
    most: tl.tensor,
    total: tl.tensor,
    acc: tl.tensor,
    scale: tl.tensor,
    CAP: tl.constexpr,
    PRECISION: tl.constexpr,
) -> Three:
    """Add a tile of keys and values to the running softmax of all rows: (maxima, sums, weighted values).

    Each row attends to positions below its `limit`, from its `floor` on (None: from the first). Before its first key a
    row has `most` -inf and `total` 0.
    """
    scores = tl.dot(query, tl.trans(key.to(query.dtype)), input_precision=PRECISION)
    scores = scored(scores, scale, CAP)
    visible = position[None, :] < limit[:, None]
    if floor is not None:
        visible = visible & (position[None, :] >= floor[:, None])
    scores = tl.where(visible, scores, float("-inf"))
    higher = tl.maximum(most, tl.max(scores, 1))
    base = tl.where(higher == float("-inf"), 0.0, higher)
    shrink = tl.exp2(most - base)
    weights = tl.exp2(scores - base[:, None])
    total = total * shrink + tl.sum(weights, 1)
    acc = acc * shrink[:, None]
    acc = tl.dot(weights.to(query.dtype), value.to(query.dtype), acc, input_precision=PRECISION)
    return higher, total, acc


@triton.jit
def absorb(
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
    KV_HEADS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    TILE: tl.constexpr,
    STAGES: tl.constexpr,
    CAP: tl.constexpr,
    PRECISION: tl.constexpr,
) -> Three:
    """Add keys `first:end` of one key head, with its cache at `cache_ptr`, to the running softmax: see `fold`."""
    for at in tl.range(first, end, TILE, num_stages=STAGES):
        position = at + tl.arange(0, TILE)
        key_at, there = addresses(
            position, end, table, cache_ptr, KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE
        )
        key = tl.load(key_at, mask=there, other=0.0)
        value = tl.load(key_at + plane, mask=there, other=0.0)
        most, total, acc = fold(
            query, key, value, position, floor, limit, most, total, acc, scale, CAP, PRECISION
        )
    return most, total, acc


@triton.jit(
    do_not_specialize=["tables_stride"],
    do_not_specialize_on_alignment=["tables_ptr", "starts_ptr", "lengths_ptr"],
)
def _decode(
    query_ptr: tl.tensor,
    query_stride: tl.tensor,
    cache_ptr: tl.tensor,
    plane: tl.tensor,
    tables_ptr: tl.tensor,
    tables_stride: tl.tensor,
    lengths_ptr: tl.tensor,
    starts_ptr: tl.tensor,
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
    CAP: tl.constexpr,
    WINDOW: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    HEADS: tl.constexpr = KV_HEADS * GROUP
    kv_head, split, sequence = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    if EARLY:
        gdc_launch_dependents()
    # Starts, lengths and tables are inputs of the step: no kernel that may still run writes them.
    row = tl.load(starts_ptr + sequence).to(tl.int64)
    count = (tl.load(starts_ptr + sequence + 1) - row).to(tl.int32)
    count = tl.where(count * GROUP <= ROWS, count, 0)
    length = tl.where(count > 0, tl.load(lengths_ptr + sequence), 0)
    begin = 0
    if WINDOW > 0:  # the first token sees the earliest key
        begin = tl.maximum(length - count + 1 - WINDOW, 0) // TILE * TILE
    per_split = tl.cdiv(tl.cdiv(length - begin, TILE), SPLITS) * TILE
    first = begin + split * per_split
    end = tl.minimum(first + per_split, length)
    table = tables_ptr + sequence.to(tl.int64) * tables_stride
    member = tl.arange(0, ROWS)
    dim = tl.arange(0, BLOCK_DIM)
    if EARLY:
        if SPLITS > 1:
            _fetch_ahead(
                cache_ptr, plane, table, first, end, kv_head,
                KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE, TILE,
            )  # fmt: skip
        gdc_wait()
    used = (member < count * GROUP)[:, None] & (dim < DIM)[None, :]
    out_first = out_ptr + row * (HEADS * DIM) + kv_head * GROUP * DIM
    if first >= length:
        if (length == 0) & (split == 0):
            out_at = out_first + row_of(member, GROUP, HEADS, DIM)[:, None] + dim[None, :]
            tl.store(out_at, tl.zeros((ROWS, BLOCK_DIM), out_ptr.dtype.element_ty), mask=used)
        return
    heads_at = query_ptr + row * query_stride + kv_head * GROUP * DIM
    heads_at += (member // GROUP).to(tl.int64)[:, None] * query_stride
    heads_at += (member % GROUP)[:, None] * DIM
    query = tl.load(heads_at + dim[None, :], mask=used, other=0.0)
    limit = length - count + member // GROUP + 1
    floor = None
    if WINDOW > 0:
        floor = limit - WINDOW
    limit = tl.minimum(limit, end)
    head = kv_head * GROUP + member % GROUP
    most, total, acc = begun(sinks_ptr, head, split == 0, ROWS, BLOCK_DIM)
    most, total, acc = absorb(
        query, most, total, acc, first, end, floor, limit, table, cache_ptr + kv_head * DIM, plane, scale,
        KV_HEADS, DIM, BLOCK_DIM, BLOCK_SIZE, TILE, STAGES, CAP, PRECISION,
    )  # fmt: skip
    finish(
        most, total, acc, count * GROUP, tl.cdiv(length - begin, per_split),
        sequence.to(tl.int64) * KV_HEADS + kv_head, out_first, partial_ptr, lse_ptr, arrived_ptr,
        GROUP, ROWS, HEADS, DIM, BLOCK_DIM, SPLITS, MEMBERS,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class DecodeShape:
    """Launch parameters of the split kernel.

    `tile` keys are loaded at once, `stages` tiles are in flight.
    """

    splits: int
    tile: int
    stages: int
    warps: int


def decode_shape(sequences: int, kv_heads: int, device: torch.device) -> DecodeShape:
    """Splits as measured on an H200: about four programs on each multiprocessor, never more than 16 splits.

    Powers of two: every number of splits is a kernel to compile.
    """
    programs = max(sequences * kv_heads, 1)
    wanted = max(1, min(16, 4 * processors(device) // programs))
    splits = 1 << (wanted.bit_length() - 1)
    if splits >= 4:
        return DecodeShape(splits=splits, tile=64, stages=3, warps=2)
    if programs > 16 * processors(device):
        return DecodeShape(splits=splits, tile=128, stages=3, warps=4)
    return DecodeShape(splits=splits, tile=64, stages=3, warps=4)


def product_rows(group: int) -> int:
    """Rows of one matrix product: `group` query heads for each of as many tokens as fit."""
    return max(16, int(triton.next_power_of_2(group)))


def few_tokens(group: int) -> int:
    """The largest number of new tokens of a sequence that this kernel serves, for `group` query heads per key head."""
    return product_rows(group) // group


class DecodeAttention:
    """Prepared attention of a step's sequences with up to `few_tokens` new tokens; the others are not touched."""

    def __init__(
        self,
        ragged: Ragged,
        heads: int,
        cache_shape: Sequence[int],
        shape: DecodeShape,
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> None:
        sizes, lengths = layout(heads, cache_shape, scores, window), ragged.context_lengths
        self._ragged, self._scale = ragged, sizes.scale
        self._grid = sizes.kv_heads, shape.splits, lengths.shape[0]
        rows = product_rows(sizes.group)
        self._options = sizes.options(shape, lengths) | {
            "ROWS": rows,
            "SPLITS": shape.splits,
            "MEMBERS": members_merged(shape.splits, sizes.dim, sizes.group, shape.warps),
        }
        pairs, device = lengths.shape[0] * sizes.kv_heads, lengths.device
        parts = pairs * rows * shape.splits if shape.splits > 1 else 1
        self._partial = torch.empty((parts, sizes.dim), dtype=torch.float32, device=device)
        self._lse = torch.empty(parts, dtype=torch.float32, device=device)
        # Programs count themselves in and the last one resets the count, layer after layer.
        counts = pairs if shape.splits > 1 else 1
        self._arrived = torch.zeros(counts, dtype=torch.int32, device=device)

    def run(self, query: Tensor, cache: Tensor, out: Tensor, sinks: Tensor | None = None) -> None:
        """Fill the rows of `out` [N, heads, head_dim] that sequences with few tokens own.

        `sinks`: see `AttentionPass.run`.
        """
        _decode[self._grid](
            *read_by(query, cache, self._ragged),
            self._ragged.query_starts,
            out,
            self._partial,
            self._lse,
            self._arrived,
            sinks,
            self._scale,
            PRECISION=precision(query.dtype),
            **self._options,
        )
