"""Paged attention on a CPU as compiled loops: QK norm, rotary embedding and KV store, then causal attention.

Does: read and write the paged cache. Does not: attend with windows, soft caps or latents.

Keys and values are read tile by tile, for up to `QUERY_TILE` tokens and all query heads that share them. The result of
a token has the same bits whichever other tokens share its tile.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from intaglio.grammar.api import arithmetic_kernel

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
from .register_tiles import ROWS, TILE_COLUMNS, add_products, transpose

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

QUERY_TILE = 16
"""Query tokens of a sequence that share one read of the keys and values."""
KEY_TILE = 64
"""Tokens of which keys or values are read at once: a tile of either, in float32, fits the L1 cache of a core."""
_ONE = np.float32(1)


@arithmetic_kernel
def _rotate(head: Floats, cos: Bits, sin: Bits, out: Bits) -> None:
    """Rotate one head, as `reference.rope` does. `head` float32, the others bfloat16, all [head_dim]."""
    half = len(head) // 2
    for i in range(half):
        out[i] = narrowed(head[i] * widened(cos[i]) + head[i + half] * widened(sin[i]))
    for i in range(half):
        j = i + half
        out[j] = narrowed(head[j] * widened(cos[j]) + head[i] * widened(sin[j]))


@arithmetic_kernel
def rotate_and_store(
    fused: Bits,
    norms: tuple[Floats, Floats, float],
    rotation: tuple[Bits, Bits],
    positions: Longs,
    slots: Longs,
    cache: Bits,
    queries: Bits,
) -> None:
    """Norm and rotate queries and keys of `fused` [N, heads + 2 * kv_heads, head_dim], and store keys and values.

    `norms`: weights of queries and of keys, empty for none, and epsilon. `rotation`: cosines and sines
    [positions, head_dim]. `positions`, `slots`: see `Places`; a negative slot stores nothing. `cache`:
    [2, num_blocks, block_size, kv_heads, head_dim]. The queries are written to `queries` [N, heads, head_dim].
    """
    heads, size = queries.shape[1:]
    kv_heads = cache.shape[3]
    block_size = cache.shape[2]
    head = np.empty(size, np.float32)
    for i in range(len(fused)):
        cos, sin = rotation[0][positions[i]], rotation[1][positions[i]]
        slot = slots[i] if i < len(slots) else -1
        block, offset = slot // block_size, slot % block_size
        for h in range(heads + (kv_heads if slot >= 0 else 0)):
            widen(fused[i, h], head)
            weight = norms[0] if h < heads else norms[1]
            if len(weight):
                normed(head, weight, norms[2])
            if h < heads:
                _rotate(head, cos, sin, queries[i, h])
            else:
                _rotate(head, cos, sin, cache[0, block, offset, h - heads])
        if slot >= 0:
            for h in range(kv_heads):
                for d in range(size):
                    cache[1, block, offset, h, d] = fused[i, heads + kv_heads + h, d]


@arithmetic_kernel
def _locate(table: Ints, at: int, last: int) -> tuple[int, int]:
    """The block of token `at` of a sequence, and its offset there; `last` is the last offset, 2**n - 1."""
    width = 0
    while last >> width:
        width += 1
    return int(table[at >> width]), at & last


@arithmetic_kernel
def _read_keys(cache: Bits, head: int, table: Ints, first: int, end: int, out: Bits) -> None:
    """Fill `out` [`KEY_TILE`, width] with keys of a sequence from `first` on, with zeros from `end` on."""
    last = cache.shape[2] - 1  # in a block, of which the size is a power of two
    for at in range(KEY_TILE):
        if first + at < end:
            block, offset = _locate(table, first + at, last)
            for d in range(cache.shape[4]):
                out[at, d] = cache[0, block, offset, head, d]
        else:
            for d in range(cache.shape[4]):
                out[at, d] = 0


@arithmetic_kernel
def _read_values(cache: Bits, head: int, table: Ints, first: int, end: int, out: Floats) -> None:
    """Like `_read_keys`, for values, in float32."""
    last = cache.shape[2] - 1
    for at in range(KEY_TILE):
        if first + at < end:
            block, offset = _locate(table, first + at, last)
            for d in range(cache.shape[4]):
                out[at, d] = widened(cache[1, block, offset, head, d])
        else:
            for d in range(cache.shape[4]):
                out[at, d] = 0


@arithmetic_kernel
def _softmax(scores: Floats, seen: int) -> Any:
    """Replace the first `seen` scores by exponentials relative to their maximum, the others by 0; returns the sum."""
    most = largest(scores[:seen])
    for j in range(seen):
        scores[j] = exponential(scores[j] - most)
    for j in range(seen, len(scores)):
        scores[j] = 0
    return total(scores[:seen])


@arithmetic_kernel
def _attend(
    rows: Floats, cache: Bits, head: int, table: Ints, length: int, later: Longs, sums: Floats
) -> None:
    """Attention of query rows [N, width], already scaled, over the first `length` tokens of a sequence.

    Row `i` does not see the last `later[i]` of these. The results are written to `sums` [N, width]; N is a multiple of
    `ROWS`, width one of `TILE_COLUMNS`.
    """
    count, width = rows.shape
    narrow = np.zeros((KEY_TILE, width), np.int16)
    keys, values = np.empty((width, KEY_TILE), np.float32), np.zeros((KEY_TILE, width), np.float32)
    scores = np.zeros((count, -(-length // KEY_TILE) * KEY_TILE), np.float32)
    for first in range(0, length, KEY_TILE):
        _read_keys(cache, head, table, first, length, narrow)
        transpose(narrow, keys)
        add_products(rows, keys, scores[:, first : first + KEY_TILE])
    parts = np.empty(count, np.float32)
    for row in range(count):
        parts[row] = _softmax(scores[row], length - later[row])
    sums[:] = 0
    for first in range(0, length, KEY_TILE):
        _read_values(cache, head, table, first, length, values)
        add_products(scores[:, first : first + KEY_TILE], values, sums)
    for row in range(count):
        scale = _ONE / parts[row]
        for d in range(width):
            sums[row, d] *= scale


@arithmetic_kernel
def attend(
    queries: Bits, cache: Bits, pieces: Longs, tables: Ints, scale: float, out: Bits
) -> None:
    """Causal attention of the query tiles `pieces`. Softmax over whole contexts, in float32.

    `queries` and `out` [N, heads, head_dim]. `pieces` [P, 4]: the row of the sequence in `tables`; the first row of the
    tile in `queries`; its number of rows, at most `QUERY_TILE`; and the context length of its last row.
    """
    heads, size = queries.shape[1:]
    kv_heads = cache.shape[3]
    group = heads // kv_heads
    width = -(-size // TILE_COLUMNS) * TILE_COLUMNS
    for s, first, count, length in pieces:
        padded = -(-count * group // ROWS) * ROWS
        rows = np.zeros((padded, width), np.float32)
        sums = np.empty((padded, width), np.float32)
        later = np.zeros(padded, np.int64)
        for row in range(count * group):
            later[row] = count - 1 - row // group
        for h in range(kv_heads):
            for row in range(count * group):
                query, wide = queries[first + row // group, h * group + row % group], rows[row]
                for d in range(size):
                    wide[d] = widened(query[d]) * np.float32(scale)
            _attend(rows, cache, h, tables[s], length, later, sums)
            for row in range(count * group):
                target = out[first + row // group, h * group + row % group]
                for d in range(size):
                    target[d] = narrowed(sums[row, d])
