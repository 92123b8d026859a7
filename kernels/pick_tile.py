"""The one pass over the logits: mask, edit, weigh, draw; each program some tiles of a row, the last one the row.

Does: what `reference_logits` defines, for some tiles of `TILE` tokens a program; the program that finishes a row last
reduces the partial results in a fixed order. Does not: find truncation thresholds (`pick_cut`), allocate (`pick`).

Where a mask forbids eight tokens side by side their logits are not loaded. Tuples of arguments: `scores`, `mask` and
`edits` as in `pick_load`, `draw` (temperature, keys), `outputs` (tokens, status, logprobs, sums, removed, (maximum,
weight)).
"""

# ruff: noqa: SIM102 - a condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl

from .pick_load import appended, edit_tile, fetch_half, fetch_masks, is_edited, kept_octets
from .pick_noise import exponential
from .pick_row import chosen, report
from .pick_weights import (
    DEPTH,
    GROUPS,
    LANES,
    LOG2E,
    LOWEST,
    NEVER,
    OCTETS,
    PARTS,
    TILE,
    fold,
    join,
    weigh,
)


@triton.jit
def read_half(
    raw: tl.tensor,
    allowed: tl.tensor,
    kept: tl.tensor,
    lane: tl.tensor,
    tile: tl.tensor,
    vocab: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    cut: tl.tensor,
    hot: tl.tensor,
    apart: tl.tensor,
    scale: tl.tensor,
    sums: tl.tensor,
    begin: tl.constexpr,
    step: tl.constexpr,
    editing: tl.constexpr,
    cutting: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> tl.tensor:
    """Half a tile's rows, from row `begin` on, added to `sums`, lane by lane.

    `sums`: the draw's maxima and weights, the row in which the maximum was found; the model's own maxima and weights
    where they are others; those of what the mask takes away; zeros, or NaN where a legal logit is not finite.
    """
    high, total, found, own_high, own_total, far_high, far_total, zeros = sums
    bit = tl.arange(0, 8)
    for first in tl.static_range(begin, begin + DEPTH // 2, step):
        own, ours, others = (), (), ()
        for ahead in tl.static_range(step):
            at = tile * TILE + (first + ahead) * LANES + lane
            x = raw[first + ahead - begin].to(tl.float32)
            legal = ((allowed[first + ahead][:, None] >> bit[None, :]) & 1) != 0
            y = tl.where(legal, x, LOWEST)
            if not cutting:
                zeros += y * 0.0
            own = appended(own, y)
            if massing:
                others = appended(others, tl.where(legal | (at >= vocab), LOWEST, x))
            if editing:
                if edit:
                    y = tl.load(edited + at, mask=kept[:, None] & legal, other=LOWEST)
            if cutting:
                y = tl.where(y >= cut, y, LOWEST)
            ours = appended(ours, y)
        if believing and not cutting:
            if apart:
                own_high, own_total = weigh(own, own_high, own_total, LOG2E)
        if massing:
            far_high, far_total = weigh(others, far_high, far_total, LOG2E)
        if not hot:
            before = high
            for ahead in tl.static_range(step):
                found = tl.where(ours[ahead] > before, first + ahead, found)
                before = tl.maximum(before, ours[ahead])
            if not believing or cutting:
                high = before
        if hot or (believing and not cutting):
            high, total = weigh(ours, high, total, scale)
    return high, total, found, own_high, own_total, far_high, far_total, zeros


@triton.jit
def compete(
    high: tl.tensor,
    top: tl.tensor,
    weight: tl.tensor,
    found: tl.tensor,
    tile: tl.tensor,
    lane: tl.tensor,
    hot: tl.tensor,
    scale: tl.tensor,
    key0: tl.tensor,
    key1: tl.tensor,
    drawing: tl.constexpr,
    surveying: tl.constexpr,
) -> tl.tensor:
    """(what the octets of a tile compete by, what each would choose): its best token, or itself if the row is drawn."""
    value = top
    token = tl.where(high == top[:, None], tile * TILE + found * LANES + lane, 0x7FFFFFFF)
    choice = tl.min(token, 1)
    if drawing:
        if hot:
            choice = tile * OCTETS + tl.arange(0, OCTETS)
            if not surveying:
                noise = tl.log2(exponential(key0, key1, choice.to(tl.uint32) + GROUPS))
                value = tl.where(top == LOWEST, LOWEST, top * scale + tl.log2(weight) - noise)
    return value, choice


@triton.jit
def leave(
    part: tl.tensor,
    pick: tl.tensor,
    value: tl.tensor,
    choice: tl.tensor,
    own: tl.tensor,
    far: tl.tensor,
    drawn: tl.tensor,
    unsound: tl.tensor,
    scale: tl.tensor,
    cutting: tl.constexpr,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> None:
    """What a program has to say of its tiles, in PARTS numbers: value, belief (maximum, sum), outside (maximum, sum),
    soundness, weights of the draw (maximum, sum)."""
    highest = tl.max(value)
    tl.store(part, highest)
    tl.store(pick, tl.min(tl.where(value == highest, choice, 0x7FFFFFFF)))
    if not cutting:
        tl.store(part + 5, tl.sum(unsound))
        if believing:
            own_highest, own_sum = fold(own[0], own[1], LOG2E, 0)
            tl.store(part + 1, own_highest)
            tl.store(part + 2, own_sum)
        if massing:
            far_highest, far_sum = fold(far[0], far[1], LOG2E, 0)
            tl.store(part + 3, far_highest)
            tl.store(part + 4, far_sum)
        if surveying:
            draw_highest, draw_sum = fold(drawn[0], drawn[1], scale, 0)
            tl.store(part + 6, draw_highest)
            tl.store(part + 7, draw_sum)


@triton.jit(do_not_specialize=["splits"])
def tile_pass(
    scores: tl.tensor,
    mask: tl.tensor,
    draw: tl.tensor,
    edited: tl.tensor,
    edits: tl.tensor,
    cuts: tl.tensor,
    maxima: tl.tensor,
    ranks: tl.tensor,
    parts: tl.tensor,
    picks: tl.tensor,
    counters: tl.tensor,
    outputs: tl.tensor,
    splits: tl.tensor,
    tiles: tl.constexpr,
    padded_tiles: tl.constexpr,
    step: tl.constexpr,
    masked: tl.constexpr,
    mapped: tl.constexpr,
    drawing: tl.constexpr,
    editing: tl.constexpr,
    cutting: tl.constexpr,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
    ranking: tl.constexpr,
) -> None:
    """Grid [rows * splits]. The constexpr flags say which stages the batch has; see `pick`."""
    row = tl.program_id(0) // splits
    split = tl.program_id(0) % splits
    logits = scores[0] + row.to(tl.int64) * scores[1]
    columns, vocab = scores[2], scores[3]
    mask_row = row * 0 - 1
    if masked:
        mask_row = row
        if mapped:
            mask_row = tl.load(mask[3] + row)
    heat = 0.0
    if drawing:
        heat = tl.load(draw[0] + row)
        key0 = tl.load(draw[1] + row * 2).to(tl.uint32)
        key1 = tl.load(draw[1] + row * 2 + 1).to(tl.uint32)
    else:
        key0, key1 = row.to(tl.uint32), row.to(tl.uint32)
    hot = heat > 0
    scale = LOG2E / tl.where(hot, heat, 1.0)
    edit = False
    if editing:
        edited += row.to(tl.int64) * (tiles * TILE)
        edit = is_edited(edits, row)
    # Whether the model's own distribution is another one than that of the draw.
    apart = edit | (hot & (heat != 1.0))
    cut = NEVER
    if cutting:
        cut = tl.load(cuts + row)

    lane = tl.arange(0, OCTETS)[:, None] * 8 + tl.arange(0, 8)[None, :]
    lowest = tl.full((OCTETS, 8), LOWEST, tl.float32)
    zero, nowhere = lowest * 0.0, tl.zeros((OCTETS, 8), tl.int32)
    value = tl.full((OCTETS,), LOWEST, tl.float32)
    choice = tl.zeros((OCTETS,), tl.int32)
    unsound = tl.zeros((OCTETS,), tl.float32)
    own_high, own_total, far_high, far_total = value, unsound, value, unsound
    draw_high, draw_total = value, unsound
    begins, ends = split * tiles // splits, (split + 1) * tiles // splits
    kept = tl.arange(0, OCTETS) >= 0
    if cutting:
        kept = kept_octets(maxima, row, begins, tiles, cut)
    allowed = fetch_masks(mask, mask_row, vocab, begins, masked)
    first_half = fetch_half(logits, columns, begins, lane, allowed, kept, 0, massing)
    for tile in range(begins, ends):
        if editing:
            if not cutting:
                if edit:
                    edit_tile(scores, edited, edits, row, tile)
        # Loads run ahead of the arithmetic by half a tile, and those of masks by a whole one.
        second_half = fetch_half(logits, columns, tile, lane, allowed, kept, DEPTH // 2, massing)
        after = tl.where(tile + 1 < ends, tile + 1, tiles)
        next_allowed = fetch_masks(mask, mask_row, vocab, after, masked)
        next_kept = kept
        if cutting:
            next_kept = kept_octets(maxima, row, after, tiles, cut)
        sums = (lowest, zero, nowhere, lowest, zero, lowest, zero, zero)
        sums = read_half(
            first_half, allowed, kept, lane, tile, vocab, edited, edit, cut, hot, apart, scale,
            sums, 0, step, editing, cutting, believing, massing,
        )  # fmt: skip
        first_half = fetch_half(logits, columns, after, lane, next_allowed, next_kept, 0, massing)
        high, total, found, old_high, old_total, out_high, out_total, zeros = read_half(
            second_half, allowed, kept, lane, tile, vocab, edited, edit, cut, hot, apart, scale,
            sums, DEPTH // 2, step, editing, cutting, believing, massing,
        )  # fmt: skip
        unsound += tl.sum(zeros, 1)
        if surveying:
            tl.store(maxima + (row * tiles + tile).to(tl.int64) * LANES + lane, high)
        if ranking:
            rank = high
            if apart:
                rank = old_high
            tl.store(ranks + (row * tiles + tile).to(tl.int64) * LANES + lane, rank)
        top = tl.max(high, 1)
        weight = top
        if drawing or (believing and not cutting):
            _, weight = fold(high, total, scale, 1)
        if believing and not cutting:
            old_top, old_weight = top, weight
            if apart:
                old_top, old_weight = fold(old_high, old_total, LOG2E, 1)
            own_high, own_total = join(own_high, own_total, old_top, old_weight, LOG2E)
        if massing:
            out_top, out_weight = fold(out_high, out_total, LOG2E, 1)
            far_high, far_total = join(far_high, far_total, out_top, out_weight, LOG2E)
        if surveying:
            if hot:
                draw_high, draw_total = join(draw_high, draw_total, top, weight, scale)
        worth, here = compete(
            high, top, weight, found, tile, lane, hot, scale, key0, key1, drawing, surveying
        )
        choice = tl.where(worth > value, here, choice)
        value = tl.maximum(value, worth)
        allowed, kept = next_allowed, next_kept

    leave(
        parts + (row * splits + split) * PARTS, picks + row * splits + split, value, choice,
        (own_high, own_total), (far_high, far_total), (draw_high, draw_total), unsound, scale,
        cutting, surveying, believing, massing,
    )  # fmt: skip
    tl.debug_barrier()
    last = splits == 1
    if splits > 1:
        last = tl.atomic_add(counters + row, 1, sem="acq_rel") == splits - 1
    if last:
        if splits > 1:
            tl.store(counters + row, 0)
        token = row * 0
        if not surveying:
            token = chosen(
                logits, vocab, mask, mask_row, heat, draw, edited, edit, cut, parts, picks, row,
                splits, padded_tiles, masked, drawing, editing,
            )  # fmt: skip
            tl.store(outputs[0] + row, token.to(tl.int64))
        if not cutting:
            report(parts, outputs, row, heat, splits, padded_tiles, surveying, believing, massing)
        if believing and not surveying:
            own = tl.load(logits + token).to(tl.float32)
            tl.store(outputs[2] + row, own - tl.load(outputs[3] + row))
