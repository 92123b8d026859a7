"""The one pass over the logits: mask, edit, weigh, draw; each program one tile of a row, the last one the whole row.

Does: what `reference_logits` defines, for one tile of `TILE` tokens a program; the program that finishes a row last
reduces the partial results in a fixed order. Does not: find truncation thresholds (`pick_cut`), allocate (`pick`).

A tile is `DEPTH` rows of `LANES` tokens, so that a group of the draw, the tokens that stand below one another, lies in
one thread and costs one exponential a token and one noise a group. Words of the mask that are all zero are not loaded
logits for. Everything is in base 2: `scale` is log2(e) / temperature.
"""

# ruff: noqa: SIM102 - an outer condition known when compiling must not be joined with one of the device

from typing import Any

import triton
import triton.language as tl

from .pick_noise import exponential

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
NEVER: tl.constexpr = tl.constexpr(float("-inf"))
WORDS: tl.constexpr = tl.constexpr(32)  # of a tile's row
BITS: tl.constexpr = tl.constexpr(32)
LANES: tl.constexpr = tl.constexpr(1024)
DEPTH: tl.constexpr = tl.constexpr(16)
TILE: tl.constexpr = tl.constexpr(16384)
GROUPS: tl.constexpr = tl.constexpr(
    0x80000000
)  # counters of groups begin here, past those of all tokens
PARTS: tl.constexpr = tl.constexpr(8)  # numbers a tile leaves behind


@triton.jit
def legal_words(
    masks: Any, mask_row: Any, mask_stride: Any, words: Any, vocab: Any, at: Any
) -> Any:
    """The mask words `at`, with nothing past `vocab`; all ones for a row without a mask (`mask_row` < 0)."""
    inside = at < tl.where(mask_row >= 0, words, 0)
    given = tl.load(masks + mask_row.to(tl.int64) * mask_stride + at, mask=inside, other=0)
    given = tl.where(mask_row >= 0, given, -1)
    left = tl.minimum(tl.maximum(vocab - at * 32, 0), 32)
    # A shift by 32 is not defined: the top bit is shifted in twice.
    tail = ((1 << (left // 2)) << (left - left // 2)) - 1
    return given & tl.where(left == 32, -1, tail)


@triton.jit
def edit_tile(logits: Any, edited: Any, edits: Any, row: Any, tile: Any, columns: Any) -> Any:
    """Write the tile's logits with bias and penalties to `edited`, both at their row; see `pick.Edits` for `edits`."""
    bias_starts, bias_tokens, bias_values, pen_starts, pen_tokens, pen_counts, strengths = edits
    first = tile * TILE
    for step in range(DEPTH):
        at = first + step * LANES + tl.arange(0, LANES)
        x = tl.load(logits + at, mask=at < columns, other=NEVER)
        tl.store(edited + at, x.to(tl.float32))
    tl.debug_barrier()
    chunk = tl.arange(0, LANES)
    begin = tl.load(bias_starts + row)
    end = tl.load(bias_starts + row + 1)
    for i in range(begin, end, LANES):
        token = tl.load(bias_tokens + i + chunk, mask=i + chunk < end, other=-1)
        here = (token >= first) & (token < first + TILE)
        value = tl.load(edited + token, mask=here, other=0.0)
        value += tl.load(bias_values + i + chunk, mask=here, other=0.0)
        tl.store(edited + token, value, mask=here)
    tl.debug_barrier()
    repetition = tl.load(strengths + row * 3)
    presence = tl.load(strengths + row * 3 + 1)
    frequency = tl.load(strengths + row * 3 + 2)
    begin = tl.load(pen_starts + row)
    end = tl.load(pen_starts + row + 1)
    for i in range(begin, end, LANES):
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
def weigh(y: Any, high: Any, total: Any, scale: Any) -> Any:
    """(maxima, sums of 2**((y - maximum) * scale)) of the lanes with `y` [n, WORDS, BITS] added."""
    higher = tl.maximum(high, tl.max(y, 0))
    base = tl.where(higher == NEVER, 0.0, higher)
    fresh = tl.sum(tl.exp2(y * scale - (base * scale)[None]), 0)
    return higher, total * tl.exp2((high - base) * scale) + fresh


@triton.jit
def fold(high: Any, total: Any, scale: Any) -> Any:
    """`weigh` across all lanes: (maximum, sum)."""
    highest = tl.max(high)
    base = tl.where(highest == NEVER, 0.0, highest)
    return highest, tl.sum(total * tl.exp2((high - base) * scale))


@triton.jit
def tile_pass(
    logits, stride, columns, vocab, masks, mask_stride, words, mask_rows,
    temperature, keys, edited, edits, cuts, maxima, ranks, parts, picks, counters,
    tokens, status, logprobs, lses, removed, stats,
    tiles: tl.constexpr, padded_tiles: tl.constexpr, step: tl.constexpr,
    masked: tl.constexpr, mapped: tl.constexpr, drawing: tl.constexpr, editing: tl.constexpr,
    cutting: tl.constexpr, surveying: tl.constexpr, believing: tl.constexpr, massing: tl.constexpr,
    ranking: tl.constexpr,
):  # fmt: skip
    """Grid [rows * tiles]. The constexpr flags say which stages the batch has; see `pick.pick`."""
    row = tl.program_id(0) // tiles
    tile = tl.program_id(0) % tiles
    logits += row.to(tl.int64) * stride
    mask_row = row
    if mapped:
        mask_row = tl.load(mask_rows + row)
    if not masked:
        mask_row = row * 0 - 1
    heat = 0.0
    if drawing:
        heat = tl.load(temperature + row)
    hot = heat > 0
    scale = LOG2E / tl.where(hot, heat, 1.0)
    cut = NEVER
    if cutting:
        cut = tl.load(cuts + row)
    edit = False
    if editing:
        edited += row.to(tl.int64) * (tiles * TILE)
        edit = (tl.load(edits[0] + row) < tl.load(edits[0] + row + 1)) | (
            tl.load(edits[3] + row) < tl.load(edits[3] + row + 1)
        )
        if not cutting:
            if edit:
                edit_tile(logits, edited, edits, row, tile, columns)
    # Whether the model's own distribution is another one than that of the draw.
    apart = edit | (hot & (heat != 1.0))

    word = tl.arange(0, WORDS)
    bit = tl.arange(0, BITS)
    lane = word[:, None] * BITS + bit[None, :]
    high = tl.full((WORDS, BITS), NEVER, tl.float32)
    total = tl.zeros((WORDS, BITS), tl.float32)
    own_high = high
    own_total = total
    out_high = high
    out_total = total
    place = tl.zeros((WORDS, BITS), tl.int32)
    unsound = tl.zeros((WORDS, BITS), tl.float32)
    column = tl.full((WORDS,), 1, tl.int1)
    if cutting:
        # Lanes whose best logit is below the threshold were seen in the survey: they are not read again.
        best = tl.load(maxima + (row * tiles + tile).to(tl.int64) * LANES + lane)
        column = tl.max(best, 1) >= cut
    plain = (mask_row < 0) & ((tile + 1) * TILE <= vocab)
    for begin in range(0, DEPTH, step):
        depth = begin + tl.arange(0, step)
        at = (tile * TILE + depth * LANES)[:, None, None] + lane[None, :, :]
        word_at = (tile * (TILE // 32) + depth * WORDS)[:, None] + word[None, :]
        bits = legal_words(masks, mask_row, mask_stride, words, vocab, word_at)
        wanted = column[None, :]
        if not massing:
            wanted = wanted & (bits != 0)
        x = tl.load(logits + at, mask=wanted[:, :, None] & (at < columns), other=NEVER).to(
            tl.float32
        )
        legal = ((bits[:, :, None] >> bit[None, None, :]) & 1) != 0
        if plain:
            y = x
            if not cutting:
                unsound += tl.sum(x * 0.0, 0)
        else:
            y = tl.where(legal, x, NEVER)
            if not cutting:
                unsound += tl.sum(tl.where(legal, x, 0.0) * 0.0, 0)
        own = y
        if editing:
            if edit:
                z = tl.load(edited + at, mask=wanted[:, :, None] & legal, other=NEVER)
                y = tl.where(legal, z, NEVER)
        if cutting:
            y = tl.where(y >= cut, y, NEVER)
        if believing and not cutting:
            if apart:
                own_high, own_total = weigh(own, own_high, own_total, LOG2E)
        if massing and not cutting:
            other = tl.where(legal | (at >= vocab), NEVER, x)
            out_high, out_total = weigh(other, out_high, out_total, LOG2E)
        if not hot:
            top = tl.max(y, 0)
            found = tl.min(tl.where(y == top[None], depth[:, None, None], DEPTH), 0)
            place = tl.where(top > high, found, place)
            if not (believing and not cutting):
                high = tl.maximum(high, top)
        if hot or (believing and not cutting):
            high, total = weigh(y, high, total, scale)
    if surveying:
        tl.store(maxima + (row * tiles + tile).to(tl.int64) * LANES + lane, high)
    if ranking:
        if apart:
            tl.store(ranks + (row * tiles + tile).to(tl.int64) * LANES + lane, own_high)
        else:
            tl.store(ranks + (row * tiles + tile).to(tl.int64) * LANES + lane, high)

    # What this tile has to say, in PARTS numbers: value, belief (maximum, sum), outside (maximum, sum), soundness,
    # weights (maximum, sum).
    value = NEVER
    choice = 0
    if hot:
        if not surveying:
            counter = (tile * LANES + lane).to(tl.uint32) + GROUPS
            key0 = tl.load(keys + row * 2).to(tl.uint32)
            key1 = tl.load(keys + row * 2 + 1).to(tl.uint32)
            noise = -tl.log2(exponential(key0, key1, counter))
            values = tl.where(high == NEVER, NEVER, high * scale + tl.log2(total) + noise)
            value = tl.max(values)
            choice = tl.min(tl.where(values == value, lane, LANES))
    else:
        value = tl.max(high)
        where = place * LANES + lane
        choice = tl.min(tl.where(high == value, where, TILE))
    part = parts + (row * tiles + tile) * PARTS
    tl.store(part, value)
    if not cutting:
        if believing:
            if apart:
                own_highest, own_sum = fold(own_high, own_total, LOG2E)
            else:
                own_highest, own_sum = fold(high, total, LOG2E)
            tl.store(part + 1, own_highest)
            tl.store(part + 2, own_sum)
        if massing:
            out_highest, out_sum = fold(out_high, out_total, LOG2E)
            tl.store(part + 3, out_highest)
            tl.store(part + 4, out_sum)
        tl.store(part + 5, tl.sum(unsound))
        if surveying:
            weight_high, weight_sum = fold(high, total, scale)
            tl.store(part + 6, weight_high)
            tl.store(part + 7, weight_sum)
        else:
            tl.store(part + 6, tl.max(high))
    tl.store(picks + row * tiles + tile, choice)
    tl.debug_barrier()
    if tl.atomic_add(counters + row, 1, sem="acq_rel") == tiles - 1:
        tl.store(counters + row, 0)
        finish(
            logits, vocab, masks, mask_row, mask_stride, words, heat, keys, edited, edit, cut,
            parts, picks, tokens, status, logprobs, lses, removed, stats, row,
            tiles, padded_tiles, drawing, editing, cutting, surveying, believing, massing,
        )  # fmt: skip


@triton.jit
def finish(
    logits, vocab, masks, mask_row, mask_stride, words, heat, keys, edited, edit, cut,
    parts, picks, tokens, status, logprobs, lses, removed, stats, row,
    tiles: tl.constexpr, padded_tiles: tl.constexpr, drawing: tl.constexpr, editing: tl.constexpr,
    cutting: tl.constexpr, surveying: tl.constexpr, believing: tl.constexpr, massing: tl.constexpr,
):  # fmt: skip
    """The row's answer from what its tiles left."""
    at = tl.arange(0, padded_tiles)
    there = at < tiles
    part = parts + (row * tiles + at) * PARTS
    value = tl.load(part, mask=there, other=NEVER, cache_modifier=".cg")
    choices = tl.load(picks + row * tiles + at, mask=there, other=TILE, cache_modifier=".cg")
    best = tl.max(value)
    leader = tl.min(tl.where(value == best, at, padded_tiles))
    token = tl.min(tl.where(value == best, at * TILE + choices, 0x7FFFFFFF))
    if drawing and not surveying:
        if heat > 0:
            group = tl.min(tl.where(at == leader, choices, TILE)) % LANES
            member = tl.minimum(leader, tiles - 1) * TILE + group + tl.arange(0, DEPTH) * LANES
            bits = legal_words(masks, mask_row, mask_stride, words, vocab, member // 32)
            legal = ((bits >> (member % 32)) & 1) != 0
            x = tl.load(logits + member, mask=legal, other=NEVER).to(tl.float32)
            if editing:
                if edit:
                    x = tl.load(edited + member, mask=legal, other=NEVER, cache_modifier=".cg")
            x = tl.where(x >= cut, x, NEVER)
            key0 = tl.load(keys + row * 2).to(tl.uint32)
            key1 = tl.load(keys + row * 2 + 1).to(tl.uint32)
            noise = -tl.log(exponential(key0, key1, member.to(tl.uint32)))
            drawn = tl.div_rn(x, heat) + noise
            token = tl.min(tl.where(drawn == tl.max(drawn), member, 0x7FFFFFFF))
    token = tl.minimum(token, vocab - 1)
    tl.store(tokens + row, token.to(tl.int64))
    if not cutting:
        sound = tl.sum(tl.load(part + 5, mask=there, other=0.0, cache_modifier=".cg"))
        highest = tl.max(tl.load(part + 6, mask=there, other=NEVER, cache_modifier=".cg"))
        state = tl.where(sound == 0, tl.where(highest == NEVER, 2, 0), 1)
        tl.store(status + row, state.to(tl.int64))
        if surveying:
            high = tl.load(part + 6, mask=there, other=NEVER, cache_modifier=".cg")
            total = tl.load(part + 7, mask=there, other=0.0, cache_modifier=".cg")
            highest, summed = fold(high, total, LOG2E / tl.where(heat > 0, heat, 1.0))
            tl.store(stats + row * 2, highest)
            tl.store(stats + row * 2 + 1, summed)
        if believing:
            high = tl.load(part + 1, mask=there, other=NEVER, cache_modifier=".cg")
            total = tl.load(part + 2, mask=there, other=0.0, cache_modifier=".cg")
            highest, summed = fold(high, total, LOG2E)
            lse = highest + tl.log(summed)
            tl.store(lses + row, lse)
            if massing:
                high = tl.load(part + 3, mask=there, other=NEVER, cache_modifier=".cg")
                total = tl.load(part + 4, mask=there, other=0.0, cache_modifier=".cg")
                highest, summed = fold(high, total, LOG2E)
                outside = highest + tl.log(summed)
                share = 1.0 / (1.0 + tl.exp(lse - outside))
                tl.store(removed + row, tl.where(summed > 0, share, summed))
    if believing:
        if not surveying:
            lse = tl.load(lses + row)
            x = tl.load(logits + token).to(tl.float32)
            tl.store(logprobs + row, x - lse)
