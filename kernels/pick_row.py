"""What `pick` answers for a row, from what the programs of its tiles have left behind.

Does: reduce in a fixed order, and draw within the group that won. Does not: read more than that group's logits.
"""

# ruff: noqa: SIM102 - a condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl

from .pick_load import is_legal
from .pick_noise import exponential
from .pick_weights import DEPTH, LANES, LOG2E, LOWEST, NEVER, OCTETS, PARTS, TILE, fold


@triton.jit
def chosen(
    logits: tl.tensor,
    vocab: tl.tensor,
    mask: tl.tensor,
    mask_row: tl.tensor,
    heat: tl.tensor,
    draw: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    cut: tl.tensor,
    parts: tl.tensor,
    picks: tl.tensor,
    row: tl.tensor,
    splits: tl.tensor,
    padded_tiles: tl.constexpr,
    masked: tl.constexpr,
    drawing: tl.constexpr,
    editing: tl.constexpr,
) -> tl.tensor:
    """The row's token: the best of its tiles', or drawn in the best group of the tiles'."""
    at = tl.arange(0, padded_tiles)
    there = at < splits
    part = parts + (row * splits + at) * PARTS
    value = tl.load(part, mask=there, other=NEVER, cache_modifier=".cg")
    choices = tl.load(picks + row * splits + at, mask=there, other=0, cache_modifier=".cg")
    token = tl.min(tl.where(value == tl.max(value), choices, 0x7FFFFFFF))
    if drawing:
        if heat > 0:
            inner = tl.arange(0, DEPTH * 8)
            member = token // OCTETS * TILE + token % OCTETS * 8 + inner // 8 * LANES + inner % 8
            legal = is_legal(mask, mask_row, vocab, member, masked)
            x = tl.load(logits + member, mask=legal, other=NEVER).to(tl.float32)
            if editing:
                if edit:
                    x = tl.load(edited + member, mask=legal, other=NEVER, cache_modifier=".cg")
            x = tl.where(x >= cut, x, NEVER)
            key0 = tl.load(draw[1] + row * 2).to(tl.uint32)
            key1 = tl.load(draw[1] + row * 2 + 1).to(tl.uint32)
            noise = -tl.log(exponential(key0, key1, member.to(tl.uint32)))
            drawn = tl.div_rn(x, heat) + noise
            token = tl.min(tl.where(drawn == tl.max(drawn), member, 0x7FFFFFFF))
    return tl.minimum(token, vocab - 1)


@triton.jit
def report(
    parts: tl.tensor,
    outputs: tl.tensor,
    row: tl.tensor,
    heat: tl.tensor,
    splits: tl.tensor,
    padded_tiles: tl.constexpr,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> None:
    """The row's status, sums and shares."""
    at = tl.arange(0, padded_tiles)
    there = at < splits
    part = parts + (row * splits + at) * PARTS
    sound = tl.sum(tl.load(part + 5, mask=there, other=0.0, cache_modifier=".cg"))
    value = tl.load(part, mask=there, other=LOWEST, cache_modifier=".cg")
    state = tl.where(sound == 0, tl.where(tl.max(value) == LOWEST, 2, 0), 1)
    tl.store(outputs[1] + row, state.to(tl.int64))
    if surveying:
        high = tl.load(part + 6, mask=there, other=LOWEST, cache_modifier=".cg")
        total = tl.load(part + 7, mask=there, other=0.0, cache_modifier=".cg")
        highest, summed = fold(high, total, LOG2E / tl.where(heat > 0, heat, 1.0), 0)
        tl.store(outputs[5] + row * 2, highest)
        tl.store(outputs[5] + row * 2 + 1, tl.where(state == 0, summed, 0.0))
    if believing:
        high = tl.load(part + 1, mask=there, other=LOWEST, cache_modifier=".cg")
        total = tl.load(part + 2, mask=there, other=0.0, cache_modifier=".cg")
        highest, summed = fold(high, total, LOG2E, 0)
        lse = highest + tl.log(summed)
        tl.store(outputs[3] + row, lse)
        if massing:
            high = tl.load(part + 3, mask=there, other=LOWEST, cache_modifier=".cg")
            total = tl.load(part + 4, mask=there, other=0.0, cache_modifier=".cg")
            highest, summed = fold(high, total, LOG2E, 0)
            share = 1.0 / (1.0 + tl.exp(lse - highest - tl.log(summed)))
            tl.store(outputs[4] + row, tl.where(summed > 0, share, summed))
