"""Counter-based random numbers on the device: the same bits as `reference_logits.gumbel`.

Does: hash counters, turn hashes into exponential noise, and take logarithms. Does not: keep state.
"""

import triton
import triton.language as tl

from . import layout
from .token_weights import INTERPRETED

DRAWS: tl.constexpr = tl.constexpr(layout.DRAWS)


@triton.jit
def _finalise(x: tl.tensor) -> tl.tensor:
    """MurmurHash3's 32-bit finaliser; uint32."""
    x = x ^ (x >> 16)
    x = x * 0x85EBCA6B
    x = x ^ (x >> 13)
    x = x * 0xC2B2AE35
    return x ^ (x >> 16)


@triton.jit
def binary_log(x: tl.tensor) -> tl.tensor:
    """log2 of normal float32 numbers: one instruction, without the compiler's own check for subnormal ones."""
    if INTERPRETED:
        found = tl.log2(x)
    else:
        found = tl.inline_asm_elementwise(
            "lg2.approx.ftz.f32 $0, $1;",
            "=f,f",
            [x],
            dtype=tl.float32,
            is_pure=True,
            pack=1,
        )
    return found


@triton.jit
def natural_log(x: tl.tensor) -> tl.tensor:
    """The natural logarithm, by `binary_log`."""
    return 0.6931471805599453 * binary_log(x)


@triton.jit
def counted(key0: tl.tensor, counter: tl.tensor) -> tl.tensor:
    """The part of the hash of a uint32 `counter` that all draws of a row share."""
    return _finalise(counter * 0x9E3779B9 + key0)


@triton.jit
def exponential(mixed: tl.tensor, key1: tl.tensor, number: tl.tensor) -> tl.tensor:
    """float32 standard exponential noise for draw `number` of a row, from the result of `counted`; its negated
    logarithm is Gumbel noise.

    `-log1p(-u)` in full relative precision, as the fast logarithm has none near one: a short series where u is small.
    """
    mixed = _finalise(mixed ^ key1 ^ (number * DRAWS))
    u = (mixed.to(tl.float32) + 0.5) * 2.3283064365386963e-10
    u = tl.minimum(u, 0.99999994)
    series = 0.14285714 + u * (0.125 + u * (0.11111111 + u * 0.1))
    series = 0.25 + u * (0.2 + u * (0.16666667 + u * series))
    series = u * (1.0 + u * (0.5 + u * (0.33333333 + u * series)))
    return tl.where(u < 0.25, series, -natural_log(1.0 - u))
