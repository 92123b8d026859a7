"""What the passes of `pick` read: logits, masks, and logits with bias and penalties.

Does: load rows, leaving out what a mask makes needless, and edit them. Does not: mask what it has loaded
(`pick_kept`), weigh or draw.

Tuples of arguments: `scores` (logits, row stride, words or numbers a row, vocab), `mask` (words, row stride, words a
row, row of each row of logits), `edits` as `pick._edits` makes them.
"""

# ruff: noqa: RUF005 - Triton knows no starred tuples

import triton
import triton.language as tl

from .pick_weights import DEPTH, INTERPRETED, LANES, LOWEST, NEVER, OCTETS, TILE, WIDE


@triton.jit
def appended(rows: tl.tensor, row: tl.tensor) -> tl.tensor:
    """A tuple with one more."""
    return rows + (row,)


@triton.jit
def nil_of(x: tl.tensor, vocab: tl.tensor) -> tl.tensor:
    """Zero, which no compiler knows: so what needs it comes after what `x` needs."""
    return x.to(tl.int32, bitcast=True) & (vocab >> 31)


@triton.jit
def existing_byte(vocab: tl.tensor, at: tl.tensor) -> tl.tensor:
    """The mask bytes `at` of all tokens below `vocab`."""
    left = tl.minimum(tl.maximum(vocab - at * 8, 0), 8)
    return (1 << left) - 1


@triton.jit
def legal_bytes(
    mask: tl.tensor,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    at: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """The mask bytes `at` as int32, with nothing past `vocab`; all ones for a row without a mask (`mask_row` < 0)."""
    legal = existing_byte(vocab, at)
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
    scores: tl.tensor,
    edited: tl.tensor,
    edits: tl.tensor,
    row: tl.tensor,
    tile: tl.tensor,
    lead: tl.constexpr,
) -> None:
    """Write the tile's logits with bias and penalties to `edited`, the row's own."""
    bias_starts, bias_tokens, bias_values, pen_starts, pen_tokens, pen_counts, strengths = edits
    first = tile * TILE - lead
    for step in range(DEPTH):
        at = first + step * LANES + tl.arange(0, LANES)
        place = scores[0] + row.to(tl.int64) * scores[1] + at
        there = (at >= 0) & (at < scores[3])
        tl.store(edited + at, tl.load(place, mask=there, other=NEVER).to(tl.float32), mask=at >= 0)
    tl.debug_barrier()
    chunk = tl.arange(0, LANES)
    end = tl.load(bias_starts + row + 1)
    for i in range(tl.load(bias_starts + row), end, LANES):
        token = tl.load(bias_tokens + i + chunk, mask=i + chunk < end, other=-1)
        here = (token >= first) & (token >= 0) & (token < first + TILE)
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
        here = (token >= first) & (token >= 0) & (token < first + TILE)
        count = tl.load(pen_counts + i + chunk, mask=here, other=0.0)
        value = tl.load(edited + token, mask=here, other=0.0)
        value = tl.where(value > 0, tl.div_rn(value, repetition), value * repetition)
        value = value - frequency * count
        value = value - tl.where(count > 0, presence, 0.0)
        tl.store(edited + token, value, mask=here)
    tl.debug_barrier()


@triton.jit
def edit_two(
    scores: tl.tensor,
    edited: tl.tensor,
    edits: tl.tensor,
    row: tl.tensor,
    two: tl.tensor,
    lead: tl.constexpr,
) -> None:
    """Two tiles by `edit_tile`."""
    edit_tile(scores, edited, edits, row, two * 2, lead)
    edit_tile(scores, edited, edits, row, two * 2 + 1, lead)


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
def row_of_step(
    step: tl.tensor, there: tl.tensor, tiles: tl.constexpr, rows: tl.constexpr
) -> tl.tensor:
    """The first row of a step of `rows` rows for each of OCTETS octets, or one past the last tile's where the program
    has no such step."""
    return tl.where(there, step * rows, tiles * DEPTH) + tl.zeros((OCTETS,), tl.int32)


@triton.jit
def rows_of_two(
    step: tl.tensor,
    there: tl.tensor,
    tiles: tl.constexpr,
    lead: tl.constexpr,
    rows: tl.constexpr,
) -> tl.tensor:
    """The first row of a step of `rows` rows for each of WIDE octets, those of two tiles that are gone through side by
    side: negative before the first token, past the last tile's where the program has no such step."""
    first = tl.where(there, step * rows + step // (DEPTH // rows) * DEPTH, tiles * DEPTH)
    return first + tl.arange(0, WIDE) // OCTETS * DEPTH - lead // LANES


@triton.jit
def turns_of_two(vocab: tl.tensor, lead: tl.constexpr) -> tl.tensor:
    """Turns, of eight rows of two tiles side by side, that a row of logits takes."""
    turns: tl.constexpr = DEPTH // 8
    single = tl.cdiv(vocab + lead, 8 * LANES)
    return single // (2 * turns) * turns + tl.minimum(single % (2 * turns), turns)


@triton.jit
def octet_of(row: tl.tensor) -> tl.tensor:
    """Which octet of its row each of [N] octets is; `row` is the row of each."""
    return tl.arange(0, row.shape[0]) % OCTETS


@triton.jit
def within(at: tl.tensor, end: tl.tensor) -> tl.tensor:
    """Whether places, some of which may be negative, are from 0 on and below an end, which may be, too."""
    return at.to(tl.uint32) < tl.maximum(end, 0).to(tl.uint32)


@triton.jit
def fetch_masks(
    mask: tl.tensor,
    mask_row: tl.tensor,
    row: tl.tensor,
    rows: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """The words of the mask that `rows` rows of LANES tokens have from row `row` [N] on, as they are stored: a tuple of
    int32 [N], in each the word of an octet and its three neighbours; zero outside of the mask."""
    words = ()
    at = row * (LANES // 32) + octet_of(row) // 4
    for depth in tl.static_range(rows):
        given = tl.zeros(row.shape, tl.int32)
        if masked:
            place = mask[0] + mask_row.to(tl.int64) * mask[1] + at
            end = tl.where(mask_row >= 0, mask[2], 0) - depth * (LANES // 32)
            given = tl.load(place + depth * (LANES // 32), mask=within(at, end), other=0)
        words = appended(words, given)
    return words


@triton.jit
def octets_of(
    words: tl.tensor,
    first: tl.constexpr,
    nil: tl.tensor,
    mask_row: tl.tensor,
    rows: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """The octets' mask bytes of `rows` rows, four at most, in one int32 [N]: of what `fetch_masks` read, from the row
    `first` of it on. `nil`: zeros [N]; the words are not looked at before they are there."""
    octets = tl.full(nil.shape, -1, tl.int32)
    if masked:
        octet = tl.arange(0, nil.shape[0]) % 4 + nil
        if rows == 4 and not INTERPRETED:
            octets = tl.inline_asm_elementwise(
                "{ .reg .b32 a, b; prmt.b32 a, $1, $2, $5; prmt.b32 b, $3, $4, $5;"
                " prmt.b32 $0, a, b, 0x5410; }",
                "=r,r,r,r,r,r",
                [
                    words[first],
                    words[first + 1],
                    words[first + 2],
                    words[first + 3],
                    octet * 17 + 64,
                ],
                dtype=tl.int32,
                is_pure=True,
                pack=1,
            )
        else:
            octets = octets * 0
            for depth in tl.static_range(rows):
                byte = (words[first + depth] >> (octet * 8)) & 255
                octets |= byte << (8 * depth)
        # All of a row without a mask (`mask_row` < 0) is legal.
        octets |= (mask_row >> 31).to(tl.int32)
    return octets


@triton.jit
def all_octets(
    words: tl.tensor,
    nil: tl.tensor,
    mask_row: tl.tensor,
    rows: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """A turn's mask bytes, a tuple by steps of `rows` rows; `nil`: zeros, before which nothing is looked at."""
    found = ()
    for first in tl.static_range(0, 8, rows):
        found = appended(found, octets_of(words, first, nil, mask_row, rows, masked))
    return found


@triton.jit
def later_half(rows: tl.tensor) -> tl.tensor:
    """The second half of a tuple."""
    found = ()
    for i in tl.static_range(len(rows) // 2, len(rows)):
        found = appended(found, rows[i])
    return found


@triton.jit
def last_octets(vocab: tl.tensor, octet: tl.tensor, rows: tl.constexpr) -> tl.tensor:
    """Mask bytes of all tokens that exist in the step, of `rows` rows, in which the vocabulary ends; `octet` as from
    `octet_of`."""
    octets = octet * 0
    for depth in tl.static_range(rows):
        at = (vocab // (rows * LANES) * rows + depth) * OCTETS + octet
        octets |= existing_byte(vocab, at) << (8 * depth)
    return octets


@triton.jit
def existing(
    octets: tl.tensor, last: tl.tensor, vocab: tl.tensor, row: tl.tensor, rows: tl.constexpr
) -> tl.tensor:
    """Mask bytes of a step, from row `row` on, with nothing before the first token or past `vocab`; `last`: see
    `last_octets`."""
    end = vocab // (rows * LANES) * rows
    return octets & tl.where(within(row, end), -1, tl.where(row == end, last, 0))


@triton.jit
def bits_of(half: tl.constexpr, paired: tl.constexpr) -> tl.tensor:
    """Which of an octet's eight tokens are in one of the two halves of a row, int32 [1, 4].

    The halves are the even and the odd ones where two logits come in one word, or else the first and the last four.
    """
    column = tl.arange(0, 4)[None, :]
    return column * 2 + half if paired else column + half * 4


@triton.jit
def place_of(row: tl.tensor, half: tl.constexpr, paired: tl.constexpr) -> tl.tensor:
    """The tokens [N, 4] of half of each row [N]."""
    return (row * LANES + octet_of(row) * 8)[:, None] + bits_of(half, paired)


@triton.jit
def fetch(
    logits: tl.tensor,
    stored: tl.tensor,
    row: tl.tensor,
    octets: tl.tensor,
    rows: tl.constexpr,
    paired: tl.constexpr,
    massing: tl.constexpr,
) -> tl.tensor:
    """The logits of `rows` rows from row `row` [N] on, as they are stored: of each row one [N, 4] of pairs, or two
    halves.

    `octets`: the rows' mask bytes. `stored`: words or numbers of a whole row of logits. Where nobody asks anything
    stands.
    """
    raw = ()
    octet = octet_of(row)
    column = tl.arange(0, 4)[None, :]
    for depth in tl.static_range(rows):
        asked = (((octets >> (8 * depth)) & 255) != 0)[:, None]
        if paired:
            at = (row * (LANES // 2) + octet * 4)[:, None] + column
            there = within(at, stored - depth * (LANES // 2))
            place = logits.to(tl.pointer_type(tl.int32), bitcast=True) + at
            raw = appended(
                raw,
                tl.load(
                    place + depth * (LANES // 2),
                    mask=there if massing else there & asked,
                    eviction_policy="evict_first",
                ),
            )
        else:
            for half in tl.static_range(2):
                at = (row * LANES + octet * 8)[:, None] + column
                there = within(at, stored - depth * LANES - half * 4)
                raw = appended(
                    raw,
                    tl.load(
                        logits + at + (depth * LANES + half * 4),
                        mask=there if massing else there & asked,
                        eviction_policy="evict_first",
                    ),
                )
    return raw


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
