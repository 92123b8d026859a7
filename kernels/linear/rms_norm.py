"""Root-mean-square normalisation in one pass (Zhang and Sennrich 2019). Reference: `reference.rms_norm`."""

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..contracts import RmsNorm
from ..runtime.launch import overlap


@triton.jit
def _rms_norm(
    x_ptr: tl.tensor,
    weight_ptr: tl.tensor,
    out_ptr: tl.tensor,
    x_stride: tl.tensor,
    eps: tl.tensor,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    ADDED: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < WIDTH
    weight = tl.load(weight_ptr + at, mask=inside, other=0.0).to(tl.float32)
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    x = tl.load(x_ptr + row * x_stride + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, 0) / WIDTH + eps)
    out = x * scale * weight
    if ADDED:
        out += tl.load(out_ptr + row * WIDTH + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * WIDTH + at, out.to(out_ptr.dtype.element_ty), mask=inside)


def rms_norm(x: Tensor, norm: RmsNorm, *, onto: Tensor | None = None, early: bool = True) -> Tensor:
    """Normed rows of `x` [N, hidden] with contiguous rows: a new tensor, or added to contiguous `onto`.

    Arithmetic is float32. `early`: the preceding kernel is of this package and lets this one start early. After a
    library kernel, which does not, a launch with that option starts half a microsecond later than one without.
    """
    rows, width = x.shape
    out = torch.empty((rows, width), dtype=x.dtype, device=x.device) if onto is None else onto
    block = triton.next_power_of_2(width)
    _rms_norm[(rows,)](
        x,
        norm.weight,
        out,
        x.stride(0),
        norm.eps,
        WIDTH=width,
        BLOCK=block,
        ADDED=onto is not None,
        num_warps=min(max(block // 512, 1), 16),
        **overlap(x, early=early),
    )
    return out
