"""The one pass over the logits: mask, edit, weigh, draw; each program one tile of a row, the last one the whole row.

Does: what `reference_logits` defines, for one tile of `TILE` tokens a program; the program that finishes a row last
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
PARTS: tl.constexpr = tl.constexpr(8)  # numbers a tile leaves behind


@triton.jit
def legal_bytes(mask: tl.tensor, mask_row: tl.tensor, vocab: tl.tensor, at: tl.tensor) -> tl.tensor:
    """The mask bytes `at` as int32, with nothing past `vocab`; all ones for a row without a mask (`mask_row` < 0)."""
    inside = at < tl.where(mask_row >= 0, mask[2], 0)
    place = mask[0] + mask_row.to(tl.int64) * mask[1] + at
    given = tl.load(place, mask=inside, other=0).to(tl.int32)
    given = tl.where(mask_row >= 0, given, 255)
    left = tl.minimum(tl.maximum(vocab - at * 8, 0), 8)
    return given & ((1 << left) - 1)


@triton.jit
def is_legal(mask: tl.tensor, mask_row: tl.tensor, vocab: tl.tensor, token: tl.tensor) -> tl.tensor:
    """Whether single tokens are legal."""
    return ((legal_bytes(mask, mask_row, vocab, token // 8) >> (token % 8)) & 1) != 0


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
def weigh(rows: tl.tensor, high: tl.tensor, total: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """(maxima, sums of 2**((x - maximum) * scale)) with a tuple of logits added to every lane.

    `high` begins at LOWEST, which also stands for what is not there: its weight vanishes beside any other.
    """
    higher = high
    for i in tl.static_range(len(rows)):
        higher = tl.maximum(higher, rows[i])
    base = higher * scale
    total = total * tl.exp2(high * scale - base)
    for i in tl.static_range(len(rows)):
        total += tl.exp2(rows[i] * scale - base)
    return higher, total


@triton.jit
def fold(high: tl.tensor, total: tl.tensor, scale: tl.tensor) -> tl.tensor:
    """`weigh` across all lanes: (maximum, sum)."""
    highest = tl.max(high)
    return highest, tl.sum(total * tl.exp2(high * scale - highest * scale))


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
    """Grid [rows * tiles]. The constexpr flags say which stages the batch has; see `pick`."""
    row = tl.program_id(0) // tiles
    tile = tl.program_id(0) % tiles
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
    hot = heat > 0
    scale = LOG2E / tl.where(hot, heat, 1.0)
    edit = False
    if editing:
        edited += row.to(tl.int64) * (tiles * TILE)
        edit = is_edited(edits, row)
        if not cutting:
            if edit:
                edit_tile(scores, edited, edits, row, tile)
    # Whether the model's own distribution is another one than that of the draw.
    apart = edit | (hot & (heat != 1.0))

    octet = tl.arange(0, OCTETS)
    bit = tl.arange(0, 8)
    lane = octet[:, None] * 8 + bit[None, :]
    high = tl.full((OCTETS, 8), LOWEST, tl.float32)
    total = tl.zeros((OCTETS, 8), tl.float32)
    own_high, own_total, out_high, out_total = high, total, high, total
    place = tl.zeros((OCTETS, 8), tl.int32)
    unsound = tl.zeros((OCTETS, 8), tl.float32)
    kept = octet >= 0
    cut = NEVER
    if cutting:
        # Lanes whose best logit is below the threshold were seen in the survey: they are not read again.
        cut = tl.load(cuts + row)
        best = tl.load(maxima + (row * tiles + tile).to(tl.int64) * LANES + lane)
        kept = tl.max(best, 1) >= cut
    for begin in range(0, DEPTH, step):
        own, ours, others = (), (), ()
        for ahead in tl.static_range(step):
            depth = begin + ahead
            at = tile * TILE + depth * LANES + lane
            bits = legal_bytes(mask, mask_row, vocab, tile * (TILE // 8) + depth * OCTETS + octet)
            wanted = kept
            if not massing:
                wanted = wanted & (bits != 0)
            x = tl.load(logits + at, mask=wanted[:, None] & (at < columns), other=LOWEST)
            x = x.to(tl.float32)
            legal = ((bits[:, None] >> bit[None, :]) & 1) != 0
            y = tl.where(legal, x, LOWEST)
            if not cutting:
                unsound += y * 0.0
            own = own + (y,)
            if massing:
                others = others + (tl.where(legal | (at >= vocab), LOWEST, x),)
            if editing:
                if edit:
                    y = tl.load(edited + at, mask=wanted[:, None] & legal, other=LOWEST)
            if cutting:
                y = tl.where(y >= cut, y, LOWEST)
            ours = ours + (y,)
        if believing and not cutting:
            if apart:
                own_high, own_total = weigh(own, own_high, own_total, LOG2E)
        if massing and not cutting:
            out_high, out_total = weigh(others, out_high, out_total, LOG2E)
        if not hot:
            before = high
            for ahead in tl.static_range(step):
                place = tl.where(ours[ahead] > before, begin + ahead, place)
                before = tl.maximum(before, ours[ahead])
            if not believing or cutting:
                high = before
        if hot or (believing and not cutting):
            high, total = weigh(ours, high, total, scale)
    if surveying:
        tl.store(maxima + (row * tiles + tile).to(tl.int64) * LANES + lane, high)
    if ranking:
        rank = high
        if apart:
            rank = own_high
        tl.store(ranks + (row * tiles + tile).to(tl.int64) * LANES + lane, rank)

    # What this tile has to say, in PARTS numbers: value, belief (maximum, sum), outside (maximum, sum), soundness,
    # weights (maximum, sum).
    value = tl.max(high)
    choice = tl.min(tl.where(high == value, place * LANES + lane, TILE))
    if hot:
        if not surveying:
            key0 = tl.load(draw[1] + row * 2).to(tl.uint32)
            key1 = tl.load(draw[1] + row * 2 + 1).to(tl.uint32)
            noise = -tl.log2(
                exponential(key0, key1, (tile * OCTETS + octet).to(tl.uint32) + GROUPS)
            )
            highest = tl.max(high, 1)
            weight = tl.sum(total * tl.exp2(high * scale - (highest * scale)[:, None]), 1)
            values = highest * scale + tl.log2(weight) + noise
            values = tl.where(highest == LOWEST, LOWEST, values)
            value = tl.max(values)
            choice = tl.min(tl.where(values == value, octet, OCTETS))
    part = parts + (row * tiles + tile) * PARTS
    tl.store(part, value)
    tl.store(picks + row * tiles + tile, choice)
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
    tl.debug_barrier()
    if tl.atomic_add(counters + row, 1, sem="acq_rel") == tiles - 1:
        tl.store(counters + row, 0)
        token = row * 0
        if not surveying:
            token = chosen(
                logits, vocab, mask, mask_row, heat, draw, edited, edit, cut, parts, picks, row,
                tiles, padded_tiles, drawing, editing,
            )  # fmt: skip
            tl.store(outputs[0] + row, token.to(tl.int64))
        if not cutting:
            report(parts, outputs, row, heat, tiles, padded_tiles, surveying, believing, massing)
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
    tiles: tl.constexpr,
    padded_tiles: tl.constexpr,
    drawing: tl.constexpr,
    editing: tl.constexpr,
) -> tl.tensor:
    """The row's token: the best of its tiles', or drawn in the best group of the tiles'."""
    at = tl.arange(0, padded_tiles)
    there = at < tiles
    part = parts + (row * tiles + at) * PARTS
    value = tl.load(part, mask=there, other=NEVER, cache_modifier=".cg")
    choices = tl.load(picks + row * tiles + at, mask=there, other=TILE, cache_modifier=".cg")
    best = tl.max(value)
    token = tl.min(tl.where(value == best, at * TILE + choices, 0x7FFFFFFF))
    if drawing:
        if heat > 0:
            leader = tl.min(tl.where(value == best, at, padded_tiles))
            group = tl.min(tl.where(at == leader, choices, TILE)) % OCTETS
            inner = tl.arange(0, DEPTH * 8)
            member = tl.minimum(leader, tiles - 1) * TILE + group * 8
            member += inner // 8 * LANES + inner % 8
            legal = is_legal(mask, mask_row, vocab, member)
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
    tiles: tl.constexpr,
    padded_tiles: tl.constexpr,
    surveying: tl.constexpr,
    believing: tl.constexpr,
    massing: tl.constexpr,
) -> None:
    """The row's status, sums and shares."""
    at = tl.arange(0, padded_tiles)
    there = at < tiles
    part = parts + (row * tiles + at) * PARTS
    sound = tl.sum(tl.load(part + 5, mask=there, other=0.0, cache_modifier=".cg"))
    high = tl.load(part + 6, mask=there, other=LOWEST, cache_modifier=".cg")
    state = tl.where(sound == 0, tl.where(tl.max(high) == LOWEST, 2, 0), 1)
    tl.store(outputs[1] + row, state.to(tl.int64))
    if surveying:
        total = tl.load(part + 7, mask=there, other=0.0, cache_modifier=".cg")
        highest, summed = fold(high, total, LOG2E / tl.where(heat > 0, heat, 1.0))
        tl.store(outputs[5] + row * 2, highest)
        tl.store(outputs[5] + row * 2 + 1, tl.where(state == 0, summed, 0.0))
    if believing:
        high = tl.load(part + 1, mask=there, other=LOWEST, cache_modifier=".cg")
        total = tl.load(part + 2, mask=there, other=0.0, cache_modifier=".cg")
        highest, summed = fold(high, total, LOG2E)
        lse = highest + tl.log(summed)
        tl.store(outputs[3] + row, lse)
        if massing:
            high = tl.load(part + 3, mask=there, other=LOWEST, cache_modifier=".cg")
            total = tl.load(part + 4, mask=there, other=0.0, cache_modifier=".cg")
            highest, summed = fold(high, total, LOG2E)
            share = 1.0 / (1.0 + tl.exp(lse - highest - tl.log(summed)))
            tl.store(outputs[4] + row, tl.where(summed > 0, share, summed))
