"""Product of one row and a matrix in codes of 8 bits, for batches of 1; bound by reading the codes.

Does: the norm, the product, scales, the bias and the epilogue (gate or residual) in one pass; arithmetic is float32.
Does not: more rows, 4 bits, or scales of groups (`skinny_codes`). Reference: `codes.Codes.dense`.

As in `linear.gemv`, the first tile is loaded before the preceding kernel has finished, and the scale of the norm is
applied to the sum.
"""

from dataclasses import dataclass

import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import RmsNorm
from ..linear.epilogue import NOTHING, After, activated
from ..runtime.launch import overlap
from .packed_codes import CodeKind, PackedCodes
from .unpack import unpacked


@triton.jit
def _load_words(
    at: tl.tensor, word: tl.tensor, STRIDE: tl.constexpr, WHOLE: tl.constexpr
) -> tl.tensor:
    """The words at `at` [rows, words], which are words `word` [words] of their rows; zeros past the end."""
    return tl.load(at) if WHOLE else tl.load(at, mask=(word < STRIDE)[None, :], other=0)


@triton.jit
def _scaled(
    acc: tl.tensor,
    sum_of_inputs: tl.tensor,
    row: tl.tensor,
    scales_ptr: tl.tensor,
    zeros_ptr: tl.tensor,
) -> tl.tensor:
    """Products of codes `acc` [rows, words], summed, less those of the zeros, and scaled."""
    y = tl.sum(acc, 1)
    if zeros_ptr is not None:
        y -= tl.load(zeros_ptr + row) * sum_of_inputs
    return y * tl.load(scales_ptr + row)


@triton.jit
def _gemv_codes(
    x_ptr: tl.tensor,
    norm_ptr: tl.tensor,
    codes_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    zeros_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    eps: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    PADDED: tl.constexpr,
    PART: tl.constexpr,
    KIND: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_WORDS: tl.constexpr,
    NORMED: tl.constexpr,
    GATED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BIASED: tl.constexpr,
    ADDED: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """`OUTPUTS`: number of written outputs, half the matrix rows if GATED. PADDED: inputs in memory."""
    if EARLY:
        gdc_launch_dependents()
    STRIDE: tl.constexpr = PADDED // 2
    WHOLE: tl.constexpr = STRIDE % BLOCK_WORDS == 0
    output = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = output < OUTPUTS
    row = tl.minimum(output, OUTPUTS - 1)
    word = tl.arange(0, BLOCK_WORDS)
    at = codes_ptr + row.to(tl.int64)[:, None] * STRIDE + word[None, :]
    words = _load_words(at, word, STRIDE, WHOLE)
    acc = tl.zeros((BLOCK_OUT, BLOCK_WORDS), tl.float32)
    if GATED:
        up = _load_words(at + OUTPUTS * STRIDE, word, STRIDE, WHOLE)
        up_acc = tl.zeros((BLOCK_OUT, BLOCK_WORDS), tl.float32)
    squares = tl.zeros((BLOCK_WORDS,), tl.float32)
    inputs = tl.zeros((BLOCK_WORDS,), tl.float32)
    if EARLY:
        gdc_wait()
    for start in tl.static_range(0, STRIDE, BLOCK_WORDS):
        here = start + word
        for i in tl.static_range(2):
            k = here // PART * (2 * PART) + i * PART + here % PART
            raw = tl.load(x_ptr + k, mask=k < INPUTS, other=0.0)
            x = raw.to(tl.float32)
            if NORMED:
                squares += x * x
                x = x * tl.load(norm_ptr + k, mask=k < INPUTS, other=0.0).to(tl.float32)
            if zeros_ptr is not None:
                inputs += x
            acc += unpacked(words, None, raw, i, KIND, EARLY).to(tl.float32) * x[None, :]
            if GATED:
                up_acc += unpacked(up, None, raw, i, KIND, EARLY).to(tl.float32) * x[None, :]
        if start + BLOCK_WORDS < STRIDE:
            ahead = at + start + BLOCK_WORDS
            words = _load_words(ahead, here + BLOCK_WORDS, STRIDE, WHOLE)
            if GATED:
                up = _load_words(ahead + OUTPUTS * STRIDE, here + BLOCK_WORDS, STRIDE, WHOLE)
    total = tl.sum(inputs, 0)
    y = _scaled(acc, total, row, scales_ptr, zeros_ptr)
    norm_scale = 1.0
    if NORMED:
        norm_scale = tl.rsqrt(tl.sum(squares, 0) / INPUTS + eps)
        y = y * norm_scale
    if BIASED:
        y += tl.load(bias_ptr + output, mask=inside, other=0.0).to(tl.float32)
    if GATED:
        z = _scaled(up_acc, total, row + OUTPUTS, scales_ptr, zeros_ptr) * norm_scale
        if BIASED:
            z += tl.load(bias_ptr + OUTPUTS + output, mask=inside, other=0.0).to(tl.float32)
        y = activated(y, ACTIVATION) * z
    if ADDED:
        y += tl.load(out_ptr + output, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + output, y.to(out_ptr.dtype.element_ty), mask=inside)


@dataclass(frozen=True, slots=True)
class GemvCodesShape:
    """Outputs and words of a tile, and warps."""

    block_out: int
    block_words: int
    warps: int


def gemv_codes_shape(packed: PackedCodes) -> GemvCodesShape:
    """A tile of all words of a row, up to 2048, eight a thread."""
    words = min(2048, max(32, triton.next_power_of_2(packed.codes.shape[1])))
    return GemvCodesShape(block_out=4, block_words=words, warps=max(1, words // 256))


def serves_one_row(packed: PackedCodes) -> bool:
    """Whether `gemv_codes` multiplies by this matrix: codes of 8 bits with one scale an output."""
    return packed.kind is not CodeKind.NIBBLE and not packed.grouped


def gemv_codes(
    x: Tensor,
    packed: PackedCodes,
    bias: Tensor | None,
    out: Tensor,
    *,
    norm: RmsNorm | None = None,
    after: After = NOTHING,
    shape: GemvCodesShape | None = None,
) -> None:
    """`x` [1, inputs] times the matrix of `packed`, see `serves_one_row`, into `out` [1, outputs].

    With `norm`, the row is normed first. The columns of `x` are in the order of the codes. After a gate `out` is half
    as wide.
    """
    gated = after.activation is not None
    written = packed.outputs // 2 if gated else packed.outputs
    shape = gemv_codes_shape(packed) if shape is None else shape
    _gemv_codes[(triton.cdiv(written, shape.block_out),)](
        x,
        x if norm is None else norm.weight,
        packed.codes,
        packed.scales,
        packed.zeros,
        x if bias is None else bias,
        out,
        0.0 if norm is None else norm.eps,
        OUTPUTS=written,
        INPUTS=packed.inputs,
        PADDED=packed.padded,
        PART=packed.part,
        KIND=packed.kind.value,
        BLOCK_OUT=shape.block_out,
        BLOCK_WORDS=shape.block_words,
        NORMED=norm is not None,
        GATED=gated,
        ACTIVATION=after.name,
        BIASED=bias is not None,
        ADDED=after.added,
        num_warps=shape.warps,
        **overlap(x),
    )
