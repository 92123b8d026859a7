"""What top-k, top-p and min-p leave of a row, and the draw from it: one program a row, after the survey of `pick_tile`.

Does: find the least logit that stays, exactly as `reference_logits.truncated` defines it, and take the first try of the
survey that stays, or else draw from what does. The largest logits of the groups bound the cut from below, and usually
few groups reach the bound: of those the tokens that do are collected and searched on the chip; so are all that are
legal, where these are few. Rows of which too much may stay (flat distributions) are left to `pick_flat`, unless the
weights of groups already tell that top-p leaves the first try. Does not: read whole rows.

Searches quarter intervals of keys, integers in the order of the logits; `spare` low bits of a key are zero for narrow
logits and are left out.
"""

# ruff: noqa: SIM102 - an outer condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from .pick_load import is_edited, legal_bytes, row_of_mask
from .pick_row import gumbel, member_of, settle, stays_first, token_of
from .pick_weights import DEPTH, LOG2E, LOWEST, NEVER, OCTETS, TILE, TRIES

MOST: tl.constexpr = tl.constexpr(1024)  # tokens that are searched on the chip
NEAR: tl.constexpr = tl.constexpr(256)  # groups that are looked into, where there is no top-k
CHUNK: tl.constexpr = tl.constexpr(32)  # of them at once
# What `pick_flat` has to do for a row that is left to it.
TEST: tl.constexpr = tl.constexpr(0)  # which try stays is to be found out: top-p alone
SEARCH: tl.constexpr = tl.constexpr(1)  # the cut is to be found
DRAW: tl.constexpr = tl.constexpr(2)  # the cut is known
BOUND_STEPS: tl.constexpr = tl.constexpr(5)


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
def three_sums(
    a: tl.tensor, b: tl.tensor, c: tl.tensor, d: tl.tensor, e: tl.tensor, f: tl.tensor
) -> tl.tensor:
    """Three sums at once, for what takes time is to bring threads together."""
    return a + d, b + e, c + f


@triton.jit
def reaching(key: tl.tensor, worth: tl.tensor, leasts: tl.tensor) -> tl.tensor:
    """For each of three keys, how much all that reach it are worth."""
    low, middle, high = leasts
    reached = (
        tl.where(key >= low, worth, 0.0),
        tl.where(key >= middle, worth, 0.0),
        tl.where(key >= high, worth, 0.0),
    )
    return tl.reduce(reached, 0, three_sums)


@triton.jit
def quarter(
    lower: tl.tensor, upper: tl.tensor, leasts: tl.tensor, reached: tl.tensor, goal: tl.tensor
) -> tl.tensor:
    """The part of an interval, divided at three keys, in which the largest key lies that `goal` reaches."""
    low, middle, high = leasts
    least, half, most = reached
    above = tl.where(least >= goal, middle, low)
    above = tl.where(most >= goal, upper, tl.where(half >= goal, high, above))
    below = tl.where(least >= goal, low, lower)
    below = tl.where(most >= goal, high, tl.where(half >= goal, middle, below))
    return below, above


@triton.jit
def quarters(lower: tl.tensor, upper: tl.tensor) -> tl.tensor:
    """Three integers that divide an interval."""
    middle = halfway(lower, upper)
    return halfway(lower, middle), middle, halfway(middle, upper)


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
    the largest of each group. With top-k (`limited`), its whole set has to be at hand: top-p is a share of it."""
    below = (best - highest) / heat
    worth = tl.exp2(below * LOG2E)
    if limited:
        worth = worth * 0.0 + 1.0
    goal = tl.where(limited, k.to(tl.float32), p * mass)
    # Temperatures below the highest, less by more than is lost in rounding.
    least, above = -32.0, 0.0
    for _ in range(BOUND_STEPS):
        middle = (least + above) * 0.5
        leasts = ((least + middle) * 0.5, middle, (middle + above) * 0.5)
        least, above = quarter(least, above, leasts, reaching(below, worth, leasts), goal)
    return tl.where(least > -32.0, highest + (least - 0.001) * heat, NEVER)


@triton.jit
def largest_reaching(
    key: tl.tensor, worth: tl.tensor, bottom: tl.tensor, ceiling: tl.tensor, goal: tl.tensor
) -> tl.tensor:
    """The largest key from `bottom` on, below `ceiling`, that as much reaches as `goal` says; `bottom` is one."""
    upper = ceiling
    while upper > bottom + 1:
        leasts = quarters(bottom, upper)
        bottom, upper = quarter(bottom, upper, leasts, reaching(key, worth, leasts), goal)
    return bottom


@triton.jit
def surely_stays(
    best: tl.tensor,
    total: tl.tensor,
    highest: tl.tensor,
    mass: tl.tensor,
    heat: tl.tensor,
    p: tl.tensor,
    logit: tl.tensor,
) -> tl.tensor:
    """Whether top-p certainly leaves a logit, by the groups of which it is not below the largest: no mass above it is
    theirs. Where there are most of the rest, that is enough, and rows need not be read again."""
    worth = total * tl.exp2((best - highest) * (LOG2E / heat))
    above = tl.sum(tl.where(best <= logit, 0.0, worth))
    # Less by more than is lost in rounding.
    return (logit == highest) | (above < (p - 0.0001) * mass)


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
    """The least key that stays, among collected logits [MOST], of a cut that is not below `known`."""
    weight = tl.exp2((x - highest) * (LOG2E / heat))
    key = to_key(x) >> spare
    bottom = to_key(tl.maximum(known, LOWEST)) >> spare
    ceiling = (to_key(highest) >> spare) + 1
    kept = mass
    if limited:
        bottom = largest_reaching(key, weight * 0.0 + 1.0, bottom, ceiling, k.to(tl.float32))
        kept = tl.sum(tl.where(key >= bottom, weight, 0.0))
    if p < 1.0:
        bottom = largest_reaching(key, weight, bottom, ceiling, p * kept)
    return bottom


@triton.jit
def list_near(
    groups: tl.tensor, best: tl.tensor, known: tl.tensor, padded_groups: tl.constexpr
) -> tl.tensor:
    """How many groups of a row may hold something that stays; they are written to `groups`. Where nothing bounds the
    cut, all with a legal token may: few, where a mask allows few."""
    near = (best >= known) & (best > LOWEST)
    count = near.to(tl.int32)
    slot = tl.cumsum(count, 0) - count
    tl.store(groups + slot, tl.arange(0, padded_groups), mask=near)
    return tl.sum(count)


@triton.jit
def collect(
    logits: tl.tensor,
    vocab: tl.tensor,
    mask: tl.tensor,
    mask_row: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    groups: tl.tensor,
    count: tl.tensor,
    known: tl.tensor,
    tokens: tl.tensor,
    values: tl.tensor,
    lead: tl.constexpr,
    masked: tl.constexpr,
    editing: tl.constexpr,
) -> tl.tensor:
    """How many legal tokens of the listed groups reach `known`; they and their logits as the draw sees them are written
    to `tokens` and `values`, in order. If there are more than MOST, that is all that is certain."""
    tl.debug_barrier()
    found = 0
    begin = 0
    while (begin < count) & (found <= MOST):
        slot = begin + tl.arange(0, CHUNK)
        group = tl.load(groups + slot, mask=slot < count, other=0)
        first = member_of(group[:, None], 8 * tl.arange(0, DEPTH)[None, :], lead)
        there = (slot < count)[:, None] & (first >= 0) & (first < vocab)
        octet = tl.where(there, first // 8, 0)
        octets = tl.where(there, legal_bytes(mask, mask_row, vocab, octet, masked), 0)
        member = first[:, :, None] + tl.arange(0, 8)[None, None, :]
        legal = ((octets[:, :, None] >> tl.arange(0, 8)[None, None, :]) & 1) != 0
        x = tl.load(logits + member, mask=there[:, :, None] & (member < vocab), other=NEVER)
        x = x.to(tl.float32)
        if editing:
            if edit:
                x = tl.load(edited + member, mask=legal, other=NEVER)
        near = legal & (x >= known) & (x > NEVER)
        # A place among those of the octet, of the group, and of all.
        kept = near.to(tl.int32)
        of_octet = tl.sum(kept, 2)
        of_group = tl.sum(of_octet, 1)
        place = found + (tl.cumsum(of_group, 0) - of_group)[:, None]
        place = (place + tl.cumsum(of_octet, 1) - of_octet)[:, :, None] + tl.cumsum(kept, 2) - kept
        tl.store(tokens + place, member, mask=near & (place < MOST))
        tl.store(values + place, x, mask=near & (place < MOST))
        found += tl.sum(of_group)
        begin += CHUNK
    return found


@triton.jit
def collected(tokens: tl.tensor, values: tl.tensor, found: tl.tensor) -> tl.tensor:
    """What `collect` has written: tokens and logits [MOST]."""
    tl.debug_barrier()
    slot = tl.arange(0, MOST)
    there = slot < found
    token = tl.load(tokens + slot, mask=there, other=0x7FFFFFFF)
    return token, tl.load(values + slot, mask=there, other=NEVER)


@triton.jit
def tried(outputs: tl.tensor, row: tl.tensor) -> tl.tensor:
    """A row's tries: tokens and logits [TRIES]."""
    at = row * TRIES + tl.arange(0, TRIES)
    return tl.load(outputs[6] + at), tl.load(outputs[7] + at)


@triton.jit
def first_or_drawn(
    member: tl.tensor,
    x: tl.tensor,
    cut: tl.tensor,
    heat: tl.tensor,
    draw: tl.tensor,
    tries: tl.tensor,
    row: tl.tensor,
) -> tl.tensor:
    """The first of `tries` (tokens, logits) that is not below the cut, or a token drawn from the collected ones that
    are not."""
    one = stays_first(tries[1], cut)
    token = token_of(tries[0], one)
    if one == TRIES:
        drawn = tl.div_rn(x, heat) + gumbel(draw, row, member, TRIES)
        drawn = tl.where(x >= cut, drawn, NEVER)
        token = tl.min(tl.where(drawn == tl.max(drawn), member, 0x7FFFFFFF))
    return token


@triton.jit
def leave_row(
    outputs: tl.tensor,
    flat: tl.tensor,
    row: tl.tensor,
    todo: tl.tensor,
    cut: tl.tensor,
    known: tl.tensor,
) -> None:
    """Leave a row to `pick_flat`, and what is known of it; see `cut_pass`."""
    tl.store(flat[0] + row, todo)
    tl.store(flat[1] + row * 2, cut)
    tl.store(flat[1] + row * 2 + 1, known)
    # Rows come in no order that lasts, but what is found of each does not depend on that.
    place = tl.atomic_add(outputs[8], 1, sem="relaxed")
    tl.store(outputs[8] + 1 + place, row)


@triton.jit
def cut_pass(
    scores: tl.tensor,
    mask: tl.tensor,
    draw: tl.tensor,
    edited: tl.tensor,
    edits: tl.tensor,
    truncation: tl.tensor,
    groups: tl.tensor,
    lists: tl.tensor,
    values: tl.tensor,
    outputs: tl.tensor,
    flat: tl.tensor,
    tiles: tl.constexpr,
    lead: tl.constexpr,
    padded_groups: tl.constexpr,
    spare: tl.constexpr,
    masked: tl.constexpr,
    mapped: tl.constexpr,
    editing: tl.constexpr,
    believing: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """Grid [rows]. `truncation`: (top-k, top-p, min-p); `draw`, `groups` and `outputs` as in `pick_tile`; `lists`,
    `values`: room for a row's groups and tokens, and for logits; `flat`: for `pick_flat`, of each row what is to be
    done (int32), the cut as far as it is known and where to search from (float32 [rows, 2])."""
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    row = tl.program_id(0)
    vocab = scores[3]
    heat = tl.load(draw[0] + row)
    highest = tl.load(outputs[5] + row * 2)
    mass = tl.load(outputs[5] + row * 2 + 1)
    group = tl.arange(0, padded_groups)
    mine = group < tiles * OCTETS
    group += row.to(tl.int64) * (tiles * OCTETS)
    best = tl.load(groups[0] + group, mask=mine, other=LOWEST)
    total = tl.load(groups[1] + group, mask=mine, other=0.0)
    k = tl.minimum(tl.load(truncation[0] + row), vocab).to(tl.int32)
    p = tl.load(truncation[1] + row)
    least = tl.load(truncation[2] + row)
    tries = tried(outputs, row)
    mask_row = row_of_mask(mask, row, masked, mapped)
    if (heat > 0) & (highest > LOWEST) & (mass >= 1.0):
        edit = False
        if editing:
            edited += row.to(tl.int64) * (tiles * TILE)
            edit = is_edited(edits, row)
        logits = scores[0] + row.to(tl.int64) * scores[1]
        limited = (k > 0) & (k < vocab)
        searched = limited | (p < 1.0)
        cut = NEVER
        if least > 0:
            cut = highest + heat * tl.log(least)
        known = cut
        first = stays_first(tries[1], cut)
        sure = first < TRIES
        if searched:
            logit = tl.max(tl.where(tl.arange(0, TRIES) == first, tries[1], NEVER))
            sure &= surely_stays(best, total, highest, mass, heat, p, logit) & (limited == 0)
        if sure == 0:
            lists += row * (tiles * OCTETS + MOST)
            tokens = lists + tiles * OCTETS
            values += row * MOST
            if searched:
                known = bound(best, highest, mass, heat, k, p, limited)
            count = list_near(lists, best, known, padded_groups)
            found = MOST + 1
            if limited | (count <= NEAR):
                found = collect(
                    logits, vocab, mask, mask_row, edited, edit, lists, count, known, tokens,
                    values, lead, masked, editing,
                )  # fmt: skip
            if found <= MOST:
                member, x = collected(tokens, values, found)
                if searched:
                    least_key = search_near(x, known, highest, mass, heat, k, p, limited, spare)
                    cut = tl.maximum(cut, from_key(least_key << spare))
                token = first_or_drawn(member, x, cut, heat, draw, tries, row)
                settle(logits, outputs, row, tl.minimum(token, vocab - 1), believing)
            else:
                todo = tl.where(limited, SEARCH, tl.where(searched, TEST, DRAW))
                leave_row(outputs, flat, row, todo, cut, tl.maximum(known, LOWEST))
        else:
            settle(logits, outputs, row, token_of(tries[0], first), believing)
