"""What top-k, top-p and min-p leave of a row, and the draw from it: one program a row, after the survey of `pick_tile`.

Does: find the least logit that stays, exactly as `reference_logits.truncated` defines it, and take the first try of the
survey that stays, or else draw from what does. The largest logits of the groups bound the cut from below, and usually
few groups reach the bound: those are gathered and searched on the chip; so are all that have a legal token, where these
are few. Rows of which too much may stay (flat distributions) are left to `pick_flat`. Does not: read whole rows.

Searches halve intervals of keys, integers in the order of the logits; `spare` low bits of a key are zero for narrow
logits and are left out.
"""

# ruff: noqa: SIM102 - an outer condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from .pick_load import appended, is_edited, is_legal, row_of_mask
from .pick_row import gumbel, settle, stays_first
from .pick_weights import DEPTH, LANES, LOG2E, LOWEST, NEVER, TILE, TRIES

NEAR: tl.constexpr = tl.constexpr(256)  # groups that are searched on the chip
# What `pick_flat` has to do for a row.
SETTLED: tl.constexpr = tl.constexpr(0)  # nothing
TEST: tl.constexpr = tl.constexpr(1)  # which try stays is to be found out: top-p alone
SEARCH: tl.constexpr = tl.constexpr(2)  # the cut is to be found
DRAW: tl.constexpr = tl.constexpr(3)  # the cut is known
BOUND_STEPS: tl.constexpr = tl.constexpr(10)


@triton.jit
def to_key(x: tl.tensor) -> tl.tensor:
    """int32 keys in the order of finite float32."""
    bits = x.to(tl.int32, bitcast=True)
    return tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)


@triton.jit
def from_key(key: tl.tensor) -> tl.tensor:
    """The inverse of `to_key`."""
    return tl.where(key < 0, key ^ 0x7FFFFFFF, key).to(tl.float32, bitcast=True)


@triton.jit
def halfway(lower: tl.tensor, upper: tl.tensor) -> tl.tensor:
    """The mean of two integers, whose sum may be out of range."""
    return (lower >> 1) + (upper >> 1) + (lower & upper & 1)


@triton.jit
def load_maxima(maxima: tl.tensor, tiles: tl.constexpr) -> tl.tensor:
    """The largest logits of a row's groups, a tuple of [LANES] by tile."""
    best = ()
    for tile in tl.static_range(tiles):
        best = appended(best, tl.load(maxima + tile * LANES + tl.arange(0, LANES)))
    return best


@triton.jit
def bound(
    best: tl.tensor,
    highest: tl.tensor,
    mass: tl.tensor,
    heat: tl.tensor,
    k: tl.tensor,
    p: tl.tensor,
    limited: tl.tensor,
) -> tl.tensor:
    """A logit that the cut does not lie below, or -inf: as many tokens as are wanted, or as much mass, reach it among
    the two largest that each lane has in all tiles. With top-k (`limited`), its whole set has to be at hand: top-p is a
    share of it."""
    first = best[0]
    second = tl.full((LANES,), NEVER, tl.float32)
    for tile in tl.static_range(1, len(best)):
        second = tl.maximum(second, tl.minimum(first, best[tile]))
        first = tl.maximum(first, best[tile])
    first, second = (first - highest) / heat, (second - highest) / heat
    more, less = tl.exp2(first * LOG2E), tl.exp2(second * LOG2E)
    if limited:
        more, less = more * 0.0 + 1.0, less * 0.0 + 1.0
    goal = tl.where(limited, k.to(tl.float32), p * mass)
    low, high = -32.0, 0.0  # temperatures below the highest
    known = NEVER
    for _ in range(BOUND_STEPS):
        middle = (low + high) * 0.5
        reached = tl.where(first >= middle, more, 0.0) + tl.where(second >= middle, less, 0.0)
        enough = tl.sum(reached) >= goal
        # Below by more than is lost in rounding.
        known = tl.where(enough, highest + (middle - 0.001) * heat, known)
        low = tl.where(enough, middle, low)
        high = tl.where(enough, high, middle)
    return known


@triton.jit
def search_near(
    x: tl.tensor,
    known: tl.tensor,
    highest: tl.tensor,
    mass: tl.tensor,
    heat: tl.tensor,
    k: tl.tensor,
    p: tl.tensor,
    limited: tl.tensor,
    spare: tl.constexpr,
) -> tl.tensor:
    """The least key that stays, among gathered logits, of a cut that is not below `known`."""
    x = tl.where(x >= known, x, NEVER)
    weight = tl.exp2((x - highest) * (LOG2E / heat))
    key = to_key(x) >> spare
    bottom = to_key(tl.maximum(known, LOWEST)) >> spare
    ceiling = (to_key(highest) >> spare) + 1
    kept = mass
    if limited:
        upper = ceiling
        while upper > bottom + 1:
            middle = halfway(bottom, upper)
            if tl.sum((key >= middle).to(tl.int32)) >= k:
                bottom = middle
            else:
                upper = middle
        kept = tl.sum(tl.where(key >= bottom, weight, 0.0))
    if p < 1.0:
        upper = ceiling
        while upper > bottom + 1:
            middle = halfway(bottom, upper)
            if tl.sum(tl.where(key >= middle, weight, 0.0)) >= p * kept:
                bottom = middle
            else:
                upper = middle
    return bottom


@triton.jit
def list_near(groups: tl.tensor, best: tl.tensor, known: tl.tensor) -> tl.tensor:
    """How many groups of a row reach `known`; NEAR of them at most are written to `groups`, lane by lane."""
    counts = tl.zeros((LANES,), tl.int32)
    for tile in tl.static_range(len(best)):
        counts += is_near(best[tile], known).to(tl.int32)
    slot = tl.cumsum(counts, 0) - counts
    for tile in tl.static_range(len(best)):
        near = is_near(best[tile], known)
        group = tile * LANES + tl.arange(0, LANES)
        tl.store(groups + slot, group, mask=near & (slot < NEAR))
        slot += near.to(tl.int32)
    return tl.sum(counts)


@triton.jit
def is_near(best: tl.tensor, known: tl.tensor) -> tl.tensor:
    """Whether groups may hold something that stays. Where nothing bounds the cut, all with a legal token may: few,
    where a mask allows few."""
    return (best >= known) & (best > LOWEST)


@triton.jit
def gather(
    logits: tl.tensor,
    vocab: tl.tensor,
    mask: tl.tensor,
    mask_row: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    groups: tl.tensor,
    count: tl.tensor,
    masked: tl.constexpr,
    editing: tl.constexpr,
) -> tl.tensor:
    """(tokens, their logits as the draw sees them), [NEAR, DEPTH], of the groups that are listed; others -inf."""
    tl.debug_barrier()
    slot = tl.arange(0, NEAR)
    group = tl.load(groups + slot, mask=slot < count, other=0)
    depth = tl.arange(0, DEPTH) * LANES
    member = ((group // LANES) * TILE + group % LANES)[:, None] + depth[None, :]
    there = (slot < count)[:, None] & (member < vocab)
    legal = is_legal(mask, mask_row, vocab, member, masked) & there
    # Not only where it is legal: the two loads need not wait for one another.
    x = tl.load(logits + member, mask=there, other=NEVER).to(tl.float32)
    if editing:
        if edit:
            x = tl.load(edited + member, mask=legal, other=NEVER)
    return member, tl.where(legal, x, NEVER)


@triton.jit
def first_or_drawn(
    member: tl.tensor,
    x: tl.tensor,
    cut: tl.tensor,
    heat: tl.tensor,
    draw: tl.tensor,
    outputs: tl.tensor,
    row: tl.tensor,
) -> tl.tensor:
    """The first try that is not below the cut, or a token drawn from the gathered ones that are not."""
    one = stays_first(outputs, row, cut)
    token = tl.load(outputs[6] + row * TRIES + tl.minimum(one, TRIES - 1))
    if one == TRIES:
        drawn = tl.div_rn(x, heat) + gumbel(draw, row, member, TRIES)
        drawn = tl.where(x >= cut, drawn, NEVER)
        token = tl.min(tl.where(drawn == tl.max(drawn), member, 0x7FFFFFFF))
    return token


@triton.jit
def cut_pass(
    scores: tl.tensor,
    mask: tl.tensor,
    draw: tl.tensor,
    edited: tl.tensor,
    edits: tl.tensor,
    truncation: tl.tensor,
    maxima: tl.tensor,
    groups: tl.tensor,
    outputs: tl.tensor,
    flat: tl.tensor,
    tiles: tl.constexpr,
    spare: tl.constexpr,
    masked: tl.constexpr,
    mapped: tl.constexpr,
    editing: tl.constexpr,
    believing: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """Grid [rows]. `truncation`: (top-k, top-p, min-p); `draw` and `outputs` as in `pick_tile`; `flat`: for
    `pick_flat`, of each row what is to be done (int32), the cut as far as it is known and where to search from (float32
    [rows, 2])."""
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    row = tl.program_id(0)
    vocab = scores[3]
    heat = tl.load(draw[0] + row)
    highest = tl.load(outputs[5] + row * 2)
    mass = tl.load(outputs[5] + row * 2 + 1)
    todo = SETTLED
    if (heat > 0) & (highest > LOWEST) & (mass >= 1.0):
        mask_row = row_of_mask(mask, row, masked, mapped)
        edit = False
        if editing:
            edited += row.to(tl.int64) * (tiles * TILE)
            edit = is_edited(edits, row)
        logits = scores[0] + row.to(tl.int64) * scores[1]
        k = tl.minimum(tl.load(truncation[0] + row), vocab).to(tl.int32)
        p = tl.load(truncation[1] + row)
        least = tl.load(truncation[2] + row)
        limited = (k > 0) & (k < vocab)
        searched = limited | (p < 1.0)
        cut = NEVER
        if least > 0:
            cut = highest + heat * tl.log(least)
        known = cut
        if searched | (stays_first(outputs, row, cut) == TRIES):
            groups += row * NEAR
            maxima += row.to(tl.int64) * (tiles * LANES)
            best = load_maxima(maxima, tiles)
            if searched:
                known = bound(best, highest, mass, heat, k, p, limited)
            count = list_near(groups, best, known)
            if count <= NEAR:
                member, x = gather(
                    logits, vocab, mask, mask_row, edited, edit, groups, count, masked, editing
                )
                if searched:
                    least_key = search_near(x, known, highest, mass, heat, k, p, limited, spare)
                    cut = tl.maximum(cut, from_key(least_key << spare))
                token = first_or_drawn(member, x, cut, heat, draw, outputs, row)
                settle(logits, outputs, row, tl.minimum(token, vocab - 1), believing)
            else:
                todo = tl.where(limited, SEARCH, tl.where(searched, TEST, DRAW))
                tl.store(flat[1] + row * 2, cut)
                tl.store(flat[1] + row * 2 + 1, tl.maximum(known, LOWEST))
        else:
            one = stays_first(outputs, row, cut)
            settle(logits, outputs, row, tl.load(outputs[6] + row * TRIES + one), believing)
    tl.store(flat[0] + row, todo)
