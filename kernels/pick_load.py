"""What the passes of `pick` read: logits, masks, and logits with bias and penalties.

Does: load tiles, leaving out what a mask or a threshold makes needless, and edit them. Does not: weigh or draw.

Tuples of arguments: `scores` (logits, row stride, words or numbers a row, vocab), `mask` (words, row stride, words a
row, row of each row of logits), `edits` as `pick._edits` makes them.
"""

# ruff: noqa: RUF005 - Triton knows no starred tuples

from typing import Final

import triton
import triton.language as tl

from .pick_weights import DEPTH, LANES, LOWEST, NEVER, OCTETS, TILE

INTERPRETED: Final = tl.constexpr(triton.knobs.runtime.interpret)


@triton.jit
def appended(rows: tl.tensor, row: tl.tensor) -> tl.tensor:
    """A tuple with one more."""
    return rows + (row,)


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
    legal = (1 << left) - 1
    if masked:
        inside = at < tl.where(mask_row >= 0, mask[2] * 4, 0)
        place = mask[0] + mask_row.to(tl.int64) * mask[1] + at // 4
        given = tl.load(place, mask=inside, other=0) >> (at % 4 * 8)
        legal = tl.where(mask_row >= 0, given & legal, legal)
    return legal


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
        tl.store(edited + at, tl.load(place, mask=at < scores[3], other=NEVER).to(tl.float32))
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
def row_of_mask(
    mask: tl.tensor, row: tl.tensor, masked: tl.constexpr, mapped: tl.constexpr
) -> tl.tensor:
    """Which row of masks a row of logits has; negative where it has none."""
    which = row * 0 - 1
    if masked:
        which = row
        if mapped:
            which = tl.load(mask[3] + row)
    return which


@triton.jit
def whole_masks(
    mask: tl.tensor, mask_row: tl.tensor, row: tl.tensor, rows: tl.constexpr, masked: tl.constexpr
) -> tl.tensor:
    """`fetch_masks` where nothing asked for lies past the vocabulary or the mask."""
    octet = tl.arange(0, OCTETS)
    place = mask[0] + mask_row.to(tl.int64) * mask[1] + row * (LANES // 32) + octet // 4
    allowed = ()
    for depth in tl.static_range(rows):
        given = tl.full((OCTETS,), 255, tl.int32)
        if masked:
            given = tl.load(place + depth * (LANES // 32)) >> (octet % 4 * 8)
        allowed = appended(allowed, given)
    return allowed


@triton.jit
def ending_masks(
    mask: tl.tensor,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    row: tl.tensor,
    rows: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """`fetch_masks` anywhere."""
    allowed = ()
    for depth in tl.static_range(rows):
        at = (row + depth) * OCTETS + tl.arange(0, OCTETS)
        allowed = appended(allowed, legal_bytes(mask, mask_row, vocab, at, masked))
    return allowed


@triton.jit
def fetch_masks(
    mask: tl.tensor,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    row: tl.tensor,
    rows: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """The mask bytes of `rows` rows of LANES tokens, from row `row` on: a tuple of int32 [OCTETS].

    Nothing past `vocab` is legal; the bits above a byte may be anything.
    """
    inside = vocab
    if masked:
        inside = tl.minimum(vocab, tl.where(mask_row >= 0, mask[2] * 32, 0))
    if (row + rows) * LANES <= inside:
        allowed = whole_masks(mask, mask_row, row, rows, masked)
    else:
        allowed = ending_masks(mask, mask_row, vocab, row, rows, masked)
    return allowed


@triton.jit
def bits_of(half: tl.constexpr, paired: tl.constexpr) -> tl.tensor:
    """Which of an octet's eight tokens are in one of the two halves of a row, int32 [1, 4].

    The halves are the even and the odd ones where two logits come in one word, or else the first and the last four.
    """
    column = tl.arange(0, 4)[None, :]
    return column * 2 + half if paired else column + half * 4


@triton.jit
def place_of(row: tl.tensor, half: tl.constexpr, paired: tl.constexpr) -> tl.tensor:
    """The tokens [OCTETS, 4] of half a row."""
    return row * LANES + tl.arange(0, OCTETS)[:, None] * 8 + bits_of(half, paired)


@triton.jit
def fetch(
    logits: tl.tensor,
    stored: tl.tensor,
    row: tl.tensor,
    allowed: tl.tensor,
    paired: tl.constexpr,
    massing: tl.constexpr,
) -> tl.tensor:
    """The logits of the rows whose masks are `allowed`, as they are stored: of each row one [OCTETS, 4] of pairs, or
    two halves. `stored`: words or numbers of a whole row of logits. Anything stands where nobody asks.
    """
    raw = ()
    octet = tl.arange(0, OCTETS)[:, None]
    column = tl.arange(0, 4)[None, :]
    for depth in tl.static_range(len(allowed)):
        asked = ((allowed[depth] & 255) != 0)[:, None]
        if paired:
            words = logits.to(tl.pointer_type(tl.int32), bitcast=True)
            at = (row + depth) * (LANES // 2) + octet * 4 + column
            there = at < stored
            raw = appended(
                raw,
                tl.load(
                    words + at,
                    mask=there if massing else there & asked,
                    eviction_policy="evict_first",
                ),
            )
        else:
            for half in tl.static_range(2):
                at = (row + depth) * LANES + octet * 8 + half * 4 + column
                there = at < stored
                raw = appended(
                    raw,
                    tl.load(
                        logits + at,
                        mask=there if massing else there & asked,
                        eviction_policy="evict_first",
                    ),
                )
    return raw


@triton.jit
def halves(raw: tl.tensor, logits: tl.tensor, paired: tl.constexpr) -> tl.tensor:
    """What `fetch` loaded as float32, a tuple of [OCTETS, 4]: two halves of each row. `logits` points to the logits."""
    found = ()
    for i in tl.static_range(len(raw)):
        if not paired:
            found = appended(found, raw[i].to(tl.float32))
        elif logits.dtype.element_ty == tl.bfloat16:
            found = appended(found, (raw[i] << 16).to(tl.float32, bitcast=True))
            found = appended(found, (raw[i] & -65536).to(tl.float32, bitcast=True))
        else:
            for half in tl.static_range(2):
                short = (raw[i] >> (16 * half)).to(tl.int16)
                x = short.to(logits.dtype.element_ty, bitcast=True).to(tl.float32)
                found = appended(found, x)
    return found


@triton.jit
def is_legal_half(allowed: tl.tensor, half: tl.constexpr, paired: tl.constexpr) -> tl.tensor:
    """Whether the tokens of half a row are legal, by the row's mask bytes."""
    return (allowed[:, None] & (1 << bits_of(half, paired))) != 0


@triton.jit
def legal_only(
    raw: tl.tensor,
    logits: tl.tensor,
    allowed: tl.tensor,
    paired: tl.constexpr,
) -> tl.tensor:
    """What `fetch` loaded, by `halves`, LOWEST where it is not legal."""
    own = halves(raw, logits, paired)
    legal = ()
    for i in tl.static_range(len(own)):
        mask = allowed[i // 2]
        if INTERPRETED:
            x = tl.where(is_legal_half(mask, i % 2, paired), own[i], LOWEST)
        else:
            # The compiler, left to itself, collects the bits of many rows in words before it looks at them.
            x = tl.inline_asm_elementwise(
                "{ .reg .pred p; .reg .b32 t; and.b32 t, $2, $3; setp.ne.b32 p, t, 0;"
                " selp.b32 $0, $1, 0xF1800000, p; }",
                "=r,r,r,r",
                [own[i], mask[:, None], 1 << bits_of(i % 2, paired)],
                dtype=tl.float32,
                is_pure=True,
                pack=1,
            )
        legal = appended(legal, x)
    return legal


@triton.jit
def illegal_only(
    raw: tl.tensor,
    logits: tl.tensor,
    allowed: tl.tensor,
    row: tl.tensor,
    paired: tl.constexpr,
    vocab: tl.tensor,
) -> tl.tensor:
    """What `fetch` loaded in halves, LOWEST where it is legal or no token."""
    others = ()
    x = halves(raw, logits, paired)
    for i in tl.static_range(len(x)):
        legal = is_legal_half(allowed[i // 2], i % 2, paired)
        at = place_of(row + i // 2, i % 2, paired)
        others = appended(others, tl.where(legal | (at >= vocab), LOWEST, x[i]))
    return others


@triton.jit
def edited_rows(
    own: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    row: tl.tensor,
    paired: tl.constexpr,
) -> tl.tensor:
    """The logits with bias and penalties, where there are some: as `edit_tile` wrote them; LOWEST stays LOWEST."""
    ours = ()
    for i in tl.static_range(len(own)):
        y = own[i]
        if edit:
            at = place_of(row + i // 2, i % 2, paired)
            y = tl.load(edited + at, mask=y != LOWEST, other=LOWEST)
        ours = appended(ours, y)
    return ours
