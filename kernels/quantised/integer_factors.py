"""One row as integers that codes are multiplied by, inside the kernels: device functions.

Does: round inputs of a row to integers in the order of codes in memory, and multiply integers of 4 or 8 bits by them.
Does not: load anything; floats of 8 bits (`half_factors`).

Integers are multiplied two at a time: a product in float32 takes three to four instructions a code, this takes one. The
inputs that a thread multiplies at once, 16 of a part, are rounded to 16 bits relative to the largest of them, which
leaves more bits than bfloat16 has. Sums of integers are exact.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Four, Pair, Tensors
from .unpack import half_of_word

ROUNDING = tl.constexpr(12582912.0)
"""1.5 * 2^23: the lower bits of a small float32 plus this are the nearest integer."""
LARGEST = tl.constexpr(32767.0)
LEAST = tl.constexpr(1e-30)
"""Inputs that are smaller count as zeros: a limit divided by them may be infinite."""


def _chain(product: str, at: int, word: str, begin: str, end: str) -> str:
    """A sum of products of the pairs of inputs from operand `at` on and the words named by `word`."""
    steps = [f"mov.b32 {end}, {begin}; "]
    for i in range(4):
        for half, pairs in (("lo", at), ("hi", at + 4)):
            operands = f"{end}, ${pairs + i}, {word.format(i)}, {end}"
            steps.append(f"dp2a.{half}.s32.{product} {operands}; ")
    return "".join(steps)


_UNPACKED = "".join(
    f"and.b32 t{i}, ${8 + i}, 0x0F0F0F0F; and.b32 u{i}, ${8 + i}, 0xF0F0F0F0; " for i in range(4)
)
_ZEROS = "".join(f"mov.b32 ${i}, 0; " for i in (1, 2, 3))
NIBBLES = tl.constexpr(
    "{ .reg .b32 a, b, t<4>, u<4>; "
    + _UNPACKED
    + _chain("u32", 12, "t{}", "$28", "a")
    + _chain("u32", 20, "u{}", "$32", "b")
    + _ZEROS
    + "mov.b32 $5, 0; mov.b32 $6, 0; mov.b32 $7, 0; mov.b32 $0, a; mov.b32 $4, b; }"
)
"""Of a vector of words, $8 to $11, the products of both parts by pairs of inputs, plus $28 and $32: $0 and $4."""
BYTES = tl.constexpr(
    "{ .reg .b32 a, w<4>; "
    + "".join(f"mov.b32 w{i}, ${4 + i}; " for i in range(4))
    + _chain("s32", 8, "w{}", "0", "a")
    + _ZEROS
    + "mov.b32 $0, a; }"
)
"""Of a vector of words, $4 to $7, the product by pairs of inputs: $0."""


@triton.jit
def _larger(a: tl.tensor, b: tl.tensor) -> tl.tensor:
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def scaled_to(a: tl.tensor, b: tl.tensor, c: tl.tensor, d: tl.tensor, LIMIT: tl.constexpr) -> Pair:
    """(factors by which no input of a vector exceeds LIMIT, their reciprocals), both [vectors] float32.

    `a` to `d` [vectors, 4] are the inputs. If one is not finite, the second number is NaN: so is the product then.
    """
    largest = _larger(_larger(tl.abs(a), tl.abs(b)), _larger(tl.abs(c), tl.abs(d)))
    most = tl.max(largest, 1)
    by = tl.where(most > LEAST, LIMIT / tl.maximum(most, LEAST), 0.0)
    return by, most * (1 / LIMIT) + tl.sum(largest - largest, 1)


@triton.jit
def _paired(first: tl.tensor, second: tl.tensor, by: tl.tensor) -> tl.tensor:
    """A word of the 16-bit integers nearest to `first` and `second` times `by`."""
    low = (first * by[:, None] + ROUNDING).to(tl.int32, bitcast=True)
    high = (second * by[:, None] + ROUNDING).to(tl.int32, bitcast=True)
    return (low & 0xFFFF) | (high << 16)


@triton.jit
def _of_pair(word: tl.tensor, SECOND: tl.constexpr) -> tl.tensor:
    return (word >> 16) if SECOND else ((word << 16) >> 16)


@triton.jit
def _pair_sum(pair: tl.tensor, FAST: tl.constexpr) -> tl.tensor:
    """The sum of the two integers of a word."""
    if FAST:
        total = tl.inline_asm_elementwise(
            "dp2a.lo.s32.u32 $0, $1, 257, 0;", "=r,r", [pair], dtype=tl.int32, is_pure=True, pack=1
        )
    else:
        total = _of_pair(pair, SECOND=False) + _of_pair(pair, SECOND=True)
    return total


@triton.jit
def rounded(
    a: tl.tensor,
    b: tl.tensor,
    c: tl.tensor,
    d: tl.tensor,
    PART_INDEX: tl.constexpr,
    FAST: tl.constexpr,
) -> Four:
    """(words of `a` and `b`, words of `c` and `d`, their sums by vector, the scales of the vectors).

    The codes of the second part are the high nibbles of bytes, 16 times their value: so are the sums then.
    """
    by, scale = scaled_to(a, b, c, d, LARGEST)
    first = _paired(a, b, by)
    second = _paired(c, d, by)
    total = tl.sum(_pair_sum(first, FAST) + _pair_sum(second, FAST), 1)
    if PART_INDEX == 1:
        total = total * 16
        scale = scale * 0.0625
    return first, second, total, scale


@triton.jit
def _plain_dot(
    word: tl.tensor, first: tl.tensor, second: tl.tensor, SHIFT: tl.constexpr, MASK: tl.constexpr
) -> tl.tensor:
    """What the instructions of NIBBLES and BYTES compute, for the interpreter."""
    total = tl.zeros(word.shape, tl.int32)
    for byte in tl.static_range(4):
        code = word >> (8 * byte + SHIFT)
        code = (code & 15) if MASK else code.to(tl.int8).to(tl.int32)
        pair = first if byte < 2 else second
        total += code * _of_pair(pair, byte % 2 == 1)
    return total


@triton.jit
def byte_dots(codes: tl.tensor, factors: Tensors, FAST: tl.constexpr) -> tl.tensor:
    """Products [vectors] float32 of integers of 8 bits in words `codes` [vectors, 4] and `factors`, see `rounded`."""
    if FAST:
        dot = tl.inline_asm_elementwise(
            BYTES,
            "=&r,=&r,=&r,=&r" + ",r" * 12,
            [codes, factors[0], factors[1]],
            dtype=tl.int32,
            is_pure=True,
            pack=4,
        )
    else:
        dot = _plain_dot(codes, factors[0], factors[1], SHIFT=0, MASK=False)
    return tl.sum(dot, 1).to(tl.float32) * factors[3]


@triton.jit
def nibble_dots(
    codes: tl.tensor,
    scale: tl.tensor,
    zero: tl.tensor,
    factors: Tensors,
    ZEROS: tl.constexpr,
    KEPT: tl.constexpr,
    FAST: tl.constexpr,
) -> tl.tensor:
    """Products [vectors] float32 of integers of 4 bits in words `codes` [vectors, 4] and the `factors` of both parts.

    They are multiplied by `scale`, after less `zero` if ZEROS, otherwise less 8; both [vectors], two numbers in a word.
    """
    offset: tl.constexpr = 0 if ZEROS else -8
    less = (factors[2] * offset)[:, None]
    more = (factors[6] * offset)[:, None]
    if FAST:
        dots = tl.inline_asm_elementwise(
            NIBBLES,
            "=&r,=&r,=&r,=&r,=&r,=&r,=&r,=&r" + ",r" * 28,
            [codes, factors[0], factors[1], factors[4], factors[5], less, more],
            dtype=(tl.int32, tl.int32),
            is_pure=True,
            pack=4,
        )
        low, high = tl.sum(dots[0], 1), tl.sum(dots[1], 1)
    else:
        low = tl.sum(_plain_dot(codes, factors[0], factors[1], SHIFT=0, MASK=True), 1)
        high = tl.sum(_plain_dot(codes, factors[4], factors[5], SHIFT=4, MASK=True), 1) * 16
        low += tl.sum(less, 1)
        high += tl.sum(more, 1)
    y = _of_part(low, scale, zero, factors[2], factors[3], ZEROS, KEPT, SECOND=False)
    return y + _of_part(high, scale, zero, factors[6], factors[7], ZEROS, KEPT, SECOND=True)


@triton.jit
def _of_part(
    dot: tl.tensor,
    scale: tl.tensor,
    zero: tl.tensor,
    total: tl.tensor,
    by: tl.tensor,
    ZEROS: tl.constexpr,
    KEPT: tl.constexpr,
    SECOND: tl.constexpr,
) -> tl.tensor:
    """The products `dot` [vectors] of a part, less the zero point if ZEROS, and scaled."""
    y = dot.to(tl.float32)
    if ZEROS:
        y -= half_of_word(zero, SECOND, "bfloat16") * total.to(tl.float32)
    return y * (half_of_word(scale, SECOND, KEPT) * by)
