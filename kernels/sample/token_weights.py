"""Sums of exponential weights with their maxima (an online logsumexp), for the sampling kernels.

Does: sum weights without overflow; export `layout` to kernels as constants. Does not: load or store.

A group of the draw, eight adjacent tokens in every row of a tile, stays in one thread and costs one exponential per
token and one noise value per group. `scale` is log2(e) / temperature, since weights are powers of two. A maximum is NaN
if one of its logits is, which detects NaN at no extra cost.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Pair, Tensors
from . import layout
from .sample_records import WeightSum

INTERPRETED: tl.constexpr = tl.constexpr(triton.knobs.runtime.interpret)
LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
NEVER: tl.constexpr = tl.constexpr(float("-inf"))
# Placeholder for "no logit"; still finite after multiplication by `scale`.
LOWEST: tl.constexpr = tl.constexpr(-(2.0**100))
# Bytes of mask, each of eight tokens, of one row of a tile: as many as a tile has groups.
OCTETS: tl.constexpr = tl.constexpr(layout.LANES // layout.SPAN)
WIDE: tl.constexpr = tl.constexpr(2 * layout.LANES // layout.SPAN)  # mask bytes of two tiles
LANES: tl.constexpr = tl.constexpr(layout.LANES)
DEPTH: tl.constexpr = tl.constexpr(layout.DEPTH)
TILE: tl.constexpr = tl.constexpr(layout.TILE)
CANDIDATES: tl.constexpr = tl.constexpr(layout.CANDIDATES)
GROUPS: tl.constexpr = tl.constexpr(layout.GROUPS)
# Numbers of a program's partial result, see `reduce_row.store_part`.
PARTS: tl.constexpr = tl.constexpr(16)


@triton.jit
def higher(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    """The elementwise maximum, NaN where one of the two is NaN."""
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def highest(rows: Tensors) -> tl.tensor:
    """The elementwise maximum of the tensors of a tuple."""
    high = rows[0]
    for i in tl.static_range(1, len(rows)):
        high = higher(high, rows[i])
    return high


@triton.jit
def base_of(high: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """The exponent to which weights are relative: `high * scale`, or 0 without a logit, so that LOWEST has weight 0."""
    return tl.where(high == LOWEST, 0.0, high * scale)


@triton.jit
def weigh(
    rows: Tensors, high: tl.tensor, total: tl.tensor, top: tl.tensor, scale: tl.tensor
) -> Pair:
    """Add the weights of a tuple of logits [N, columns] to `total` [N], now relative to `top` instead of `high`.

    Returns the new sums [N] of 2**((x - top) * scale), and those of the tuple's first half alone, which are ready
    earlier.
    """
    base = base_of(top, scale)
    columns = weights(rows, base, scale, 0)
    early = tl.sum(columns, 1)
    columns += weights(rows, base, scale, 1)
    return total * tl.exp2(high * scale - base) + tl.sum(columns, 1), early


@triton.jit
def weights(rows: Tensors, base: tl.tensor, scale: tl.tensor, half: tl.constexpr) -> tl.tensor:
    """Sums [N, columns] of 2**(x * scale - base) over the first or the second half of a tuple of logits."""
    columns = tl.exp2(rows[half * (len(rows) // 2)] * scale - base[:, None])
    for i in tl.static_range(1, len(rows) // 2):
        columns += tl.exp2(rows[half * (len(rows) // 2) + i] * scale - base[:, None])
    return columns


@triton.jit
def weigh_higher(rows: Tensors, before: WeightSum, scale: tl.tensor) -> WeightSum:
    """The sums [N] with a tuple of logits [N, columns] added, relative to the new maxima."""
    top = higher(before.peak, tl.reduce(highest(rows), 1, higher))
    total, _ = weigh(rows, before.peak, before.total, top, scale)
    return WeightSum(top, total)


@triton.jit
def join(before: WeightSum, more: tl.tensor, added: tl.tensor, scale: tl.tensor) -> WeightSum:
    """The elementwise sum of `before` and of the weights `added`, which have the maxima `more`."""
    top = higher(before.peak, more)
    base = base_of(top, scale)
    total = before.total * tl.exp2(before.peak * scale - base) + added * tl.exp2(
        more * scale - base
    )
    return WeightSum(top, total)


@triton.jit
def fold(high: tl.tensor, total: tl.tensor, scale: tl.tensor) -> WeightSum:
    """The total of the weights with maxima and sums [N]."""
    top = tl.max(high)
    return WeightSum(top, tl.sum(total * tl.exp2(high * scale - base_of(top, scale))))
