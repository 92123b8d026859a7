"""One row as float16 that floats of 8 bits are multiplied by, inside the kernels: device functions.

Does: scale inputs of a row to float16 in the order of codes in memory, and multiply floats of 8 bits (E4M3) by them.
Does not: load anything; integers (`integer_factors`).

One instruction converts two floats of 8 bits to float16, which have all their values, and one multiplies two of those.
The inputs that a thread multiplies at once, 16, are scaled so that sums of four products are finite; these are rounded
to float16, longer ones to float32.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Tensors, Three
from .integer_factors import scaled_to
from .unpack import half_of_word

HALF_LARGEST = tl.constexpr(32.0)
"""Four products of 448 and this are finite in float16."""


def _half_chain(words: tuple[int, int], ends: tuple[int, int]) -> str:
    """Products of words of codes and of pairs of halves, summed by half, as two float32."""
    steps = []
    for n, i in enumerate(words):
        steps.append(
            f"mov.b32 {{l, h}}, ${4 + i}; cvt.rn.f16x2.e4m3x2 u, l; cvt.rn.f16x2.e4m3x2 v, h; "
        )
        first = f"mul.rn.f16x2 s, u, ${8 + i}; " if n == 0 else f"fma.rn.f16x2 s, u, ${8 + i}, s; "
        steps.append(first + f"fma.rn.f16x2 s, v, ${12 + i}, s; ")
    steps.append(f"mov.b32 {{a, b}}, s; cvt.f32.f16 ${ends[0]}, a; cvt.f32.f16 ${ends[1]}, b; ")
    return "".join(steps)


HALVES = tl.constexpr(
    "{ .reg .b16 l, h, a, b; .reg .b32 u, v, s; "
    + _half_chain((0, 1), (0, 1))
    + _half_chain((2, 3), (2, 3))
    + "}"
)
"""Of a vector of words, $4 to $7, the products by pairs of halves from $8 and $12 on: four float32 to be added."""


@triton.jit
def _half_pair(first: tl.tensor, second: tl.tensor, by: tl.tensor, FAST: tl.constexpr) -> tl.tensor:
    """A word of the float16 of `first` and `second` times `by`."""
    a = first * by[:, None]
    b = second * by[:, None]
    if FAST:
        word = tl.inline_asm_elementwise(
            "cvt.rn.f16x2.f32 $0, $2, $1;", "=r,f,f", [a, b], dtype=tl.int32, is_pure=True, pack=1
        )
    else:
        low = a.to(tl.float16).to(tl.int16, bitcast=True).to(tl.int32)
        high = b.to(tl.float16).to(tl.int16, bitcast=True).to(tl.int32)
        word = (low & 0xFFFF) | (high << 16)
    return word


@triton.jit
def halves(a: tl.tensor, b: tl.tensor, c: tl.tensor, d: tl.tensor, FAST: tl.constexpr) -> Three:
    """(words of `a` and `b`, words of `c` and `d`, scales of the vectors) for `half_dots`: float16."""
    by, scale = scaled_to(a, b, c, d, HALF_LARGEST)
    return _half_pair(a, b, by, FAST), _half_pair(c, d, by, FAST), scale


@triton.jit
def _float(word: tl.tensor, BYTE: tl.constexpr) -> tl.tensor:
    return (word >> (8 * BYTE)).to(tl.int8).to(tl.float8e4nv, bitcast=True).to(tl.float32)


@triton.jit
def half_dots(codes: tl.tensor, factors: Tensors, FAST: tl.constexpr) -> tl.tensor:
    """Products [vectors] float32 of floats of 8 bits in words `codes` [vectors, 4] and `factors`, see `halves`."""
    if FAST:
        dot = tl.inline_asm_elementwise(
            HALVES,
            "=&f,=&f,=&f,=&f" + ",r" * 12,
            [codes, factors[0], factors[1]],
            dtype=tl.float32,
            is_pure=True,
            pack=4,
        )
    else:
        dot = _float(codes, 0) * half_of_word(factors[0], SECOND=False, KEPT="float16")
        dot += _float(codes, 1) * half_of_word(factors[0], SECOND=True, KEPT="float16")
        dot += _float(codes, 2) * half_of_word(factors[1], SECOND=False, KEPT="float16")
        dot += _float(codes, 3) * half_of_word(factors[1], SECOND=True, KEPT="float16")
    return tl.sum(dot, 1) * factors[2]
