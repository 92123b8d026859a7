"""What `pick` answers for a row, from what the programs of its tiles have left behind.

Does: reduce in a fixed order, and draw within the group that won. Does not: read more than that group's logits.
"""

# ruff: noqa: SIM102 - a condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl

from .pick_load import is_legal
from .pick_noise import counted, exponential, natural_log
from .pick_weights import (
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
def member_of(group: tl.tensor, inner: tl.tensor, lead: tl.constexpr) -> tl.tensor:
    """The tokens of groups, by their number in the group."""
    return group // OCTETS * TILE - lead + group % OCTETS * 8 + inner // 8 * LANES + inner % 8


@triton.jit
def better(
    value: tl.tensor, choice: tl.tensor, other: tl.tensor, other_choice: tl.tensor
) -> tl.tensor:
    """The larger value, and whose it is: the lower one's of equals."""
    wins = (value > other) | ((value == other) & (choice < other_choice))
    return tl.where(wins, value, other), tl.where(wins, choice, other_choice)


@triton.jit
def best_of(
    parts: tl.tensor,
    row: tl.tensor,
    splits: tl.tensor,
    padded_tiles: tl.constexpr,
    tries: tl.constexpr,
) -> tl.tensor:
    """The best value of a row's programs, and its choice, for each try [tries]."""
    at = tl.arange(0, padded_tiles)
    one = tl.arange(0, tries)
    there = (at < splits)[None, :] & (one[:, None] < tries)
    part = parts + (row * splits + at)[None, :] * PARTS + 8 + 2 * one[:, None]
    value = tl.load(part, mask=there, other=NEVER, cache_modifier=".cg")
    choices = tl.load(part + 1, mask=there, other=0.0, cache_modifier=".cg")
    choices = choices.to(tl.int32, bitcast=True)
    return tl.reduce((value, choices), 1, better)


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
    best: tl.tensor,
    found: tl.tensor,
    row: tl.tensor,
    outputs: tl.tensor,
    lead: tl.constexpr,
    tries: tl.constexpr,
    masked: tl.constexpr,
    editing: tl.constexpr,
    surveying: tl.constexpr,
) -> tl.tensor:
    """The row's status and token: what was `found` best, or drawn in the group that was, for each try [tries]; `best`
    is by what. Surveys keep all tries."""
    one = tl.arange(0, tries)
    token = found
    if heat > 0:
        # Where logits are not sound nobody won.
        group = tl.minimum(found, (vocab - 1 + lead) // TILE * OCTETS + OCTETS - 1)
        member = member_of(group[:, None], tl.arange(0, DEPTH * 8)[None, :], lead)
        inside = (member >= 0) & (member < vocab)
        member = tl.where(inside, member, 0)
        legal = is_legal(mask, mask_row, vocab, member, masked) & inside
        # Not only where it is legal: the two loads need not wait for one another.
        x = tl.load(logits + member).to(tl.float32)
        if editing:
            if edit:
                x = tl.load(edited + member, mask=legal, other=NEVER, cache_modifier=".cg")
        x = tl.where(legal, x, NEVER)
        mixed = counted(keys[0], member.to(tl.uint32))
        noise = exponential(mixed, keys[1], one.to(tl.uint32)[:, None])
        drawn = tl.div_rn(x, heat) - natural_log(noise)
        won = drawn == tl.max(drawn, 1)[:, None]
        token = tl.min(tl.where(won, member, 0x7FFFFFFF), 1)
        if surveying:
            tl.store(outputs[6] + row * TRIES + one, tl.minimum(token, vocab - 1))
            own = tl.where(won & (member == token[:, None]), x, NEVER)
            tl.store(outputs[7] + row * TRIES + one, tl.max(own, 1))
    highest = tl.max(best)
    state = tl.where(highest < float("inf"), tl.where(highest == LOWEST, 2, 0), 1)
    first = tl.min(tl.where(one == 0, token, 0x7FFFFFFF))
    return state, tl.minimum(first, vocab - 1)


@triton.jit
def report(
    parts: tl.tensor,
    outputs: tl.tensor,
    row: tl.tensor,
    splits: tl.tensor,
    scale: tl.tensor,
    state: tl.tensor,
    padded_tiles: tl.constexpr,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> None:
    """The row's sums and shares."""
    at = tl.arange(0, padded_tiles)
    there = at < splits
    part = parts + (row * splits + at) * PARTS
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
    return -natural_log(exponential(counted(key0, token.to(tl.uint32)), key1, number))


@triton.jit
def stays_first(tried: tl.tensor, cut: tl.tensor) -> tl.tensor:
    """Which try is the first whose logit, of `tried` [TRIES], is not below the cut; TRIES if there is none."""
    return tl.min(tl.where(tried >= cut, tl.arange(0, TRIES), TRIES))


@triton.jit
def token_of(tokens: tl.tensor, number: tl.tensor) -> tl.tensor:
    """One of the tries' tokens [TRIES]."""
    return tl.min(tl.where(tl.arange(0, TRIES) == number, tokens, 0x7FFFFFFF))


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
