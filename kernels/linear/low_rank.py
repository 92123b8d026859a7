"""Grouped low-rank products: the rows of a step with many adapters, in two launches. Reference:
`reference.add_low_rank`.

Does: group rows by adapter into tiles, multiply each tile by its adapter's `down` in splits of the inputs, then by
`up`, and add. Does not: read matrices of adapters that no row has, or wait for the host: launch sizes depend on shapes.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import AdapterRows, LowRank
from ..runtime.launch import overlap, precision

FEW_ROWS = 512
"""Up to this number of rows tiles are small, and the inputs are split among programs, since few adapters have rows."""

TILE, LARGE_TILE = 16, 64
SPLIT = 512
INPUTS = 128
OUTPUTS = 128


def _tile(rows: int) -> int:
    return TILE if rows <= FEW_ROWS else LARGE_TILE


def adapter_rows(places: Tensor, count: int) -> AdapterRows:
    """Group rows by their `places` [N] int32, below `count`, into tiles; in torch, once for all products of a step."""
    rows = places.shape[0]
    tile = _tile(rows)
    device = places.device
    order = torch.argsort(places, stable=True)
    numbers = torch.arange(count, dtype=torch.int32, device=device)
    sizes = (places == numbers.unsqueeze(1)).sum(1)
    first = (places < 0).sum() + sizes.cumsum(0) - sizes
    tiles = (sizes + tile - 1) // tile
    ends = tiles.cumsum(0)
    most = min(rows, rows // tile + min(count, rows))
    number = torch.arange(most, device=device)
    owner = torch.searchsorted(ends, number, right=True)
    place = owner.clamp(max=count - 1)
    begin = first[place] + (number - ends[place] + tiles[place]) * tile
    end = torch.minimum(begin + tile, first[place] + sizes[place])
    unused = owner == count
    bounds = (place, begin.masked_fill(unused, 0), end.masked_fill(unused, 0))
    return AdapterRows(places, order.int(), torch.stack(bounds, 1).int())


@triton.jit
def _shrink(
    x_ptr: tl.tensor,
    down_ptr: tl.tensor,
    order_ptr: tl.tensor,
    tiles_ptr: tl.tensor,
    low_ptr: tl.tensor,
    x_stride: tl.tensor,
    down_stride: tl.tensor,
    rows: tl.tensor,
    INPUTS: tl.constexpr,
    WIDTH: tl.constexpr,
    TILE: tl.constexpr,
    SPLIT: tl.constexpr,
    BLOCK: tl.constexpr,
    COLUMNS: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    tile, split = tl.program_id(0), tl.program_id(1)
    place = tl.load(tiles_ptr + 3 * tile).to(tl.int64)
    begin, end = tl.load(tiles_ptr + 3 * tile + 1), tl.load(tiles_ptr + 3 * tile + 2)
    if begin < end:
        at = begin + tl.arange(0, TILE)
        row = tl.load(order_ptr + at, mask=at < end, other=0).to(tl.int64)
        column = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
        low = tl.zeros((TILE, COLUMNS), dtype=tl.float32)
        for step in range(0, SPLIT, BLOCK):
            k = split * SPLIT + step + tl.arange(0, BLOCK)
            x = tl.load(
                x_ptr + row[:, None] * x_stride + k[None, :],
                mask=(at[:, None] < end) & (k[None, :] < INPUTS),
                other=0.0,
            )
            down = tl.load(
                down_ptr + place * down_stride + column[None, :] * INPUTS + k[:, None],
                mask=(column[None, :] < WIDTH) & (k[:, None] < INPUTS),
                other=0.0,
            )
            low = tl.dot(x, down, low, input_precision=PRECISION)
        to = low_ptr + (split * rows + at).to(tl.int64)[:, None] * WIDTH + column[None, :]
        tl.store(to, low, mask=(at[:, None] < end) & (column[None, :] < WIDTH))


@triton.jit
def _expand(
    low_ptr: tl.tensor,
    up_ptr: tl.tensor,
    order_ptr: tl.tensor,
    tiles_ptr: tl.tensor,
    out_ptr: tl.tensor,
    up_stride: tl.tensor,
    rows: tl.tensor,
    END_0: tl.constexpr,
    END_1: tl.constexpr,
    OUTPUTS: tl.constexpr,
    RANK: tl.constexpr,
    WIDTH: tl.constexpr,
    SPLITS: tl.constexpr,
    TILE: tl.constexpr,
    RANKS: tl.constexpr,
    BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    tile, block = tl.program_id(0), tl.program_id(1)
    place = tl.load(tiles_ptr + 3 * tile).to(tl.int64)
    begin, end = tl.load(tiles_ptr + 3 * tile + 1), tl.load(tiles_ptr + 3 * tile + 2)
    if begin < end:
        at = begin + tl.arange(0, TILE)
        row = tl.load(order_ptr + at, mask=at < end, other=0).to(tl.int64)
        rank = tl.arange(0, RANKS)
        # No block of outputs crosses the end of a part.
        blocks_0 = tl.cdiv(END_0, BLOCK)
        blocks_1 = tl.cdiv(END_1 - END_0, BLOCK)
        part = tl.where(block < blocks_0, 0, tl.where(block < blocks_0 + blocks_1, 1, 2))
        skipped = tl.where(part == 0, 0, tl.where(part == 1, blocks_0, blocks_0 + blocks_1))
        first = tl.where(part == 0, 0, tl.where(part == 1, END_0, END_1))
        last = tl.where(part == 0, END_0, tl.where(part == 1, END_1, OUTPUTS))
        column = first + (block - skipped) * BLOCK + tl.arange(0, BLOCK)
        low = tl.zeros((TILE, RANKS), dtype=tl.float32)
        inside = (at[:, None] < end) & (rank[None, :] < RANK)
        for split in range(SPLITS):
            here = (split * rows + at).to(tl.int64)[:, None] * WIDTH + part * RANK + rank[None, :]
            low += tl.load(low_ptr + here, mask=inside, other=0.0)
        up = tl.load(
            up_ptr + place * up_stride + column[None, :] * RANK + rank[:, None],
            mask=(column[None, :] < last) & (rank[:, None] < RANK),
            other=0.0,
        )
        added = tl.dot(low.to(up.dtype), up, input_precision=PRECISION)
        to = out_ptr + row[:, None] * OUTPUTS + column[None, :]
        kept = (at[:, None] < end) & (column[None, :] < last)
        before = tl.load(to, mask=kept, other=0.0).to(tl.float32)
        tl.store(to, (before + added).to(out_ptr.dtype.element_ty), mask=kept)


def add_low_rank(product: Tensor, x: Tensor, factors: LowRank, rows: AdapterRows) -> None:
    """See `Kernels.add_low_rank`. `rows` are those of `adapter_rows`. Sums are float32.

    Raises:
        ValueError: the rows are not grouped, or there are more than three parts.
    """
    order, tiles, ends = rows.order, rows.tiles, factors.ends
    if order is None or tiles is None:
        raise ValueError("the rows are not grouped by adapter")
    if len(ends) > 3:
        raise ValueError(f"a product of {len(ends)} parts, of which there are 3 at most")
    count, inputs = x.shape
    rank, width, tile = factors.up.shape[2], factors.down.shape[1], _tile(count)
    splits = triton.cdiv(inputs, SPLIT) if count <= FEW_ROWS else 1
    low = torch.empty((splits, count, width), dtype=torch.float32, device=x.device)
    columns = min(64, max(16, triton.next_power_of_2(width)))
    settings = {"TILE": tile, "PRECISION": precision(x.dtype), **overlap(x, early=False)}
    _shrink[(tiles.shape[0], splits, triton.cdiv(width, columns))](
        x,
        factors.down,
        order,
        tiles,
        low,
        x.stride(0),
        factors.down.stride(0),
        count,
        INPUTS=inputs,
        WIDTH=width,
        SPLIT=triton.cdiv(triton.cdiv(inputs, splits), INPUTS) * INPUTS,
        BLOCK=INPUTS,
        COLUMNS=columns,
        num_warps=4,
        **settings,
    )
    sizes = [end - begin for begin, end in zip((0, *ends), ends, strict=False)]
    settings |= overlap(x)
    _expand[(tiles.shape[0], sum(triton.cdiv(size, OUTPUTS) for size in sizes))](
        low,
        factors.up,
        order,
        tiles,
        product,
        factors.up.stride(0),
        count,
        END_0=ends[0],
        END_1=ends[min(1, len(ends) - 1)],
        OUTPUTS=ends[-1],
        RANK=rank,
        WIDTH=width,
        SPLITS=splits,
        RANKS=max(16, triton.next_power_of_2(rank)),
        BLOCK=OUTPUTS,
        num_warps=4,
        **settings,
    )
