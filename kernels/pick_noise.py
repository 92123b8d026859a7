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

    `-log1p(-u)` in full relative precision, as the fast logarithm has none near one: half of it is the area tangent
    of `u / (2 - u)`, whose series is short where u is at most one half.
    """
    mixed = _finalise(counter * 0x9E3779B9 + key0)
    mixed = _finalise(mixed ^ key1)
    u = (mixed.to(tl.float32) + 0.5) * 2.3283064365386963e-10
    u = tl.minimum(u, 0.99999994)
    z = u / (2.0 - u)
    q = z * z
    series = 0.11111111 + q * (0.09090909 + q * (0.07692308 + q * 0.06666667))
    series = 1.0 + q * (0.33333333 + q * (0.2 + q * (0.14285714 + q * series)))
    return tl.where(u < 0.5, 2.0 * z * series, -tl.log(1.0 - u))
