"""Output head under a grammar mask: reads only the rows of the matrix that belong to legal tokens.

Does: find the tokens that are legal for any row of a batch; compute the logits of one row, with the norm in the same
pass; arithmetic is float32. Does not: more rows (`skinny` takes the same words), or the choice between both (`linear`).
Reference: `reference.ReferenceWeight`, of which it computes the legal outputs.

A program computes `span` adjacent outputs within a word of the mask, `block_out` at a time; it ends at once if none of
them is legal. Illegal outputs are neither loaded nor stored.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import WORD_BITS, RmsNorm
from ..runtime.launch import overlap
from ..runtime.tuples import appended
from ..sampling_contracts import Legal
from .epilogue import load_tile

BLOCK_WORDS = 32

MOST_MASKED_ROWS = 4
"""The most rows of a batch with masked products. Measured on an H200: in a larger batch some row is nearly always
within a string, where most tokens are legal, and the mask costs more than it saves (5% at 16 rows, 50% at 64).
"""


@triton.jit
def _either(a: tl.tensor, b: tl.tensor) -> tl.tensor:
    return a | b


@triton.jit(
    do_not_specialize=["masks_stride", "width", "rows"],
    do_not_specialize_on_alignment=["masks_ptr", "which_ptr"],
)
def _legal_words(
    masks_ptr: tl.tensor,
    masks_stride: tl.tensor,
    width: tl.tensor,
    which_ptr: tl.tensor,
    rows: tl.tensor,
    out_ptr: tl.tensor,
    WORDS: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_WORDS: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    word = tl.program_id(0) * BLOCK_WORDS + tl.arange(0, BLOCK_WORDS)
    member = tl.arange(0, BLOCK_ROWS)
    which = member
    if which_ptr is not None:
        which = tl.load(which_ptr + member, mask=member < rows, other=0)
    masked = (member < rows) & (which >= 0)
    at = masks_ptr + which.to(tl.int64)[:, None] * masks_stride + word[None, :]
    given = tl.load(at, mask=masked[:, None] & (word < width)[None, :], other=0)
    given = tl.where((which < 0)[:, None], -1, given)
    tl.store(out_ptr + word, tl.reduce(given, 0, _either), mask=word < WORDS)


def legal_words(legal: Legal, rows: int, outputs: int) -> Tensor:
    """int32 [words of `outputs`]: bits of tokens legal for any of `rows` rows; bits past `outputs` are undefined."""
    masks, which = legal.masks, legal.rows
    words = triton.cdiv(outputs, WORD_BITS)
    out = torch.empty(words, dtype=torch.int32, device=masks.device)
    _legal_words[(triton.cdiv(words, BLOCK_WORDS),)](
        masks,
        masks.stride(0),
        masks.shape[1],
        which,
        rows,
        out,
        WORDS=words,
        BLOCK_ROWS=max(16, triton.next_power_of_2(rows)),
        BLOCK_WORDS=BLOCK_WORDS,
        num_warps=4,
        **overlap(masks),
    )
    return out


@triton.jit
def _legal_row(
    x_ptr: tl.tensor,
    norm_ptr: tl.tensor,
    eps: tl.tensor,
    weight_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    legal_ptr: tl.tensor,
    out_ptr: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    SPAN: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    STAGES: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    first = tl.program_id(0) * SPAN
    legal = tl.load(legal_ptr + first // 32) >> (first % 32)
    if SPAN < 32:
        legal = legal & ((1 << SPAN) - 1)
    if legal == 0:
        return
    k = tl.arange(0, BLOCK_IN)
    squares = tl.zeros((BLOCK_IN,), tl.float32)
    xs = ()
    for start in tl.static_range(0, INPUTS, BLOCK_IN):
        here = start + k
        x = tl.load(x_ptr + here, mask=here < INPUTS, other=0.0).to(tl.float32)
        squares += x * x
        x = x * tl.load(norm_ptr + here, mask=here < INPUTS, other=0.0).to(tl.float32)
        xs = appended(xs, x)
    scale = tl.rsqrt(tl.sum(squares, 0) / INPUTS + eps)
    for step in tl.range(0, SPAN, BLOCK_OUT, num_stages=STAGES):
        inner = step + tl.arange(0, BLOCK_OUT)
        output = first + inner
        wanted = (((legal >> inner) & 1) != 0) & (output < OUTPUTS)
        at = weight_ptr + output.to(tl.int64)[:, None] * INPUTS + k[None, :]
        acc = tl.zeros((BLOCK_OUT, BLOCK_IN), tl.float32)
        for i in tl.static_range(len(xs)):
            weight = load_tile(at + i * BLOCK_IN, wanted, k + i * BLOCK_IN, INPUTS, BLOCK_IN)
            acc += weight.to(tl.float32) * xs[i][None, :]
        y = tl.sum(acc, 1) * scale
        if bias_ptr is not None:
            y += tl.load(bias_ptr + output, mask=wanted, other=0.0).to(tl.float32)
        tl.store(out_ptr + output, y.to(out_ptr.dtype.element_ty), mask=wanted)


@dataclass(frozen=True, slots=True)
class HeadShape:
    """Tile shape: outputs of a program and of a tile, inputs of a tile, pipeline stages, warps."""

    span: int
    block_out: int
    block_in: int
    stages: int
    warps: int


def head_shape(inputs: int) -> HeadShape:
    """One mask word per program, since a program that ends at once still costs its launch."""
    whole = int(triton.next_power_of_2(inputs))
    if whole <= 1024:
        return HeadShape(span=32, block_out=4, block_in=whole, stages=3, warps=4)
    return HeadShape(span=32, block_out=4, block_in=min(whole, 4096), stages=3, warps=8)


def legal_row(
    x: Tensor,
    norm: RmsNorm,
    weight: Tensor,
    bias: Tensor | None,
    legal: Tensor,
    out: Tensor,
    shape: HeadShape | None = None,
) -> None:
    """The normed `x` [1, inputs] times contiguous `weight` [outputs, inputs] into `out` [1, outputs], at legal outputs.

    `legal` is the result of `legal_words`.
    """
    outputs, inputs = weight.shape
    shape = head_shape(inputs) if shape is None else shape
    _legal_row[(triton.cdiv(outputs, shape.span),)](
        x,
        norm.weight,
        norm.eps,
        weight,
        bias,
        legal,
        out,
        OUTPUTS=outputs,
        INPUTS=inputs,
        SPAN=shape.span,
        BLOCK_OUT=shape.block_out,
        BLOCK_IN=shape.block_in,
        STAGES=shape.stages,
        num_warps=shape.warps,
        **overlap(x),
    )
