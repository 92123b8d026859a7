"""Soft cap of logits in one pass: `cap * tanh(y / cap)` (Bello et al. 2016). Reference: `reference.finish`."""

import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from .launch import overlap

BLOCK = 4096


@triton.jit
def capped(x: tl.tensor, cap: tl.tensor) -> tl.tensor:
    """`cap * tanh(x / cap)` of float32 `x`, by an exponential that vanishes for large `x` and never overflows."""
    shrunk = tl.exp(tl.abs(x) * (-2 / cap))
    capped = cap * (1 - shrunk) / (1 + shrunk)
    return tl.where(x < 0, -capped, capped)


@triton.jit(do_not_specialize=["count"])
def _softcap(
    y_ptr: tl.tensor,
    count: tl.tensor,
    cap: tl.tensor,
    BLOCK: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    y = tl.load(y_ptr + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + at, capped(y, cap).to(y_ptr.dtype.element_ty), mask=inside)


def softcap(y: Tensor, cap: float) -> None:
    """Cap contiguous `y` [N, outputs] in place. Arithmetic is float32."""
    count = y.numel()
    _softcap[(triton.cdiv(count, BLOCK),)](
        y, count, cap, BLOCK=BLOCK, num_warps=4, **overlap(y, early=False)
    )
