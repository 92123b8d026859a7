"""Constructors of simple automata: the empty language, one text, finite sets of texts.

Does: build literals and tries with array arithmetic. Does not: compile patterns (`regex`) or combine automata
(`algebra`).
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from ..base.array_types import Ints
from ..jit.kernel import kernel
from .automaton_limits import DEFAULT, AutomatonLimits
from .dfa import BYTES, CODE_POINTS, Dfa, canonical
from .minimal import canonical_form


@cache
def nothing(top: int = BYTES) -> Dfa:
    """The automaton of the empty language."""
    zero = np.zeros(1, np.int32)
    return canonical(top, zero, zero, np.zeros((1, 1), np.int32), zero - 1)


def literal(text: bytes, outcome: int = 0) -> Dfa:
    """The automaton of exactly these bytes."""
    return trie({text: outcome})


@kernel
def _shared(texts: Ints, offsets: Ints) -> Ints:
    """For each text, the length of its common prefix with the text before it."""
    shared = np.zeros(len(offsets) - 1, np.int32)
    for i in range(1, len(shared)):
        a, b = offsets[i - 1], offsets[i]
        n = min(b - a, offsets[i + 1] - b)
        k = 0
        while k < n and texts[a + k] == texts[b + k]:
            k += 1
        shared[i] = k
    return shared


@kernel
def _grow(
    columns: Ints, offsets: Ints, shared: Ints, outcome: Ints, width: int, total: int
) -> tuple[Ints, Ints]:
    """(table, outcomes) of the trie of sorted texts."""
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
            table[path[d], columns[offsets[i] + d]] = count
            path[d + 1] = count
            count += 1
        ends[path[length]] = outcome[i]
    return table, ends


@kernel
def _intervals(used: Ints, top: int) -> tuple[Ints, Ints]:
    """(bounds, classes) of an alphabet with one class per symbol in `used` (ascending), and -1 for all others."""
    bounds, classes = np.zeros(2 * len(used) + 1, np.int32), np.empty(2 * len(used) + 1, np.int32)
    classes[0], count = -1, 1
    for c in range(len(used)):
        if bounds[count - 1] == used[c]:
            count -= 1
        bounds[count], classes[count] = used[c], c
        count += 1
        if used[c] + 1 < top:
            bounds[count], classes[count] = used[c] + 1, -1
            count += 1
    return bounds[:count].copy(), classes[:count].copy()


@kernel
def _tree(
    texts: Ints, lengths: Ints, outcome: Ints, top: int, most: int, minimise: bool
) -> tuple[int, Ints, Ints, Ints, Ints]:
    """The minimal trie of sorted, concatenated texts.

    Returns (states before minimisation, or -1 for more than `most`; its tables).
    """
    offsets = np.zeros(len(lengths) + 1, np.int32)
    for i in range(len(lengths)):
        offsets[i + 1] = offsets[i] + lengths[i]
    used = np.unique(texts)
    columns = np.searchsorted(used, texts).astype(np.int32)
    shared = _shared(texts, offsets)
    total = 1 + len(texts) - shared.sum()
    bounds, classes = _intervals(used, top)
    if total > most:
        return -1, bounds, classes, np.empty((0, 0), np.int32), classes
    table, ends = _grow(columns, offsets, shared, outcome, max(len(used), 1), total)
    return total, *canonical_form(bounds, classes, table, ends, minimise)


def trie(texts: Mapping[bytes, int], limits: AutomatonLimits = DEFAULT) -> Dfa:
    """The minimal automaton of byte texts, each with its outcome (0 or more); common suffixes are shared.

    Raises:
        ConstraintTooLarge: more states than `limits` allow, counted before minimisation.
    """
    ordered = sorted(texts)
    joined = np.frombuffer(b"".join(ordered), np.uint8).astype(np.int32)
    return _trie(joined, list(map(len, ordered)), [texts[t] for t in ordered], BYTES, limits)


def words(texts: Mapping[str, int], limits: AutomatonLimits = DEFAULT) -> Dfa:
    """Like `trie`, over code points."""
    ordered = sorted(texts)
    joined = np.frombuffer("".join(ordered).encode("utf-32-le", "surrogatepass"), np.int32).copy()
    return _trie(joined, list(map(len, ordered)), [texts[t] for t in ordered], CODE_POINTS, limits)


def _trie(
    joined: Ints, lengths: list[int], outcomes: list[int], top: int, limits: AutomatonLimits
) -> Dfa:
    """The automaton of sorted texts, concatenated in `joined`."""
    if not lengths:
        return nothing(top)
    minimise = len(set(outcomes)) < len(outcomes)  # if all outcomes differ, no two states are equal
    sizes, ends = np.array(lengths, np.int32), np.array(outcomes, np.int32)
    total, *tables = _tree(joined, sizes, ends, top, limits.states, minimise)
    limits.check(total)
    return Dfa(top, *tables)
