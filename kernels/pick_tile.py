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

from .pick_kept import (
    illegal_only,
    in_singles,
    kept_of,
    lanes_unless,
    lanes_with,
    legal_only,
    no_lanes,
    store_lanes,
    top_of,
)
from .pick_load import (
    all_octets,
    appended,
    edit_tile,
    edited_rows,
    existing,
    fetch,
    fetch_masks,
    is_edited,
    last_octets,
    later_half,
    nil_of,
    octets_of,
    place_of,
    row_of_mask,
    row_of_step,
)
from .pick_noise import binary_log, counted, exponential
from .pick_row import best_of, better, chosen, report, settle
from .pick_weights import (
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
    worth = top * scale + binary_log(weight)
    mixed = counted(key0, group.to(tl.uint32) + GROUPS)
    new_values, new_choices = (), ()
    for i in tl.static_range(len(values)):
        here = worth - binary_log(exponential(mixed, key1, i))
        here = tl.where(top == LOWEST, LOWEST, here)
        new_choices = appended(new_choices, tl.where(here > values[i], group, choices[i]))
        new_values = appended(new_values, tl.maximum(values[i], here))
    return new_values, new_choices


@triton.jit
def outdo(values: tl.tensor, choices: tl.tensor, top: tl.tensor, first: tl.tensor) -> tl.tensor:
    """The largest logit so far of each octet, and the first step that had it, after one more tile; of the first try."""
    higher_now = top > values[0]
    new_values = (tl.where(higher_now, top, values[0]),)
    new_choices = (tl.where(higher_now, first, choices[0]),)
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
        words = fetch_masks(mask, mask_row, row, rows, masked)
        nil = tl.zeros((OCTETS,), tl.int32)
        octets = octets_of(words, 0, nil, mask_row, rows, masked)
        raw = fetch(logits, scores[2], row, octets, rows, paired, massing=False)
        own = legal_only(
            raw,
            logits,
            existing(octets, last_octets(scores[3], rows), scores[3], row, rows),
            paired,
        )
        if edit:
            own = edited_rows(own, edited, edit, row, paired)
        for i in tl.static_range(len(own)):
            at = place_of(row + i // 2, i % 2, paired)
            token = tl.minimum(token, tl.min(tl.where(own[i] == high, at, 0x7FFFFFFF)))
    return token


@triton.jit
def arrived(
    raw: tl.tensor,
    logits: tl.tensor,
    legal: tl.tensor,
    vocab: tl.tensor,
    row: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    apart: tl.tensor,
    best_lanes: tl.tensor,
    own: tl.tensor,
    far: tl.tensor,
    paired: tl.constexpr,
    pairs: tl.constexpr,
    editing: tl.constexpr,
    ranking: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> tl.tensor:
    """What is kept of a step that `fetch` has brought, from row `row` on, and what is told of it before it is edited:
    the maxima of its lanes, and (maxima, sums) of belief, and of what is outside."""
    kept = kept_of(raw, logits, legal, paired, pairs)
    if massing:
        others = illegal_only(raw, logits, legal, row, paired, vocab)
        far = weigh_higher(others, far[0], far[1], LOG2E)
    if editing:
        if ranking:
            best_lanes = lanes_with(best_lanes, kept, pairs)
        if believing:
            if apart:
                own = weigh_higher(kept, own[0], own[1], LOG2E)
        kept = edited_rows(kept, edited, edit, row, paired)
    return kept, best_lanes, own, far


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
    weights of the draw (maximum, sum); from the ninth on (value, choice) of every try, infinity if a legal logit is not
    sound."""
    for i in tl.static_range(len(values)):
        value = tl.where(peak < float("inf"), values[i], float("inf"))
        best, choice = tl.reduce((value, choices[i]), 0, better)
        tl.store(part + 8 + 2 * i, best)
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
    lead: tl.constexpr,
    padded_tiles: tl.constexpr,
    paired: tl.constexpr,
    tries: tl.constexpr,
    masked: tl.constexpr,
    mapped: tl.constexpr,
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
        gdc_wait()
    rows_there = tl.num_programs(0) // splits
    row = tl.program_id(0) % rows_there
    split = tl.program_id(0) // rows_there
    logits = scores[0] + row.to(tl.int64) * scores[1]
    stored, vocab = scores[2], scores[3]
    mask_row = row_of_mask(mask, row, masked, mapped)
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
    pairs: tl.constexpr = logits.dtype.element_ty == tl.bfloat16 and not editing
    lowest = tl.full((OCTETS,), LOWEST, tl.float32)
    nothing, nowhere = lowest * 0.0, tl.zeros((OCTETS,), tl.int32)
    values, choices = appended((), lowest), appended((), nowhere)
    for _ in tl.static_range(1, tries):
        values, choices = appended(values, lowest), appended(choices, nowhere)
    own, far = (lowest, nothing), (lowest, nothing)
    all_top, all_total, peak = lowest, nothing, lowest
    before, total, first = lowest, nothing, nowhere
    # Turns of the first tile that lie before the first token.
    missing: tl.constexpr = lead // (8 * LANES)
    begins = tl.maximum(split * tiles // splits * turns - missing, 0)
    ends = (split + 1) * tiles // splits * turns - missing
    ends = tl.minimum(ends, tl.cdiv(vocab, 8 * LANES))
    last_step = ends * steps
    # While a step's logits are weighed those of the next are masked and compared, for exponentials take as long as all
    # the rest and keep another part of the processor busy; those of the step after it are on their way, and so are the
    # masks of the turn after the next.
    at = begins * 8
    words = fetch_masks(mask, mask_row, at, 8, masked)
    octets = all_octets(words, nowhere, mask_row, rows, masked)
    raw = fetch(logits, stored, at, octets[0], rows, paired, massing)
    next_raw = fetch(logits, stored, at + rows, octets[1], rows, paired, massing)
    after = row_of_step(begins + 1, begins + 1 < ends, tiles, 8)
    words = fetch_masks(mask, mask_row, after, 8, masked)
    if editing:
        if edit & (begins < ends):
            edit_tile(scores, edited, edits, row, (begins + missing) // turns, lead)
    last = last_octets(vocab, rows)
    legal = existing(octets[0], last, vocab, at, rows)
    kept, best_lanes, own, far = arrived(
        raw, logits, legal, vocab, at, edited, edit, apart, no_lanes(pairs), own, far, paired, pairs,
        editing, ranking, believing, massing,
    )  # fmt: skip
    lanes = lanes_with(no_lanes(pairs), kept, pairs)
    top = top_of(lanes, pairs)
    raw = next_raw
    for turn in range(begins, ends):
        tile = (turn + missing) // turns
        ended = turn + 1 == (tile + 1) * turns - missing
        for part in tl.static_range(steps):
            step = turn * steps + part
            now = in_singles(kept, pairs)
            total, early = weigh(now, before, total, top, scale)
            if believing and not editing:
                if apart:
                    own = weigh_higher(now, own[0], own[1], LOG2E)
            first = tl.where(top > before, step, first)
            before = top

            at = row_of_step(step + 1, step + 1 < last_step, tiles, rows)
            # Half of that is done before the next ones are waited for.
            legal = existing(octets[part + 1] | nil_of(early, vocab), last, vocab, at, rows)
            old_lanes, old_best_lanes = lanes, best_lanes
            if part == steps - 1:
                lanes = lanes_unless(ended, lanes, pairs)
                best_lanes = lanes_unless(ended, best_lanes, pairs)
                if editing:
                    if edit & ended & (turn + 1 < ends):
                        edit_tile(scores, edited, edits, row, tile + 1, lead)
            kept, best_lanes, own, far = arrived(
                raw, logits, legal, vocab, at, edited, edit, apart, best_lanes, own, far, paired,
                pairs, editing, ranking, believing, massing,
            )  # fmt: skip
            lanes = lanes_with(lanes, kept, pairs)
            top = top_of(lanes, pairs)

            # A warp waits for all that it has asked for at once: so nothing is asked for before what came was used.
            used = nil_of(top, vocab)
            if part == 0:
                octets = octets + all_octets(words, used, mask_row, rows, masked)
            later = row_of_step(step + 2, step + 2 < last_step, tiles, rows) + used
            raw = fetch(logits, stored, later, octets[part + 2], rows, paired, massing)
            if part == 0:
                later = row_of_step(turn + 2, turn + 2 < ends, tiles, 8) + used
                words = fetch_masks(mask, mask_row, later, 8, masked)
        octets = later_half(octets)
        if ended | (turn + 1 == ends):
            if surveying:
                group = (row.to(tl.int64) * tiles + tile) * OCTETS + tl.arange(0, OCTETS)
                tl.store(maxima + group, before)
            if ranking:
                to = ranks + row.to(tl.int64) * (tiles * LANES)
                store_lanes(to, tile, old_best_lanes if editing else old_lanes, paired, pairs)
            peak = higher(peak, before)
            if believing:
                if not apart:
                    own = join(own[0], own[1], before, total, LOG2E)
            if surveying:
                if hot:
                    all_top, all_total = join(all_top, all_total, before, total, scale)
            if hot:
                values, choices = contest(values, choices, tile, before, total, scale, key0, key1)
            else:
                values, choices = outdo(values, choices, before, first)
            before, total = lowest, nothing

    if EARLY:
        # Not before: programs that only wait would take the places that these leave, unevenly.
        gdc_launch_dependents()
    if not hot:
        token = first_best(
            scores, logits, mask, mask_row, edited, edit, values[0], choices[0], rows, paired,
            masked,
        )  # fmt: skip
        choices = replaced(choices, token)
    leave(
        parts + (row * splits + split) * PARTS, values, choices, own, far,
        (all_top, all_total), peak, scale, surveying, believing, massing,
    )  # fmt: skip
    tl.debug_barrier()
    is_last = splits == 1
    if splits > 1:
        is_last = tl.atomic_add(counters + row, 1, sem="acq_rel") == splits - 1
    if is_last:
        if splits > 1:
            tl.store(counters + row, 0)
        best, found = best_of(parts, row, splits, padded_tiles, tries)
        state, token = chosen(
            logits, vocab, mask, mask_row, heat, (key0, key1), edited, edit, best, found, row,
            outputs, lead, tries, masked, editing, surveying,
        )  # fmt: skip
        tl.store(outputs[1] + row, state.to(tl.int64))
        report(
            parts, outputs, row, splits, scale, state, padded_tiles, surveying, believing, massing
        )
        settle(logits, outputs, row, token, believing)
