"""Integer keys in the order of float32 logits, and the search of an interval of keys by quarters.

Does: convert, sum the elements that reach a key, narrow an interval. Does not: load or store.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Pair, Three


@triton.jit
def to_key(x: tl.tensor) -> tl.tensor:
    """int32 keys in the order of finite float32."""
    bits = x.to(tl.int32, bitcast=True)
    return tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)


@triton.jit
def from_key(key: tl.tensor) -> tl.tensor:
    """The inverse of `to_key`."""
    return tl.where(key < 0, key ^ 0x7FFFFFFF, key).to(tl.float32, bitcast=True)


@triton.jit
def halfway(lower: tl.tensor, upper: tl.tensor) -> tl.tensor:
    """The mean of two integers, without overflow of their sum."""
    return (lower >> 1) + (upper >> 1) + (lower & upper & 1)


@triton.jit
def three_sums(
    a: tl.tensor, b: tl.tensor, c: tl.tensor, d: tl.tensor, e: tl.tensor, f: tl.tensor
) -> Three:
    """Three sums in one reduction, at about the cost of one, since most of its time is synchronisation."""
    return a + d, b + e, c + f


@triton.jit
def reaching(key: tl.tensor, worth: tl.tensor, leasts: Three) -> Three:
    """For each of three keys, the total worth of the elements with at least that key; float32 scalars."""
    low, middle, high = leasts
    reached = (
        tl.where(key >= low, worth, 0.0),
        tl.where(key >= middle, worth, 0.0),
        tl.where(key >= high, worth, 0.0),
    )
    of_low, of_middle, of_high = tl.reduce(reached, 0, three_sums)
    return of_low, of_middle, of_high


@triton.jit
def quarter(
    lower: tl.tensor, upper: tl.tensor, leasts: Three, reached: Three, goal: tl.tensor
) -> Pair:
    """(lower, upper) of the quarter of an interval that holds the largest key with sum `goal` in `reached`."""
    low, middle, high = leasts
    least, half, most = reached
    above = tl.where(least >= goal, middle, low)
    above = tl.where(most >= goal, upper, tl.where(half >= goal, high, above))
    below = tl.where(least >= goal, low, lower)
    below = tl.where(most >= goal, high, tl.where(half >= goal, middle, below))
    return below, above


@triton.jit
def quarters(lower: tl.tensor, upper: tl.tensor) -> Three:
    """Three integers that divide an interval into quarters."""
    middle = halfway(lower, upper)
    return halfway(lower, middle), middle, halfway(middle, upper)
