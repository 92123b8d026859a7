"""Product of rows and a matrix that both have 8 bits, int8 or E4M3; scales, bias and epilogue are fused.

Does: multiply tiles by the matrix units, and scale the sums. Does not: round activations (`activations`), or split sums
among programs. Reference: `reference.ReferenceWeight` of the rounded factors.

The library's product of integers writes sums of 32 bits, which then are read again to be scaled: a fifth of its time.
Its product of floats reads few rows at half the speed of the memory. Programs of tiles of some rows are adjacent, so
that both factors are read from the L2 cache.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..linear.epilogue import NOTHING, After, store_rows
from ..runtime.launch import overlap, prefetch
from ..runtime.tuples import Tensors, appended, zero_tiles
from .activations import RoundedRows
from .packed_codes import PackedCodes

AHEAD = 8
"""Cache lines of every row of codes that are fetched before the preceding kernel has finished."""

GROUP = 8
"""Tiles of rows that are computed side by side."""

MANY_OUTPUTS = 4096
"""The most outputs of tiles of 32."""

FEW_TILES = 64
"""So many tiles, half as many as multiprocessors, are divided further."""


@triton.jit
def _factor(tile: tl.tensor, FAST: tl.constexpr) -> tl.tensor:
    """`tile` as a factor: integers and, on a device (FAST), floats as they are."""
    return tile if FAST or tile.dtype == tl.int8 else tile.to(tl.float32)


@triton.jit
def _scaled(sums: Tensors, row_scale: tl.tensor, at: tl.tensor, OUTPUTS: tl.constexpr) -> Tensors:
    """Each of `sums` times the scales of its rows and outputs, float32."""
    found = ()
    for matrix in tl.static_range(len(sums)):
        scale = tl.load(at + matrix * OUTPUTS)[None, :]
        found = appended(found, sums[matrix].to(tl.float32) * row_scale * scale)
    return found


@triton.jit(do_not_specialize=["rows"])
def _scaled_tiles(
    x_ptr: tl.tensor,
    rows: tl.tensor,
    codes_ptr: tl.tensor,
    row_scales_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    GROUP: tl.constexpr,
    STAGES: tl.constexpr,
    AHEAD: tl.constexpr,
    FAST: tl.constexpr,
    GATED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BIASED: tl.constexpr,
    ADDED: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """`OUTPUTS`: number of written outputs, half the matrix rows if GATED. GROUP: tiles of rows side by side."""
    row_tiles = tl.cdiv(rows, BLOCK_ROWS)
    tiles: tl.constexpr = (OUTPUTS + BLOCK_OUT - 1) // BLOCK_OUT
    program = tl.program_id(0)
    begin = program // (GROUP * tiles) * GROUP
    height = tl.minimum(row_tiles - begin, GROUP)
    within = program % (GROUP * tiles)
    member = (begin + within % height) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    output = within // height * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = output < OUTPUTS
    k = tl.arange(0, BLOCK_IN)
    x_at = x_ptr + tl.minimum(member, rows - 1).to(tl.int64)[:, None] * INPUTS + k[None, :]
    matrix_row = tl.minimum(output, OUTPUTS - 1)
    codes_at = codes_ptr + matrix_row.to(tl.int64)[:, None] * INPUTS + k[None, :]
    MATRICES: tl.constexpr = 2 if GATED else 1
    SUM: tl.constexpr = tl.int32 if x_ptr.dtype.element_ty == tl.int8 else tl.float32
    sums = zero_tiles(MATRICES, BLOCK_ROWS, BLOCK_OUT, SUM)
    if EARLY:
        gdc_launch_dependents()
        line = tl.minimum(tl.arange(0, AHEAD) * 128, INPUTS - 1)
        for matrix in tl.static_range(MATRICES):
            begin = (matrix_row + matrix * OUTPUTS).to(tl.int64) * INPUTS
            prefetch(codes_ptr + begin[:, None] + line[None, :])
        gdc_wait()
    for start in tl.range(0, INPUTS, BLOCK_IN, num_stages=STAGES):
        x = _factor(tl.load(x_at + start), FAST)
        products = ()
        for matrix in tl.static_range(MATRICES):
            codes = _factor(tl.load(codes_at + matrix * OUTPUTS * INPUTS + start), FAST)
            product = tl.dot(x, tl.trans(codes), sums[matrix], out_dtype=SUM)
            products = appended(products, product)
        sums = products
    row_scale = tl.load(row_scales_ptr + member, mask=member < rows, other=0.0)[:, None]
    scaled = _scaled(sums, row_scale, scales_ptr + matrix_row, OUTPUTS)
    z = scaled[1] if GATED else None
    store_rows(
        scaled[0], z, member, rows, output, inside, bias_ptr, out_ptr, OUTPUTS, GATED, ACTIVATION, BIASED, ADDED
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScaledTilesShape:
    """Rows, outputs and inputs of a tile, pipeline stages, warps. With a gate a tile has half as many outputs."""

    block_rows: int
    block_out: int
    block_in: int
    stages: int
    warps: int


def scaled_tiles_shape(rows: int, packed: PackedCodes, after: After) -> ScaledTilesShape:
    """Tiles as measured on an H200: of few rows small ones, so that there are enough of them."""
    block_in = 128 if packed.padded % 128 == 0 else 64
    if rows <= 64 and after.activation is not None:
        return ScaledTilesShape(64, 128, block_in, stages=4, warps=4)
    if rows <= 64:
        wide = 256 if packed.padded % 256 == 0 else block_in
        block_out, stages = (64, 6) if packed.outputs > MANY_OUTPUTS else (32, 8)
        return ScaledTilesShape(64, block_out, wide, stages, warps=4)
    if rows <= 128:
        return ScaledTilesShape(128, 64, block_in, stages=5, warps=4)
    if triton.cdiv(rows, 128) * triton.cdiv(packed.outputs, 256) <= FEW_TILES:
        return ScaledTilesShape(128, 128, block_in, stages=4, warps=4)
    return ScaledTilesShape(128, 256, block_in, stages=4, warps=8)


def scaled_tiles(
    x: RoundedRows,
    packed: PackedCodes,
    bias: Tensor | None,
    out: Tensor,
    *,
    after: After = NOTHING,
    shape: ScaledTilesShape | None = None,
    early: bool = False,
) -> None:
    """`x` [N, inputs] times the matrix of `packed`, of 8 bits with one scale an output, into `out` [N, outputs].

    Both are in the same type. After a gate `out` is half as wide. `early`: see `linear.rms_norm`.
    """
    rows, inputs = x.values.shape
    codes = packed.codes.view(torch.int8).view(x.values.dtype)
    gated = after.activation is not None
    written = packed.outputs // 2 if gated else packed.outputs
    shape = scaled_tiles_shape(rows, packed, after) if shape is None else shape
    block_out = shape.block_out // 2 if gated else shape.block_out
    grid = triton.cdiv(rows, shape.block_rows) * triton.cdiv(written, block_out)
    _scaled_tiles[(grid,)](
        x.values,
        rows,
        codes,
        x.scales,
        packed.scales,
        x.scales if bias is None else bias,
        out,
        OUTPUTS=written,
        INPUTS=inputs,
        BLOCK_ROWS=shape.block_rows,
        BLOCK_OUT=block_out,
        BLOCK_IN=shape.block_in,
        GROUP=GROUP,
        STAGES=shape.stages,
        AHEAD=AHEAD,
        FAST=overlap(out)["EARLY"],
        GATED=gated,
        ACTIVATION=after.name,
        BIASED=bias is not None,
        ADDED=after.added,
        num_warps=shape.warps,
        **overlap(out, early=early),
    )
