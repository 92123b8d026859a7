"""What the passes of `pick` read: logits, masks, and logits with bias and penalties.

Does: load tiles, leaving out what a mask or a threshold makes needless, and edit them. Does not: weigh or draw.

Tuples of arguments: `scores` (logits, row stride, columns, vocab), `mask` (bytes, row stride, bytes a row, row of each
row of logits), `edits` as `pick._edits` makes them.
"""

# ruff: noqa: RUF005 - Triton knows no starred tuples

import triton
import triton.language as tl

from .pick_weights import DEPTH, LANES, LOWEST, NEVER, OCTETS, TILE


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
        allowed = appended(allowed, legal_bytes(mask, mask_row, vocab, at, masked))
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
        there = wanted[:, None] & (at < columns)
        raw = appended(raw, tl.load(logits + at, mask=there, other=LOWEST))
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
