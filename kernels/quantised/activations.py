"""Rows of activations in 8 bits.

Does: norm rows and round them to int8 or E4M3 with one scale a row. Does not: multiply (`scaled_tiles`).
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import RmsNorm
from ..runtime.launch import overlap

LARGEST = {torch.int8: 127.0, torch.float8_e4m3fn: 448.0}

ROUNDING = tl.constexpr(12582912.0)
"""1.5 * 2^23: a float32 of less than 2^22 becomes the nearest integer when this is added and subtracted."""


@dataclass(frozen=True, slots=True)
class RoundedRows:
    """Rows in 8 bits: `values` [N, padded] int8 or float8_e4m3fn, times `scales` [N] float32.

    Values are in the order of the bytes of a matrix of `padded` inputs (see `packed_codes`).
    """

    values: Tensor
    scales: Tensor


@triton.jit
def _quantise_rows(
    x_ptr: tl.tensor,
    x_stride: tl.tensor,
    norm_ptr: tl.tensor,
    eps: tl.tensor,
    out_ptr: tl.tensor,
    scales_ptr: tl.tensor,
    INPUTS: tl.constexpr,
    PADDED: tl.constexpr,
    PART: tl.constexpr,
    BLOCK: tl.constexpr,
    LARGEST: tl.constexpr,
    NORMED: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """Byte `b` of a row of `out` is the input of byte `b` of a row of the packed matrix."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    within = at % (2 * PART)
    k = at - within + (within % 2) * PART + within // 2
    there = (at < PADDED) & (k < INPUTS)
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    x = tl.load(x_ptr + row * x_stride + k, mask=there, other=0.0).to(tl.float32)
    if NORMED:
        weight = tl.load(norm_ptr + k, mask=there, other=0.0).to(tl.float32)
        x = x * tl.rsqrt(tl.sum(x * x, 0) / INPUTS + eps) * weight
    largest = tl.max(tl.abs(x), 0)
    # Zero, or NaN where an input is not finite: such a row stays so, as it would without rounding.
    scale = tl.where(largest > 0, largest / LARGEST, 1.0) + tl.sum(x - x, 0)
    y = x / scale
    if LARGEST == 127.0:
        y = (y + ROUNDING) - ROUNDING
    y = tl.minimum(tl.maximum(y, -LARGEST), LARGEST)
    tl.store(out_ptr + row * PADDED + at, y.to(out_ptr.dtype.element_ty), mask=at < PADDED)
    tl.store(scales_ptr + row, scale)


def quantised_rows(
    x: Tensor,
    norm: RmsNorm | None,
    dtype: torch.dtype,
    *,
    padded: int,
    part: int,
    early: bool = False,
) -> RoundedRows:
    """The rows of `x` [N, inputs], normed first with `norm`, in `dtype`: int8 or float8_e4m3fn.

    The matrix has `padded` inputs in parts of `part`. The scale of a row that is not finite is NaN. `early`: see
    `linear.rms_norm`.
    """
    rows, inputs = x.shape
    out = torch.empty((rows, padded), dtype=dtype, device=x.device)
    scales = torch.empty(rows, dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(padded)
    _quantise_rows[(rows,)](
        x,
        x.stride(0),
        x if norm is None else norm.weight,
        0.0 if norm is None else norm.eps,
        out,
        scales,
        INPUTS=inputs,
        PADDED=padded,
        PART=part,
        BLOCK=block,
        LARGEST=LARGEST[dtype],
        NORMED=norm is not None,
        num_warps=min(max(block // 512, 1), 16),
        **overlap(x, early=early),
    )
    return RoundedRows(out, scales)
