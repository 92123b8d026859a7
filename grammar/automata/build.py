"""Small automata made directly: nothing, one text, one symbol, sets of texts.

Does: literals, symbol sets and tries by array arithmetic. Does not: patterns (`regex`), products (`algebra`).
"""

from collections.abc import Iterable, Mapping

import numpy as np

from .dfa import BYTES, REFUSED, Dfa, canonical
from .jit import kernel
from .limits import DEFAULT, Limits
from .minimal import Ints


def nothing(top: int = BYTES) -> Dfa:
    """The empty language."""
    zero = np.zeros(1, np.int32)
    return canonical(top, zero, zero, np.zeros((1, 1), np.int32), zero - 1)


def symbols(ranges: Iterable[tuple[int, int]], top: int = BYTES, outcome: int = 0) -> Dfa:
    """Texts of one symbol out of closed, ascending, disjoint ranges."""
    bounds, classes = [0], [-1]
    for low, high in ranges:
        if bounds[-1] == low:
            classes[-1] = 0
        else:
            bounds.append(low)
            classes.append(0)
        if high + 1 < top:
            bounds.append(high + 1)
            classes.append(-1)
    table = np.array([[1], [-1]], np.int32)
    ends = np.array([REFUSED, outcome], np.int32)
    return canonical(top, np.array(bounds, np.int32), np.array(classes, np.int32), table, ends)


def literal(text: bytes, outcome: int = 0) -> Dfa:
    """Exactly these bytes."""
    return trie({text: outcome})


@kernel
def _grow(
    texts: Ints, offsets: Ints, shared: Ints, outcome: Ints, width: int, total: int
) -> tuple[Ints, Ints]:
    """The trie of texts in ascending order; text i shares a prefix of `shared[i]` with text i - 1."""
    table = np.full((total, width), -1, np.int32)
    ends = np.full(total, -1, np.int32)
    longest = 0
    for i in range(len(shared)):
        longest = max(longest, offsets[i + 1] - offsets[i])
    path = np.zeros(longest + 1, np.int32)
    count = 1
    for i in range(len(shared)):
        length = offsets[i + 1] - offsets[i]
        for d in range(shared[i], length):
            table[path[d], texts[offsets[i] + d]] = count
            path[d + 1] = count
            count += 1
        ends[path[length]] = outcome[i]
    return table[:count], ends[:count]


@kernel
def _shared(texts: Ints, offsets: Ints) -> Ints:
    shared = np.zeros(len(offsets) - 1, np.int32)
    for i in range(1, len(shared)):
        a, b = offsets[i - 1], offsets[i]
        n = min(b - a, offsets[i + 1] - b)
        k = 0
        while k < n and texts[a + k] == texts[b + k]:
            k += 1
        shared[i] = k
    return shared


def trie(texts: Mapping[bytes, int], limits: Limits = DEFAULT) -> Dfa:
    """These texts, each with its outcome (0 or more); minimal, so ends in common are shared.

    Raises:
        ConstraintTooLarge: more states than `limits` allow, counted before equal ends are joined.
    """
    if not texts:
        return nothing()
    ordered = sorted(texts)
    joined = np.frombuffer(b"".join(ordered), np.uint8)
    lengths = np.fromiter(map(len, ordered), np.int64, len(ordered))
    offsets = np.zeros(len(ordered) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    used = np.unique(joined)
    column = np.full(BYTES, -1, np.int32)
    column[used] = np.arange(len(used), dtype=np.int32)
    columns = column[joined]
    shared = _shared(columns, offsets)
    total = 1 + int(lengths.sum() - shared.sum())
    limits.check(total)
    outcomes = np.fromiter((texts[t] for t in ordered), np.int32, len(ordered))
    table, ends = _grow(columns, offsets, shared, outcomes, len(used), total)
    return canonical(BYTES, np.arange(BYTES, dtype=np.int32), column, table, ends)
