"""Compiled loops of attention: queries and keys normed, turned and stored, and the attention of a few tokens.

Does: read and write the paged cache. Does not: decide which sequences have few tokens.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from intaglio.grammar.api import arithmetic_kernel, summing_kernel

from .bfloat16 import (
    Bits,
    Floats,
    exponential,
    largest,
    narrowed,
    normed,
    total,
    widen,
    widened,
)

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

AT_ONCE = 4
"""Keys that are multiplied at once, and values, so that queries and sums are read and written less often."""


@arithmetic_kernel
def _turn(head: Floats, cos: Bits, sin: Bits, out: Bits) -> None:
    """A head turned, see `reference.rope`."""
    half = len(head) // 2
    for i in range(half):
        out[i] = narrowed(head[i] * widened(cos[i]) + head[i + half] * widened(sin[i]))
    for i in range(half):
        j = i + half
        out[j] = narrowed(head[j] * widened(cos[j]) + head[i] * widened(sin[j]))


@arithmetic_kernel
def turn_and_store(
    fused: Bits,
    norms: tuple[Floats, Floats, float],
    turns: tuple[Bits, Bits],
    positions: Longs,
    slots: Longs,
    cache: Bits,
    queries: Bits,
) -> None:
    """Norm and turn queries and keys of `fused` [N, heads + 2 * kv_heads, head_dim], store keys and values.

    `norms`: weights of queries and of keys, empty for none, and what is added to the mean square. `turns`, `positions`,
    `slots`: see `Places`. The queries are written to `queries` [N, heads, head_dim].
    """
    heads, size = queries.shape[1:]
    kv_heads = cache.shape[3]
    block_size = cache.shape[2]
    head = np.empty(size, np.float32)
    for i in range(len(fused)):
        cos, sin = turns[0][positions[i]], turns[1][positions[i]]
        slot = slots[i] if i < len(slots) else -1
        block, offset = slot // block_size, slot % block_size
        for h in range(heads + (kv_heads if slot >= 0 else 0)):
            widen(fused[i, h], head)
            weight = norms[0] if h < heads else norms[1]
            if len(weight):
                normed(head, weight, norms[2])
            if h < heads:
                _turn(head, cos, sin, queries[i, h])
            else:
                _turn(head, cos, sin, cache[0, block, offset, h - heads])
        if slot >= 0:
            for h in range(kv_heads):
                for d in range(size):
                    cache[1, block, offset, h, d] = fused[i, heads + kv_heads + h, d]


@arithmetic_kernel
def _widen_some(
    cache: Bits, plane: int, head: int, table: Ints, first: int, end: int, out: Floats
) -> None:
    """Fill `out` [`AT_ONCE`, head_dim] with keys or values of a sequence from `first` on, with zeros from `end` on."""
    width = 0
    while 1 << width < cache.shape[2]:  # a power of two
        width += 1
    for at in range(AT_ONCE):
        j = first + at
        if j < end:
            block, offset = table[j >> width], j & (cache.shape[2] - 1)
            for d in range(out.shape[1]):
                out[at, d] = widened(cache[plane, block, offset, head, d])
        else:
            for d in range(out.shape[1]):
                out[at, d] = 0


@summing_kernel
def _scores(
    queries: Floats, cache: Bits, head: int, table: Ints, length: int, scale: Any, scores: Floats
) -> None:
    """Products of `queries` [rows, head_dim] with the first `length` keys of a sequence, `scores` [rows, keys]."""
    keys = np.empty((AT_ONCE, cache.shape[4]), np.float32)
    for first in range(0, length, AT_ONCE):
        _widen_some(cache, 0, head, table, first, length, keys)
        for row in range(len(queries)):
            # Not `dot`: a view of each row would count references, which takes longer than the sum.
            one = two = three = four = np.float32(0)
            for d in range(keys.shape[1]):
                value = queries[row, d]
                one += value * keys[0, d]
                two += value * keys[1, d]
                three += value * keys[2, d]
                four += value * keys[3, d]
            scores[row, first] = one * scale
            scores[row, first + 1] = two * scale
            scores[row, first + 2] = three * scale
            scores[row, first + 3] = four * scale


@arithmetic_kernel
def _softmax(scores: Floats, seen: int) -> Any:
    """Replace the first scores by their exponentials, relative to the largest, the others by zero; returns the sum."""
    most = largest(scores[:seen])
    for j in range(seen):
        scores[j] = exponential(scores[j] - most)
    for j in range(seen, len(scores)):
        scores[j] = 0
    return total(scores[:seen])


@arithmetic_kernel
def _values(weights: Floats, cache: Bits, head: int, table: Ints, length: int, out: Floats) -> None:
    """The sums `out` [rows, head_dim] of the first `length` values, each times its weight."""
    values = np.empty((AT_ONCE, cache.shape[4]), np.float32)
    for row in range(len(out)):
        for d in range(values.shape[1]):
            out[row, d] = 0
    for first in range(0, length, AT_ONCE):
        _widen_some(cache, 1, head, table, first, length, values)
        for row in range(len(out)):
            one, two = weights[row, first], weights[row, first + 1]
            three, four = weights[row, first + 2], weights[row, first + 3]
            for d in range(values.shape[1]):
                added = one * values[0, d] + two * values[1, d]
                out[row, d] += added + (three * values[2, d] + four * values[3, d])


@arithmetic_kernel
def attend_few(
    queries: Bits,
    cache: Bits,
    which: Longs,
    starts: Ints,
    lengths: Ints,
    tables: Ints,
    scale: float,
    out: Bits,
) -> None:
    """Causal attention of the rows of the sequences `which`; the other arrays are those of `Ragged`.

    `queries` and `out` [N, heads, head_dim]. Softmax over whole contexts.
    """
    heads, size = queries.shape[1:]
    kv_heads = cache.shape[3]
    group = heads // kv_heads
    for s in which:
        first, count, length = starts[s], starts[s + 1] - starts[s], lengths[s]
        rows = np.empty((count * group, size), np.float32)
        scores = np.empty((count * group, -(-length // AT_ONCE) * AT_ONCE), np.float32)
        sums = np.empty((count * group, size), np.float32)
        for h in range(kv_heads):
            for row in range(count * group):
                token = first + row // group
                widen(queries[token, h * group + row % group], rows[row])
            _scores(rows, cache, h, tables[s], length, np.float32(scale), scores)
            parts = np.empty(count * group, np.float32)
            for row in range(count * group):
                parts[row] = _softmax(scores[row], length - count + row // group + 1)
            _values(scores, cache, h, tables[s], length, sums)
            for row in range(count * group):
                target = out[first + row // group, h * group + row % group]
                for i in range(size):
                    target[i] = narrowed(sums[row, i] / parts[row])
