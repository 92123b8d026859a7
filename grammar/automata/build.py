"""Small automata made directly: nothing, one text, one symbol, sets of texts.

Does: literals, symbol sets and tries by array arithmetic. Does not: patterns (`regex`), products (`algebra`).
"""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from .dfa import BYTES, CODE_POINTS, REFUSED, Dfa, canonical
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
    ordered = sorted(texts)
    joined = np.frombuffer(b"".join(ordered), np.uint8)
    return _trie(joined, list(map(len, ordered)), [texts[t] for t in ordered], BYTES, limits)


def words(texts: Mapping[str, int], limits: Limits = DEFAULT) -> Dfa:
    """Like `trie`, over code points."""
    ordered = sorted(texts)
    joined = np.frombuffer("".join(ordered).encode("utf-32-le", "surrogatepass"), np.uint32)
    return _trie(joined, list(map(len, ordered)), [texts[t] for t in ordered], CODE_POINTS, limits)


def _trie(
    joined: npt.NDArray[np.unsignedinteger],
    lengths: list[int],
    outcomes: list[int],
    top: int,
    limits: Limits,
) -> Dfa:
    """Of texts in ascending order, one after the other in `joined`."""
    if not lengths:
        return nothing(top)
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    used, columns = np.unique(joined, return_inverse=True)
    columns = columns.astype(np.int32)
    shared = _shared(columns, offsets)
    total = 1 + sum(lengths) - int(shared.sum())
    limits.check(total)
    ends = np.array(outcomes, np.int32)
    table, outcome = _grow(columns, offsets, shared, ends, max(len(used), 1), total)
    gaps = np.stack((used.astype(np.int64), used.astype(np.int64) + 1), axis=1).reshape(-1)
    bounds = np.unique(np.concatenate((np.zeros(1, np.int64), gaps[gaps < top])))
    classes = np.full(len(bounds), -1, np.int32)
    classes[np.searchsorted(bounds, used)] = np.arange(len(used), dtype=np.int32)
    return canonical(top, bounds.astype(np.int32), classes, table, outcome)
