"""Where top-k, top-p and min-p cut a row off: one program a row, after the survey of `pick_tile`.

Does: find, for rows that are drawn, the least logit that stays, exactly as `reference_logits.truncated` defines it. The
largest logits of the groups bound it from below, and usually few groups reach the bound: those are gathered and
searched on the chip; so are all that have a legal token, where these are few. Where too many do (flat distributions),
the whole row is searched. Does not: draw.

Searches halve intervals of keys, integers in the order of the logits; `spare` low bits of a key are zero for narrow
logits and are left out.
"""

# ruff: noqa: SIM102 - an outer condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl

from .pick_load import is_edited, is_legal
from .pick_weights import DEPTH, LANES, LOG2E, LOWEST, NEVER, TILE

NEAR: tl.constexpr = tl.constexpr(512)  # groups that are searched on the chip
BOUND_STEPS: tl.constexpr = tl.constexpr(12)


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
def row_chunk(
    logits: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    mask: tl.tensor,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    first: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """LANES logits of a row as the draw sees them, illegal ones -inf."""
    at = first + tl.arange(0, LANES)
    legal = is_legal(mask, mask_row, vocab, at, masked)
    x = tl.load(logits + at, mask=legal, other=NEVER).to(tl.float32)
    if edit:
        x = tl.load(edited + at, mask=legal, other=NEVER)
    return x


@triton.jit
def bound(
    best: tl.tensor,
    highest: tl.tensor,
    mass: tl.tensor,
    heat: tl.tensor,
    scale: tl.tensor,
    k: tl.tensor,
    p: tl.tensor,
    limited: tl.tensor,
) -> tl.tensor:
    """A logit that the cut does not lie below, or -inf: as many groups as tokens wanted, or as much mass, reach it by
    their largest logits alone. With top-k (`limited`), its whole set has to be at hand: top-p is a share of it."""
    low, high = highest - 32.0 * heat, highest
    known = NEVER
    for _ in range(BOUND_STEPS):
        middle = (low + high) * 0.5
        reach = best >= middle
        if limited:
            enough = tl.sum(reach.to(tl.int32)) >= k
        else:
            share = tl.sum(tl.where(reach, tl.exp2((best - highest) * scale), 0.0))
            enough = share >= p * mass
        known = tl.where(enough, middle, known)
        low = tl.where(enough, middle, low)
        high = tl.where(enough, high, middle)
    return known


@triton.jit
def search_near(
    key: tl.tensor,
    weight: tl.tensor,
    bottom: tl.tensor,
    ceiling: tl.tensor,
    mass: tl.tensor,
    k: tl.tensor,
    p: tl.tensor,
    limited: tl.tensor,
) -> tl.tensor:
    """The least key that stays, among gathered keys; the cut is at `bottom` or above, below `ceiling`."""
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
def reaching(
    row: tl.tensor,
    highest: tl.tensor,
    scale: tl.tensor,
    leasts: tl.tensor,
    spare: tl.constexpr,
    masked: tl.constexpr,
    counting: tl.constexpr,
) -> tl.tensor:
    """For each of three keys the mass, or the number, of the whole row's logits whose keys reach it.

    `row`: the arguments of `row_chunk` up to the vocabulary. Lanes are added up at the end: a sum over lanes in every
    chunk takes longer than the chunk.
    """
    logits, edited, edit, mask, mask_row, vocab = row
    first_sum = tl.zeros((LANES,), tl.float32)
    second_sum, third_sum = first_sum, first_sum
    for first in range(0, vocab, LANES):
        x = row_chunk(logits, edited, edit, mask, mask_row, vocab, first, masked)
        key = to_key(x) >> spare
        weight = 1.0
        if not counting:
            weight = tl.exp2((x - highest) * scale)
        first_sum += tl.where(key >= leasts[0], weight, 0.0)
        second_sum += tl.where(key >= leasts[1], weight, 0.0)
        third_sum += tl.where(key >= leasts[2], weight, 0.0)
    return tl.sum(first_sum), tl.sum(second_sum), tl.sum(third_sum)


@triton.jit
def narrowed(
    row: tl.tensor,
    highest: tl.tensor,
    scale: tl.tensor,
    bottom: tl.tensor,
    upper: tl.tensor,
    goal: tl.tensor,
    spare: tl.constexpr,
    masked: tl.constexpr,
    counting: tl.constexpr,
) -> tl.tensor:
    """The largest key from `bottom` on, below `upper`, that as much reaches as `goal` says; `bottom` is one.

    Two bits for each time that the row is read.
    """
    while upper > bottom + 1:
        middle = halfway(bottom, upper)
        low, high = halfway(bottom, middle), halfway(middle, upper)
        least, half, most = reaching(
            row, highest, scale, (low, middle, high), spare, masked, counting
        )
        upper = tl.where(
            most >= goal, upper, tl.where(half >= goal, high, tl.where(least >= goal, middle, low))
        )
        bottom = tl.where(
            most >= goal, high, tl.where(half >= goal, middle, tl.where(least >= goal, low, bottom))
        )
    return bottom


@triton.jit
def search_row(
    row: tl.tensor,
    highest: tl.tensor,
    scale: tl.tensor,
    bottom: tl.tensor,
    ceiling: tl.tensor,
    mass: tl.tensor,
    k: tl.tensor,
    p: tl.tensor,
    limited: tl.tensor,
    spare: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """`search_near` over the whole row, which is read anew for every step."""
    kept = mass
    if limited:
        goal = k.to(tl.float32)  # a vocabulary has fewer tokens than float32 can count
        bottom = narrowed(row, highest, scale, bottom, ceiling, goal, spare, masked, counting=True)
        kept, _, _ = reaching(
            row, highest, scale, (bottom, bottom, bottom), spare, masked, counting=False
        )
    if p < 1.0:
        bottom = narrowed(
            row, highest, scale, bottom, ceiling, p * kept, spare, masked, counting=False
        )
    return bottom


@triton.jit
def cut_pass(
    scores: tl.tensor,
    mask: tl.tensor,
    temperature: tl.tensor,
    edited: tl.tensor,
    edits: tl.tensor,
    truncation: tl.tensor,
    maxima: tl.tensor,
    groups: tl.tensor,
    stats: tl.tensor,
    cuts: tl.tensor,
    tiles: tl.constexpr,
    padded_tiles: tl.constexpr,
    spare: tl.constexpr,
    masked: tl.constexpr,
    mapped: tl.constexpr,
    editing: tl.constexpr,
) -> None:
    """Grid [rows]. Writes `cuts` [rows] float32, -inf where everything stays. `truncation`: (top-k, top-p, min-p)."""
    row = tl.program_id(0)
    vocab = scores[3]
    heat = tl.load(temperature + row)
    highest = tl.load(stats + row * 2)
    mass = tl.load(stats + row * 2 + 1)
    tl.store(cuts + row, NEVER)
    if (heat > 0) & (highest > LOWEST) & (mass >= 1.0):
        mask_row = row * 0 - 1
        if masked:
            mask_row = row
            if mapped:
                mask_row = tl.load(mask[3] + row)
        edit = False
        if editing:
            edited += row.to(tl.int64) * (tiles * TILE)
            edit = is_edited(edits, row)
        logits = scores[0] + row.to(tl.int64) * scores[1]
        scale = LOG2E / heat
        k = tl.minimum(tl.load(truncation[0] + row), vocab).to(tl.int32)
        p = tl.load(truncation[1] + row)
        least = tl.load(truncation[2] + row)
        cut = NEVER
        if least > 0:
            cut = highest + heat * tl.log(least)
        limited = (k > 0) & (k < vocab)
        if limited | (p < 1.0):
            at = tl.arange(0, padded_tiles * LANES)
            place = maxima + row.to(tl.int64) * (tiles * LANES) + at
            best = tl.load(place, mask=at < tiles * LANES, other=NEVER)
            known = bound(best, highest, mass, heat, scale, k, p, limited)
            ceiling = (to_key(highest) >> spare) + 1
            # Where nothing bounds the cut, all groups are near: few, where a mask allows few tokens.
            near = (best >= known) & (best > LOWEST)
            count = tl.sum(near.to(tl.int32))
            bottom = to_key(tl.maximum(known, LOWEST)) >> spare
            if count <= NEAR:
                tl.store(groups + row * NEAR + tl.cumsum(near.to(tl.int32), 0) - 1, at, mask=near)
                tl.debug_barrier()
                slot = tl.arange(0, NEAR)
                group = tl.load(groups + row * NEAR + slot, mask=slot < count, other=0)
                depth = tl.arange(0, DEPTH) * LANES
                member = ((group // LANES) * TILE + group % LANES)[:, None] + depth[None, :]
                legal = is_legal(mask, mask_row, vocab, member, masked) & (slot < count)[:, None]
                x = tl.load(logits + member, mask=legal, other=NEVER).to(tl.float32)
                if editing:
                    if edit:
                        x = tl.load(edited + member, mask=legal, other=NEVER)
                x = tl.where(x >= known, x, NEVER)
                weight = tl.exp2((x - highest) * scale)
                least_key = search_near(
                    to_key(x) >> spare, weight, bottom, ceiling, mass, k, p, limited
                )
            else:
                least_key = search_row(
                    (logits, edited, edit, mask, mask_row, vocab), highest, scale, bottom, ceiling,
                    mass, k, p, limited, spare, masked,
                )  # fmt: skip
            cut = tl.maximum(cut, from_key(least_key << spare))
        tl.store(cuts + row, cut)
