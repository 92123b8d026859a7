"""How `pick` lays a row of logits out, and sums of weights beside their maxima.

Does: name the tile, and add weights up without overflow. Does not: load or store anything.

A tile is `DEPTH` rows of `LANES` tokens, so that a group of the draw, eight tokens side by side in every row, stays in
one thread and costs one exponential a token and one noise a group; `reference_logits.lead` says where the first begins.
`scale` is log2(e) / temperature: weights are powers of two. A maximum is NaN where one of its logits is: so it tells,
at no cost, that they are not sound.
"""

import triton
import triton.language as tl

INTERPRETED: tl.constexpr = tl.constexpr(triton.knobs.runtime.interpret)
LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
NEVER: tl.constexpr = tl.constexpr(float("-inf"))
# Stands for no logit; times `scale` it is still a finite number.
LOWEST: tl.constexpr = tl.constexpr(-(2.0**100))
OCTETS: tl.constexpr = tl.constexpr(128)  # bytes of mask, each of eight tokens, of a tile's row
WIDE: tl.constexpr = tl.constexpr(256)  # those of two tiles
LANES: tl.constexpr = tl.constexpr(1024)
DEPTH: tl.constexpr = tl.constexpr(16)
TILE: tl.constexpr = tl.constexpr(16384)
# Draws of a whole row that are made before what truncation leaves of it is drawn from.
TRIES: tl.constexpr = tl.constexpr(4)
# Counters of groups begin here, past those of all tokens.
GROUPS: tl.constexpr = tl.constexpr(0x80000000)
# Numbers a program leaves behind, see `pick_tile.leave`, and choices.
PARTS: tl.constexpr = tl.constexpr(16)


@triton.jit
def higher(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    """The maximum, NaN where one of them is."""
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def highest(rows: tl.tensor) -> tl.tensor:
    """The maxima of a tuple's tensors, place by place."""
    high = rows[0]
    for i in tl.static_range(1, len(rows)):
        high = higher(high, rows[i])
    return high


@triton.jit
def base_of(high: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """What weights below a maximum are relative to; zero where there is no logit, so that LOWEST weighs nothing."""
    return tl.where(high == LOWEST, 0.0, high * scale)


@triton.jit
def weigh(
    rows: tl.tensor, high: tl.tensor, total: tl.tensor, top: tl.tensor, scale: tl.tensor
) -> tl.tensor:
    """Sums [N] of 2**((x - top) * scale), of `total`, relative to `high`, and a tuple of logits [N, columns]; and the
    sums of the tuple's first half alone, which are there earlier."""
    base = base_of(top, scale)
    columns = weights(rows, base, scale, 0)
    early = tl.sum(columns, 1)
    columns += weights(rows, base, scale, 1)
    return total * tl.exp2(high * scale - base) + tl.sum(columns, 1), early


@triton.jit
def weights(rows: tl.tensor, base: tl.tensor, scale: tl.tensor, half: tl.constexpr) -> tl.tensor:
    """Sums [N, columns] of 2**(x * scale - base) of the first or the second half of a tuple of logits."""
    columns = tl.exp2(rows[half * (len(rows) // 2)] * scale - base[:, None])
    for i in tl.static_range(1, len(rows) // 2):
        columns += tl.exp2(rows[half * (len(rows) // 2) + i] * scale - base[:, None])
    return columns


@triton.jit
def weigh_higher(rows: tl.tensor, high: tl.tensor, total: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """(maxima, sums) with a tuple of logits [N, columns] added, relative to what is the maximum then."""
    top = higher(high, tl.reduce(highest(rows), 1, higher))
    total, _ = weigh(rows, high, total, top, scale)
    return top, total


@triton.jit
def join(
    high: tl.tensor, total: tl.tensor, more: tl.tensor, added: tl.tensor, scale: tl.tensor
) -> tl.tensor:
    """(maxima, sums) of two at every place."""
    top = higher(high, more)
    base = base_of(top, scale)
    total = total * tl.exp2(high * scale - base) + added * tl.exp2(more * scale - base)
    return top, total


@triton.jit
def fold(high: tl.tensor, total: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """(maximum, sum) of all places [N]."""
    top = tl.max(high)
    return top, tl.sum(total * tl.exp2(high * scale - base_of(top, scale)))
