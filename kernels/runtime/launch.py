"""Launch options of all Triton kernels: overlap of consecutive kernels on a stream, precision of products.

Does: compute launch options. Does not: launch.

Consecutive kernels on a stream overlap where the GPU supports it (programmatic dependent launch, compute capability 9.0
and later): a kernel starts once all programs of the preceding one have begun, loads data that no kernel writes
(weights), and waits before it touches anything else. So every kernel calls `gdc_launch_dependents` first, or late where
waiting programs would crowd it, and `gdc_wait` before its first access to activations, caches or buffers, under the
constant `EARLY`. A program that accesses none of these may end without waiting only if another program of the same
launch always waits: a kernel that ends before the preceding one would let the next one overtake that.
"""

from functools import lru_cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor


@lru_cache(maxsize=16)
def _starts_early(device: torch.device) -> bool:
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (9, 0)


@lru_cache(maxsize=16)
def processors(device: torch.device) -> int:
    """The number of multiprocessors of `device`; 4 for a CPU, where kernels are interpreted."""
    if device.type != "cuda":
        return 4
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def overlap(x: Tensor, *, early: bool = True) -> dict[str, Any]:
    """Arguments of a launch on `x`'s device: the constant `EARLY` and the matching launch option, where supported."""
    if early and _starts_early(x.device):
        return {"EARLY": True, "launch_pdl": True}
    return {"EARLY": False}


def precision(dtype: torch.dtype) -> str:
    """`input_precision` of products: float32 factors are never rounded to a shorter format."""
    return "ieee" if dtype == torch.float32 else "tf32"


@triton.jit
def prefetch(at: tl.tensor) -> None:
    """Prefetch the cache lines of the addresses `at` into the L2 cache, without waiting. Compiled code only."""
    tl.inline_asm_elementwise(
        "prefetch.global.L2 [$1]; mov.u32 $0, 0;",
        "=r,l",
        [at.to(tl.int64)],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
