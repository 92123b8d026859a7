"""Copy of KV cache blocks in all layers with one launch. Reference: `reference.kv_copy`."""

import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..runtime.launch import overlap

CHUNK = 2048


@triton.jit
def _kv_copy(
    caches_ptr: tl.tensor,
    sources_ptr: tl.tensor,
    targets_ptr: tl.tensor,
    plane: tl.tensor,
    block: tl.tensor,
    CHUNK: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    at = tl.program_id(0) * CHUNK + tl.arange(0, CHUNK)
    pair = tl.program_id(1)
    base = caches_ptr + tl.program_id(2).to(tl.int64) * plane
    source = base + tl.load(sources_ptr + pair).to(tl.int64) * block
    target = base + tl.load(targets_ptr + pair).to(tl.int64) * block
    tl.store(target + at, tl.load(source + at, mask=at < block), mask=at < block)


def kv_copy(caches: Tensor, sources: Tensor, targets: Tensor) -> None:
    """Copy blocks `sources` to `targets` in all layers.

    `caches` [layers, 2, num_blocks, block_size, kv_heads, head_dim] is contiguous.
    """
    layers, sides = caches.shape[:2]
    block = caches.stride(2)
    grid = (triton.cdiv(block, CHUNK), sources.shape[0], layers * sides)
    if not sources.shape[0]:
        return
    _kv_copy[grid](
        caches, sources, targets, caches.stride(1), block, CHUNK=CHUNK, **overlap(caches)
    )
