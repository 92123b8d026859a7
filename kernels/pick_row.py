"""What `pick` answers for a row, from what the programs of its tiles have left behind.

Does: reduce in a fixed order, and draw within the group that won. Does not: read more than that group's logits.
"""

# ruff: noqa: SIM102 - a condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl

from .pick_load import is_legal
from .pick_noise import exponential
from .pick_weights import (
    APART,
    DEPTH,
    LANES,
    LOG2E,
    LOWEST,
    NEVER,
    OCTETS,
    PARTS,
    TILE,
    TRIES,
    fold,
)


@triton.jit
def member_of(group: tl.tensor, inner: tl.tensor) -> tl.tensor:
    """The tokens of groups, by their number in the group."""
    return group // OCTETS * TILE + group % OCTETS * 8 + inner // 8 * LANES + inner % 8


@triton.jit
def chosen(
    logits: tl.tensor,
    vocab: tl.tensor,
    mask: tl.tensor,
    mask_row: tl.tensor,
    heat: tl.tensor,
    keys: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    parts: tl.tensor,
    row: tl.tensor,
    splits: tl.tensor,
    outputs: tl.tensor,
    padded_tiles: tl.constexpr,
    tries: tl.constexpr,
    masked: tl.constexpr,
    drawing: tl.constexpr,
    editing: tl.constexpr,
    surveying: tl.constexpr,
) -> tl.tensor:
    """The row's token: the best of its tiles', or drawn in the best group of the tiles'. Surveys keep all tries."""
    at = tl.arange(0, padded_tiles)
    one = tl.arange(0, tries)
    there = (at < splits)[None, :] & (one[:, None] < tries)
    part = parts + (row * splits + at)[None, :] * PARTS + 8 + 2 * one[:, None]
    value = tl.load(part, mask=there, other=NEVER, cache_modifier=".cg")
    choices = tl.load(part + 1, mask=there, other=0.0, cache_modifier=".cg")
    choices = choices.to(tl.int32, bitcast=True)
    best = tl.max(value, 1)
    found = tl.min(tl.where(value == best[:, None], choices, 0x7FFFFFFF), 1)
    token = found
    if drawing:
        if heat > 0:
            # Where logits are not sound nobody won.
            group = tl.minimum(found, (vocab - 1) // TILE * OCTETS + OCTETS - 1)
            member = member_of(group[:, None], tl.arange(0, DEPTH * 8)[None, :])
            legal = is_legal(mask, mask_row, vocab, member, masked)
            # Not only where it is legal: the two loads need not wait for one another.
            x = tl.load(logits + member, mask=member < vocab, other=NEVER).to(tl.float32)
            if editing:
                if edit:
                    x = tl.load(edited + member, mask=legal, other=NEVER, cache_modifier=".cg")
            x = tl.where(legal, x, NEVER)
            counter = member.to(tl.uint32) + one.to(tl.uint32)[:, None] * APART
            drawn = tl.div_rn(x, heat) - tl.log(exponential(keys[0], keys[1], counter))
            won = drawn == tl.max(drawn, 1)[:, None]
            token = tl.min(tl.where(won, member, 0x7FFFFFFF), 1)
            if surveying:
                token = tl.minimum(token, vocab - 1)
                logit = tl.load(logits + token).to(tl.float32)
                if editing:
                    if edit:
                        logit = tl.load(edited + token, cache_modifier=".cg")
                tl.store(outputs[6] + row * TRIES + one, token)
                tl.store(outputs[7] + row * TRIES + one, logit)
    first = tl.min(tl.where(one == 0, token, 0x7FFFFFFF))
    return tl.minimum(first, vocab - 1)


@triton.jit
def report(
    parts: tl.tensor,
    outputs: tl.tensor,
    row: tl.tensor,
    splits: tl.tensor,
    scale: tl.tensor,
    padded_tiles: tl.constexpr,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> None:
    """The row's status, sums and shares."""
    at = tl.arange(0, padded_tiles)
    there = at < splits
    part = parts + (row * splits + at) * PARTS
    unsound = tl.max(tl.load(part + 6, mask=there, other=0.0, cache_modifier=".cg"))
    value = tl.load(part + 8, mask=there, other=LOWEST, cache_modifier=".cg")
    state = tl.where(unsound == 0, tl.where(tl.max(value) == LOWEST, 2, 0), 1)
    tl.store(outputs[1] + row, state.to(tl.int64))
    if surveying:
        high = tl.load(part + 4, mask=there, other=LOWEST, cache_modifier=".cg")
        total = tl.load(part + 5, mask=there, other=0.0, cache_modifier=".cg")
        top, summed = fold(high, total, scale)
        tl.store(outputs[5] + row * 2, top)
        tl.store(outputs[5] + row * 2 + 1, tl.where(state == 0, summed, 0.0))
    if believing:
        high = tl.load(part, mask=there, other=LOWEST, cache_modifier=".cg")
        total = tl.load(part + 1, mask=there, other=0.0, cache_modifier=".cg")
        top, summed = fold(high, total, LOG2E)
        lse = top + tl.log(summed)
        tl.store(outputs[3] + row, lse)
        if massing:
            high = tl.load(part + 2, mask=there, other=LOWEST, cache_modifier=".cg")
            total = tl.load(part + 3, mask=there, other=0.0, cache_modifier=".cg")
            top, summed = fold(high, total, LOG2E)
            share = 1.0 / (1.0 + tl.exp(lse - top - tl.log(summed)))
            tl.store(outputs[4] + row, tl.where(summed > 0, share, summed))


@triton.jit
def gumbel(draw: tl.tensor, row: tl.tensor, token: tl.tensor, number: tl.constexpr) -> tl.tensor:
    """Noise of tokens in a row's draw of that number."""
    key0 = tl.load(draw[1] + row * 2).to(tl.uint32)
    key1 = tl.load(draw[1] + row * 2 + 1).to(tl.uint32)
    return -tl.log(exponential(key0, key1, token.to(tl.uint32) + number * APART))


@triton.jit
def stays_first(outputs: tl.tensor, row: tl.tensor, cut: tl.tensor) -> tl.tensor:
    """Which try is the first that is not below the cut; TRIES if there is none."""
    one = tl.arange(0, TRIES)
    logit = tl.load(outputs[7] + row * TRIES + one)
    return tl.min(tl.where(logit >= cut, one, TRIES))


@triton.jit
def settle(
    logits: tl.tensor,
    outputs: tl.tensor,
    row: tl.tensor,
    token: tl.tensor,
    believing: tl.constexpr,
) -> None:
    """Answer the row's token, and its log-probability; a survey's answer may be replaced."""
    tl.store(outputs[0] + row, token.to(tl.int64))
    if believing:
        own = tl.load(logits + token).to(tl.float32)
        tl.store(outputs[2] + row, own - tl.load(outputs[3] + row))
