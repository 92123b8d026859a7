"""Truncation of rows of which too much may stay for the chip: whole rows are read again, after `pick_cut`.

Does: with top-p alone, find out which tries of the survey stay by the mass above each, all programs of a row together:
one read, and with a nucleus of most of the mass nearly always all that is needed. Where none stays, and with top-k,
search the cut by reading the row for every two bits of it, and draw, one program a row. Does not: do anything for rows
that `pick_cut` has settled.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from .pick_cut import DRAW, TEST, from_key, quarter, quarters, to_key
from .pick_kept import (
    add_above,
    in_singles,
    kept_of,
    pair_of,
)
from .pick_load import (
    appended,
    edited_rows,
    existing,
    fetch,
    fetch_masks,
    is_edited,
    is_legal,
    last_octets,
    octet_of,
    octets_of,
    row_of_mask,
    row_of_step,
)
from .pick_row import gumbel, settle, stays_first
from .pick_weights import INTERPRETED, LANES, LOG2E, NEVER, OCTETS, TILE, TRIES


@triton.jit
def row_chunk(
    logits: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    mask: tl.tensor,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    first: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """LANES logits of a row as the draw sees them, illegal ones -inf."""
    at = first + tl.arange(0, LANES)
    legal = is_legal(mask, mask_row, vocab, at, masked)
    x = tl.load(logits + at, mask=legal, other=NEVER).to(tl.float32)
    if edit:
        x = tl.load(edited + at, mask=legal, other=NEVER)
    return x


@triton.jit
def row_reaching(
    row: tl.tensor,
    highest: tl.tensor,
    scale: tl.tensor,
    leasts: tl.tensor,
    spare: tl.constexpr,
    masked: tl.constexpr,
    counting: tl.constexpr,
) -> tl.tensor:
    """For each of three keys the mass, or the number, of the whole row's logits whose keys reach it.

    `row`: the arguments of `row_chunk` up to the vocabulary. Lanes are added up at the end: a sum over lanes in every
    chunk takes longer than the chunk.
    """
    logits, edited, edit, mask, mask_row, vocab = row
    first_sum = tl.zeros((LANES,), tl.float32)
    second_sum, third_sum = first_sum, first_sum
    for first in range(0, vocab, LANES):
        x = row_chunk(logits, edited, edit, mask, mask_row, vocab, first, masked)
        key = to_key(x) >> spare
        weight = 1.0
        if not counting:
            weight = tl.exp2((x - highest) * scale)
        first_sum += tl.where(key >= leasts[0], weight, 0.0)
        second_sum += tl.where(key >= leasts[1], weight, 0.0)
        third_sum += tl.where(key >= leasts[2], weight, 0.0)
    return tl.sum(first_sum), tl.sum(second_sum), tl.sum(third_sum)


@triton.jit
def narrowed(
    row: tl.tensor,
    highest: tl.tensor,
    scale: tl.tensor,
    bottom: tl.tensor,
    upper: tl.tensor,
    goal: tl.tensor,
    spare: tl.constexpr,
    masked: tl.constexpr,
    counting: tl.constexpr,
) -> tl.tensor:
    """The largest key from `bottom` on, below `upper`, that as much reaches as `goal` says; `bottom` is one.

    Two bits for each time that the row is read.
    """
    while upper > bottom + 1:
        leasts = quarters(bottom, upper)
        reached = row_reaching(row, highest, scale, leasts, spare, masked, counting)
        bottom, upper = quarter(bottom, upper, leasts, reached, goal)
    return bottom


@triton.jit
def search_row(
    row: tl.tensor,
    highest: tl.tensor,
    scale: tl.tensor,
    bottom: tl.tensor,
    ceiling: tl.tensor,
    mass: tl.tensor,
    k: tl.tensor,
    p: tl.tensor,
    limited: tl.tensor,
    spare: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """`pick_cut.search_near` over the whole row, which is read anew for every step."""
    kept = mass
    if limited:
        goal = k.to(tl.float32)  # a vocabulary has fewer tokens than float32 can count
        bottom = narrowed(row, highest, scale, bottom, ceiling, goal, spare, masked, counting=True)
        kept, _, _ = row_reaching(
            row, highest, scale, (bottom, bottom, bottom), spare, masked, counting=False
        )
    if p < 1.0:
        bottom = narrowed(
            row, highest, scale, bottom, ceiling, p * kept, spare, masked, counting=False
        )
    return bottom


@triton.jit
def draw_row(
    row: tl.tensor,
    draw: tl.tensor,
    number: tl.tensor,
    cut: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """A token drawn from what is not below the cut. `row` as in `row_reaching`, `number` is which row it is."""
    logits, edited, edit, mask, mask_row, vocab = row
    heat = tl.load(draw[0] + number)
    best = tl.full((LANES,), NEVER, tl.float32)
    token = tl.full((LANES,), 0x7FFFFFFF, tl.int32)
    for first in range(0, vocab, LANES):
        x = row_chunk(logits, edited, edit, mask, mask_row, vocab, first, masked)
        stays = x >= cut
        if tl.max(stays.to(tl.int32)) > 0:
            at = first + tl.arange(0, LANES)
            drawn = tl.where(stays, tl.div_rn(x, heat) + gumbel(draw, number, at, TRIES), NEVER)
            token = tl.where(drawn > best, at, token)
            best = tl.maximum(best, drawn)
    return tl.minimum(tl.min(tl.where(best == tl.max(best), token, 0x7FFFFFFF)), vocab - 1)


@triton.jit
def above(
    rows: tl.tensor,
    sums: tl.tensor,
    tried: tl.tensor,
    highest: tl.tensor,
    scale: tl.tensor,
    pairs: tl.constexpr,
) -> tl.tensor:
    """For every try the mass above it, lane by lane, with some rows more, kept as `pick_kept.kept_of` says."""
    own = in_singles(rows, pairs)
    base = highest * scale
    for i in tl.static_range(0, len(own), 2):
        first = tl.exp2(own[i] * scale - base)
        second = tl.exp2(own[i + 1] * scale - base)
        more = ()
        for one in tl.static_range(TRIES):
            if pairs and not INTERPRETED:
                both = pair_of(tried[one], tried[one])
                total = add_above(sums[one], rows[i // 2], both, first, second)
            else:
                total = sums[one] + tl.where(own[i] > tried[one], first, 0.0)
                total += tl.where(own[i + 1] > tried[one], second, 0.0)
            more = appended(more, total)
        sums = more
    return sums


@triton.jit
def mass_above(
    scores: tl.tensor,
    whole: tl.tensor,
    tried: tl.tensor,
    split: tl.tensor,
    splits: tl.tensor,
    highest: tl.tensor,
    scale: tl.tensor,
    tiles: tl.constexpr,
    paired: tl.constexpr,
    masked: tl.constexpr,
    editing: tl.constexpr,
) -> tl.tensor:
    """For every try of a row, whose logits are `tried`, octet by octet the mass above it in one of `splits` parts.

    `whole`: the row as in `row_reaching`.
    """
    logits, edited, edit, mask, mask_row, vocab = whole
    stored = scores[2]
    sums = ()
    for _ in tl.static_range(TRIES):
        sums = appended(sums, tl.zeros((OCTETS, 4), tl.float32))
    rows: tl.constexpr = 4 if paired else 2
    pairs: tl.constexpr = logits.dtype.element_ty == tl.bfloat16 and not editing
    steps = tl.cdiv(vocab, rows * LANES)
    begins, ends = split * steps // splits, (split + 1) * steps // splits
    # Loads run ahead of the weighing by a step, and those of their masks by one more. From the end to the beginning:
    # what the survey has read last may still be in the cache.
    nil = tl.zeros((OCTETS,), tl.int32)
    last = last_octets(vocab, octet_of(nil), rows)
    at = row_of_step(ends - 1, ends > begins, tiles, rows)
    words = fetch_masks(mask, mask_row, at, rows, masked)
    octets = octets_of(words, 0, nil, mask_row, rows, masked)
    raw = fetch(logits, stored, at, octets, rows, paired, massing=False)
    words = fetch_masks(
        mask, mask_row, row_of_step(ends - 2, ends - 2 >= begins, tiles, rows), rows, masked
    )
    for turn in range(begins, ends):
        step = begins + ends - 1 - turn
        at = row_of_step(step, step >= begins, tiles, rows)
        legal = existing(octets, last, vocab, at, rows)
        kept = kept_of(raw, logits, legal, paired, pairs)
        octets = octets_of(words, 0, nil, mask_row, rows, masked)
        later = row_of_step(step - 1, step > begins, tiles, rows)
        raw = fetch(logits, stored, later, octets, rows, paired, massing=False)
        later = row_of_step(step - 2, step > begins + 1, tiles, rows)
        words = fetch_masks(mask, mask_row, later, rows, masked)
        if editing:
            kept = edited_rows(kept, edited, edit, at, paired)
        sums = above(kept, sums, tried, highest, scale, pairs)
    found = ()
    for i in tl.static_range(TRIES):
        found = appended(found, tl.sum(sums[i], 1))
    return found


@triton.jit
def four_sums(
    a: tl.tensor,
    b: tl.tensor,
    c: tl.tensor,
    d: tl.tensor,
    e: tl.tensor,
    f: tl.tensor,
    g: tl.tensor,
    h: tl.tensor,
) -> tl.tensor:
    """One for each try, at once: see `pick_cut.three_sums`."""
    return a + e, b + f, c + g, d + h


@triton.jit
def first_within(
    parts: tl.tensor,
    outputs: tl.tensor,
    row: tl.tensor,
    splits: tl.tensor,
    goal: tl.tensor,
    cut: tl.tensor,
    padded_tiles: tl.constexpr,
) -> tl.tensor:
    """The first try above which there is less mass than `goal`, and that is not below `cut`; TRIES if there is none."""
    one = tl.arange(0, TRIES)
    at = tl.arange(0, padded_tiles)
    part = parts + (row * splits + at)[:, None] * TRIES + one[None, :]
    mass = tl.sum(tl.load(part, mask=(at < splits)[:, None], other=0.0, cache_modifier=".cg"), 0)
    logit = tl.load(outputs[7] + row * TRIES + one)
    stays = ((mass < goal) | (mass == 0.0)) & (logit >= cut)
    return tl.min(tl.where(stays, one, TRIES))


@triton.jit
def flat_pass(
    scores: tl.tensor,
    mask: tl.tensor,
    draw: tl.tensor,
    edited: tl.tensor,
    edits: tl.tensor,
    truncation: tl.tensor,
    parts: tl.tensor,
    counters: tl.tensor,
    outputs: tl.tensor,
    flat: tl.tensor,
    tiles: tl.constexpr,
    padded_tiles: tl.constexpr,
    paired: tl.constexpr,
    spare: tl.constexpr,
    masked: tl.constexpr,
    mapped: tl.constexpr,
    editing: tl.constexpr,
    believing: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """Grid [rows at least], all programs sharing the rows that are left. Arguments as in `pick_tile` and `pick_cut`."""
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    left = tl.load(outputs[8])
    splits = tl.minimum(tl.num_programs(0) // tl.maximum(left, 1), tiles)
    if tl.program_id(0) >= left * splits:
        return
    row = tl.load(outputs[8] + 1 + tl.program_id(0) // splits)
    split = tl.program_id(0) % splits
    todo = tl.load(flat[0] + row)
    # All that is needed is asked for at once.
    logits = scores[0] + row.to(tl.int64) * scores[1]
    vocab = scores[3]
    mask_row = row_of_mask(mask, row, masked, mapped)
    scale = LOG2E / tl.load(draw[0] + row)
    highest = tl.load(outputs[5] + row * 2)
    mass = tl.load(outputs[5] + row * 2 + 1)
    p = tl.load(truncation[1] + row)
    cut = tl.load(flat[1] + row * 2)
    tried = ()
    for i in tl.static_range(TRIES):
        tried = appended(tried, tl.load(outputs[7] + row * TRIES + i))
    edit = False
    if editing:
        edited += row.to(tl.int64) * (tiles * TILE)
        edit = is_edited(edits, row)
    whole = (logits, edited, edit, mask, mask_row, vocab)
    last = split == 0
    one = row * 0 + TRIES
    if todo == TEST:
        sums = mass_above(
            scores, whole, tried, split, splits, highest, scale, tiles, paired, masked,
            editing,
        )  # fmt: skip
        part = parts + (row * splits + split) * TRIES
        sums = tl.reduce(sums, 0, four_sums)
        for i in tl.static_range(TRIES):
            tl.store(part + i, sums[i])
        tl.debug_barrier()
        last = tl.atomic_add(counters + row, 1, sem="acq_rel") == splits - 1
        if last:
            tl.store(counters + row, 0)
            one = first_within(parts, outputs, row, splits, p * mass, cut, padded_tiles)
    if last:
        if (one == TRIES) & (todo != DRAW):
            k = tl.minimum(tl.load(truncation[0] + row), vocab).to(tl.int32)
            bottom = to_key(tl.load(flat[1] + row * 2 + 1)) >> spare
            ceiling = (to_key(highest) >> spare) + 1
            limited = (k > 0) & (k < vocab)
            least_key = search_row(
                whole, highest, scale, bottom, ceiling, mass, k, p, limited, spare, masked
            )
            cut = tl.maximum(cut, from_key(least_key << spare))
            logit = tl.load(outputs[7] + row * TRIES + tl.arange(0, TRIES))
            one = stays_first(logit, cut)
        token = tl.load(outputs[6] + row * TRIES + tl.minimum(one, TRIES - 1))
        if one == TRIES:
            token = draw_row(whole, draw, row, cut, masked)
        settle(logits, outputs, row, token, believing)
