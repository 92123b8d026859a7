"""The random numbers of a draw on the device: the same counter-based bits as `reference_logits.gumbel`.

Does: hash, and turn a hash into Gumbel noise in base-2 units. Does not: keep state.
"""

import triton
import triton.language as tl


@triton.jit
def _finalise(x: tl.tensor) -> tl.tensor:
    """MurmurHash3's 32-bit finaliser; uint32."""
    x = x ^ (x >> 16)
    x = x * 0x85EBCA6B
    x = x ^ (x >> 13)
    x = x * 0xC2B2AE35
    return x ^ (x >> 16)


@triton.jit
def exponential(key0: tl.tensor, key1: tl.tensor, counter: tl.tensor) -> tl.tensor:
    """Standard exponential noise for uint32 `counter`; `-log` of it is Gumbel noise.

    `-log1p(-u)` in full relative precision, as the fast logarithm has none near one: a short series where u is small.
    """
    mixed = _finalise(counter * 0x9E3779B9 + key0)
    mixed = _finalise(mixed ^ key1)
    u = (mixed.to(tl.float32) + 0.5) * 2.3283064365386963e-10
    u = tl.minimum(u, 0.99999994)
    series = 0.14285714 + u * (0.125 + u * (0.11111111 + u * 0.1))
    series = 0.25 + u * (0.2 + u * (0.16666667 + u * series))
    series = u * (1.0 + u * (0.5 + u * (0.33333333 + u * series)))
    return tl.where(u < 0.25, series, -tl.log(1.0 - u))
