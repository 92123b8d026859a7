"""Loads for the sampling kernels: logits, mask words, and logits with bias and penalties.

Does: load rows of tiles without the logits that a mask excludes, and apply bias and penalties. Does not: mask the
loaded logits (`pack`), compute weights, draw.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Tensors, appended
from .sample_records import Edits, MaskWords, Scores
from .token_weights import DEPTH, INTERPRETED, LANES, LOWEST, NEVER, OCTETS, TILE, WIDE


@triton.jit
def nil_of(x: tl.tensor, vocab: tl.tensor) -> tl.tensor:
    """int32 zeros that the compiler cannot predict: an instruction that uses them runs after the computation of `x`."""
    return x.to(tl.int32, bitcast=True) & (vocab >> 31)


@triton.jit
def existing_byte(vocab: tl.tensor, at: tl.tensor) -> tl.tensor:
    """Mask bytes, at byte offsets `at`, in which every token below `vocab` is legal; int32."""
    left = tl.minimum(tl.maximum(vocab - at * 8, 0), 8)
    return (1 << left) - 1


@triton.jit
def legal_bytes(
    mask: MaskWords,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    at: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """The mask bytes `at` as int32, 0 past `vocab`; all ones for a row without a mask (`mask_row` < 0)."""
    legal = existing_byte(vocab, at)
    if masked:
        inside = at < tl.where(mask_row >= 0, mask.width * 4, 0)
        place = mask.words + mask_row.to(tl.int64) * mask.row_stride + at // 4
        given = tl.load(place, mask=inside, other=0) >> (at % 4 * 8)
        legal = tl.where(mask_row >= 0, given & legal, legal)
    return legal


@triton.jit
def is_legal(
    mask: MaskWords,
    mask_row: tl.tensor,
    vocab: tl.tensor,
    token: tl.tensor,
    masked: tl.constexpr,
) -> tl.tensor:
    """Whether tokens, by their numbers, are legal."""
    return ((legal_bytes(mask, mask_row, vocab, token // 8, masked) >> (token % 8)) & 1) != 0


@triton.jit
def is_edited(edits: Edits, row: tl.tensor) -> tl.tensor:
    """Whether a row has bias or penalties."""
    biased = tl.load(edits.bias_starts + row) < tl.load(edits.bias_starts + row + 1)
    begin, end = tl.load(edits.penalty_starts + row), tl.load(edits.penalty_starts + row + 1)
    return biased | (begin < end)


@triton.jit
def edit_tile(
    scores: Scores,
    edited: tl.tensor,
    edits: Edits,
    row: tl.tensor,
    tile: tl.tensor,
    first_tile_offset: tl.constexpr,
) -> None:
    """Write a tile's logits, with bias and penalties applied, to `edited` (float32, points to the beginning of the
    row)."""
    first = tile * TILE - first_tile_offset
    for step in range(DEPTH):
        at = first + step * LANES + tl.arange(0, LANES)
        place = scores.logits + row.to(tl.int64) * scores.row_stride + at
        there = (at >= 0) & (at < scores.vocab)
        tl.store(edited + at, tl.load(place, mask=there, other=NEVER).to(tl.float32), mask=at >= 0)
    tl.debug_barrier()
    chunk = tl.arange(0, LANES)
    end = tl.load(edits.bias_starts + row + 1)
    for i in range(tl.load(edits.bias_starts + row), end, LANES):
        token = tl.load(edits.bias_tokens + i + chunk, mask=i + chunk < end, other=-1)
        here = (token >= first) & (token >= 0) & (token < first + TILE)
        value = tl.load(edited + token, mask=here, other=0.0)
        value += tl.load(edits.bias_values + i + chunk, mask=here, other=0.0)
        tl.store(edited + token, value, mask=here)
    tl.debug_barrier()
    repetition = tl.load(edits.strengths + row * 3)
    presence = tl.load(edits.strengths + row * 3 + 1)
    frequency = tl.load(edits.strengths + row * 3 + 2)
    end = tl.load(edits.penalty_starts + row + 1)
    for i in range(tl.load(edits.penalty_starts + row), end, LANES):
        token = tl.load(edits.penalty_tokens + i + chunk, mask=i + chunk < end, other=-1)
        here = (token >= first) & (token >= 0) & (token < first + TILE)
        count = tl.load(edits.penalty_counts + i + chunk, mask=here, other=0.0)
        value = tl.load(edited + token, mask=here, other=0.0)
        value = tl.where(value > 0, tl.div_rn(value, repetition), value * repetition)
        value = value - frequency * count
        value = value - tl.where(count > 0, presence, 0.0)
        tl.store(edited + token, value, mask=here)
    tl.debug_barrier()


@triton.jit
def edit_two(
    scores: Scores,
    edited: tl.tensor,
    edits: Edits,
    row: tl.tensor,
    two: tl.tensor,
    first_tile_offset: tl.constexpr,
) -> None:
    """`edit_tile` for a pair of tiles."""
    edit_tile(scores, edited, edits, row, two * 2, first_tile_offset)
    edit_tile(scores, edited, edits, row, two * 2 + 1, first_tile_offset)


@triton.jit
def row_of_mask(
    mask: MaskWords, row: tl.tensor, masked: tl.constexpr, mapped: tl.constexpr
) -> tl.tensor:
    """The mask row of a row of logits; negative if it has none."""
    which = row * 0 - 1
    if masked:
        which = row
        if mapped:
            which = tl.load(mask.rows + row)
    return which


@triton.jit
def row_of_step(
    step: tl.tensor, there: tl.tensor, tiles: tl.constexpr, rows: tl.constexpr
) -> tl.tensor:
    """int32 [OCTETS]: the first row of a step of `rows` rows; past the last tile if there is no such step."""
    return tl.where(there, step * rows, tiles * DEPTH) + tl.zeros((OCTETS,), tl.int32)


@triton.jit
def rows_of_two(
    step: tl.tensor,
    there: tl.tensor,
    tiles: tl.constexpr,
    first_tile_offset: tl.constexpr,
    rows: tl.constexpr,
) -> tl.tensor:
    """int32 [WIDE]: the first row of a step of `rows` rows in each tile of a pair of tiles that are read together.

    Negative before the first token; past the last tile where the program has no such step.
    """
    first = tl.where(there, step * rows + step // (DEPTH // rows) * DEPTH, tiles * DEPTH)
    return first + tl.arange(0, WIDE) // OCTETS * DEPTH - first_tile_offset // LANES


@triton.jit
def turns_of_two(vocab: tl.tensor, first_tile_offset: tl.constexpr) -> tl.tensor:
    """The number of loop turns for a row of logits; a turn is eight rows of a pair of tiles."""
    turns: tl.constexpr = DEPTH // 8
    single = tl.cdiv(vocab + first_tile_offset, 8 * LANES)
    return single // (2 * turns) * turns + tl.minimum(single % (2 * turns), turns)


@triton.jit
def octet_of(row: tl.tensor) -> tl.tensor:
    """int32 [N]: the index of each octet within its row; `row` [N] is the row of each."""
    return tl.arange(0, row.shape[0]) % OCTETS


@triton.jit
def within(at: tl.tensor, end: tl.tensor) -> tl.tensor:
    """Whether 0 <= at < end; both may be negative."""
    return at.to(tl.uint32) < tl.maximum(end, 0).to(tl.uint32)


@triton.jit
def fetch_masks(
    mask: MaskWords,
    mask_row: tl.tensor,
    row: tl.tensor,
    rows: tl.constexpr,
    masked: tl.constexpr,
) -> Tensors:
    """Load the mask words of `rows` rows of LANES tokens, from row `row` [N] on: a tuple of int32 [N], one per row.

    A word holds the bits of an octet and of its three neighbours; it is zero outside the mask.
    """
    words = ()
    at = row * (LANES // 32) + octet_of(row) // 4
    for depth in tl.static_range(rows):
        given = tl.zeros(row.shape, tl.int32)
        if masked:
            place = mask.words + mask_row.to(tl.int64) * mask.row_stride + at
            end = tl.where(mask_row >= 0, mask.width, 0) - depth * (LANES // 32)
            given = tl.load(place + depth * (LANES // 32), mask=within(at, end), other=0)
        words = appended(words, given)
    return words


@triton.jit
def octets_of(
    words: Tensors,
    first: tl.constexpr,
    nil: tl.tensor,
    mask_row: tl.tensor,
    rows: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """The octets' mask bytes of `rows` rows, four at most, in one int32 [N].

    `words`: the result of `fetch_masks`, from row `first` on. `nil`: zeros [N] from `nil_of`, which keep the compiler
    from using the words before they are loaded.
    """
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
    words: Tensors,
    nil: tl.tensor,
    mask_row: tl.tensor,
    rows: tl.constexpr,
    masked: tl.constexpr,
) -> Tensors:
    """The mask bytes of a turn: a tuple of int32 [N], one for each step of `rows` rows; `nil`: see `octets_of`."""
    found = ()
    for first in tl.static_range(0, 8, rows):
        found = appended(found, octets_of(words, first, nil, mask_row, rows, masked))
    return found


@triton.jit
def last_octets(vocab: tl.tensor, octet: tl.tensor, rows: tl.constexpr) -> tl.tensor:
    """Mask bytes of all tokens that exist in the step, of `rows` rows, in which the vocabulary ends; int32 [N]."""
    octets = octet * 0
    for depth in tl.static_range(rows):
        at = (vocab // (rows * LANES) * rows + depth) * OCTETS + octet
        octets |= existing_byte(vocab, at) << (8 * depth)
    return octets


@triton.jit
def existing(
    octets: tl.tensor, last: tl.tensor, vocab: tl.tensor, row: tl.tensor, rows: tl.constexpr
) -> tl.tensor:
    """Mask bytes [N] of a step from row `row` on, 0 before the first token and past `vocab`; `last`: `last_octets`."""
    end = vocab // (rows * LANES) * rows
    return octets & tl.where(within(row, end), -1, tl.where(row == end, last, 0))


@triton.jit
def bits_of(half: tl.constexpr, paired: tl.constexpr) -> tl.tensor:
    """int32 [1, 4]: the tokens of an octet that belong to one of the two halves of a row.

    If two logits share a word, the halves are the even and the odd tokens; otherwise the first and the last four.
    """
    column = tl.arange(0, 4)[None, :]
    return column * 2 + half if paired else column + half * 4


@triton.jit
def place_of(row: tl.tensor, half: tl.constexpr, paired: tl.constexpr) -> tl.tensor:
    """int32 [N, 4]: the tokens of one half of each octet, in rows `row` [N]."""
    return (row * LANES + octet_of(row) * 8)[:, None] + bits_of(half, paired)


@triton.jit
def fetch(
    logits: tl.tensor,
    stored: tl.tensor,
    row: tl.tensor,
    octets: tl.tensor,
    rows: tl.constexpr,
    paired: tl.constexpr,
    ignore_masks: tl.constexpr,
) -> Tensors:
    """Load the logits of `rows` rows from row `row` [N] on, as they are stored.

    Returns a tuple of [N, 4]: for each row one of int32 pairs, or two halves. `octets`: the rows' mask bytes; octets
    without a legal token are not loaded, unless `ignore_masks`, and hold undefined logits. `stored`: see `Scores`.
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
                    mask=there if ignore_masks else there & asked,
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
                        mask=there if ignore_masks else there & asked,
                        eviction_policy="evict_first",
                    ),
                )
    return raw


@triton.jit
def edited_rows(
    own: Tensors,
    edited: tl.tensor,
    edit: tl.tensor,
    row: tl.tensor,
    paired: tl.constexpr,
) -> Tensors:
    """The logits with bias and penalties, as `edit_tile` wrote them, if the row has any; LOWEST stays LOWEST."""
    ours = ()
    for i in tl.static_range(len(own)):
        y = own[i]
        if edit:
            at = place_of(row + i // 2, i % 2, paired)
            y = tl.load(edited + at, mask=y != LOWEST, other=LOWEST)
        ours = appended(ours, y)
    return ours
