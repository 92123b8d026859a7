"""Logits in registers between load and softmax: masked (LOWEST where not legal), packed in pairs where that pays.

Does: mask, compare and unpack. Does not: load. `pairs` selects the format: bfloat16 logits stay packed, two in a word,
which halves the instructions; logits of other types, and logits with bias or penalties, are float32 halves of rows.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Tensors, appended
from .load import bits_of
from .token_weights import INTERPRETED, LOWEST, higher

LOWEST_PAIR: tl.constexpr = tl.constexpr(-0x0E7F0E80)  # twice LOWEST


@triton.jit
def low_of(words: tl.tensor) -> tl.tensor:
    """The even logit of each word of two bfloat16, as float32."""
    return (words << 16).to(tl.float32, bitcast=True)


@triton.jit
def high_of(words: tl.tensor) -> tl.tensor:
    """The odd logit of each word of two bfloat16, as float32."""
    return (words & -65536).to(tl.float32, bitcast=True)


@triton.jit
def pair_of(low: tl.tensor, high: tl.tensor) -> tl.tensor:
    """An int32 word of two float32 logits, both of which bfloat16 holds without loss."""
    first = (low.to(tl.int32, bitcast=True) >> 16) & 0xFFFF
    return first | (high.to(tl.int32, bitcast=True) & -65536)


@triton.jit
def singles(words: Tensors) -> Tensors:
    """A tuple of words of two as a tuple of float32 logits, two for each word: the even half, then the odd one."""
    found = ()
    for i in tl.static_range(len(words)):
        found = appended(appended(found, low_of(words[i])), high_of(words[i]))
    return found


@triton.jit
def halves(raw: Tensors, logits: tl.tensor, paired: tl.constexpr) -> Tensors:
    """Logits that `fetch` loaded, as float32: a tuple of [N, 4], two halves of each row.

    Of `logits`, a pointer, only the type counts.
    """
    found = ()
    for i in tl.static_range(len(raw)):
        if not paired:
            found = appended(found, raw[i].to(tl.float32))
        elif logits.dtype.element_ty == tl.bfloat16:
            found = appended(appended(found, low_of(raw[i])), high_of(raw[i]))
        else:
            for half in tl.static_range(2):
                short = (raw[i] >> (16 * half)).to(tl.int16)
                x = short.to(logits.dtype.element_ty, bitcast=True).to(tl.float32)
                found = appended(found, x)
    return found


@triton.jit
def legal_bits(number: tl.constexpr, paired: tl.constexpr) -> tl.tensor:
    """int32 [1, 4]: the bits of a word from `octets_of` that belong to half a row, by its number among all halves."""
    return 1 << (bits_of(number % 2, paired) + number // 2 * 8)


@triton.jit
def legal_only(
    raw: Tensors,
    logits: tl.tensor,
    octets: tl.tensor,
    paired: tl.constexpr,
) -> Tensors:
    """The `halves` of loaded logits, LOWEST where they are not legal."""
    own = halves(raw, logits, paired)
    legal = ()
    for i in tl.static_range(len(own)):
        bits = legal_bits(i, paired)
        if INTERPRETED:
            x = tl.where((octets[:, None] & bits) != 0, own[i], LOWEST)
        else:
            # By default, the compiler collects the bits of many rows in words before it tests them.
            x = tl.inline_asm_elementwise(
                "{ .reg .pred p; .reg .b32 t; and.b32 t, $2, $3; setp.ne.b32 p, t, 0;"
                " selp.b32 $0, $1, 0xF1800000, p; }",
                "=r,r,r,r",
                [own[i], octets[:, None], bits],
                dtype=tl.float32,
                is_pure=True,
                pack=1,
            )
        legal = appended(legal, x)
    return legal


@triton.jit
def legal_pairs(raw: Tensors, octets: tl.tensor) -> Tensors:
    """Loaded words of two bfloat16 logits, LOWEST where a logit is not legal."""
    legal = ()
    column = tl.arange(0, 4)[None, :]
    for i in tl.static_range(len(raw)):
        if INTERPRETED:
            even = (octets[:, None] & legal_bits(2 * i, paired=True)) != 0
            odd = (octets[:, None] & legal_bits(2 * i + 1, paired=True)) != 0
            low = tl.where(even, low_of(raw[i]), LOWEST)
            high = tl.where(odd, high_of(raw[i]), LOWEST)
            word = pair_of(low, high)
        else:
            # The bits of both logits, each brought to the highest place of a byte of its half, spread over the halves.
            spread = ((octets >> (8 * i)) & 255)[:, None] * (
                (1 << (7 - 2 * column)) | (1 << (22 - 2 * column))
            )
            word = tl.inline_asm_elementwise(
                "{ .reg .b32 m; prmt.b32 m, $2, 0, 0xAA88; lop3.b32 $0, $1, m, 0xF180F180, 0xE2; }",
                "=r,r,r",
                [raw[i], spread],
                dtype=tl.int32,
                is_pure=True,
                pack=1,
            )
        legal = appended(legal, word)
    return legal


@triton.jit
def higher_pairs(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    """The elementwise maximum of both bfloat16 logits of words, NaN where one of the two is NaN."""
    if INTERPRETED:
        word = pair_of(higher(low_of(x), low_of(y)), higher(high_of(x), high_of(y)))
    else:
        word = tl.inline_asm_elementwise(
            "max.NaN.bf16x2 $0, $1, $2;",
            "=r,r,r",
            [x, y],
            dtype=tl.int32,
            is_pure=True,
            pack=1,
        )
    return word


@triton.jit
def add_above(
    total: tl.tensor, words: tl.tensor, bound: tl.tensor, first: tl.tensor, second: tl.tensor
) -> tl.tensor:
    """`total`, plus `first` where the even logit of a word exceeds that of `bound`, plus `second` where the odd logit
    does."""
    return tl.inline_asm_elementwise(
        "{ .reg .pred p, q; setp.gt.bf16x2 p|q, $2, $3; mov.b32 $0, $1;"
        " @p add.f32 $0, $0, $4; @q add.f32 $0, $0, $5; }",
        "=&f,f,r,r,f,f",
        [total, words, bound, first, second],
        dtype=tl.float32,
        is_pure=True,
        pack=1,
    )


@triton.jit
def kept_of(
    raw: Tensors,
    logits: tl.tensor,
    octets: tl.tensor,
    paired: tl.constexpr,
    pairs: tl.constexpr,
) -> Tensors:
    """Loaded logits, LOWEST where they are not legal: words of two (`pairs`), or halves of rows in float32."""
    return legal_pairs(raw, octets) if pairs else legal_only(raw, logits, octets, paired)  # type: ignore[no-any-return] # Any to mypy: decorated by Triton


@triton.jit
def no_lanes(octets: tl.constexpr, pairs: tl.constexpr) -> Tensors:
    """The initial maxima of lanes, all LOWEST: a tuple of [octets, 4], of one tensor of packed words or two halves."""
    lanes = (
        tl.full((octets, 4), LOWEST_PAIR if pairs else LOWEST, tl.int32 if pairs else tl.float32),
    )
    return lanes if pairs else lanes + lanes


@triton.jit
def lanes_with(lanes: Tensors, rows: Tensors, pairs: tl.constexpr) -> Tensors:
    """The maxima of lanes after some more rows."""
    found = lanes
    for i in tl.static_range(0, len(rows), len(lanes)):
        more = ()
        for half in tl.static_range(len(lanes)):
            own = rows[i + half]
            best = higher_pairs(found[half], own) if pairs else higher(found[half], own)
            more = appended(more, best)
        found = more
    return found


@triton.jit
def lanes_unless(ended: tl.tensor, lanes: Tensors, pairs: tl.constexpr) -> Tensors:
    """The given maxima of lanes, or their initial values if a tile has `ended`."""
    none = no_lanes(lanes[0].shape[0], pairs)
    found = ()
    for i in tl.static_range(len(lanes)):
        found = appended(found, tl.where(ended, none[i], lanes[i]))
    return found


@triton.jit
def in_singles(rows: Tensors, pairs: tl.constexpr) -> Tensors:
    """Rows or maxima of lanes, converted to float32 halves."""
    return singles(rows) if pairs else rows


@triton.jit
def top_of(lanes: Tensors, pairs: tl.constexpr) -> tl.tensor:
    """float32 [N]: the largest logit of each octet, from the maxima of its lanes."""
    if pairs and not INTERPRETED:
        word = tl.reduce(lanes[0], 1, higher_pairs)
        top = higher(low_of(word), high_of(word))
    else:
        first, second = in_singles(lanes, pairs)
        top = tl.reduce(higher(first, second), 1, higher)
    return top


@triton.jit
def store_lanes(
    to: tl.tensor,
    lanes: Tensors,
    paired: tl.constexpr,
    pairs: tl.constexpr,
) -> None:
    """Write the maxima of lanes of a pair of tiles to `to`, float32 [2 x LANES]."""
    maxima = in_singles(lanes, pairs)
    octet = to + 8 * tl.arange(0, maxima[0].shape[0])[:, None]
    tl.store(octet + bits_of(0, paired), maxima[0])
    tl.store(octet + bits_of(1, paired), maxima[1])
