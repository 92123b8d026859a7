"""The one pass over the logits: mask, edit, weigh, draw; each program some tiles of a row, the last one the row.

Does: what `reference_logits` defines, for some tiles of `TILE` tokens a program; the program that finishes a row last
reduces the partial results in a fixed order. Does not: find truncation thresholds (`pick_cut`), allocate (`pick`).

A tile is `DEPTH` rows of `LANES` tokens, so that a group of the draw, eight tokens side by side in every row, stays in
one thread and costs one exponential a token and one noise a group. Where a mask forbids eight tokens side by side their
logits are not loaded. `scale` is log2(e) / temperature: weights are powers of two.

Tuples of arguments: `scores` (logits, row stride, columns, vocab), `mask` (bytes, row stride, bytes a row, row of each
row of logits), `draw` (temperature, keys), `outputs` (tokens, status, logprobs, sums, removed, (maximum, weight)).
"""

# ruff: noqa: RUF005, SIM102 - Triton knows no starred tuples, and a condition known when compiling must not be joined
# with one of the device

import triton
import triton.language as tl

from .pick_noise import exponential

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
NEVER: tl.constexpr = tl.constexpr(float("-inf"))
LOWEST: tl.constexpr = tl.constexpr(
    -1e30
)  # stands for no logit; times `scale` it is still a finite number
OCTETS: tl.constexpr = tl.constexpr(128)  # bytes of mask, each of eight tokens, of a tile's row
LANES: tl.constexpr = tl.constexpr(1024)
DEPTH: tl.constexpr = tl.constexpr(16)
TILE: tl.constexpr = tl.constexpr(16384)
GROUPS: tl.constexpr = tl.constexpr(
    0x80000000
)  # counters of groups begin here, past those of all tokens
PARTS: tl.constexpr = tl.constexpr(8)  # numbers a program leaves behind


@triton.jit
def legal_bytes(
    mask: tl.tensor,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    at: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """The mask bytes `at` as int32, with nothing past `vocab`; all ones for a row without a mask (`mask_row` < 0)."""
    left = tl.minimum(tl.maximum(vocab - at * 8, 0), 8)
    whole = (1 << left) - 1
    if not masked:
        return whole
    inside = at < tl.where(mask_row >= 0, mask[2], 0)
    place = mask[0] + mask_row.to(tl.int64) * mask[1] + at
    given = tl.load(place, mask=inside, other=0).to(tl.int32)
    return tl.where(mask_row >= 0, given & whole, whole)


@triton.jit
def is_legal(
    mask: tl.tensor,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    token: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """Whether single tokens are legal."""
    return ((legal_bytes(mask, mask_row, vocab, token // 8, masked) >> (token % 8)) & 1) != 0


@triton.jit
def is_edited(edits: tl.tensor, row: tl.tensor) -> tl.tensor:
    """Whether a row has pairs of bias or penalties; see `pick._edits`."""
    biased = tl.load(edits[0] + row) < tl.load(edits[0] + row + 1)
    return biased | (tl.load(edits[3] + row) < tl.load(edits[3] + row + 1))


@triton.jit
def edit_tile(
    scores: tl.tensor, edited: tl.tensor, edits: tl.tensor, row: tl.tensor, tile: tl.tensor
) -> None:
    """Write the tile's logits with bias and penalties to `edited`, the row's own."""
    bias_starts, bias_tokens, bias_values, pen_starts, pen_tokens, pen_counts, strengths = edits
    first = tile * TILE
    for step in range(DEPTH):
        at = first + step * LANES + tl.arange(0, LANES)
        place = scores[0] + row.to(tl.int64) * scores[1] + at
        tl.store(edited + at, tl.load(place, mask=at < scores[2], other=NEVER).to(tl.float32))
    tl.debug_barrier()
    chunk = tl.arange(0, LANES)
    end = tl.load(bias_starts + row + 1)
    for i in range(tl.load(bias_starts + row), end, LANES):
        token = tl.load(bias_tokens + i + chunk, mask=i + chunk < end, other=-1)
        here = (token >= first) & (token < first + TILE)
        value = tl.load(edited + token, mask=here, other=0.0)
        value += tl.load(bias_values + i + chunk, mask=here, other=0.0)
        tl.store(edited + token, value, mask=here)
    tl.debug_barrier()
    repetition = tl.load(strengths + row * 3)
    presence = tl.load(strengths + row * 3 + 1)
    frequency = tl.load(strengths + row * 3 + 2)
    end = tl.load(pen_starts + row + 1)
    for i in range(tl.load(pen_starts + row), end, LANES):
        token = tl.load(pen_tokens + i + chunk, mask=i + chunk < end, other=-1)
        here = (token >= first) & (token < first + TILE)
        count = tl.load(pen_counts + i + chunk, mask=here, other=0.0)
        value = tl.load(edited + token, mask=here, other=0.0)
        value = tl.where(value > 0, tl.div_rn(value, repetition), value * repetition)
        value = value - frequency * count
        value = value - tl.where(count > 0, presence, 0.0)
        tl.store(edited + token, value, mask=here)
    tl.debug_barrier()


@triton.jit
def scaled(high: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """What weights below a maximum are relative to; zero where there is no logit, so that LOWEST weighs nothing."""
    return tl.where(high == LOWEST, 0.0, high * scale)


@triton.jit
def weigh(rows: tl.tensor, high: tl.tensor, total: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """(maxima, sums of 2**((x - maximum) * scale)) with a tuple of logits added to every lane."""
    higher = high
    for i in tl.static_range(len(rows)):
        higher = tl.maximum(higher, rows[i])
    base = scaled(higher, scale)
    total = total * tl.exp2(high * scale - base)
    for i in tl.static_range(len(rows)):
        total += tl.exp2(rows[i] * scale - base)
    return higher, total


@triton.jit
def join(
    high: tl.tensor, total: tl.tensor, more: tl.tensor, added: tl.tensor, scale: tl.tensor
) -> tl.tensor:
    """(maxima, sums) of two at every place."""
    higher = tl.maximum(high, more)
    base = scaled(higher, scale)
    total = total * tl.exp2(high * scale - base) + added * tl.exp2(more * scale - base)
    return higher, total


@triton.jit
def fold(high: tl.tensor, total: tl.tensor, scale: tl.tensor, axis: tl.constexpr) -> tl.tensor:
    """(maxima, sums) along an axis."""
    higher = tl.max(high, axis, keep_dims=True)
    total = tl.sum(total * tl.exp2(high * scale - scaled(higher, scale)), axis)
    return tl.max(high, axis), total


@triton.jit
def fetch_masks(
    mask: tl.tensor,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    tile: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """The mask bytes of a tile's rows, a tuple of int32 [OCTETS]; zeros past the last tile."""
    allowed = ()
    for depth in tl.static_range(DEPTH):
        at = tile * (TILE // 8) + depth * OCTETS + tl.arange(0, OCTETS)
        allowed = allowed + (legal_bytes(mask, mask_row, vocab, at, masked),)
    return allowed


@triton.jit
def fetch_half(
    logits: tl.tensor,
    columns: tl.tensor,
    tile: tl.tensor,
    lane: tl.tensor,
    allowed: tl.tensor,
    kept: tl.tensor,
    begin: tl.constexpr,
    massing: tl.constexpr,
) -> tl.tensor:
    """The logits of half a tile's rows from `begin` on, a tuple, as they are stored; LOWEST where nobody asks."""
    raw = ()
    for depth in tl.static_range(begin, begin + DEPTH // 2):
        at = tile * TILE + depth * LANES + lane
        wanted = kept
        if not massing:
            wanted = wanted & (allowed[depth] != 0)
        raw = raw + (tl.load(logits + at, mask=wanted[:, None] & (at < columns), other=LOWEST),)
    return raw


@triton.jit
def kept_octets(
    maxima: tl.tensor, row: tl.tensor, tile: tl.tensor, tiles: tl.constexpr, cut: tl.tensor
) -> tl.tensor:
    """Where a tile has lanes whose best logit, as the survey found it, is not below the threshold."""
    octet = tl.arange(0, OCTETS)
    lane = octet[:, None] * 8 + tl.arange(0, 8)[None, :]
    at = (row * tiles + tile).to(tl.int64) * LANES + lane
    return tl.max(tl.load(maxima + at, mask=(tile + lane * 0) < tiles, other=NEVER), 1) >= cut


@triton.jit
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
    tiles: tl.constexpr,
    splits: tl.constexpr,
    padded_splits: tl.constexpr,
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

    octet = tl.arange(0, OCTETS)
    bit = tl.arange(0, 8)
    lane = octet[:, None] * 8 + bit[None, :]
    nothing = tl.full((OCTETS, 8), LOWEST, tl.float32)
    value = tl.full((OCTETS,), LOWEST, tl.float32)
    choice = tl.zeros((OCTETS,), tl.int32)
    none = tl.zeros((OCTETS,), tl.float32)
    own_high, own_total, out_high, out_total, draw_high, draw_total = (
        value,
        none,
        value,
        none,
        value,
        none,
    )
    unsound = none
    begins, ends = split * tiles // splits, (split + 1) * tiles // splits
    kept = octet >= 0
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
        next_half = first_half
        high, total, old_high, old_total = nothing, nothing * 0.0, nothing, nothing * 0.0
        far_high, far_total, zeros = nothing, nothing * 0.0, nothing * 0.0
        found = tl.zeros((OCTETS, 8), tl.int32)
        for begin in tl.static_range(0, DEPTH, step):
            if begin == DEPTH // 2:
                next_half = fetch_half(
                    logits, columns, after, lane, next_allowed, next_kept, 0, massing
                )
            own, ours, others = (), (), ()
            for ahead in tl.static_range(step):
                at = tile * TILE + (begin + ahead) * LANES + lane
                if begin < DEPTH // 2:
                    x = first_half[begin + ahead].to(tl.float32)
                else:
                    x = second_half[begin + ahead - DEPTH // 2].to(tl.float32)
                legal = ((allowed[begin + ahead][:, None] >> bit[None, :]) & 1) != 0
                y = tl.where(legal, x, LOWEST)
                if not cutting:
                    zeros += y * 0.0
                own = own + (y,)
                if massing:
                    others = others + (tl.where(legal | (at >= vocab), LOWEST, x),)
                if editing:
                    if edit:
                        y = tl.load(edited + at, mask=kept[:, None] & legal, other=LOWEST)
                if cutting:
                    y = tl.where(y >= cut, y, LOWEST)
                ours = ours + (y,)
            if believing and not cutting:
                if apart:
                    old_high, old_total = weigh(own, old_high, old_total, LOG2E)
            if massing:
                far_high, far_total = weigh(others, far_high, far_total, LOG2E)
            if not hot:
                before = high
                for ahead in tl.static_range(step):
                    found = tl.where(ours[ahead] > before, begin + ahead, found)
                    before = tl.maximum(before, ours[ahead])
                if not believing or cutting:
                    high = before
            if hot or (believing and not cutting):
                high, total = weigh(ours, high, total, scale)
        unsound += tl.sum(zeros, 1)
        if surveying:
            tl.store(maxima + (row * tiles + tile).to(tl.int64) * LANES + lane, high)
        if ranking:
            rank = high
            if apart:
                rank = old_high
            tl.store(ranks + (row * tiles + tile).to(tl.int64) * LANES + lane, rank)

        top = tl.max(high, 1)
        if drawing or (believing and not cutting):
            _, weight = fold(high, total, scale, 1)
        if believing and not cutting:
            if apart:
                old_top, old_weight = fold(old_high, old_total, LOG2E, 1)
                own_high, own_total = join(own_high, own_total, old_top, old_weight, LOG2E)
            else:
                own_high, own_total = join(own_high, own_total, top, weight, LOG2E)
        if massing:
            far_top, far_weight = fold(far_high, far_total, LOG2E, 1)
            out_high, out_total = join(out_high, out_total, far_top, far_weight, LOG2E)
        ahead_of = top
        chosen_here = tile * OCTETS + octet
        if hot:
            if surveying:
                draw_high, draw_total = join(draw_high, draw_total, top, weight, scale)
            else:
                noise = tl.log2(exponential(key0, key1, chosen_here.to(tl.uint32) + GROUPS))
                ahead_of = tl.where(top == LOWEST, LOWEST, top * scale + tl.log2(weight) - noise)
        else:
            token = tl.where(high == top[:, None], tile * TILE + found * LANES + lane, 0x7FFFFFFF)
            chosen_here = tl.min(token, 1)
        choice = tl.where(ahead_of > value, chosen_here, choice)
        value = tl.maximum(value, ahead_of)
        allowed, first_half, kept = next_allowed, next_half, next_kept

    # What this part of the row has to say, in PARTS numbers: value, belief (maximum, sum), outside (maximum, sum),
    # soundness, weights of the draw (maximum, sum).
    highest = tl.max(value)
    part = parts + (row * splits + split) * PARTS
    tl.store(part, highest)
    tl.store(picks + row * splits + split, tl.min(tl.where(value == highest, choice, 0x7FFFFFFF)))
    if not cutting:
        tl.store(part + 5, tl.sum(unsound))
        if believing:
            own_highest, own_sum = fold(own_high, own_total, LOG2E, 0)
            tl.store(part + 1, own_highest)
            tl.store(part + 2, own_sum)
        if massing:
            out_highest, out_sum = fold(out_high, out_total, LOG2E, 0)
            tl.store(part + 3, out_highest)
            tl.store(part + 4, out_sum)
        if surveying:
            draw_highest, draw_sum = fold(draw_high, draw_total, scale, 0)
            tl.store(part + 6, draw_highest)
            tl.store(part + 7, draw_sum)
    tl.debug_barrier()
    last = True
    if splits > 1:
        last = tl.atomic_add(counters + row, 1, sem="acq_rel") == splits - 1
    if last:
        if splits > 1:
            tl.store(counters + row, 0)
        token = row * 0
        if not surveying:
            token = chosen(
                logits, vocab, mask, mask_row, heat, draw, edited, edit, cut, parts, picks, row,
                splits, padded_splits, masked, drawing, editing,
            )  # fmt: skip
            tl.store(outputs[0] + row, token.to(tl.int64))
        if not cutting:
            report(parts, outputs, row, heat, splits, padded_splits, surveying, believing, massing)
        if believing and not surveying:
            own = tl.load(logits + token).to(tl.float32)
            tl.store(outputs[2] + row, own - tl.load(outputs[3] + row))


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
    splits: tl.constexpr,
    padded_splits: tl.constexpr,
    masked: tl.constexpr,
    drawing: tl.constexpr,
    editing: tl.constexpr,
) -> tl.tensor:
    """The row's token: the best of its tiles', or drawn in the best group of the tiles'."""
    at = tl.arange(0, padded_splits)
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
    splits: tl.constexpr,
    padded_splits: tl.constexpr,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> None:
    """The row's status, sums and shares."""
    at = tl.arange(0, padded_splits)
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
