"""Product of one row and a weight matrix, for batches of 1; bound by reading the matrix.

Does: the norm, the product, the bias and the epilogue (gate or residual) in one pass; arithmetic is float32. Does not:
more rows (`skinny`). Reference: `reference.ReferenceWeight`.

A program computes `BLOCK_OUT` outputs. It loads its first tile of weights before the preceding kernel has finished. The
scale of the norm is one number per row, so it is applied to the sum, and nothing waits for it.
"""

from dataclasses import dataclass

import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import RmsNorm
from ..runtime.launch import overlap
from .epilogue import NOTHING, After, activated, load_tile


@triton.jit
def _gemv(
    x_ptr: tl.tensor,
    norm_ptr: tl.tensor,
    weight_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    out_ptr: tl.tensor,
    eps: tl.tensor,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    BLOCK_OUT: tl.constexpr,
    BLOCK_IN: tl.constexpr,
    NORMED: tl.constexpr,
    GATED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BIASED: tl.constexpr,
    ADDED: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """`OUTPUTS`: number of written outputs, half the matrix rows if GATED. ADDED adds to the contents of `out`."""
    if EARLY:
        gdc_launch_dependents()
    output = tl.program_id(0) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    inside = output < OUTPUTS
    row = tl.minimum(output, OUTPUTS - 1).to(tl.int64)
    k = tl.arange(0, BLOCK_IN)
    at = weight_ptr + row[:, None] * INPUTS + k[None, :]
    weight = load_tile(at, None, k, INPUTS, BLOCK_IN)
    acc = tl.zeros((BLOCK_OUT, BLOCK_IN), tl.float32)
    if GATED:
        up = load_tile(at + OUTPUTS * INPUTS, None, k, INPUTS, BLOCK_IN)
        up_acc = tl.zeros((BLOCK_OUT, BLOCK_IN), tl.float32)
    squares = tl.zeros((BLOCK_IN,), tl.float32)
    if EARLY:
        gdc_wait()
    for start in tl.static_range(0, INPUTS, BLOCK_IN):
        here = start + k
        x = tl.load(x_ptr + here, mask=here < INPUTS, other=0.0).to(tl.float32)
        if NORMED:
            squares += x * x
            x = x * tl.load(norm_ptr + here, mask=here < INPUTS, other=0.0).to(tl.float32)
        acc += weight.to(tl.float32) * x[None, :]
        if GATED:
            up_acc += up.to(tl.float32) * x[None, :]
        if start + BLOCK_IN < INPUTS:
            ahead = at + start + BLOCK_IN
            after = here + BLOCK_IN
            weight = load_tile(ahead, None, after, INPUTS, BLOCK_IN)
            if GATED:
                up = load_tile(ahead + OUTPUTS * INPUTS, None, after, INPUTS, BLOCK_IN)
    y = tl.sum(acc, 1)
    scale = 1.0
    if NORMED:
        scale = tl.rsqrt(tl.sum(squares, 0) / INPUTS + eps)
        y = y * scale
    if BIASED:
        y += tl.load(bias_ptr + output, mask=inside, other=0.0).to(tl.float32)
    if GATED:
        z = tl.sum(up_acc, 1) * scale
        if BIASED:
            z += tl.load(bias_ptr + OUTPUTS + output, mask=inside, other=0.0).to(tl.float32)
        y = activated(y, ACTIVATION) * z
    if ADDED:
        y += tl.load(out_ptr + output, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + output, y.to(out_ptr.dtype.element_ty), mask=inside)


@dataclass(frozen=True, slots=True)
class GemvShape:
    """Tile shape: outputs and inputs of a tile, and warps."""

    block_out: int
    block_in: int
    warps: int


def gemv_shape(outputs: int, inputs: int) -> GemvShape:
    """Tiles as measured on an H200. Small matrices are all loaded before the preceding kernel ends.

    Rows that no tile of 2,048 inputs divides took a fifth longer with the tiles that are best for others.
    """
    whole = triton.next_power_of_2(inputs)
    if whole <= 1024:
        return GemvShape(block_out=4, block_in=whole, warps=4)
    if whole == 2048 and outputs >= 4096:
        return GemvShape(block_out=4, block_in=1024, warps=4)
    if whole == 2048:
        return GemvShape(block_out=2, block_in=whole, warps=8)
    if whole == 4096 and 2048 <= outputs <= 4096:
        return GemvShape(block_out=2, block_in=1024, warps=4)
    if whole == 4096:
        return GemvShape(block_out=4 if outputs >= 4096 else 2, block_in=whole, warps=8)
    if inputs % 2048 == 0:
        return GemvShape(block_out=4, block_in=2048, warps=8)
    if outputs <= 4096:
        return GemvShape(block_out=4, block_in=1024, warps=4)
    return GemvShape(block_out=2, block_in=2048, warps=4)


def gemv(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    out: Tensor,
    *,
    norm: RmsNorm | None = None,
    after: After = NOTHING,
    shape: GemvShape | None = None,
) -> None:
    """`x` [1, inputs] times contiguous `weight` [outputs, inputs] into `out` [1, outputs].

    With `norm`, the row is normed first. After a gate `out` is [1, outputs / 2].
    """
    outputs, inputs = weight.shape
    gated = after.activation is not None
    written = outputs // 2 if gated else outputs
    shape = gemv_shape(written, inputs) if shape is None else shape
    _gemv[(triton.cdiv(written, shape.block_out),)](
        x,
        x if norm is None else norm.weight,
        weight,
        x if bias is None else bias,
        out,
        0.0 if norm is None else norm.eps,
        OUTPUTS=written,
        INPUTS=inputs,
        BLOCK_OUT=shape.block_out,
        BLOCK_IN=shape.block_in,
        NORMED=norm is not None,
        GATED=gated,
        ACTIVATION=after.name,
        BIASED=bias is not None,
        ADDED=after.added,
        num_warps=shape.warps,
        **overlap(x),
    )
