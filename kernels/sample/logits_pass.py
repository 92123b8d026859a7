"""The sampler's pass over the logits: mask, bias and penalties, softmax weights and the draw, in one read.

Does: all stages that `reference_logits` defines except truncation. A program processes two tiles of `TILE` tokens at a
time, each by half of its warps. Several programs may share a row: the last one to finish reduces the partial results in
a fixed order. Does not: truncate (`truncate`), allocate (`logits_pipeline`).

Where a mask forbids eight tokens side by side their logits are not loaded. Arguments: `sample_records`.
"""

# ruff: noqa: SIM102 - a condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..runtime.tuples import Tensors, appended, second_half
from .greedy import first_best, outdo, replaced
from .gumbel import binary_log, counted, exponential
from .load import (
    all_octets,
    edit_two,
    edited_rows,
    existing,
    fetch,
    fetch_masks,
    is_edited,
    last_octets,
    nil_of,
    octet_of,
    row_of_mask,
    rows_of_two,
    turns_of_two,
)
from .pack import in_singles, kept_of, lanes_unless, lanes_with, no_lanes, store_lanes, top_of
from .reduce_row import better, chosen, gathered, in_vector, store_part, store_sums
from .sample_records import (
    DrawInputs,
    Edits,
    Groups,
    Leaders,
    MaskWords,
    OptionalEdits,
    Outputs,
    RowPart,
    Scores,
    WeightSum,
)
from .token_weights import (
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
    leaders: Leaders,
    two: tl.tensor,
    top: tl.tensor,
    weight: tl.tensor,
    scale: tl.tensor,
    key0: tl.tensor,
    key1: tl.tensor,
) -> Leaders:
    """Update, by two more tiles, the best group of each octet [WIDE] and its perturbed weight, for every candidate."""
    group = two * WIDE + tl.arange(0, WIDE)
    worth = top * scale + binary_log(weight)
    mixed = counted(key0, group.to(tl.uint32) + GROUPS)
    values, choices = (), ()
    for i in tl.static_range(len(leaders.best)):
        here = worth - binary_log(exponential(mixed, key1, i))
        here = tl.where(top == LOWEST, LOWEST, here)
        better_here = here > leaders.best[i]
        choices = appended(choices, tl.where(better_here, group, leaders.choices[i]))
        values = appended(values, tl.maximum(leaders.best[i], here))
    return Leaders(values, choices)


@triton.jit
def arrived(
    raw: Tensors,
    logits: tl.tensor,
    legal: tl.tensor,
    row: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    apart: tl.tensor,
    best_lanes: Tensors,
    own: WeightSum,
    paired: tl.constexpr,
    pairs: tl.constexpr,
    editing: tl.constexpr,
    ranking: tl.constexpr,
    with_logprobs: tl.constexpr,
) -> tuple[Tensors, Tensors, WeightSum]:
    """The logits of a step loaded by `fetch`, from row `row` on, masked and edited.

    Also returns the values computed before the edit: the maxima of lanes, and the model's own weights.
    """
    kept = kept_of(raw, logits, legal, paired, pairs)
    if editing:
        if ranking:
            best_lanes = lanes_with(best_lanes, kept, pairs)
        if with_logprobs:
            if apart:
                own = weigh_higher(kept, own, LOG2E)
        kept = edited_rows(kept, edited, edit, row, paired)
    return kept, best_lanes, own


@triton.jit
def summary(
    leaders: Leaders,
    own: WeightSum,
    drawn: WeightSum,
    peak: tl.tensor,
    scale: tl.tensor,
    truncating: tl.constexpr,
    with_logprobs: tl.constexpr,
) -> RowPart:
    """The partial result of a program: its octets [WIDE] reduced to one value and one choice per candidate."""
    best, choices = (), ()
    for i in tl.static_range(len(leaders.best)):
        value = tl.where(peak < float("inf"), leaders.best[i], float("inf"))
        here, choice = tl.reduce((value, leaders.choices[i]), 0, better)
        best, choices = appended(best, here), appended(choices, choice)
    nothing = tl.zeros((), tl.float32)
    all_own, all_drawn = WeightSum(nothing, nothing), WeightSum(nothing, nothing)
    if with_logprobs:
        all_own = fold(own.peak, own.total, LOG2E)
    if truncating:
        all_drawn = fold(drawn.peak, drawn.total, scale)
    return RowPart(in_vector(best), in_vector(choices), all_own, all_drawn)


@triton.jit(do_not_specialize=["splits", "share"])
def tile_pass(
    scores: Scores,
    mask: MaskWords,
    draw: DrawInputs,
    edited: tl.tensor,
    edits: OptionalEdits,
    groups: Groups,
    ranks: tl.tensor,
    parts: tl.tensor,
    counters: tl.tensor,
    outputs: Outputs,
    splits: tl.tensor,
    share: tl.tensor,
    tiles: tl.constexpr,
    first_tile_offset: tl.constexpr,
    padded_tiles: tl.constexpr,
    paired: tl.constexpr,
    candidates: tl.constexpr,
    masked: tl.constexpr,
    mapped: tl.constexpr,
    editing: tl.constexpr,
    truncating: tl.constexpr,
    with_logprobs: tl.constexpr,
    ranking: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """Sample every row: grid [rows, splits], so that programs with less and with more work alternate.

    `share`: pairs of tiles of a program, in parts of 65,536, rounded up. `ranks` float32 [rows, tiles, LANES]: maxima
    of lanes, for the alternatives. `parts`: PARTS numbers a program; `counters` int32 [rows], zero before and after.
    The constexpr flags say which stages the batch has; see `pick`.
    """
    scores, mask, draw = Scores(*scores), MaskWords(*mask), DrawInputs(*draw)
    groups, outputs = Groups(*groups), Outputs(*outputs)
    if editing:
        edits = Edits(*edits)
    row, split = tl.program_id(0), tl.program_id(1)
    logits = scores.logits + row.to(tl.int64) * scores.row_stride
    stored, vocab = scores.stored, scores.vocab
    # A step is some rows of which a thread holds one or two words each; a turn of the loop is eight rows.
    rows: tl.constexpr = 4 if paired else 2
    steps: tl.constexpr = 8 // rows
    turns: tl.constexpr = DEPTH // 8
    # Two tiles side by side, of which the second may be shorter, or none.
    begins = (split * share >> 16) * turns
    ends = tl.minimum(((split + 1) * share >> 16) * turns, turns_of_two(vocab, first_tile_offset))
    last_step = ends * steps
    if EARLY:
        gdc_wait()
    mask_row = row_of_mask(mask, row, masked, mapped)
    temperature = tl.load(draw.temperature + row)
    key0 = tl.load(draw.keys + row * 2).to(tl.uint32)
    key1 = tl.load(draw.keys + row * 2 + 1).to(tl.uint32)
    hot = temperature > 0
    scale = LOG2E / tl.where(hot, temperature, 1.0)
    if truncating:
        if (row == 0) & (split == 0):
            tl.store(outputs.flat_rows, 0)
    edit = False
    if editing:
        edited += row.to(tl.int64) * (tiles * TILE)
        edit = is_edited(edits, row)
    # Whether the model's own distribution differs from the distribution of the draw.
    apart = edit | (hot & (temperature != 1.0))

    pairs: tl.constexpr = logits.dtype.element_ty == tl.bfloat16 and not editing
    lowest = tl.full((WIDE,), LOWEST, tl.float32)
    nothing, nowhere = lowest * 0.0, tl.zeros((WIDE,), tl.int32)
    values, choices = appended((), lowest), appended((), nowhere)
    for _ in tl.static_range(1, candidates):
        values, choices = appended(values, lowest), appended(choices, nowhere)
    leaders = Leaders(values, choices)
    own, drawn, peak = WeightSum(lowest, nothing), WeightSum(lowest, nothing), lowest
    before, total, first = lowest, nothing, nowhere
    # While a step's logits are weighed, the next step's logits are masked and compared, because exponentials take as
    # long as all the rest and use another unit of the processor. Meanwhile the loads of the step after that are in
    # flight, and the loads of masks one step further ahead.
    at = rows_of_two(begins, begins < ends, tiles, first_tile_offset, 8)
    words = fetch_masks(mask, mask_row, at, 8, masked)
    octets = all_octets(words, nowhere, mask_row, rows, masked)
    raw = fetch(logits, stored, at, octets[0], rows, paired, ignore_masks=False)
    next_raw = fetch(logits, stored, at + rows, octets[1], rows, paired, ignore_masks=False)
    after = rows_of_two(begins + 1, begins + 1 < ends, tiles, first_tile_offset, 8)
    words = fetch_masks(mask, mask_row, after, 8, masked)
    if editing:
        if edit & (begins < ends):
            edit_two(scores, edited, edits, row, begins // turns, first_tile_offset)
    last = last_octets(vocab, octet_of(at), rows)
    legal = existing(octets[0], last, vocab, at, rows)
    none = no_lanes(WIDE, pairs)
    kept, best_lanes, own = arrived(
        raw, logits, legal, at, edited, edit, apart, none, own, paired, pairs, editing, ranking,
        with_logprobs,
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
            if with_logprobs and not editing:
                if apart:
                    own = weigh_higher(now, own, LOG2E)
            first = tl.where(top > before, step, first)
            before = top

            at = rows_of_two(step + 1, step + 1 < last_step, tiles, first_tile_offset, rows)
            # Half of that is done before the next ones are waited for.
            legal = existing(octets[part + 1] | nil_of(early, vocab), last, vocab, at, rows)
            old_lanes, old_best_lanes = lanes, best_lanes
            if part == steps - 1:
                lanes = lanes_unless(ended, lanes, pairs)
                best_lanes = lanes_unless(ended, best_lanes, pairs)
                if editing:
                    if edit & ended & (turn + 1 < ends):
                        edit_two(scores, edited, edits, row, two + 1, first_tile_offset)
            kept, best_lanes, own = arrived(
                raw, logits, legal, at, edited, edit, apart, best_lanes, own, paired, pairs,
                editing, ranking, with_logprobs,
            )  # fmt: skip
            lanes = lanes_with(lanes, kept, pairs)
            top = top_of(lanes, pairs)

            # A warp waits for all its outstanding loads at once, so no load is issued before the previous one was used.
            used = nil_of(top, vocab)
            if part == 0:
                octets = octets + all_octets(words, used, mask_row, rows, masked)
            later = (
                rows_of_two(step + 2, step + 2 < last_step, tiles, first_tile_offset, rows) + used
            )
            raw = fetch(logits, stored, later, octets[part + 2], rows, paired, ignore_masks=False)
            if part == 0:
                later = rows_of_two(turn + 2, turn + 2 < ends, tiles, first_tile_offset, 8) + used
                words = fetch_masks(mask, mask_row, later, 8, masked)
        octets = second_half(octets)
        if ended | (turn + 1 == ends):
            of_row = row.to(tl.int64) * tiles + two * 2
            if truncating:
                group = of_row * OCTETS + tl.arange(0, WIDE)
                tl.store(groups.best + group, before)
                tl.store(groups.total + group, total)
            if ranking:
                ranked = old_best_lanes if editing else old_lanes
                store_lanes(ranks + of_row * LANES, ranked, paired, pairs)
            peak = higher(peak, before)
            if with_logprobs:
                if not apart:
                    own = join(own, before, total, LOG2E)
            if truncating:
                if hot:
                    drawn = join(drawn, before, total, scale)
            if hot:  # noqa: SIM108 - no conditional expression: only one of the two is to be computed
                leaders = contest(leaders, two, before, total, scale, key0, key1)
            else:
                leaders = outdo(leaders, before, first)
            before, total = lowest, nothing

    if EARLY:
        # Not before: programs that only wait would take the places that these leave, unevenly.
        gdc_launch_dependents()
    if not hot:
        first = rows_of_two(
            leaders.choices[0], leaders.choices[0] >= 0, tiles, first_tile_offset, rows
        )
        token = first_best(
            scores, logits, mask, mask_row, edited, edit, leaders.best[0], first, rows, paired,
            masked,
        )  # fmt: skip
        leaders = Leaders(leaders.best, replaced(leaders.choices, token))
    found = summary(leaders, own, drawn, peak, scale, truncating, with_logprobs)
    is_last = splits == 1
    if splits > 1:
        store_part(parts + (row * splits + split) * PARTS, found, truncating, with_logprobs)
        tl.debug_barrier()
        is_last = tl.atomic_add(counters + row, 1, sem="acq_rel") == splits - 1
        if is_last:
            tl.store(counters + row, 0)
            found = gathered(
                parts, found, row, splits, scale, padded_tiles, truncating, with_logprobs
            )
    if is_last:
        state, token, own_logit = chosen(
            logits, vocab, mask, mask_row, temperature, (key0, key1), edited, edit, found, row,
            outputs, first_tile_offset, candidates, masked, editing, truncating,
        )  # fmt: skip
        tl.store(outputs.status + row, state.to(tl.int64))
        lse = store_sums(found, outputs, row, state, truncating, with_logprobs)
        tl.store(outputs.tokens + row, token.to(tl.int64))
        if with_logprobs:
            tl.store(outputs.logprobs + row, own_logit - lse)
