"""What the passes of `pick` read: logits, masks, and logits with bias and penalties.

Does: load tiles, leaving out what a mask or a threshold makes needless, and edit them. Does not: weigh or draw.

Tuples of arguments: `scores` (logits, row stride, columns, vocab), `mask` (words, row stride, words a row, row of each
row of logits), `edits` as `pick._edits` makes them.
"""

# ruff: noqa: RUF005 - Triton knows no starred tuples

from typing import Final

import triton
import triton.language as tl

from .pick_weights import DEPTH, LANES, LOWEST, NEVER, OCTETS, TILE, higher

INTERPRETED: Final = tl.constexpr(triton.knobs.runtime.interpret)


_LOWEST_PAIRS: Final = {"bf16": "0xF180F180", "f16": "0xFC00FC00"}


def _legal_pairs(kind: str) -> tl.constexpr:
    """PTX: of four words of two numbers each, LOWEST for those whose bit of a byte is not set.

    Four bits of the byte become the signs of four bytes, and each sign, spread over half a word, a mask.
    """
    masks = (
        f"prmt.b32 m, {nibble}, 0, {selector}; lop3.b32 ${i}, ${4 + i}, m, {_LOWEST_PAIRS[kind]}, 0xE2;"
        for i, (nibble, selector) in enumerate(
            (("a", "0x9988"), ("a", "0xBBAA"), ("b", "0x9988"), ("b", "0xBBAA"))
        )
    )
    nibbles = "and.b32 a, $8, 15; shr.u32 b, $8, 4; and.b32 b, b, 15;"
    signs = "mul.lo.u32 a, a, 0x10204080; mul.lo.u32 b, b, 0x10204080;"
    return tl.constexpr("{ .reg .b32 a, b, m; " + nibbles + signs + " ".join(masks) + " }")


def _legal_four(first: int) -> tl.constexpr:
    """PTX: of four float32, LOWEST for those whose bit of a byte, from bit `first` on, is not set.

    The compiler, left to itself, collects the bits of many rows in words before it looks at them.
    """
    each = (
        f"and.b32 t, $8, {1 << first + i}; setp.ne.b32 p, t, 0; selp.b32 ${i}, ${4 + i}, 0xF1800000, p;"
        for i in range(4)
    )
    return tl.constexpr("{ .reg .pred p; .reg .b32 t; " + " ".join(each) + " }")


_BF16_PAIRS: Final = _legal_pairs("bf16")
_F16_PAIRS: Final = _legal_pairs("f16")
_FIRST: Final = _legal_four(0)
_SECOND: Final = _legal_four(4)
_FOUR: Final = tl.constexpr("=r,=r,=r,=r,r,r,r,r,r,r,r,r")


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
def fetch_masks(
    mask: tl.tensor,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    row: tl.tensor,
    rows: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """The mask bytes of `rows` rows of LANES tokens, from row `row` on: a tuple of int32 [OCTETS]."""
    allowed = ()
    for depth in tl.static_range(rows):
        at = (row + depth) * OCTETS + tl.arange(0, OCTETS)
        allowed = appended(allowed, legal_bytes(mask, mask_row, vocab, at, masked))
    return allowed


@triton.jit
def fetch_tile_masks(
    mask: tl.tensor,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    tile: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """`fetch_masks` of a tile, but that the higher bits may be anything."""
    octet = tl.arange(0, OCTETS)
    end = (tile + 1) * TILE
    if masked:
        end = tl.where(mask_row >= 0, end, 0x7FFFFFFF)
        width = mask[2] * 32
    else:
        width = end
    if end <= tl.minimum(vocab, width):
        allowed = ()
        place = mask[0] + mask_row.to(tl.int64) * mask[1] + tile * (TILE // 32) + octet // 4
        for depth in tl.static_range(DEPTH):
            if masked:
                given = tl.load(place + depth * (LANES // 32)) >> (octet % 4 * 8)
            else:
                given = tl.full((OCTETS,), 255, tl.int32)
            allowed = appended(allowed, given)
    else:
        allowed = fetch_masks(mask, mask_row, vocab, tile * DEPTH, DEPTH, masked)
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
    begin: tl.constexpr,
    rows: tl.constexpr,
    paired: tl.constexpr,
    massing: tl.constexpr,
) -> tl.tensor:
    """The logits of some rows as they are stored, a tuple of [OCTETS, 4]: of each row one of pairs or two halves.

    `stored`: words or numbers of a whole row; `begin`: where their masks begin in `allowed`. Anything stands where
    nobody asks.
    """
    raw = ()
    octet = tl.arange(0, OCTETS)[:, None]
    column = tl.arange(0, 4)[None, :]
    for depth in tl.static_range(rows):
        asked = ((allowed[begin + depth] & 255) != 0)[:, None]
        if paired:
            words = logits.to(tl.pointer_type(tl.int32), bitcast=True)
            at = (row + depth) * (LANES // 2) + octet * 4 + column
            there = at < stored
            raw = appended(raw, tl.load(words + at, mask=there if massing else there & asked))
        else:
            for half in tl.static_range(2):
                at = (row + depth) * LANES + octet * 8 + half * 4 + column
                there = at < stored
                raw = appended(raw, tl.load(logits + at, mask=there if massing else there & asked))
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
                found = appended(found, higher(x, LOWEST))
    return found


@triton.jit
def pairs_of(even: tl.tensor, odd: tl.tensor, kind: tl.constexpr) -> tl.tensor:
    """Two numbers of the type `kind` in a word; what `halves` undoes. Interpreted only."""
    low = even.to(kind).to(tl.int16, bitcast=True).to(tl.int32) & 65535
    return low | (odd.to(kind).to(tl.int16, bitcast=True).to(tl.int32) << 16)


@triton.jit
def higher_pairs(x: tl.tensor, y: tl.tensor, logits: tl.tensor) -> tl.tensor:
    """`higher` of words of two numbers."""
    kind: tl.constexpr = logits.dtype.element_ty
    if INTERPRETED:
        mine, theirs = halves((x,), logits, paired=True), halves((y,), logits, paired=True)
        found = pairs_of(higher(mine[0], theirs[0]), higher(mine[1], theirs[1]), kind)
    else:
        found = tl.inline_asm_elementwise(
            "max.NaN.bf16x2 $0, $1, $2;" if kind == tl.bfloat16 else "max.NaN.f16x2 $0, $1, $2;",
            "=r,r,r",
            [x, y],
            dtype=tl.int32,
            is_pure=True,
            pack=1,
        )
    return found


@triton.jit
def lanes_with(
    lanes: tl.tensor, rows: tl.tensor, logits: tl.tensor, packed: tl.constexpr
) -> tl.tensor:
    """The maxima of lanes with some rows more; `rows` and `lanes` in words if `packed`, or else in halves."""
    if packed:
        best = lanes[0]
        for i in tl.static_range(len(rows)):
            best = higher_pairs(best, rows[i], logits)
        found = (best,)
    else:
        first, second = lanes
        for i in tl.static_range(0, len(rows), 2):
            first, second = higher(first, rows[i]), higher(second, rows[i + 1])
        found = (first, second)
    return found


@triton.jit
def no_lanes(logits: tl.tensor, packed: tl.constexpr) -> tl.tensor:
    """The maxima of lanes before there is any row."""
    if packed:
        word: tl.constexpr = -0x0E7F0E80 if logits.dtype.element_ty == tl.bfloat16 else -0x03FF0400
        found = (tl.full((OCTETS, 4), word, tl.int32),)
    else:
        none = tl.full((OCTETS, 4), LOWEST, tl.float32)
        found = (none, none)
    return found


@triton.jit
def is_legal_half(allowed: tl.tensor, half: tl.constexpr, paired: tl.constexpr) -> tl.tensor:
    """Whether the tokens of half a row are legal, by the row's mask bytes."""
    return (allowed[:, None] & (1 << bits_of(half, paired))) != 0


@triton.jit
def select_legal(
    x: tl.tensor,
    mask: tl.tensor,
    half: tl.constexpr,
    logits: tl.tensor,
    paired: tl.constexpr,
) -> tl.tensor:
    """A piece of `fetch`'s, LOWEST where the row's mask bytes forbid it; of rows not paired one of the two halves."""
    if paired:
        how: tl.constexpr = _BF16_PAIRS if logits.dtype.element_ty == tl.bfloat16 else _F16_PAIRS
    else:
        how: tl.constexpr = _SECOND if half else _FIRST
    if INTERPRETED:
        if paired:
            even, odd = halves((x,), logits, paired)
            even = tl.where(is_legal_half(mask, 0, paired), even, LOWEST)
            odd = tl.where(is_legal_half(mask, 1, paired), odd, LOWEST)
            y = pairs_of(even, odd, logits.dtype.element_ty)
        else:
            y = tl.where(is_legal_half(mask, half, paired), x, LOWEST)
    else:
        y = tl.inline_asm_elementwise(
            how,
            _FOUR,
            [x, tl.broadcast_to(mask[:, None], (OCTETS, 4))],
            dtype=x.dtype,
            is_pure=True,
            pack=4,
        )
    return y


@triton.jit
def legal_only(
    raw: tl.tensor,
    logits: tl.tensor,
    allowed: tl.tensor,
    begin: tl.constexpr,
    paired: tl.constexpr,
) -> tl.tensor:
    """What `fetch` loaded, in the same form, LOWEST where it is not legal."""
    own = ()
    for i in tl.static_range(len(raw)):
        mask = allowed[begin + i if paired else begin + i // 2]
        own = appended(own, select_legal(raw[i], mask, i % 2, logits, paired))
    return own


@triton.jit
def illegal_only(
    raw: tl.tensor,
    logits: tl.tensor,
    allowed: tl.tensor,
    row: tl.tensor,
    begin: tl.constexpr,
    paired: tl.constexpr,
    vocab: tl.tensor,
) -> tl.tensor:
    """What `fetch` loaded in halves, LOWEST where it is legal or no token."""
    others = ()
    x = halves(raw, logits, paired)
    for i in tl.static_range(len(x)):
        legal = is_legal_half(allowed[begin + i // 2], i % 2, paired)
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
