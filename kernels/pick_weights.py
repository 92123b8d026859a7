"""How `pick` lays a row of logits out, and sums of weights beside their maxima.

Does: name the tile, and add weights up without overflow. Does not: load or store anything.

A tile is `DEPTH` rows of `LANES` tokens, so that a group of the draw, eight tokens side by side in every row, stays in
one thread and costs one exponential a token and one noise a group. `scale` is log2(e) / temperature: weights are powers
of two.
"""

import triton
import triton.language as tl

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
NEVER: tl.constexpr = tl.constexpr(float("-inf"))
# Stands for no logit; times `scale` it is still a finite number.
LOWEST: tl.constexpr = tl.constexpr(-1e30)
OCTETS: tl.constexpr = tl.constexpr(128)  # bytes of mask, each of eight tokens, of a tile's row
LANES: tl.constexpr = tl.constexpr(1024)
DEPTH: tl.constexpr = tl.constexpr(16)
TILE: tl.constexpr = tl.constexpr(16384)
# Counters of groups begin here, past those of all tokens.
GROUPS: tl.constexpr = tl.constexpr(0x80000000)
PARTS: tl.constexpr = tl.constexpr(8)  # numbers a program leaves behind, see `pick_tile.leave`


@triton.jit
def scaled(high: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """What weights below a maximum are relative to; zero where there is no logit, so that LOWEST weighs nothing."""
    return tl.where(high == LOWEST, 0.0, high * scale)


@triton.jit
def weigh(rows: tl.tensor, high: tl.tensor, total: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """(maxima, sums of 2**((x - maximum) * scale)) with a tuple of logits added to every lane."""
    higher = high
    for i in tl.static_range(len(rows)):
        higher = tl.maximum(higher, rows[i])
    base = scaled(higher, scale)
    total = total * tl.exp2(high * scale - base)
    for i in tl.static_range(len(rows)):
        total += tl.exp2(rows[i] * scale - base)
    return higher, total


@triton.jit
def join(
    high: tl.tensor, total: tl.tensor, more: tl.tensor, added: tl.tensor, scale: tl.tensor
) -> tl.tensor:
    """(maxima, sums) of two at every place."""
    higher = tl.maximum(high, more)
    base = scaled(higher, scale)
    total = total * tl.exp2(high * scale - base) + added * tl.exp2(more * scale - base)
    return higher, total


@triton.jit
def fold(high: tl.tensor, total: tl.tensor, scale: tl.tensor, axis: tl.constexpr) -> tl.tensor:
    """(maxima, sums) along an axis."""
    higher = tl.max(high, axis, keep_dims=True)
    total = tl.sum(total * tl.exp2(high * scale - scaled(higher, scale)), axis)
    return tl.max(high, axis), total
