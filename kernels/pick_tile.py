"""The one pass over the logits: mask, edit, weigh, draw; each program some tiles of a row, the last one the row.

Does: what `reference_logits` defines but truncation, for some tiles of `TILE` tokens a program; the program that
finishes a row last reduces the partial results in a fixed order. Does not: truncate (`pick_cut`), allocate (`pick`).

Where a mask forbids eight tokens side by side their logits are not loaded. Tuples of arguments: `scores`, `mask` and
`edits` as in `pick_load`, `draw` (temperature, keys), `outputs` (tokens, status, logprobs, sums, removed, (maximum,
weight), tries and their logits).
"""

# ruff: noqa: SIM102 - a condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from .pick_load import (
    appended,
    edit_tile,
    edited_rows,
    fetch,
    fetch_masks,
    illegal_only,
    is_edited,
    legal_only,
    place_of,
    row_of_mask,
)
from .pick_noise import exponential
from .pick_row import chosen, report, settle
from .pick_weights import (
    APART,
    DEPTH,
    GROUPS,
    LANES,
    LOG2E,
    LOWEST,
    OCTETS,
    PARTS,
    TILE,
    fold,
    higher,
    join,
    weigh,
    weigh_higher,
)


@triton.jit
def row_ahead(
    step: tl.tensor, end: tl.tensor, tiles: tl.constexpr, rows: tl.constexpr
) -> tl.tensor:
    """The first row of a step, or one past the last tile's where the program has no such step."""
    return tl.where(step < end, step * rows, tiles * DEPTH)


@triton.jit
def lanes_with(lanes: tl.tensor, rows: tl.tensor) -> tl.tensor:
    """The maxima of lanes, in halves, with some rows more."""
    first, second = lanes
    for i in tl.static_range(0, len(rows), 2):
        first, second = higher(first, rows[i]), higher(second, rows[i + 1])
    return first, second


@triton.jit
def store_lanes(to: tl.tensor, tile: tl.tensor, lanes: tl.tensor, paired: tl.constexpr) -> None:
    """Keep the maxima of a tile's lanes."""
    tl.store(to + place_of(tile, 0, paired), lanes[0])
    tl.store(to + place_of(tile, 1, paired), lanes[1])


@triton.jit
def contest(
    values: tl.tensor,
    choices: tl.tensor,
    tile: tl.tensor,
    top: tl.tensor,
    weight: tl.tensor,
    scale: tl.tensor,
    key0: tl.tensor,
    key1: tl.tensor,
) -> tl.tensor:
    """For every try, the best group so far of each octet and what it competes by, after one more tile."""
    group = tile * OCTETS + tl.arange(0, OCTETS)
    worth = top * scale + tl.log2(weight)
    new_values, new_choices = (), ()
    for i in tl.static_range(len(values)):
        counter = group.to(tl.uint32) + (GROUPS + i * APART)
        here = worth - tl.log2(exponential(key0, key1, counter))
        here = tl.where(top == LOWEST, LOWEST, here)
        new_choices = appended(new_choices, tl.where(here > values[i], group, choices[i]))
        new_values = appended(new_values, tl.maximum(values[i], here))
    return new_values, new_choices


@triton.jit
def lead(values: tl.tensor, choices: tl.tensor, top: tl.tensor, first: tl.tensor) -> tl.tensor:
    """The largest logit so far of each octet, and the first step that had it, after one more tile; of the first try."""
    better = top > values[0]
    new_values = (tl.where(better, top, values[0]),)
    new_choices = (tl.where(better, first, choices[0]),)
    for i in tl.static_range(1, len(values)):
        new_values, new_choices = appended(new_values, values[i]), appended(new_choices, choices[i])
    return new_values, new_choices


@triton.jit
def replaced(choices: tl.tensor, token: tl.tensor) -> tl.tensor:
    """The same token in every octet, as the choice of the first try."""
    new_choices = (choices[0] * 0 + token,)
    for i in tl.static_range(1, len(choices)):
        new_choices = appended(new_choices, choices[i])
    return new_choices


@triton.jit
def first_best(
    scores: tl.tensor,
    logits: tl.tensor,
    mask: tl.tensor,
    mask_row: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    best: tl.tensor,
    step: tl.tensor,
    rows: tl.constexpr,
    paired: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """The lowest token among the program's largest logits, found by reading once more the step that had one first.

    `best`, `step`: for each octet its largest logit, and the step, of `rows` rows, that had it first.
    """
    high = tl.max(best)
    row = tl.min(tl.where(best == high, step, 0x7FFFFFFF)) * rows
    token = tl.full((), 0x7FFFFFFF, tl.int32)
    if high != LOWEST:
        allowed = fetch_masks(mask, mask_row, scores[3], row, rows, masked)
        raw = fetch(logits, scores[2], row, allowed, paired, massing=False)
        own = legal_only(raw, logits, allowed, paired)
        if edit:
            own = edited_rows(own, edited, edit, row, paired)
        for i in tl.static_range(len(own)):
            at = place_of(row + i // 2, i % 2, paired)
            token = tl.minimum(token, tl.min(tl.where(own[i] == high, at, 0x7FFFFFFF)))
    return token


@triton.jit
def leave(
    part: tl.tensor,
    values: tl.tensor,
    choices: tl.tensor,
    own: tl.tensor,
    far: tl.tensor,
    drawn: tl.tensor,
    peak: tl.tensor,
    scale: tl.tensor,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> None:
    """What a program has to say of its tiles, in PARTS numbers: belief (maximum, sum), outside (maximum, sum),
    weights of the draw (maximum, sum), whether a legal logit is not sound; then (value, choice) of every try."""
    unsound = tl.max(tl.where(peak < float("inf"), 0.0, 1.0))
    tl.store(part + 6, unsound)
    for i in tl.static_range(len(values)):
        best = tl.max(values[i])
        tl.store(part + 8 + 2 * i, best)
        choice = tl.min(tl.where(values[i] == best, choices[i], 0x7FFFFFFF))
        tl.store(part + 9 + 2 * i, choice.to(tl.float32, bitcast=True))
    if believing:
        own_high, own_sum = fold(own[0], own[1], LOG2E)
        tl.store(part, own_high)
        tl.store(part + 1, own_sum)
    if massing:
        far_high, far_sum = fold(far[0], far[1], LOG2E)
        tl.store(part + 2, far_high)
        tl.store(part + 3, far_sum)
    if surveying:
        draw_high, draw_sum = fold(drawn[0], drawn[1], scale)
        tl.store(part + 4, draw_high)
        tl.store(part + 5, draw_sum)


@triton.jit(do_not_specialize=["splits"])
def tile_pass(
    scores: tl.tensor,
    mask: tl.tensor,
    draw: tl.tensor,
    edited: tl.tensor,
    edits: tl.tensor,
    maxima: tl.tensor,
    ranks: tl.tensor,
    parts: tl.tensor,
    counters: tl.tensor,
    outputs: tl.tensor,
    splits: tl.tensor,
    tiles: tl.constexpr,
    padded_tiles: tl.constexpr,
    paired: tl.constexpr,
    tries: tl.constexpr,
    masked: tl.constexpr,
    mapped: tl.constexpr,
    drawing: tl.constexpr,
    editing: tl.constexpr,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
    ranking: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """Grid [splits * rows], so that programs with less to do lie beside those with more. The constexpr flags say which
    stages the batch has; see `pick`."""
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    rows_there = tl.num_programs(0) // splits
    row = tl.program_id(0) % rows_there
    split = tl.program_id(0) // rows_there
    logits = scores[0] + row.to(tl.int64) * scores[1]
    stored, vocab = scores[2], scores[3]
    mask_row = row_of_mask(mask, row, masked, mapped)
    heat = 0.0
    key0, key1 = row.to(tl.uint32), row.to(tl.uint32)
    if drawing:
        heat = tl.load(draw[0] + row)
        key0 = tl.load(draw[1] + row * 2).to(tl.uint32)
        key1 = tl.load(draw[1] + row * 2 + 1).to(tl.uint32)
    hot = heat > 0
    scale = LOG2E / tl.where(hot, heat, 1.0)
    edit = False
    if editing:
        edited += row.to(tl.int64) * (tiles * TILE)
        edit = is_edited(edits, row)
    # Whether the model's own distribution is another one than that of the draw.
    apart = edit | (hot & (heat != 1.0))

    # A step is some rows of which a thread holds one or two words each; a turn of the loop is eight rows.
    rows: tl.constexpr = 4 if paired else 2
    steps: tl.constexpr = 8 // rows
    turns: tl.constexpr = DEPTH // 8
    lowest = tl.full((OCTETS,), LOWEST, tl.float32)
    nothing, nowhere = lowest * 0.0, tl.zeros((OCTETS,), tl.int32)
    values, choices = appended((), lowest), appended((), nowhere)
    for _ in tl.static_range(1, tries):
        values, choices = appended(values, lowest), appended(choices, nowhere)
    own_top, own_total, far_top, far_total = lowest, nothing, lowest, nothing
    all_top, all_total, peak = lowest, nothing, lowest
    top, total, first = lowest, nothing, nowhere
    none = tl.full((OCTETS, 4), LOWEST, tl.float32)
    lanes, best_lanes = (none, none), (none, none)
    begins, ends = split * tiles // splits * turns, (split + 1) * tiles // splits * turns
    ends = tl.minimum(ends, tl.cdiv(vocab, 8 * LANES))
    # Loads run ahead of the arithmetic by two steps, and those of their masks by two more.
    at = begins * 8
    masks = fetch_masks(mask, mask_row, vocab, at, rows, masked)
    raws = fetch(logits, stored, at, masks, paired, massing)
    soon_masks = fetch_masks(mask, mask_row, vocab, at + rows, rows, masked)
    soon_raws = fetch(logits, stored, at + rows, soon_masks, paired, massing)
    at = row_ahead(begins * steps + 2, ends * steps, tiles, rows)
    later_masks = fetch_masks(mask, mask_row, vocab, at, rows, masked)
    at = row_ahead(begins * steps + 3, ends * steps, tiles, rows)
    last_masks = fetch_masks(mask, mask_row, vocab, at, rows, masked)
    for turn in range(begins, ends):
        tile = turn // turns
        if editing:
            if edit & (turn == tile * turns):
                edit_tile(scores, edited, edits, row, tile)
        for part in tl.static_range(steps):
            step = turn * steps + part
            allowed, raw = masks, raws
            masks, raws, soon_masks = soon_masks, soon_raws, later_masks
            at = row_ahead(step + 2, ends * steps, tiles, rows)
            soon_raws = fetch(logits, stored, at, soon_masks, paired, massing)
            later_masks = last_masks
            at = row_ahead(step + 4, ends * steps, tiles, rows)
            last_masks = fetch_masks(mask, mask_row, vocab, at, rows, masked)
            here = step * rows
            own = legal_only(raw, logits, allowed, paired)
            ours = own
            if editing:
                ours = edited_rows(own, edited, edit, here, paired)
                if ranking:
                    best_lanes = lanes_with(best_lanes, own)
            lanes = lanes_with(lanes, ours)
            before = top
            top = tl.reduce(higher(lanes[0], lanes[1]), 1, higher)
            if hot or believing:
                total = weigh(ours, before, total, top, scale)
            if believing:
                if apart:
                    own_top, own_total = weigh_higher(own, own_top, own_total, LOG2E)
            if not hot:
                first = tl.where(top > before, step, first)
            if massing:
                others = illegal_only(raw, logits, allowed, here, paired, vocab)
                far_top, far_total = weigh_higher(others, far_top, far_total, LOG2E)
        if (turn + 1 == (tile + 1) * turns) | (turn + 1 == ends):
            if surveying:
                store_lanes(maxima + row.to(tl.int64) * (tiles * LANES), tile, lanes, paired)
            if ranking:
                best = best_lanes if editing else lanes
                store_lanes(ranks + row.to(tl.int64) * (tiles * LANES), tile, best, paired)
            peak = higher(peak, top)
            if believing:
                if not apart:
                    own_top, own_total = join(own_top, own_total, top, total, LOG2E)
            if surveying:
                if hot:
                    all_top, all_total = join(all_top, all_total, top, total, scale)
            if hot:
                values, choices = contest(values, choices, tile, top, total, scale, key0, key1)
            else:
                values, choices = lead(values, choices, top, first)
            top, total, lanes, best_lanes = lowest, nothing, (none, none), (none, none)

    if not hot:
        token = first_best(
            scores, logits, mask, mask_row, edited, edit, values[0], choices[0], rows, paired,
            masked,
        )  # fmt: skip
        choices = replaced(choices, token)
    leave(
        parts + (row * splits + split) * PARTS, values, choices, (own_top, own_total),
        (far_top, far_total), (all_top, all_total), peak, scale, surveying, believing, massing,
    )  # fmt: skip
    tl.debug_barrier()
    last = splits == 1
    if splits > 1:
        last = tl.atomic_add(counters + row, 1, sem="acq_rel") == splits - 1
    if last:
        if splits > 1:
            tl.store(counters + row, 0)
        report(parts, outputs, row, splits, scale, padded_tiles, surveying, believing, massing)
        token = chosen(
            logits, vocab, mask, mask_row, heat, (key0, key1), edited, edit, parts, row, splits,
            outputs, padded_tiles, tries, masked, drawing, editing, surveying,
        )  # fmt: skip
        settle(logits, outputs, row, token, believing)
