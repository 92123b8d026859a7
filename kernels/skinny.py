"""A few rows times a weight matrix, bound by reading the matrix: linears of batches of 2 to about 100 rows.

Does: the product, cut along the inputs where there are too few outputs to fill the device, with what stands before it
(norm) and after it (bias, gate, residual). Does not: one row (`gemv`), or many (the vendor's library).
Reference: `reference.norm_linear`, `norm_gated`, `linear_add`.

The matrix is the left factor: 64 or 128 of its rows meet all rows of `x`, which are few. A program serves one tile of
outputs and one of `SPLITS` ranges of the inputs; the last program of a tile to finish adds up the others' sums. The
scale of the norm is one number a row of `x`, so it is applied to the sums.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from .contracts import RmsNorm
from .launch import overlap, precision, processors

MOST_ROWS = 128


@triton.jit
def _skinny(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    rows: tl.tensor,
    norm_ptr: tl.tensor,
    weight_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    eps: tl.tensor,
    partial_ptr: tl.tensor,
    arrived_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    SPLITS: tl.constexpr,
    STAGES: tl.constexpr,
    NORMED: tl.constexpr,
    GATED: tl.constexpr,
    BIASED: tl.constexpr,
    ADDED: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """`OUTPUTS` is what is written: half the rows of the matrix if GATED. ADDED adds to what `out` holds."""
    tile = tl.program_id(0)
    split = tl.program_id(1)
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    output = tile * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = output < OUTPUTS
    member = tl.arange(0, BLOCK_ROWS)
    k = tl.arange(0, BLOCK_IN)
    matrix_row = tl.minimum(output, OUTPUTS - 1).to(tl.int64)
    weight_at = weight_ptr + matrix_row[:, None] * INPUTS + k[None, :]
    x_at = x_ptr + member[:, None].to(tl.int64) * x_stride + k[None, :]
    per_split: tl.constexpr = (INPUTS + BLOCK_IN * SPLITS - 1) // (BLOCK_IN * SPLITS) * BLOCK_IN
    first = split * per_split
    end = tl.minimum(first + per_split, INPUTS)
    acc = tl.zeros((BLOCK_OUT, BLOCK_ROWS), tl.float32)
    up_acc = tl.zeros((BLOCK_OUT, BLOCK_ROWS), tl.float32)
    squares = tl.zeros((BLOCK_ROWS,), tl.float32)
    for start in tl.range(first, end, BLOCK_IN, num_stages=STAGES):
        x_mask = (member < rows)[:, None]
        if INPUTS % BLOCK_IN == 0:
            weight = tl.load(weight_at + start)
        else:
            x_mask = x_mask & (start + k < INPUTS)[None, :]
            weight = tl.load(weight_at + start, mask=(start + k < INPUTS)[None, :], other=0.0)
        x = tl.load(x_at + start, mask=x_mask, other=0.0)
        if NORMED:
            wide = x.to(tl.float32)
            squares += tl.sum(wide * wide, 1)
            normed = tl.load(norm_ptr + start + k, mask=start + k < INPUTS, other=0.0)
            x = (wide * normed.to(tl.float32)[None, :]).to(x.dtype)
        acc = tl.dot(weight, tl.trans(x), acc, input_precision=PRECISION)
        if GATED:
            up_at = weight_at + start + OUTPUTS * INPUTS
            if INPUTS % BLOCK_IN == 0:
                up = tl.load(up_at)
            else:
                up = tl.load(up_at, mask=(start + k < INPUTS)[None, :], other=0.0)
            up_acc = tl.dot(up, tl.trans(x), up_acc, input_precision=PRECISION)
    if SPLITS > 1:
        # A slot of the buffer holds one program's sums: the tile, the gate's other tile, the squares.
        KINDS: tl.constexpr = 2 if GATED else 1
        SLOT: tl.constexpr = BLOCK_OUT * BLOCK_ROWS * KINDS + BLOCK_ROWS
        inner = tl.arange(0, BLOCK_OUT)[:, None] * BLOCK_ROWS + member[None, :]
        base = partial_ptr + (tile * SPLITS + split).to(tl.int64) * SLOT
        tl.store(base + inner, acc)
        if GATED:
            tl.store(base + BLOCK_OUT * BLOCK_ROWS + inner, up_acc)
        if NORMED:
            tl.store(base + BLOCK_OUT * BLOCK_ROWS * KINDS + member, squares)
        tl.debug_barrier()
        arrived = tl.atomic_add(arrived_ptr + tile, 1, sem="acq_rel")
        if arrived != SPLITS - 1:
            return
        tl.debug_barrier()
        acc = tl.zeros((BLOCK_OUT, BLOCK_ROWS), tl.float32)
        up_acc = tl.zeros((BLOCK_OUT, BLOCK_ROWS), tl.float32)
        squares = tl.zeros((BLOCK_ROWS,), tl.float32)
        for other in tl.static_range(SPLITS):
            base = partial_ptr + (tile * SPLITS + other).to(tl.int64) * SLOT
            acc += tl.load(base + inner, cache_modifier=".cg")
            if GATED:
                up_acc += tl.load(base + BLOCK_OUT * BLOCK_ROWS + inner, cache_modifier=".cg")
            if NORMED:
                at = base + BLOCK_OUT * BLOCK_ROWS * KINDS + member
                squares += tl.load(at, cache_modifier=".cg")
        tl.store(arrived_ptr + tile, 0)
    y = tl.trans(acc)
    z = tl.trans(up_acc)
    if NORMED:
        scale = tl.rsqrt(squares / INPUTS + eps)[:, None]
        y = y * scale
        z = z * scale
    if BIASED:
        y += tl.load(bias_ptr + output, mask=inside, other=0.0).to(tl.float32)[None, :]
    if GATED:
        if BIASED:
            at = bias_ptr + OUTPUTS + output
            z += tl.load(at, mask=inside, other=0.0).to(tl.float32)[None, :]
        y = y * tl.sigmoid(y) * z
    used = (member < rows)[:, None] & inside[None, :]
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


def skinny_shape(outputs: int, inputs: int, device: torch.device) -> SkinnyShape:
    """Tiles of 64 outputs, cut along the inputs until they fill the device twice."""
    tiles = triton.cdiv(outputs, 64)
    block_in = min(128, max(16, triton.next_power_of_2(inputs)))
    most = max(1, inputs // (2 * block_in))
    splits = min(8, most, max(1, 2 * processors(device) // tiles))
    return SkinnyShape(block_out=64, block_in=block_in, splits=splits, stages=4, warps=4)


def skinny(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    out: Tensor,
    arrived: Tensor,
    *,
    norm: RmsNorm | None,
    gated: bool,
    added: bool,
    shape: SkinnyShape,
) -> None:
    """`x` [N, inputs] with contiguous rows, N at most `MOST_ROWS`, times contiguous `weight` [outputs, inputs].

    Into contiguous `out` [N, outputs or half of them]; the options are those of `gemv`. `arrived` int32 are zeros, at
    least one a tile of outputs, and are zeros again afterwards. Sums are float32.
    """
    outputs, inputs = weight.shape
    written = outputs // 2 if gated else outputs
    tiles = triton.cdiv(written, shape.block_out)
    block_rows = max(16, triton.next_power_of_2(x.shape[0]))
    slot = shape.block_out * block_rows * (2 if gated else 1) + block_rows
    parts = tiles * shape.splits * slot if shape.splits > 1 else 1
    partial = torch.empty(parts, dtype=torch.float32, device=x.device)
    _skinny[(tiles, shape.splits)](
        x,
        x.stride(0),
        x.shape[0],
        x if norm is None else norm.weight,
        weight,
        x if bias is None else bias,
        out,
        0.0 if norm is None else norm.eps,
        partial,
        arrived,
        OUTPUTS=written,
        INPUTS=inputs,
        BLOCK_OUT=shape.block_out,
        BLOCK_ROWS=block_rows,
        BLOCK_IN=shape.block_in,
        SPLITS=shape.splits,
        STAGES=shape.stages,
        NORMED=norm is not None,
        GATED=gated,
        BIASED=bias is not None,
        ADDED=added,
        PRECISION=precision(x.dtype),
        num_warps=shape.warps,
        **overlap(x),
    )
