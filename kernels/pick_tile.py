"""The one pass over the logits: mask, edit, weigh, draw; a program a row, or some of its tiles, the last one the row.

Does: what `reference_logits` defines but truncation. A program goes through two tiles of `TILE` tokens side by side, a
half of its warps each; where several share a row, the one that finishes last reduces the partial results in a fixed
order. Does not: truncate (`pick_cut`), allocate (`pick`).

Where a mask forbids eight tokens side by side their logits are not loaded. Tuples of arguments: `scores`, `mask` and
`edits` as in `pick_load`, `draw` (temperature, keys), `groups` (largest logits and weights of groups [rows, groups]),
`outputs` (tokens, status, logprobs, sums, removed, (maximum, weight), tries and their logits, how many rows are left to
`pick_flat` and which).
"""

# ruff: noqa: SIM102 - a condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from .pick_greedy import first_best, outdo, replaced
from .pick_kept import (
    illegal_only,
    in_singles,
    kept_of,
    lanes_unless,
    lanes_with,
    no_lanes,
    store_lanes,
    top_of,
)
from .pick_load import (
    all_octets,
    appended,
    edit_two,
    edited_rows,
    existing,
    fetch,
    fetch_masks,
    is_edited,
    last_octets,
    later_half,
    nil_of,
    octet_of,
    row_of_mask,
    rows_of_two,
    turns_of_two,
)
from .pick_noise import binary_log, counted, exponential
from .pick_row import better, chosen, gathered, in_vector, leave, report
from .pick_weights import (
    DEPTH,
    GROUPS,
    LANES,
    LOG2E,
    LOWEST,
    OCTETS,
    PARTS,
    TILE,
    WIDE,
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
    two: tl.tensor,
    top: tl.tensor,
    weight: tl.tensor,
    scale: tl.tensor,
    key0: tl.tensor,
    key1: tl.tensor,
) -> tl.tensor:
    """For every try, the best group so far of each octet and what it competes by, after two more tiles."""
    group = two * WIDE + tl.arange(0, WIDE)
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
def summary(
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
) -> tl.tensor:
    """What a program has to say of its tiles: the best value of every try [tries], infinity if a legal logit is not
    sound, and its choice [tries]; (maximum, sum) of belief, of what is outside, and of the weights of the draw."""
    best, found = (), ()
    for i in tl.static_range(len(values)):
        value = tl.where(peak < float("inf"), values[i], float("inf"))
        here, choice = tl.reduce((value, choices[i]), 0, better)
        best, found = appended(best, here), appended(found, choice)
    nothing = tl.zeros((), tl.float32)
    own_said, far_said, drawn_said = (nothing, nothing), (nothing, nothing), (nothing, nothing)
    if believing:
        own_said = fold(own[0], own[1], LOG2E)
    if massing:
        far_said = fold(far[0], far[1], LOG2E)
    if surveying:
        drawn_said = fold(drawn[0], drawn[1], scale)
    return in_vector(best), in_vector(found), own_said, far_said, drawn_said


@triton.jit(do_not_specialize=["splits", "share"])
def tile_pass(
    scores: tl.tensor,
    mask: tl.tensor,
    draw: tl.tensor,
    edited: tl.tensor,
    edits: tl.tensor,
    groups: tl.tensor,
    ranks: tl.tensor,
    parts: tl.tensor,
    counters: tl.tensor,
    outputs: tl.tensor,
    splits: tl.tensor,
    share: tl.tensor,
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
    """Grid [rows, splits], so that programs with less to do lie beside those with more; `share`: tiles by two that a
    program has, in parts of 65,536, rounded up. The constexpr flags say which stages the batch has; see `pick`."""
    row, split = tl.program_id(0), tl.program_id(1)
    logits = scores[0] + row.to(tl.int64) * scores[1]
    stored, vocab = scores[2], scores[3]
    # A step is some rows of which a thread holds one or two words each; a turn of the loop is eight rows.
    rows: tl.constexpr = 4 if paired else 2
    steps: tl.constexpr = 8 // rows
    turns: tl.constexpr = DEPTH // 8
    # Two tiles side by side, of which the second may be shorter, or none.
    begins = (split * share >> 16) * turns
    ends = tl.minimum(((split + 1) * share >> 16) * turns, turns_of_two(vocab, lead))
    last_step = ends * steps
    if EARLY:
        gdc_wait()
    mask_row = row_of_mask(mask, row, masked, mapped)
    heat = tl.load(draw[0] + row)
    key0 = tl.load(draw[1] + row * 2).to(tl.uint32)
    key1 = tl.load(draw[1] + row * 2 + 1).to(tl.uint32)
    hot = heat > 0
    scale = LOG2E / tl.where(hot, heat, 1.0)
    if surveying:
        if (row == 0) & (split == 0):
            tl.store(outputs[8], 0)
    edit = False
    if editing:
        edited += row.to(tl.int64) * (tiles * TILE)
        edit = is_edited(edits, row)
    # Whether the model's own distribution is another one than that of the draw.
    apart = edit | (hot & (heat != 1.0))

    pairs: tl.constexpr = logits.dtype.element_ty == tl.bfloat16 and not editing
    lowest = tl.full((WIDE,), LOWEST, tl.float32)
    nothing, nowhere = lowest * 0.0, tl.zeros((WIDE,), tl.int32)
    values, choices = appended((), lowest), appended((), nowhere)
    for _ in tl.static_range(1, tries):
        values, choices = appended(values, lowest), appended(choices, nowhere)
    own, far = (lowest, nothing), (lowest, nothing)
    all_top, all_total, peak = lowest, nothing, lowest
    before, total, first = lowest, nothing, nowhere
    # While a step's logits are weighed those of the next are masked and compared, for exponentials take as long as all
    # the rest and keep another part of the processor busy; those of the step after it are on their way, and so are the
    # masks of the turn after the next.
    at = rows_of_two(begins, begins < ends, tiles, lead, 8)
    words = fetch_masks(mask, mask_row, at, 8, masked)
    octets = all_octets(words, nowhere, mask_row, rows, masked)
    raw = fetch(logits, stored, at, octets[0], rows, paired, massing)
    next_raw = fetch(logits, stored, at + rows, octets[1], rows, paired, massing)
    after = rows_of_two(begins + 1, begins + 1 < ends, tiles, lead, 8)
    words = fetch_masks(mask, mask_row, after, 8, masked)
    if editing:
        if edit & (begins < ends):
            edit_two(scores, edited, edits, row, begins // turns, lead)
    last = last_octets(vocab, octet_of(at), rows)
    legal = existing(octets[0], last, vocab, at, rows)
    none = no_lanes(WIDE, pairs)
    kept, best_lanes, own, far = arrived(
        raw, logits, legal, vocab, at, edited, edit, apart, none, own, far, paired, pairs, editing,
        ranking, believing, massing,
    )  # fmt: skip
    lanes = lanes_with(none, kept, pairs)
    top = top_of(lanes, pairs)
    raw = next_raw
    for turn in range(begins, ends):
        two = turn // turns
        ended = turn + 1 == (two + 1) * turns
        for part in tl.static_range(steps):
            step = turn * steps + part
            now = in_singles(kept, pairs)
            total, early = weigh(now, before, total, top, scale)
            if believing and not editing:
                if apart:
                    own = weigh_higher(now, own[0], own[1], LOG2E)
            first = tl.where(top > before, step, first)
            before = top

            at = rows_of_two(step + 1, step + 1 < last_step, tiles, lead, rows)
            # Half of that is done before the next ones are waited for.
            legal = existing(octets[part + 1] | nil_of(early, vocab), last, vocab, at, rows)
            old_lanes, old_best_lanes = lanes, best_lanes
            if part == steps - 1:
                lanes = lanes_unless(ended, lanes, pairs)
                best_lanes = lanes_unless(ended, best_lanes, pairs)
                if editing:
                    if edit & ended & (turn + 1 < ends):
                        edit_two(scores, edited, edits, row, two + 1, lead)
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
            later = rows_of_two(step + 2, step + 2 < last_step, tiles, lead, rows) + used
            raw = fetch(logits, stored, later, octets[part + 2], rows, paired, massing)
            if part == 0:
                later = rows_of_two(turn + 2, turn + 2 < ends, tiles, lead, 8) + used
                words = fetch_masks(mask, mask_row, later, 8, masked)
        octets = later_half(octets)
        if ended | (turn + 1 == ends):
            of_row = row.to(tl.int64) * tiles + two * 2
            if surveying:
                group = of_row * OCTETS + tl.arange(0, WIDE)
                tl.store(groups[0] + group, before)
                tl.store(groups[1] + group, total)
            if ranking:
                ranked = old_best_lanes if editing else old_lanes
                store_lanes(ranks + of_row * LANES, ranked, paired, pairs)
            peak = higher(peak, before)
            if believing:
                if not apart:
                    own = join(own[0], own[1], before, total, LOG2E)
            if surveying:
                if hot:
                    all_top, all_total = join(all_top, all_total, before, total, scale)
            if hot:
                values, choices = contest(values, choices, two, before, total, scale, key0, key1)
            else:
                values, choices = outdo(values, choices, before, first)
            before, total = lowest, nothing

    if EARLY:
        # Not before: programs that only wait would take the places that these leave, unevenly.
        gdc_launch_dependents()
    if not hot:
        first = rows_of_two(choices[0], choices[0] >= 0, tiles, lead, rows)
        token = first_best(
            scores, logits, mask, mask_row, edited, edit, values[0], first, rows, paired, masked
        )
        choices = replaced(choices, token)
    said = summary(
        values, choices, own, far, (all_top, all_total), peak, scale, surveying, believing, massing
    )
    is_last = splits == 1
    if splits > 1:
        leave(parts + (row * splits + split) * PARTS, said, surveying, believing, massing)
        tl.debug_barrier()
        is_last = tl.atomic_add(counters + row, 1, sem="acq_rel") == splits - 1
        if is_last:
            tl.store(counters + row, 0)
            said = gathered(
                parts, said, row, splits, scale, padded_tiles, surveying, believing, massing
            )
    if is_last:
        state, token, own_logit = chosen(
            logits, vocab, mask, mask_row, heat, (key0, key1), edited, edit, said[0], said[1], row,
            outputs, lead, tries, masked, editing, surveying,
        )  # fmt: skip
        tl.store(outputs[1] + row, state.to(tl.int64))
        lse = report(said, outputs, row, state, surveying, believing, massing)
        tl.store(outputs[0] + row, token.to(tl.int64))
        if believing:
            tl.store(outputs[2] + row, own_logit - lse)
