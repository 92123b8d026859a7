"""A few rows times a weight matrix, bound by reading the matrix: linears of batches of 2 to 64 rows.

Does: the product, cut along the inputs where there are too few outputs to fill the device, with what follows it (bias,
gate, residual). Does not: one row (`gemv`), many (the vendor's library), or the norm before it: normed rows are
multiplied from shared memory, and a detour of every tile through registers costs more than a launch.
Reference: `reference.linear`, `norm_gated`, `linear_add`.

The matrix is the left factor: 32 or 64 of its rows meet all rows of `x`, which are few. A program serves one tile of
outputs and one of `SPLITS` ranges of the inputs; the last program of a tile to finish adds up the others' sums.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from .launch import overlap, precision, prefetch, processors
from .product import After, load_tile

MOST_ROWS = 64
INNER = 128
"""Inputs of a tile."""

AHEAD = 2
"""Cache lines of every row of weights that are fetched before the kernel ahead has finished."""

ROOM = 200_000
"""Bytes of shared memory for the tiles on their way to a multiprocessor."""


@triton.jit
def _sum_splits(
    y: tl.tensor,
    z: tl.tensor,
    partial_ptr: tl.tensor,
    arrived_ptr: tl.tensor,
    BLOCK_OUT: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    SPLITS: tl.constexpr,
    PAIRED: tl.constexpr,
) -> tl.tensor:
    """Leave `y`, and with PAIRED `z`, [BLOCK_ROWS, BLOCK_OUT] for the tile's last program, which gets the sums.

    Returns the two and whether this program is the last.
    """
    TILE: tl.constexpr = BLOCK_OUT * BLOCK_ROWS
    KINDS: tl.constexpr = 2 if PAIRED else 1
    inner = tl.arange(0, BLOCK_ROWS)[:, None] * BLOCK_OUT + tl.arange(0, BLOCK_OUT)[None, :]
    base = partial_ptr + tl.program_id(0).to(tl.int64) * (SPLITS * KINDS * TILE)
    mine = base + tl.program_id(1) * (KINDS * TILE) + inner
    tl.store(mine, y)
    if PAIRED:
        tl.store(mine + TILE, z)
    tl.debug_barrier()
    last = tl.atomic_add(arrived_ptr + tl.program_id(0), 1, sem="acq_rel") == SPLITS - 1
    tl.debug_barrier()
    if last:
        y = tl.zeros((BLOCK_ROWS, BLOCK_OUT), tl.float32)
        z = tl.zeros((BLOCK_ROWS, BLOCK_OUT), tl.float32)
        for split in tl.static_range(SPLITS):
            y += tl.load(base + split * (KINDS * TILE) + inner, cache_modifier=".cg")
            if PAIRED:
                z += tl.load(base + (split * KINDS + 1) * TILE + inner, cache_modifier=".cg")
        tl.store(arrived_ptr + tl.program_id(0), 0)
    return y, z, last


@triton.jit
def _fetch_ahead(
    weight_ptr: tl.tensor,
    matrix_row: tl.tensor,
    first: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    AHEAD: tl.constexpr,
    PAIRED: tl.constexpr,
) -> None:
    """Fetch the first weights into the L2 cache, while the kernel ahead still runs."""
    line = first + tl.arange(0, AHEAD) * 64
    line_at = weight_ptr + matrix_row[:, None] * INPUTS + tl.minimum(line, INPUTS - 1)[None, :]
    prefetch(line_at)
    if PAIRED:
        prefetch(line_at + OUTPUTS * INPUTS)


@triton.jit(do_not_specialize=["rows"])
def _skinny(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    rows: tl.tensor,
    weight_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    partial_ptr: tl.tensor,
    arrived_ptr: tl.tensor,
    legal_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    SPLITS: tl.constexpr,
    STAGES: tl.constexpr,
    AHEAD: tl.constexpr,
    GATED: tl.constexpr,
    BIASED: tl.constexpr,
    ADDED: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """`OUTPUTS` is what is written: half the rows of the matrix if GATED. ADDED adds to what `out` holds."""
    if EARLY:
        gdc_launch_dependents()
    output = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = output < OUTPUTS
    member = tl.arange(0, BLOCK_ROWS)
    real = member < rows
    k = tl.arange(0, BLOCK_IN)
    matrix_row = tl.minimum(output, OUTPUTS - 1).to(tl.int64)
    weight_at = weight_ptr + matrix_row[:, None] * INPUTS + k[None, :]
    x_at = x_ptr + member[:, None].to(tl.int64) * x_stride + k[None, :]
    per_split: tl.constexpr = (INPUTS + BLOCK_IN * SPLITS - 1) // (BLOCK_IN * SPLITS) * BLOCK_IN
    first = tl.program_id(1) * per_split
    end = tl.minimum(first + per_split, INPUTS)
    if EARLY:
        if legal_ptr is None:
            _fetch_ahead(weight_ptr, matrix_row, first, OUTPUTS, INPUTS, AHEAD, GATED)
        gdc_wait()
    wanted = None
    if legal_ptr is not None:
        words = tl.load(legal_ptr + output // 32, mask=inside, other=0)
        wanted = ((words >> (output % 32)) & 1) != 0
        if tl.max(wanted.to(tl.int32), 0) == 0:
            return
        inside = wanted
    acc = tl.zeros((BLOCK_OUT, BLOCK_ROWS), tl.float32)
    up_acc = tl.zeros((BLOCK_OUT, BLOCK_ROWS), tl.float32)
    for start in tl.range(first, end, BLOCK_IN, num_stages=STAGES):
        x = load_tile(x_at + start, real, start + k, INPUTS, BLOCK_IN)
        weight = load_tile(weight_at + start, wanted, start + k, INPUTS, BLOCK_IN)
        acc = tl.dot(weight, tl.trans(x), acc, input_precision=PRECISION)
        if GATED:
            up_at = weight_at + start + OUTPUTS * INPUTS
            up = load_tile(up_at, wanted, start + k, INPUTS, BLOCK_IN)
            up_acc = tl.dot(up, tl.trans(x), up_acc, input_precision=PRECISION)
    y = tl.trans(acc)
    z = tl.trans(up_acc)
    if SPLITS > 1:
        y, z, last = _sum_splits(
            y, z, partial_ptr, arrived_ptr, BLOCK_OUT, BLOCK_ROWS, SPLITS, GATED
        )
        if not last:
            return
    if BIASED:
        y += tl.load(bias_ptr + output, mask=inside, other=0.0).to(tl.float32)[None, :]
    if GATED:
        if BIASED:
            at = bias_ptr + OUTPUTS + output
            z += tl.load(at, mask=inside, other=0.0).to(tl.float32)[None, :]
        y = y * tl.sigmoid(y) * z
    used = real[:, None] & inside[None, :]
    out_at = out_ptr + member[:, None].to(tl.int64) * OUTPUTS + output[None, :]
    if ADDED:
        y += tl.load(out_at, mask=used, other=0.0).to(tl.float32)
    tl.store(out_at, y.to(out_ptr.dtype.element_ty), mask=used)


@dataclass(frozen=True, slots=True)
class SkinnyShape:
    """Outputs and inputs of a tile, ranges of the inputs, tiles on their way, warps."""

    block_out: int
    block_in: int
    splits: int
    stages: int
    warps: int


def skinny_shape(x: Tensor, outputs: int, *, gated: bool) -> SkinnyShape:
    """Tiles as measured on an H200: as many programs as multiprocessors, or else two for each, and deep queues."""
    inputs = x.shape[1]
    block_out = 64 if outputs >= 3840 else 32
    tiles = triton.cdiv(outputs, block_out)
    block_in = min(INNER * 2 // x.element_size(), max(16, triton.next_power_of_2(inputs)))
    most = max(1, inputs // (2 * block_in))
    wanted = min(max(1, processors(x.device) // tiles), most)
    splits = 1 << (wanted.bit_length() - 1)
    stage = (block_out * (2 if gated else 1) + _block_rows(x)) * block_in * x.element_size()
    room = ROOM if tiles * splits <= processors(x.device) else ROOM // 2
    return SkinnyShape(block_out, block_in, splits, min(6, max(2, room // stage)), warps=4)


def skinny(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    out: Tensor,
    arrived: Tensor,
    *,
    after: After = After.NOTHING,
    legal: Tensor | None = None,
    shape: SkinnyShape | None = None,
) -> None:
    """`x` [N, inputs] with contiguous rows, N at most `MOST_ROWS`, times contiguous `weight` [outputs, inputs].

    Into contiguous `out` [N, outputs or half of them]. `arrived` int32 are zeros, at least one a tile of outputs, and
    are zeros again afterwards. With `legal`, the words of `head.legal_words`, other outputs are neither made nor
    written. Sums are float32.
    """
    outputs, inputs = weight.shape
    gated = after is After.GATE
    written = outputs // 2 if gated else outputs
    shape = skinny_shape(x, written, gated=gated) if shape is None else shape
    tiles = triton.cdiv(written, shape.block_out)
    slot = shape.block_out * _block_rows(x) * (2 if gated else 1)
    parts = tiles * shape.splits * slot if shape.splits > 1 else 1
    partial = torch.empty(parts, dtype=torch.float32, device=x.device)
    _skinny[(tiles, shape.splits)](
        x,
        x.stride(0),
        x.shape[0],
        weight,
        x if bias is None else bias,
        out,
        partial,
        arrived,
        legal,
        OUTPUTS=written,
        INPUTS=inputs,
        BLOCK_OUT=shape.block_out,
        BLOCK_ROWS=_block_rows(x),
        BLOCK_IN=shape.block_in,
        SPLITS=shape.splits,
        STAGES=shape.stages,
        AHEAD=AHEAD,
        GATED=gated,
        BIASED=bias is not None,
        ADDED=after is After.ADD,
        PRECISION=precision(x.dtype),
        num_warps=shape.warps,
        **overlap(x),
    )


def _block_rows(x: Tensor) -> int:
    return max(16, int(triton.next_power_of_2(x.shape[0])))
