"""Activation and gate of the MLP in one pass (Shazeer 2020). Reference: `reference.gate`."""

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import Activation
from ..runtime.launch import overlap
from .epilogue import activated

BLOCK = 1024


@triton.jit
def _gate(
    x_ptr: tl.tensor,
    out_ptr: tl.tensor,
    WIDTH: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BLOCK: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    row = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < WIDTH
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    left = tl.load(x_ptr + row * 2 * WIDTH + at, mask=inside, other=0.0).to(tl.float32)
    right = tl.load(x_ptr + row * 2 * WIDTH + WIDTH + at, mask=inside, other=0.0).to(tl.float32)
    out = activated(left, ACTIVATION) * right
    tl.store(out_ptr + row * WIDTH + at, out.to(out_ptr.dtype.element_ty), mask=inside)


def gate(x: Tensor, activation: Activation = Activation.SILU) -> Tensor:
    """`activation(x[:, :n]) * x[:, n:]` for contiguous `x` [N, 2n]; returns [N, n]. Arithmetic is float32.

    The preceding kernel is a library's: see `rms_norm.rms_norm`.
    """
    rows, width = x.shape[0], x.shape[1] // 2
    out = torch.empty((rows, width), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(width, BLOCK), rows)
    _gate[grid](
        x,
        out,
        WIDTH=width,
        ACTIVATION=activation.value,
        BLOCK=BLOCK,
        num_warps=4,
        **overlap(x, early=False),
    )
    return out
