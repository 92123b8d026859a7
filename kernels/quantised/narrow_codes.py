"""Product of up to eight rows and a matrix in codes of 4 or 8 bits; bound by reading the codes.

Does: the norm of a single row, the product, scales, the bias and the epilogue (gate or residual) in one pass. Does not:
more rows (`skinny_codes`). Reference: `codes.Codes.dense`.

A program computes a few outputs over all inputs, in slices of chunks: its warps multiply one slice each, and their sums
are added up at the end. So there are enough programs for the device without splits among programs, which would add
their sums up in memory. Codes are multiplied as they are raised by `unpack.raised`; what that adds, and zero points,
are subtracted from the sums, times the sum of the inputs of a part, which a product with ones gives. Weights are
fetched into the L2 cache before the preceding kernel has finished. The scale of the norm is applied to the sum.
"""

from dataclasses import dataclass

import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import RmsNorm
from ..linear.epilogue import NOTHING, After, store_rows
from ..runtime.launch import overlap, precision, prefetch, processors
from ..runtime.tuples import Tensors, appended
from .packed_codes import CodeKind, PackedCodes
from .unpack import half_of_word, raised

NARROW_ROWS = 8
"""The most rows of `x`: those of the smallest tile of the matrix units."""

BLOCK_OUT = 16
"""Outputs of a program: those of the smallest tile."""


@triton.jit
def _zero_slices(
    COUNT: tl.constexpr, SLICES: tl.constexpr, BLOCK_OUT: tl.constexpr, BLOCK_ROWS: tl.constexpr
) -> Tensors:
    """COUNT tiles of zeros."""
    found = ()
    for _ in tl.static_range(COUNT):
        found = appended(found, tl.zeros((SLICES, BLOCK_OUT, BLOCK_ROWS), tl.float32))
    return found


@triton.jit
def _slices_of_rows(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    norm_ptr: tl.tensor,
    rows: tl.tensor,
    k: tl.tensor,
    BLOCK_ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
    COUNT: tl.constexpr,
    INPUTS: tl.constexpr,
    WHOLE: tl.constexpr,
    NORMED: tl.constexpr,
) -> Tensors:
    """COUNT tiles [slices, BLOCK_ROWS, WIDTH] of `x`, times the norm: inputs `k` [slices, WIDTH], WIDTH further, ..."""
    found = ()
    member = tl.arange(0, BLOCK_ROWS)
    at = x_ptr + member[None, :, None].to(tl.int64) * x_stride + k[:, None, :]
    for i in tl.static_range(COUNT):
        there = (member < rows)[None, :, None]
        if not WHOLE:
            there = there & (k + i * WIDTH < INPUTS)[:, None, :]
        x = tl.load(at + i * WIDTH, mask=there, other=0.0)
        if NORMED:
            norm_at = norm_ptr + (k + i * WIDTH)[:, None, :]
            inside = None if WHOLE else (k + i * WIDTH < INPUTS)[:, None, :]
            norm = tl.load(norm_at, mask=inside, other=None if WHOLE else 0.0)
            x = (x * norm.to(x.dtype)).to(x.dtype)
        found = appended(found, x)
    return found


@triton.jit
def _numbers(
    ptr: tl.tensor,
    chunk: tl.tensor,
    at: tl.tensor,
    PART: tl.constexpr,
    TOTAL: tl.constexpr,
    KEPT: tl.constexpr,
) -> tl.tensor:
    """The scales or zeros of part PART of `chunk` [slices], at outputs `at`: float32 [slices, outputs, 1]."""
    if KEPT == "float32":
        number = tl.load(ptr + (chunk * 2 + PART)[:, None, None] * TOTAL + at[None, :, None])
    else:
        word = tl.load(ptr + chunk[:, None, None] * TOTAL + at[None, :, None])
        number = half_of_word(word, PART == 1, KEPT)
    return number


@triton.jit
def _row_scale(
    x_ptr: tl.tensor, eps: tl.tensor, INPUTS: tl.constexpr, BLOCK: tl.constexpr
) -> tl.tensor:
    """The scale of the norm of one row."""
    k = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + k, mask=k < INPUTS, other=0.0).to(tl.float32)
    return tl.rsqrt(tl.sum(x * x, 0) / INPUTS + eps)


@triton.jit
def _finished(
    sums: Tensors,
    scales_ptr: tl.tensor,
    at: tl.tensor,
    OUTPUTS: tl.constexpr,
    GROUPED: tl.constexpr,
) -> Tensors:
    """Each of `sums` [slices, outputs, rows] as [rows, outputs], with the scales of its outputs unless GROUPED."""
    found = ()
    for matrix in tl.static_range(len(sums)):
        y = tl.sum(sums[matrix], 0)
        if not GROUPED:
            y = y * tl.load(scales_ptr + at + matrix * OUTPUTS)[:, None]
        found = appended(found, tl.trans(y))
    return found


@triton.jit(do_not_specialize=["rows"])
def _narrow_codes(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    rows: tl.tensor,
    norm_ptr: tl.tensor,
    eps: tl.tensor,
    codes_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    zeros_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    TOTAL: tl.constexpr,
    INPUTS: tl.constexpr,
    PADDED: tl.constexpr,
    PART: tl.constexpr,
    KIND: tl.constexpr,
    GROUPED: tl.constexpr,
    KEPT: tl.constexpr,
    SLICES: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    STAGES: tl.constexpr,
    AHEAD: tl.constexpr,
    NORMED: tl.constexpr,
    BLOCK: tl.constexpr,
    GATED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BIASED: tl.constexpr,
    ADDED: tl.constexpr,
    PRECISION: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """`OUTPUTS`: number of written outputs; TOTAL: of matrix rows, twice as many if GATED. BLOCK: INPUTS or more."""
    if EARLY:
        gdc_launch_dependents()
    output = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = output < OUTPUTS
    matrix_row = tl.minimum(output, OUTPUTS - 1)
    IN_WORD: tl.constexpr = 4 if KIND == "nibble" else 2
    WIDTH: tl.constexpr = 2 * PART // IN_WORD
    STRIDE: tl.constexpr = PADDED // IN_WORD
    CHUNKS: tl.constexpr = PADDED // (2 * PART)
    EVEN: tl.constexpr = CHUNKS % SLICES == 0
    MATRICES: tl.constexpr = TOTAL // OUTPUTS
    piece = tl.arange(0, SLICES)
    word = tl.arange(0, WIDTH)
    row_at = codes_ptr + matrix_row.to(tl.int64) * STRIDE
    codes_at = row_at[None, :, None] + piece[:, None, None] * WIDTH + word[None, None, :]
    if EARLY:
        line = tl.minimum(tl.arange(0, AHEAD) * 64, STRIDE - 1)
        for matrix in tl.static_range(MATRICES):
            prefetch(row_at[:, None] + matrix * OUTPUTS * STRIDE + line[None, :])
        gdc_wait()
    sums = _zero_slices(MATRICES, SLICES, BLOCK_OUT, BLOCK_ROWS)
    for step in tl.range(0, CHUNKS, SLICES, num_stages=STAGES):
        chunk = step + piece
        k = chunk[:, None] * (2 * PART) + word[None, :]
        xs = _slices_of_rows(
            x_ptr, x_stride, norm_ptr, rows, k, BLOCK_ROWS, WIDTH, IN_WORD, INPUTS,
            EVEN and PADDED == INPUTS, NORMED,
        )  # fmt: skip
        there = (chunk < CHUNKS)[:, None, None]
        held = tl.minimum(chunk, CHUNKS - 1)
        products = ()
        for matrix in tl.static_range(MATRICES):
            code_at = codes_at + matrix * OUTPUTS * STRIDE + step * WIDTH
            code = tl.load(code_at) if EVEN else tl.load(code_at, mask=there, other=0)
            products = appended(
                products,
                _added(
                    sums[matrix], code, xs, held, matrix_row + matrix * OUTPUTS, scales_ptr, zeros_ptr,
                    TOTAL, GROUPED, KIND, KEPT, PRECISION, EARLY,
                ),
            )  # fmt: skip
        sums = products
    tiles = _finished(sums, scales_ptr, matrix_row, OUTPUTS, GROUPED)
    scale = _row_scale(x_ptr, eps, INPUTS, BLOCK) if NORMED else 1.0
    z = tiles[1] * scale if GATED else None
    store_rows(
        tiles[0] * scale, z, tl.arange(0, BLOCK_ROWS), rows, output, inside, bias_ptr, out_ptr,
        OUTPUTS, GATED, ACTIVATION, BIASED, ADDED,
    )  # fmt: skip


@triton.jit
def _added(
    total: tl.tensor,
    code: tl.tensor,
    xs: Tensors,
    chunk: tl.tensor,
    at: tl.tensor,
    scales_ptr: tl.tensor,
    zeros_ptr: tl.tensor,
    TOTAL: tl.constexpr,
    GROUPED: tl.constexpr,
    KIND: tl.constexpr,
    KEPT: tl.constexpr,
    PRECISION: tl.constexpr,
    FAST: tl.constexpr,
) -> tl.tensor:
    """`total` [slices, outputs, rows] plus the products of words `code` [slices, outputs, words] with `xs`."""
    RAISE: tl.constexpr = 128.0 if FAST and KIND == "nibble" and xs[0].dtype == tl.bfloat16 else 0.0
    SHIFTED: tl.constexpr = KIND == "nibble" or zeros_ptr is not None
    IN_PART: tl.constexpr = len(xs) // 2
    for part in tl.static_range(2):
        y = tl.zeros(total.shape, tl.float32)
        inputs = tl.zeros(total.shape, tl.float32)
        for half in tl.static_range(IN_PART):
            x = xs[part * IN_PART + half]
            xt = tl.trans(x, (0, 2, 1))
            weight = raised(code, x, part * IN_PART + half, KIND, FAST)
            y = tl.dot(weight, xt, y, input_precision=PRECISION)
            if SHIFTED:
                ones = tl.full(weight.shape, 1.0, weight.dtype)
                inputs = tl.dot(ones, xt, inputs, input_precision=PRECISION)
        if SHIFTED:
            if zeros_ptr is None:
                offset = RAISE + 8.0
            elif GROUPED:
                offset = _numbers(zeros_ptr, chunk, at, part, TOTAL, "bfloat16") + RAISE
            else:
                offset = tl.load(zeros_ptr + at)[None, :, None] + RAISE
            y = y - offset * inputs
        if GROUPED:
            y = y * _numbers(scales_ptr, chunk, at, part, TOTAL, KEPT)
        total = total + y
    return total


@dataclass(frozen=True, slots=True)
class NarrowCodesShape:
    """Slices and outputs of a tile, pipeline stages, warps."""

    slices: int
    block_out: int
    stages: int
    warps: int


def narrow_codes_shape(x: Tensor, packed: PackedCodes) -> NarrowCodesShape:
    """Tiles as measured on an H200: deep pipelines where all programs run at once anyway."""
    nibbles = packed.kind is CodeKind.NIBBLE
    chunks = packed.padded // (2 * packed.part)
    slices = min(8 if nibbles else 4, triton.next_power_of_2(chunks))
    several = triton.cdiv(packed.outputs, BLOCK_OUT) > 2 * processors(x.device)
    stages = (3 if nibbles else 4) - int(several)
    return NarrowCodesShape(slices, BLOCK_OUT, stages, warps=min(4, slices))


def narrow_codes(
    x: Tensor,
    packed: PackedCodes,
    bias: Tensor | None,
    out: Tensor,
    *,
    norm: RmsNorm | None = None,
    after: After = NOTHING,
    shape: NarrowCodesShape | None = None,
) -> None:
    """`x` [N, inputs], N at most `NARROW_ROWS`, times the matrix of `packed` into contiguous `out` [N, outputs].

    With `norm`, which takes a single row, it is normed first. The columns of `x` are in the order of the codes. After a
    gate `out` is half as wide. Sums are float32.
    """
    gated = after.activation is not None
    written = packed.outputs // 2 if gated else packed.outputs
    shape = narrow_codes_shape(x, packed) if shape is None else shape
    _narrow_codes[(triton.cdiv(written, shape.block_out),)](
        x,
        x.stride(0),
        x.shape[0],
        x if norm is None else norm.weight,
        0.0 if norm is None else norm.eps,
        packed.codes,
        packed.scales,
        packed.zeros,
        x if bias is None else bias,
        out,
        OUTPUTS=written,
        TOTAL=packed.outputs,
        INPUTS=packed.inputs,
        PADDED=packed.padded,
        PART=packed.part,
        KIND=packed.kind.value,
        GROUPED=packed.grouped,
        KEPT=str(packed.kept).removeprefix("torch."),
        SLICES=shape.slices,
        BLOCK_OUT=shape.block_out,
        BLOCK_ROWS=NARROW_ROWS,
        STAGES=shape.stages,
        AHEAD=min(16, triton.next_power_of_2(triton.cdiv(packed.codes.shape[1], 64))),
        NORMED=norm is not None,
        BLOCK=triton.next_power_of_2(packed.inputs),
        GATED=gated,
        ACTIVATION=after.name,
        BIASED=bias is not None,
        ADDED=after.added,
        PRECISION=precision(x.dtype),
        num_warps=shape.warps,
        **overlap(x),
    )
