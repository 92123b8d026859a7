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
def in_vector(numbers: tl.tensor) -> tl.tensor:
    """A tuple of scalars as one tensor."""
    at = tl.arange(0, len(numbers))
    row = tl.zeros(at.shape, numbers[0].dtype) + numbers[0]
    for i in tl.static_range(1, len(numbers)):
        row = tl.where(at == i, numbers[i], row)
    return row


@triton.jit
def leave(
    part: tl.tensor,
    said: tl.tensor,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> None:
    """Write what a program has to say of its tiles, as from `pick_tile.summary`, in PARTS numbers."""
    best, found, own, far, drawn = said
    one = tl.arange(0, best.shape[0])
    tl.store(part + 8 + 2 * one, best)
    tl.store(part + 9 + 2 * one, found.to(tl.float32, bitcast=True))
    if believing:
        tl.store(part, own[0])
        tl.store(part + 1, own[1])
    if massing:
        tl.store(part + 2, far[0])
        tl.store(part + 3, far[1])
    if surveying:
        tl.store(part + 4, drawn[0])
        tl.store(part + 5, drawn[1])


@triton.jit
def folded(part: tl.tensor, there: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """(maximum, sum) of those of several programs."""
    high = tl.load(part, mask=there, other=LOWEST, cache_modifier=".cg")
    total = tl.load(part + 1, mask=there, other=0.0, cache_modifier=".cg")
    return fold(high, total, scale)


@triton.jit
def gathered(
    parts: tl.tensor,
    said: tl.tensor,
    row: tl.tensor,
    splits: tl.tensor,
    scale: tl.tensor,
    padded_tiles: tl.constexpr,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> tl.tensor:
    """What all programs of a row have left, as if one had said it; `said` is what one did say."""
    best, found, own, far, drawn = said
    at = tl.arange(0, padded_tiles)
    there = at < splits
    part = parts + (row * splits + at) * PARTS
    one = tl.arange(0, best.shape[0])
    tried = part[None, :] + 8 + 2 * one[:, None]
    value = tl.load(tried, mask=there[None, :], other=NEVER, cache_modifier=".cg")
    choice = tl.load(tried + 1, mask=there[None, :], other=0.0, cache_modifier=".cg")
    best, found = tl.reduce((value, choice.to(tl.int32, bitcast=True)), 1, better)
    if believing:
        own = folded(part, there, LOG2E)
    if massing:
        far = folded(part + 2, there, LOG2E)
    if surveying:
        drawn = folded(part + 4, there, scale)
    return best, found, own, far, drawn


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
    """The row's status, its token, and the model's own logit of that: what was `found` best, or drawn in the group that
    was, for each try [tries]; `best` is by what. Surveys keep all tries."""
    one = tl.arange(0, tries)
    if heat > 0:
        # Where logits are not sound nobody won.
        group = tl.minimum(found, (vocab - 1 + lead) // TILE * OCTETS + OCTETS - 1)
        member = member_of(group[:, None], tl.arange(0, DEPTH * 8)[None, :], lead)
        inside = (member >= 0) & (member < vocab)
        member = tl.where(inside, member, 0)
        legal = is_legal(mask, mask_row, vocab, member, masked) & inside
        # Not only where it is legal: the two loads need not wait for one another.
        given = tl.load(logits + member).to(tl.float32)
        x = given
        if editing:
            if edit:
                x = tl.load(edited + member, mask=legal, other=NEVER, cache_modifier=".cg")
        x = tl.where(legal, x, NEVER)
        mixed = counted(keys[0], member.to(tl.uint32))
        noise = exponential(mixed, keys[1], one.to(tl.uint32)[:, None])
        drawn = tl.div_rn(x, heat) - natural_log(noise)
        _, tokens = tl.reduce((drawn, member), 1, better)
        chose = (member == tokens[:, None]) & inside
        if surveying:
            tl.store(outputs[6] + row * TRIES + one, tokens)
            tl.store(outputs[7] + row * TRIES + one, tl.max(tl.where(chose, x, NEVER), 1))
        own = tl.max(tl.where(chose & (one == 0)[:, None], given, NEVER))
        token = tl.max(tl.where(one == 0, tokens, 0))
    else:
        token = tl.minimum(tl.max(tl.where(one == 0, found, 0)), vocab - 1)
        own = tl.load(logits + token).to(tl.float32)
    highest = tl.max(best)
    state = tl.where(highest < float("inf"), tl.where(highest == LOWEST, 2, 0), 1)
    return state, token, own


@triton.jit
def report(
    said: tl.tensor,
    outputs: tl.tensor,
    row: tl.tensor,
    state: tl.tensor,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> tl.tensor:
    """The row's sums and shares; the logarithm of the belief's sum."""
    _, _, own, far, drawn = said
    lse = own[0] + tl.log(own[1])
    if surveying:
        tl.store(outputs[5] + row * 2, drawn[0])
        tl.store(outputs[5] + row * 2 + 1, tl.where(state == 0, drawn[1], 0.0))
    if believing:
        tl.store(outputs[3] + row, lse)
        if massing:
            share = 1.0 / (1.0 + tl.exp(lse - far[0] - tl.log(far[1])))
            tl.store(outputs[4] + row, tl.where(far[1] > 0, share, far[1]))
    return lse


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
