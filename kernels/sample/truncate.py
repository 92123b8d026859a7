"""Top-k, top-p and min-p of rows that fit on the chip: one program per row, after `logits_pass`.

Does: find the least logit that truncation keeps, exactly as `reference_logits.truncated` defines it; take the first
candidate that is kept, or else draw from the kept tokens. The largest logits of the groups give a lower bound of the
cut, which usually few groups reach; the tokens at or above it are collected and searched on the chip. If few tokens are
legal, all of them are collected. Rows that may keep too many tokens (flat distributions) are left to `truncate_flat`,
unless the weights of the groups already prove that top-p keeps the first candidate. Does not: read whole rows.

Searches quarter intervals of keys, integers in the order of the logits. The lowest `zero_bits` bits of a key are zero
for logits of two bytes and are left out.
"""

# ruff: noqa: SIM102 - an outer condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..runtime.tuples import Pair
from .load import is_edited, legal_bytes, row_of_mask
from .logit_keys import from_key, quarter, quarters, reaching, to_key
from .reduce_row import gumbel, member_of, stays_first, store_token, token_of
from .sample_records import (
    Candidates,
    Cutoffs,
    DrawInputs,
    Edits,
    FlatRows,
    Groups,
    MaskWords,
    OptionalEdits,
    Outputs,
    Scores,
)
from .token_weights import CANDIDATES, DEPTH, LOG2E, LOWEST, NEVER, OCTETS, TILE

MOST: tl.constexpr = tl.constexpr(1024)  # tokens that are searched on the chip
NEAR: tl.constexpr = tl.constexpr(256)  # groups that are searched if there is no top-k
CHUNK: tl.constexpr = tl.constexpr(32)  # of them at once
# The task of `truncate_flat` for a row that is left to it.
TEST: tl.constexpr = tl.constexpr(0)  # find the first candidate that is kept: top-p alone
SEARCH: tl.constexpr = tl.constexpr(1)  # find the cut
DRAW: tl.constexpr = tl.constexpr(2)  # draw: the cut is known
BOUND_STEPS: tl.constexpr = tl.constexpr(5)


@triton.jit
def bound(
    best: tl.tensor,
    highest: tl.tensor,
    mass: tl.tensor,
    temperature: tl.tensor,
    k: tl.tensor,
    p: tl.tensor,
    limited: tl.tensor,
) -> tl.tensor:
    """A lower bound of the cut, a float32 scalar, or -inf.

    At least k of the groups' largest logits, or groups with the mass of top-p, reach the bound. With top-k (`limited`)
    the whole set of top-k must be collected, because top-p is a share of its mass.
    """
    below = (best - highest) / temperature
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
    return tl.where(least > -32.0, highest + (least - 0.001) * temperature, NEVER)


@triton.jit
def largest_reaching(
    key: tl.tensor, worth: tl.tensor, bottom: tl.tensor, ceiling: tl.tensor, goal: tl.tensor
) -> tl.tensor:
    """The largest key in [bottom, ceiling) that elements worth `goal` reach; `bottom` is such a key."""
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
    temperature: tl.tensor,
    p: tl.tensor,
    logit: tl.tensor,
) -> tl.tensor:
    """Whether the weights of groups prove that top-p keeps a logit.

    A group with no larger logit holds no mass above it. If the mass of all other groups is below the
    goal, the row need not be read again.
    """
    worth = total * tl.exp2((best - highest) * (LOG2E / temperature))
    above = tl.sum(tl.where(best <= logit, 0.0, worth))
    # Less by more than is lost in rounding.
    return (logit == highest) | (above < (p - 0.0001) * mass)


@triton.jit
def search_near(
    x: tl.tensor,
    known: tl.tensor,
    highest: tl.tensor,
    mass: tl.tensor,
    temperature: tl.tensor,
    k: tl.tensor,
    p: tl.tensor,
    limited: tl.tensor,
    zero_bits: tl.constexpr,
) -> tl.tensor:
    """The least key that top-k and top-p keep among collected logits [MOST]; the cut is not below `known`."""
    weight = tl.exp2((x - highest) * (LOG2E / temperature))
    key = to_key(x) >> zero_bits
    bottom = to_key(tl.maximum(known, LOWEST)) >> zero_bits
    ceiling = (to_key(highest) >> zero_bits) + 1
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
    """Write the groups that may contain a kept token to `groups`; returns their number.

    Without a bound of the cut, these are all groups with a legal token; they are few if the mask allows few.
    """
    near = (best >= known) & (best > LOWEST)
    count = near.to(tl.int32)
    slot = tl.cumsum(count, 0) - count
    tl.store(groups + slot, tl.arange(0, padded_groups), mask=near)
    return tl.sum(count)


@triton.jit
def collect(
    logits: tl.tensor,
    vocab: tl.tensor,
    mask: MaskWords,
    mask_row: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    groups: tl.tensor,
    count: tl.tensor,
    known: tl.tensor,
    tokens: tl.tensor,
    values: tl.tensor,
    first_tile_offset: tl.constexpr,
    masked: tl.constexpr,
    editing: tl.constexpr,
) -> tl.tensor:
    """Write the legal tokens of the listed groups that reach `known`, and their logits, in order; returns how many.

    `tokens` int32 and `values` float32 [MOST]; the logits are those of the draw. If there are more than MOST, only that
    much is certain.
    """
    tl.debug_barrier()
    found = 0
    begin = 0
    while (begin < count) & (found <= MOST):
        slot = begin + tl.arange(0, CHUNK)
        group = tl.load(groups + slot, mask=slot < count, other=0)
        first = member_of(group[:, None], 8 * tl.arange(0, DEPTH)[None, :], first_tile_offset)
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
        # A place within the octet, within the group, and overall.
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
def collected(tokens: tl.tensor, values: tl.tensor, found: tl.tensor) -> Pair:
    """The tokens and logits [MOST] that `collect` has written; past `found` -inf."""
    tl.debug_barrier()
    slot = tl.arange(0, MOST)
    there = slot < found
    token = tl.load(tokens + slot, mask=there, other=0x7FFFFFFF)
    return token, tl.load(values + slot, mask=there, other=NEVER)


@triton.jit
def candidates_of(outputs: Outputs, row: tl.tensor) -> Candidates:
    """The candidates of a row."""
    at = row * CANDIDATES + tl.arange(0, CANDIDATES)
    return Candidates(
        tl.load(outputs.candidate_tokens + at), tl.load(outputs.candidate_logits + at)
    )


@triton.jit
def first_or_drawn(
    member: tl.tensor,
    x: tl.tensor,
    cut: tl.tensor,
    temperature: tl.tensor,
    draw: DrawInputs,
    candidates: Candidates,
    row: tl.tensor,
) -> tl.tensor:
    """The first candidate not below the cut, or else a token drawn from the collected ones [MOST] not below it."""
    one = stays_first(candidates.logits, cut)
    token = token_of(candidates.tokens, one)
    if one == CANDIDATES:
        drawn = tl.div_rn(x, temperature) + gumbel(draw, row, member, CANDIDATES)
        drawn = tl.where(x >= cut, drawn, NEVER)
        token = tl.min(tl.where(drawn == tl.max(drawn), member, 0x7FFFFFFF))
    return token


@triton.jit
def leave_row(
    outputs: Outputs,
    flat: FlatRows,
    row: tl.tensor,
    task: tl.tensor,
    cut: tl.tensor,
    known: tl.tensor,
) -> None:
    """Leave a row to `truncate_flat`, with its task, the known part of the cut and the start of the search."""
    tl.store(flat.task + row, task)
    tl.store(flat.bounds + row * 2, cut)
    tl.store(flat.bounds + row * 2 + 1, known)
    # The order of rows is not deterministic, but no row's result depends on it.
    place = tl.atomic_add(outputs.flat_rows, 1, sem="relaxed")
    tl.store(outputs.flat_rows + 1 + place, row)


@triton.jit
def cut_pass(
    scores: Scores,
    mask: MaskWords,
    draw: DrawInputs,
    edited: tl.tensor,
    edits: OptionalEdits,
    truncation: Cutoffs,
    groups: Groups,
    lists: tl.tensor,
    values: tl.tensor,
    outputs: Outputs,
    flat: FlatRows,
    tiles: tl.constexpr,
    first_tile_offset: tl.constexpr,
    padded_groups: tl.constexpr,
    zero_bits: tl.constexpr,
    masked: tl.constexpr,
    mapped: tl.constexpr,
    editing: tl.constexpr,
    with_logprobs: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """Truncate every row, or leave it to `flat_pass`: grid [rows].

    `lists` int32 [rows, groups + MOST]: room for a row's groups and tokens; `values` float32 [rows, MOST]: for logits.
    """
    scores, mask, draw = Scores(*scores), MaskWords(*mask), DrawInputs(*draw)
    truncation, groups = Cutoffs(*truncation), Groups(*groups)
    outputs, flat = Outputs(*outputs), FlatRows(*flat)
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    row, vocab = tl.program_id(0), scores.vocab
    temperature = tl.load(draw.temperature + row)
    weights = outputs.weights + row * 2
    highest, mass = tl.load(weights), tl.load(weights + 1)
    group = tl.arange(0, padded_groups)
    mine = group < tiles * OCTETS
    group += row.to(tl.int64) * (tiles * OCTETS)
    best = tl.load(groups.best + group, mask=mine, other=LOWEST)
    total = tl.load(groups.total + group, mask=mine, other=0.0)
    k = tl.minimum(tl.load(truncation.top_k + row), vocab).to(tl.int32)
    p, least = tl.load(truncation.top_p + row), tl.load(truncation.min_p + row)
    candidates, mask_row = candidates_of(outputs, row), row_of_mask(mask, row, masked, mapped)
    if (temperature > 0) & (highest > LOWEST) & (mass >= 1.0):
        edit = False
        if editing:
            edited += row.to(tl.int64) * (tiles * TILE)
            edit = is_edited(Edits(*edits), row)
        logits = scores.logits + row.to(tl.int64) * scores.row_stride
        limited = (k > 0) & (k < vocab)
        searched = limited | (p < 1.0)
        cut = NEVER
        if least > 0:
            cut = highest + temperature * tl.log(least)
        known, first = cut, stays_first(candidates.logits, cut)
        sure = first < CANDIDATES
        if searched:
            logit = tl.max(tl.where(tl.arange(0, CANDIDATES) == first, candidates.logits, NEVER))
            sure &= surely_stays(best, total, highest, mass, temperature, p, logit) & (limited == 0)
        if sure == 0:
            lists, values = lists + row * (tiles * OCTETS + MOST), values + row * MOST
            tokens = lists + tiles * OCTETS
            if searched:
                known = bound(best, highest, mass, temperature, k, p, limited)
            count = list_near(lists, best, known, padded_groups)
            found = MOST + 1
            if limited | (count <= NEAR):
                found = collect(
                    logits, vocab, mask, mask_row, edited, edit, lists, count, known, tokens,
                    values, first_tile_offset, masked, editing,
                )  # fmt: skip
            if found <= MOST:
                member, x = collected(tokens, values, found)
                if searched:
                    least_key = search_near(
                        x, known, highest, mass, temperature, k, p, limited, zero_bits
                    )
                    cut = tl.maximum(cut, from_key(least_key << zero_bits))
                token = first_or_drawn(member, x, cut, temperature, draw, candidates, row)
                store_token(logits, outputs, row, tl.minimum(token, vocab - 1), with_logprobs)
            else:
                task = tl.where(limited, SEARCH, tl.where(searched, TEST, DRAW))
                leave_row(outputs, flat, row, task, cut, tl.maximum(known, LOWEST))
        else:
            store_token(logits, outputs, row, token_of(candidates.tokens, first), with_logprobs)
