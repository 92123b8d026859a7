"""Top-k, top-p and min-p of flat distributions, which do not fit on the chip; reads the row again, after `truncate`.

Does: with top-p alone, compute the probability mass above each candidate with all programs of a row in one read, which
nearly always suffices if the nucleus has most of the mass. If no candidate is kept, or with top-k, find the cut by one
read per two bits of it, and draw, with one program per row. Does not: touch rows that `truncate` has finished.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from ..runtime.tuples import Four, Tensors, Three, appended
from .load import (
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
from .logit_keys import from_key, quarter, quarters, to_key
from .pack import add_above, in_singles, kept_of, pair_of
from .reduce_row import gumbel, stays_first, store_token
from .sample_records import (
    Cutoffs,
    DrawInputs,
    Edits,
    FlatRows,
    MaskWords,
    OptionalEdits,
    Outputs,
    Scores,
    WholeRow,
)
from .token_weights import CANDIDATES, INTERPRETED, LANES, LOG2E, NEVER, OCTETS, TILE
from .truncate import DRAW, TEST, candidates_of


@triton.jit
def row_chunk(row: WholeRow, first: tl.tensor, masked: tl.constexpr) -> tl.tensor:
    """LANES logits of the draw from token `first` on, float32; -inf where they are not legal."""
    at = first + tl.arange(0, LANES)
    legal = is_legal(row.mask, row.mask_row, row.vocab, at, masked)
    x = tl.load(row.logits + at, mask=legal, other=NEVER).to(tl.float32)
    if row.edit:
        x = tl.load(row.edited + at, mask=legal, other=NEVER)
    return x


@triton.jit
def row_reaching(
    row: WholeRow,
    highest: tl.tensor,
    scale: tl.tensor,
    leasts: Three,
    zero_bits: tl.constexpr,
    masked: tl.constexpr,
    counting: tl.constexpr,
) -> Three:
    """For each of three keys, the mass or the number of the row's logits with at least that key.

    Lanes are added up at the end: a sum over lanes in every chunk takes longer than the chunk.
    """
    first_sum = tl.zeros((LANES,), tl.float32)
    second_sum, third_sum = first_sum, first_sum
    for first in range(0, row.vocab, LANES):
        x = row_chunk(row, first, masked)
        key = to_key(x) >> zero_bits
        weight = 1.0
        if not counting:
            weight = tl.exp2((x - highest) * scale)
        first_sum += tl.where(key >= leasts[0], weight, 0.0)
        second_sum += tl.where(key >= leasts[1], weight, 0.0)
        third_sum += tl.where(key >= leasts[2], weight, 0.0)
    return tl.sum(first_sum), tl.sum(second_sum), tl.sum(third_sum)


@triton.jit
def narrowed(
    row: WholeRow,
    highest: tl.tensor,
    scale: tl.tensor,
    bottom: tl.tensor,
    upper: tl.tensor,
    goal: tl.tensor,
    zero_bits: tl.constexpr,
    masked: tl.constexpr,
    counting: tl.constexpr,
) -> tl.tensor:
    """The largest key in [bottom, upper) that logits worth `goal` reach; `bottom` is such a key.

    Every read of the row finds two bits.
    """
    while upper > bottom + 1:
        leasts = quarters(bottom, upper)
        reached = row_reaching(row, highest, scale, leasts, zero_bits, masked, counting)
        bottom, upper = quarter(bottom, upper, leasts, reached, goal)
    return bottom


@triton.jit
def search_row(
    row: WholeRow,
    highest: tl.tensor,
    scale: tl.tensor,
    bottom: tl.tensor,
    ceiling: tl.tensor,
    mass: tl.tensor,
    k: tl.tensor,
    p: tl.tensor,
    limited: tl.tensor,
    zero_bits: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """The least key that top-k and top-p keep in a row; reads the row once per step of the search."""
    kept = mass
    if limited:
        goal = k.to(tl.float32)  # a vocabulary has fewer tokens than float32 can count
        bottom = narrowed(
            row, highest, scale, bottom, ceiling, goal, zero_bits, masked, counting=True
        )
        kept, _, _ = row_reaching(
            row, highest, scale, (bottom, bottom, bottom), zero_bits, masked, counting=False
        )
    if p < 1.0:
        bottom = narrowed(
            row, highest, scale, bottom, ceiling, p * kept, zero_bits, masked, counting=False
        )
    return bottom


@triton.jit
def draw_row(
    row: WholeRow,
    draw: DrawInputs,
    number: tl.tensor,
    cut: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """A token drawn from the tokens at or above the cut, an int32 scalar; `number` is the number of the row."""
    temperature = tl.load(draw.temperature + number)
    best = tl.full((LANES,), NEVER, tl.float32)
    token = tl.full((LANES,), 0x7FFFFFFF, tl.int32)
    for first in range(0, row.vocab, LANES):
        x = row_chunk(row, first, masked)
        stays = x >= cut
        if tl.max(stays.to(tl.int32)) > 0:
            at = first + tl.arange(0, LANES)
            drawn = tl.where(
                stays, tl.div_rn(x, temperature) + gumbel(draw, number, at, CANDIDATES), NEVER
            )
            token = tl.where(drawn > best, at, token)
            best = tl.maximum(best, drawn)
    return tl.minimum(tl.min(tl.where(best == tl.max(best), token, 0x7FFFFFFF)), row.vocab - 1)


@triton.jit
def above(
    rows: Tensors,
    sums: Tensors,
    candidates: Tensors,
    highest: tl.tensor,
    scale: tl.tensor,
    pairs: tl.constexpr,
) -> Tensors:
    """For every candidate, the mass above its logit, lane by lane, updated by more rows in the format of `kept_of`."""
    own = in_singles(rows, pairs)
    base = highest * scale
    for i in tl.static_range(0, len(own), 2):
        first = tl.exp2(own[i] * scale - base)
        second = tl.exp2(own[i + 1] * scale - base)
        more = ()
        for one in tl.static_range(CANDIDATES):
            if pairs and not INTERPRETED:
                both = pair_of(candidates[one], candidates[one])
                total = add_above(sums[one], rows[i // 2], both, first, second)
            else:
                total = sums[one] + tl.where(own[i] > candidates[one], first, 0.0)
                total += tl.where(own[i + 1] > candidates[one], second, 0.0)
            more = appended(more, total)
        sums = more
    return sums


@triton.jit
def mass_above(
    scores: Scores,
    whole: WholeRow,
    candidates: Tensors,
    split: tl.tensor,
    splits: tl.tensor,
    highest: tl.tensor,
    scale: tl.tensor,
    tiles: tl.constexpr,
    paired: tl.constexpr,
    masked: tl.constexpr,
    editing: tl.constexpr,
) -> Tensors:
    """For every candidate, the mass above its logit in one of `splits` parts of the row: a tuple of [OCTETS]."""
    logits, edited, edit, mask, mask_row, vocab = whole
    stored = scores.stored
    sums = ()
    for _ in tl.static_range(CANDIDATES):
        sums = appended(sums, tl.zeros((OCTETS, 4), tl.float32))
    rows: tl.constexpr = 4 if paired else 2
    pairs: tl.constexpr = logits.dtype.element_ty == tl.bfloat16 and not editing
    steps = tl.cdiv(vocab, rows * LANES)
    begins, ends = split * steps // splits, (split + 1) * steps // splits
    # Loads run ahead of the weighing by a step, and those of their masks by one more. From the end to the beginning:
    # the last data of the first pass may still be in the cache.
    nil = tl.zeros((OCTETS,), tl.int32)
    last = last_octets(vocab, octet_of(nil), rows)
    at = row_of_step(ends - 1, ends > begins, tiles, rows)
    words = fetch_masks(mask, mask_row, at, rows, masked)
    octets = octets_of(words, 0, nil, mask_row, rows, masked)
    raw = fetch(logits, stored, at, octets, rows, paired, ignore_masks=False)
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
        raw = fetch(logits, stored, later, octets, rows, paired, ignore_masks=False)
        later = row_of_step(step - 2, step > begins + 1, tiles, rows)
        words = fetch_masks(mask, mask_row, later, rows, masked)
        if editing:
            kept = edited_rows(kept, edited, edit, at, paired)
        sums = above(kept, sums, candidates, highest, scale, pairs)
    found = ()
    for i in tl.static_range(CANDIDATES):
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
) -> Four:
    """Four sums in one reduction, one for each candidate: see `logit_keys.three_sums`."""
    return a + e, b + f, c + g, d + h


@triton.jit
def first_within(
    parts: tl.tensor,
    outputs: Outputs,
    row: tl.tensor,
    splits: tl.tensor,
    goal: tl.tensor,
    cut: tl.tensor,
    padded_tiles: tl.constexpr,
) -> tl.tensor:
    """The first candidate with less mass than `goal` above it, and not below `cut`; CANDIDATES if there is none."""
    one = tl.arange(0, CANDIDATES)
    at = tl.arange(0, padded_tiles)
    part = parts + (row * splits + at)[:, None] * CANDIDATES + one[None, :]
    mass = tl.sum(tl.load(part, mask=(at < splits)[:, None], other=0.0, cache_modifier=".cg"), 0)
    logit = tl.load(outputs.candidate_logits + row * CANDIDATES + one)
    stays = ((mass < goal) | (mass == 0.0)) & (logit >= cut)
    return tl.min(tl.where(stays, one, CANDIDATES))


@triton.jit
def flat_pass(
    scores: Scores,
    mask: MaskWords,
    draw: DrawInputs,
    edited: tl.tensor,
    edits: OptionalEdits,
    truncation: Cutoffs,
    parts: tl.tensor,
    counters: tl.tensor,
    outputs: Outputs,
    flat: FlatRows,
    most_splits: tl.tensor,
    tiles: tl.constexpr,
    padded_tiles: tl.constexpr,
    paired: tl.constexpr,
    zero_bits: tl.constexpr,
    masked: tl.constexpr,
    mapped: tl.constexpr,
    editing: tl.constexpr,
    with_logprobs: tl.constexpr,
    EARLY: tl.constexpr,
) -> None:
    """Finish the rows left by `cut_pass`, which all programs share: grid [at least rows].

    A row has `most_splits` programs, at most `tiles`, or fewer if there are not enough.
    """
    scores, mask, draw = Scores(*scores), MaskWords(*mask), DrawInputs(*draw)
    truncation, outputs, flat = Cutoffs(*truncation), Outputs(*outputs), FlatRows(*flat)
    if EARLY:
        gdc_launch_dependents()
        gdc_wait()
    left = tl.load(outputs.flat_rows)
    splits = tl.minimum(tl.num_programs(0) // tl.maximum(left, 1), most_splits)
    if tl.program_id(0) >= left * splits:
        return
    split = tl.program_id(0) % splits
    row = tl.load(outputs.flat_rows + 1 + tl.program_id(0) // splits)
    task = tl.load(flat.task + row)
    # All loads are issued at once.
    logits, vocab = scores.logits + row.to(tl.int64) * scores.row_stride, scores.vocab
    mask_row = row_of_mask(mask, row, masked, mapped)
    scale = LOG2E / tl.load(draw.temperature + row)
    weights = outputs.weights + row * 2
    highest, mass = tl.load(weights), tl.load(weights + 1)
    p = tl.load(truncation.top_p + row)
    cut = tl.load(flat.bounds + row * 2)
    candidates = ()
    for i in tl.static_range(CANDIDATES):
        logit = tl.load(outputs.candidate_logits + row * CANDIDATES + i)
        candidates = appended(candidates, logit)
    edit = False
    if editing:
        edited += row.to(tl.int64) * (tiles * TILE)
        edit = is_edited(Edits(*edits), row)
    whole = WholeRow(logits, edited, edit, mask, mask_row, vocab)
    last, one = split == 0, row * 0 + CANDIDATES
    if task == TEST:
        sums = mass_above(
            scores, whole, candidates, split, splits, highest, scale, tiles, paired, masked,
            editing,
        )  # fmt: skip
        part = parts + (row * splits + split) * CANDIDATES
        sums = tl.reduce(sums, 0, four_sums)
        for i in tl.static_range(CANDIDATES):
            tl.store(part + i, sums[i])
        tl.debug_barrier()
        last = tl.atomic_add(counters + row, 1, sem="acq_rel") == splits - 1
        if last:
            tl.store(counters + row, 0)
            one = first_within(parts, outputs, row, splits, p * mass, cut, padded_tiles)
    if last:
        if (one == CANDIDATES) & (task != DRAW):
            k = tl.minimum(tl.load(truncation.top_k + row), vocab).to(tl.int32)
            bottom = to_key(tl.load(flat.bounds + row * 2 + 1)) >> zero_bits
            ceiling = (to_key(highest) >> zero_bits) + 1
            limited = (k > 0) & (k < vocab)
            least_key = search_row(
                whole, highest, scale, bottom, ceiling, mass, k, p, limited, zero_bits, masked
            )
            cut = tl.maximum(cut, from_key(least_key << zero_bits))
            one = stays_first(candidates_of(outputs, row).logits, cut)
        of_row = outputs.candidate_tokens + row * CANDIDATES
        token = tl.load(of_row + tl.minimum(one, CANDIDATES - 1))
        if one == CANDIDATES:
            token = draw_row(whole, draw, row, cut, masked)
        store_token(logits, outputs, row, token, with_logprobs)
