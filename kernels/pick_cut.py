"""Where top-k, top-p and min-p cut a row off: one program a row, after the survey of `pick_tile`.

Does: find, for rows that are drawn, the least logit that stays, exactly as `reference_logits.truncated` defines it. The
largest logits of the groups bound it from below, and usually few groups reach the bound: those are gathered and
searched on the chip. Where too many do (flat distributions), the whole row is searched. Does not: draw.

Searches halve intervals of keys, integers in the order of the logits; `spare` low bits of a key are zero for narrow
logits and are left out.
"""

# ruff: noqa: SIM102 - an outer condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl

from .pick_tile import DEPTH, LANES, LOG2E, LOWEST, NEVER, TILE, is_edited, is_legal

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
        if ((k > 0) & (k < vocab)) | (p < 1.0):
            at = tl.arange(0, padded_tiles * LANES)
            best = tl.load(
                maxima + row.to(tl.int64) * (tiles * LANES) + at,
                mask=at < tiles * LANES,
                other=NEVER,
            )
            # A bound: as many groups as tokens wanted, or as much mass, reach it by their largest logits alone.
            low, high = highest - 32.0 * heat, highest
            known = NEVER
            for _ in range(BOUND_STEPS):
                middle = (low + high) * 0.5
                reach = best >= middle
                # With top-k, its whole set has to be at hand: top-p is a share of it.
                if (k > 0) & (k < vocab):
                    enough = tl.sum(reach.to(tl.int32)) >= k
                else:
                    share = tl.sum(tl.where(reach, tl.exp2((best - highest) * scale), 0.0))
                    enough = share >= p * mass
                known = tl.where(enough, middle, known)
                low = tl.where(enough, middle, low)
                high = tl.where(enough, high, middle)
            near = best >= known
            count = tl.sum(near.to(tl.int32))
            if (count <= NEAR) & (known > NEVER):
                place = tl.cumsum(near.to(tl.int32), 0) - 1
                tl.store(groups + row * NEAR + place, at, mask=near)
                tl.debug_barrier()
                slot = tl.arange(0, NEAR)
                group = tl.load(groups + row * NEAR + slot, mask=slot < count, other=0)
                member = ((group // LANES) * TILE + group % LANES)[:, None] + (
                    tl.arange(0, DEPTH) * LANES
                )[None, :]
                legal = is_legal(mask, mask_row, vocab, member, masked) & (slot < count)[:, None]
                x = tl.load(logits + member, mask=legal, other=NEVER).to(tl.float32)
                if editing:
                    if edit:
                        x = tl.load(edited + member, mask=legal, other=NEVER)
                x = tl.where(x >= known, x, NEVER)
                weight = tl.exp2((x - highest) * scale)
                key = to_key(x) >> spare
                bottom = to_key(known) >> spare
                ceiling = (to_key(highest) >> spare) + 1
                kept = mass
                if (k > 0) & (k < vocab):
                    lower, upper = bottom, ceiling
                    while upper > lower + 1:
                        middle_key = halfway(lower, upper)
                        if tl.sum((key >= middle_key).to(tl.int32)) >= k:
                            lower = middle_key
                        else:
                            upper = middle_key
                    bottom = lower
                    kept = tl.sum(tl.where(key >= bottom, weight, 0.0))
                if p < 1.0:
                    lower, upper = bottom, ceiling
                    while upper > lower + 1:
                        middle_key = halfway(lower, upper)
                        if tl.sum(tl.where(key >= middle_key, weight, 0.0)) >= p * kept:
                            lower = middle_key
                        else:
                            upper = middle_key
                    bottom = lower
                cut = tl.maximum(cut, from_key(bottom << spare))
            else:
                lower = to_key(tl.maximum(known, LOWEST)) >> spare
                ceiling = (to_key(highest) >> spare) + 1
                kept = mass
                if (k > 0) & (k < vocab):
                    upper = ceiling
                    while upper > lower + 1:
                        middle_key = halfway(lower, upper)
                        number = 0
                        for first in range(0, vocab, LANES):
                            x = row_chunk(
                                logits, edited, edit, mask, mask_row, vocab, first, masked
                            )
                            number += tl.sum(((to_key(x) >> spare) >= middle_key).to(tl.int32))
                        if number >= k:
                            lower = middle_key
                        else:
                            upper = middle_key
                    kept = 0.0
                    for first in range(0, vocab, LANES):
                        x = row_chunk(logits, edited, edit, mask, mask_row, vocab, first, masked)
                        inside = (to_key(x) >> spare) >= lower
                        kept += tl.sum(tl.where(inside, tl.exp2((x - highest) * scale), 0.0))
                if p < 1.0:
                    upper = ceiling
                    while upper > lower + 1:
                        middle_key = halfway(lower, upper)
                        share = 0.0
                        for first in range(0, vocab, LANES):
                            x = row_chunk(
                                logits, edited, edit, mask, mask_row, vocab, first, masked
                            )
                            inside = (to_key(x) >> spare) >= middle_key
                            share += tl.sum(tl.where(inside, tl.exp2((x - highest) * scale), 0.0))
                        if share >= p * kept:
                            lower = middle_key
                        else:
                            upper = middle_key
                cut = tl.maximum(cut, from_key(lower << spare))
        tl.store(cuts + row, cut)
