"""Product of some rows and a matrix in codes of 4 or 8 bits; bound by reading the codes.

Does: the product, split along the inputs if there are too few outputs to fill the device, scales, the bias and the
epilogue (gate or residual). Does not: norms, or few rows (`narrow_codes`). Reference: `codes.Codes.dense`.

An iteration is a chunk of two parts. A program converts a tile of codes to weights, in registers, and multiplies it
with a tile of rows of `x`; the scale of a part is applied to the part's sums in float32. Tiles of rows of the same
weights are adjacent programs, so that codes are read once from memory and then from the L2 cache. See `packed_codes`
for the layout and `linear.skinny` for the splits.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..linear.epilogue import NOTHING, After, store_rows, sum_splits
from ..runtime.launch import overlap, precision, prefetch, processors
from ..runtime.tuples import Tensors, appended, zero_tiles
from .packed_codes import PackedCodes
from .unpack import half_of_word, unpacked

AHEAD = 2
"""Cache lines of every row of codes that are fetched before the preceding kernel has finished."""

MOST_OF_TILE = 64
"""The most rows of `x` in one tile, if there is only one."""

BLOCK_OUT = 64
"""Outputs of a tile."""

ROOM = 130_000
"""Bytes of shared memory for the pipelined tiles of a program: a second one fits beside it if they have two stages."""


@triton.jit
def _load_parts(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    member: tl.tensor,
    rows: tl.tensor,
    k: tl.tensor,
    WIDTH: tl.constexpr,
    COUNT: tl.constexpr,
    INPUTS: tl.constexpr,
    WHOLE: tl.constexpr,
) -> Tensors:
    """COUNT tiles of `x`: inputs `k`, WIDTH further, ...; zeros past its ends. WHOLE: no input is past the end."""
    found = ()
    at = x_ptr + member[:, None].to(tl.int64) * x_stride + k[None, :]
    for i in tl.static_range(COUNT):
        there = (member < rows)[:, None]
        if not WHOLE:
            there = there & (k + i * WIDTH < INPUTS)[None, :]
        found = appended(found, tl.load(at + i * WIDTH, mask=there, other=0.0))
    return found


@triton.jit
def _numbers(
    ptr: tl.tensor,
    chunk: tl.tensor,
    STEP: tl.constexpr,
    at: tl.tensor,
    TOTAL: tl.constexpr,
    KEPT: tl.constexpr,
) -> tl.tensor:
    """The scales or zeros of part STEP of a chunk, at outputs `at`, float32."""
    if KEPT == "float32":
        number = tl.load(ptr + (chunk * 2 + STEP) * TOTAL + at)
    else:
        number = half_of_word(tl.load(ptr + chunk * TOTAL + at), STEP == 1, KEPT)
    return number


@triton.jit
def _finished(
    sums: Tensors,
    scales_ptr: tl.tensor,
    at: tl.tensor,
    OUTPUTS: tl.constexpr,
    GROUPED: tl.constexpr,
) -> Tensors:
    """Each of `sums` [outputs, rows] as [rows, outputs], scaled by the scales of its outputs unless GROUPED."""
    found = ()
    for matrix in tl.static_range(len(sums)):
        y = sums[matrix]
        if not GROUPED:
            y = y * tl.load(scales_ptr + at + matrix * OUTPUTS)[:, None]
        found = appended(found, tl.trans(y))
    return found


@triton.jit(do_not_specialize=["rows"])
def _skinny_codes(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    rows: tl.tensor,
    codes_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    zeros_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    partial_ptr: tl.tensor,
    arrived_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    TOTAL: tl.constexpr,
    INPUTS: tl.constexpr,
    PADDED: tl.constexpr,
    PART: tl.constexpr,
    KIND: tl.constexpr,
    GROUPED: tl.constexpr,
    KEPT: tl.constexpr,
    ROW_TILES: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    SPLITS: tl.constexpr,
    SLOT: tl.constexpr,
    STAGES: tl.constexpr,
    AHEAD: tl.constexpr,
    GATED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BIASED: tl.constexpr,
    ADDED: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """`OUTPUTS`: number of written outputs; TOTAL: of matrix rows, twice as many if GATED. PADDED: inputs in memory."""
    if EARLY:
        gdc_launch_dependents()
    output = tl.program_id(0) // ROW_TILES * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = output < OUTPUTS
    matrix_row = tl.minimum(output, OUTPUTS - 1)
    member = tl.program_id(0) % ROW_TILES * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    IN_WORD: tl.constexpr = 4 if KIND == "nibble" else 2
    WIDTH: tl.constexpr = 2 * PART // IN_WORD
    STRIDE: tl.constexpr = PADDED // IN_WORD
    word = tl.arange(0, WIDTH)
    codes_at = codes_ptr + matrix_row.to(tl.int64)[:, None] * STRIDE + word[None, :]
    CHUNKS: tl.constexpr = PADDED // (2 * PART)
    per_split: tl.constexpr = (CHUNKS + SPLITS - 1) // SPLITS
    first = tl.program_id(1) * per_split
    end = tl.minimum(first + per_split, CHUNKS)
    MATRICES: tl.constexpr = TOTAL // OUTPUTS
    if EARLY:
        line = tl.minimum(first * WIDTH + tl.arange(0, AHEAD) * 64, STRIDE - 1)
        for matrix in tl.static_range(MATRICES):
            begin = (matrix_row + matrix * OUTPUTS).to(tl.int64) * STRIDE
            prefetch(codes_ptr + begin[:, None] + line[None, :])
        gdc_wait()
    sums = zero_tiles(MATRICES, BLOCK_OUT, BLOCK_ROWS, tl.float32)
    for chunk in tl.range(first, end, num_stages=STAGES):
        xs = _load_parts(
            x_ptr, x_stride, member, rows, chunk * (2 * PART) + word, WIDTH, IN_WORD, INPUTS, PADDED == INPUTS
        )  # fmt: skip
        products = ()
        for matrix in tl.static_range(MATRICES):
            at = matrix_row + matrix * OUTPUTS
            code = tl.load(codes_at + matrix * OUTPUTS * STRIDE + chunk * WIDTH)
            total = sums[matrix]
            for part in tl.static_range(2):
                zero = None
                if zeros_ptr is not None:
                    if GROUPED:
                        zero = _numbers(zeros_ptr, chunk, part, at, TOTAL, "bfloat16")
                    else:
                        zero = tl.load(zeros_ptr + at)
                y = tl.zeros((BLOCK_OUT, BLOCK_ROWS), tl.float32) if GROUPED else total
                for half in tl.static_range(IN_WORD // 2):
                    x = xs[part * (IN_WORD // 2) + half]
                    weight = unpacked(code, zero, x, part * (IN_WORD // 2) + half, KIND, EARLY)
                    y = tl.dot(weight, tl.trans(x), y, input_precision=PRECISION)
                if GROUPED:
                    y = total + y * _numbers(scales_ptr, chunk, part, at, TOTAL, KEPT)[:, None]
                total = y
            products = appended(products, total)
        sums = products
    tiles = _finished(sums, scales_ptr, matrix_row, OUTPUTS, GROUPED)
    if SPLITS > 1:
        tiles, last = sum_splits(tiles, partial_ptr, arrived_ptr, SLOT, SPLITS)
        if not last:
            return
    z = tiles[1] if GATED else None
    store_rows(
        tiles[0], z, member, rows, output, inside, bias_ptr, out_ptr, OUTPUTS, GATED, ACTIVATION, BIASED, ADDED
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SkinnyCodesShape:
    """Rows of `x` and outputs of a tile, splits of the inputs, pipeline stages, warps."""

    block_rows: int
    block_out: int
    splits: int
    stages: int
    warps: int


def skinny_codes_shape(x: Tensor, packed: PackedCodes, after: After) -> SkinnyCodesShape:
    """Tiles as measured on an H200: about two programs for each multiprocessor."""
    rows = x.shape[0]
    matrices = 1 if after.activation is None else 2
    if rows > MOST_OF_TILE:
        return SkinnyCodesShape(MOST_OF_TILE, BLOCK_OUT, splits=1, stages=4 - matrices, warps=4)
    block_rows = max(16, int(triton.next_power_of_2(rows)))
    tiles = triton.cdiv(packed.outputs // matrices, BLOCK_OUT)
    chunk = packed.part * 2
    most = max(1, packed.padded // (2 * chunk))
    wanted = min(max(1, 2 * processors(x.device) // tiles), most)
    splits = 1 << (wanted.bit_length() - 1)
    codes = BLOCK_OUT * matrices * chunk * 2 // packed.kind.in_word
    stage = codes + block_rows * chunk * x.element_size()
    stages = min(5, max(2, ROOM // stage))
    return SkinnyCodesShape(block_rows, BLOCK_OUT, splits, stages, warps=4)


def skinny_codes(
    x: Tensor,
    packed: PackedCodes,
    bias: Tensor | None,
    out: Tensor,
    arrived: Tensor,
    *,
    after: After = NOTHING,
    shape: SkinnyCodesShape | None = None,
) -> None:
    """`x` [N, inputs] with contiguous rows times the matrix of `packed` into contiguous `out` [N, outputs].

    The columns of `x` are in the order of the codes. After a gate `out` is half as wide. `arrived` int32: zeros before
    and after, at least one element per tile of `out`. Sums are float32.
    """
    gated = after.activation is not None
    written = packed.outputs // 2 if gated else packed.outputs
    shape = skinny_codes_shape(x, packed, after) if shape is None else shape
    row_tiles = triton.cdiv(x.shape[0], shape.block_rows)
    tiles = triton.cdiv(written, shape.block_out) * row_tiles
    slot = shape.block_out * shape.block_rows * (2 if gated else 1)
    parts = tiles * shape.splits * slot if shape.splits > 1 else 1
    partial = torch.empty(parts, dtype=torch.float32, device=x.device)
    _skinny_codes[(tiles, shape.splits)](
        x,
        x.stride(0),
        x.shape[0],
        packed.codes,
        packed.scales,
        packed.zeros,
        x if bias is None else bias,
        out,
        partial,
        arrived,
        OUTPUTS=written,
        TOTAL=packed.outputs,
        INPUTS=packed.inputs,
        PADDED=packed.padded,
        PART=packed.part,
        KIND=packed.kind.value,
        GROUPED=packed.grouped,
        KEPT=str(packed.kept).removeprefix("torch."),
        ROW_TILES=row_tiles,
        BLOCK_ROWS=shape.block_rows,
        BLOCK_OUT=shape.block_out,
        SPLITS=shape.splits,
        SLOT=slot,
        STAGES=shape.stages,
        AHEAD=AHEAD,
        GATED=gated,
        ACTIVATION=after.name,
        BIASED=bias is not None,
        ADDED=after.added,
        PRECISION=precision(x.dtype),
        num_warps=shape.warps,
        **overlap(x),
    )
