"""Set operations on automata: union, intersection, difference, complement, and products with any outcome table.

Does: build product automata, state pair by state pair. Does not: concatenate or repeat (`nfa`).
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np

from ..base.array_types import Ints, Longs
from ..jit.kernel import kernel
from .automaton_limits import DEFAULT, AutomatonLimits
from .dfa import REFUSED, Dfa, DfaTables, canonical
from .minimal import canonical_form

_LARGE: Final = 4096  # states; from this size on, union skips the minimisation if it can


@kernel
def _slot(slots: Longs, keys: Longs, key: np.int64) -> np.int64:
    """The slot that holds `key`, or the free slot for it, in an open-addressing hash table.

    `slots` is a power of two long and holds indexes into `keys`, -1 where it is free.
    """
    mask = len(slots) - 1
    i = (key * np.int64(-7046029254386353131) >> np.int64(17)) & mask
    while slots[i] >= 0 and keys[slots[i]] != key:
        i = (i + 1) & mask
    return i


@kernel
def _rehash(slots: Longs, keys: Longs, count: int) -> Longs:
    larger = np.full(len(slots) * 4, -1, np.int64)
    for n in range(count):
        larger[_slot(larger, keys, keys[n])] = n
    return larger


@kernel
def _pair(
    a: Ints, b: Ints, a_class: Ints, b_class: Ints, need_a: bool, need_b: bool, most: int
) -> tuple[Longs, Ints, int]:
    """Reachable pairs of states and their table over the joint classes.

    A pair is `(s + 1) * (len(b) + 1) + t + 1`; -1 is the dead state of a side. With `need_a` (`need_b`) a pair with a
    dead first (second) state is dropped. Returns (pairs, table, count); count -1: more than `most` pairs.
    """
    width, across = len(a_class), len(b) + 1
    pairs = np.empty(64, np.int64)
    table = np.empty((64, width), np.int32)
    slots = np.full(256, -1, np.int64)
    pairs[0] = across + 1
    slots[_slot(slots, pairs, pairs[0])] = 0
    head, count = 0, 1
    while head < count:
        s, t = pairs[head] // across - 1, pairs[head] % across - 1
        for c in range(width):
            u = a[s, a_class[c]] if s >= 0 and a_class[c] >= 0 else -1
            v = b[t, b_class[c]] if t >= 0 and b_class[c] >= 0 else -1
            if (need_a and u < 0) or (need_b and v < 0) or (u < 0 and v < 0):
                table[head, c] = -1
                continue
            key = np.int64(u + 1) * across + v + 1
            if count == len(pairs):
                if count >= most:
                    return pairs, table, -1
                pairs = np.concatenate((pairs, np.empty(3 * count, np.int64)))
                table = np.concatenate((table, np.empty((3 * count, width), np.int32)))
                slots = _rehash(slots, pairs, count)
            i = _slot(slots, pairs, key)
            if slots[i] < 0:
                slots[i] = count
                pairs[count] = key
                count += 1
            table[head, c] = slots[i]
        head += 1
    return pairs, table, count


@kernel
def joint(
    a_bounds: Ints, a_classes: Ints, a_width: int, b_bounds: Ints, b_classes: Ints, b_width: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """The coarsest partition that refines two others.

    Returns (bounds, classes, class in `a` by joint class, class in `b` by joint class); class -1 of a side marks
    symbols that occur in none of its texts.
    """
    most = len(a_bounds) + len(b_bounds)
    bounds, classes = np.empty(most, np.int32), np.empty(most, np.int32)
    a_class, b_class = np.empty(most, np.int32), np.empty(most, np.int32)
    number = np.full((a_width + 1) * (b_width + 1), -1, np.int32)
    i, j, count, kinds, top = 0, 0, 0, 0, np.int32(1 << 30)
    while i < len(a_bounds) or j < len(b_bounds):
        low = top if i == len(a_bounds) else a_bounds[i]
        if j < len(b_bounds) and b_bounds[j] < low:
            low = b_bounds[j]
        if i < len(a_bounds) and a_bounds[i] == low:
            i += 1
        if j < len(b_bounds) and b_bounds[j] == low:
            j += 1
        c, d = a_classes[i - 1], b_classes[j - 1]
        pair = (c + 1) * (b_width + 1) + d + 1
        if number[pair] < 0:
            number[pair] = kinds
            a_class[kinds], b_class[kinds] = c, d
            kinds += 1
        bounds[count], classes[count] = low, number[pair]
        count += 1
    return (
        bounds[:count].copy(),
        classes[:count].copy(),
        a_class[:kinds].copy(),
        b_class[:kinds].copy(),
    )


@kernel
def _combined(
    a: DfaTables, b: DfaTables, choice: Ints, most: int
) -> tuple[int, Ints, Ints, Ints, Ints]:
    """The product automaton: (states before minimisation, or -1 for more than `most`; its tables); see `combine`."""
    (a_bounds, a_classes, a_table, a_outcome), (b_bounds, b_classes, b_table, b_outcome) = a, b
    bounds, classes, a_class, b_class = joint(
        a_bounds, a_classes, a_table.shape[1], b_bounds, b_classes, b_table.shape[1]
    )
    need_a, need_b = True, True
    for y in range(choice.shape[1]):
        need_a = need_a and choice[0, y] < 0
    for x in range(choice.shape[0]):
        need_b = need_b and choice[x, 0] < 0
    pairs, table, count = _pair(a_table, b_table, a_class, b_class, need_a, need_b, most)
    if count < 0:
        return -1, bounds, classes, table, classes
    across = len(b_table) + 1
    outcome = np.empty(count, np.int32)
    for n in range(count):
        s, t = pairs[n] // across - 1, pairs[n] % across - 1
        x = a_outcome[s] if s >= 0 else -1
        y = b_outcome[t] if t >= 0 else -1
        outcome[n] = choice[x + 1, y + 1]
    return count, *canonical_form(bounds, classes, table[:count], outcome, True)  # noqa: FBT003


@kernel
def _disjoint_union(a: DfaTables, b: DfaTables) -> tuple[bool, Ints, Ints, Ints, Ints]:
    """The union of automata without a common first symbol: (whether that holds, the tables); see `union`."""
    (a_bounds, a_classes, a_table, a_outcome), (b_bounds, b_classes, b_table, b_outcome) = a, b
    bounds, classes, a_class, b_class = joint(
        a_bounds, a_classes, a_table.shape[1], b_bounds, b_classes, b_table.shape[1]
    )
    width, first, second = len(a_class), 1, 1 + len(a_table)
    table = np.full((second + len(b_table), width), -1, np.int32)
    outcome = np.full(len(table), -1, np.int32)
    outcome[first:second], outcome[second:] = a_outcome, b_outcome
    outcome[0] = a_outcome[0] if a_outcome[0] >= 0 else b_outcome[0]
    # All states of one outcome without outgoing arcs become one state.
    ends = np.full(max(a_outcome.max(), b_outcome.max()) + 2, -1, np.int32)
    moved = np.empty(len(table), np.int32)
    for s in range(first, len(table)):
        moved[s], over = s, outcome[s] >= 0
        for t in a_table[s - first] if s < second else b_table[s - second]:
            over = over and t < 0
        if over:
            if ends[outcome[s]] < 0:
                ends[outcome[s]] = s
            moved[s] = ends[outcome[s]]
    for s in range(first, len(table)):
        for c in range(width):
            if s < second:
                t = a_table[s - first, a_class[c]] + first if a_class[c] >= 0 else first - 1
                known = t >= first
            else:
                t = b_table[s - second, b_class[c]] + second if b_class[c] >= 0 else second - 1
                known = t >= second
            if known:
                table[s, c] = moved[t]
    for c in range(width):
        if table[first, c] >= 0 and table[second, c] >= 0:
            return False, bounds, classes, table, outcome
        table[0, c] = max(table[first, c], table[second, c])
    return True, *canonical_form(bounds, classes, table, outcome, False)  # noqa: FBT003


def joint_classes(automata: Sequence[Dfa]) -> tuple[Ints, Ints, list[Ints]]:
    """The coarsest partition that refines all: (bounds, classes, for each automaton its class by joint class)."""
    first = automata[0]
    bounds, classes = first.bounds, first.classes
    own = [np.arange(first.table.shape[1], dtype=np.int32)]
    for dfa in automata[1:]:
        bounds, classes, old, new = joint(
            bounds, classes, len(own[0]), dfa.bounds, dfa.classes, dfa.table.shape[1]
        )
        own = [np.append(column, np.int32(-1))[old] for column in own]
        own.append(new)
    return bounds, classes, own


def combine(a: Dfa, b: Dfa, outcome: Ints, limits: AutomatonLimits = DEFAULT) -> Dfa:
    """The product of two automata: `outcome[x + 1, y + 1]` for outcomes x of `a` and y of `b`, -1 = refused.

    `outcome[0, 0]` must be `REFUSED`: a text that both refuse stays refused.

    Raises:
        ConstraintTooLarge: more states than `limits` allow.
    """
    count, *tables = _combined(a.tables, b.tables, outcome, limits.states)
    limits.check(count)
    return Dfa(a.top, *tables)


def _sizes(a: Dfa, b: Dfa) -> tuple[int, int]:
    return max(a.outcomes, default=-1) + 2, max(b.outcomes, default=-1) + 2


def intersection(a: Dfa, b: Dfa, limits: AutomatonLimits = DEFAULT) -> Dfa:
    """The texts of `a` that are also in `b`, with the outcomes of `a`."""
    rows, columns = _sizes(a, b)
    choice = np.full((rows, columns), REFUSED, np.int32)
    choice[1:, 1:] = np.arange(rows - 1, dtype=np.int32)[:, None]
    return combine(a, b, choice, limits)


def difference(a: Dfa, b: Dfa, limits: AutomatonLimits = DEFAULT) -> Dfa:
    """The texts of `a` that are not in `b`, with the outcomes of `a`."""
    rows, columns = _sizes(a, b)
    choice = np.full((rows, columns), REFUSED, np.int32)
    choice[:, 0] = np.arange(-1, rows - 1, dtype=np.int32)
    return combine(a, b, choice, limits)


def union(a: Dfa, b: Dfa, limits: AutomatonLimits = DEFAULT, *, large: int = _LARGE) -> Dfa:
    """The texts of either automaton; a text of both has the outcome of `a`.

    From `large` states on, the result may not be minimal.
    """
    if a.states + b.states >= large and not (a.empty or b.empty):
        apart, *tables = _disjoint_union(a.tables, b.tables)
        if apart:
            limits.check(len(tables[3]))
            return Dfa(a.top, *tables)
    rows, columns = _sizes(a, b)
    choice = np.full((rows, columns), REFUSED, np.int32)
    choice[0] = np.arange(-1, columns - 1, dtype=np.int32)
    choice[1:] = np.arange(rows - 1, dtype=np.int32)[:, None]
    return combine(a, b, choice, limits)


def union_all(automata: Sequence[Dfa], limits: AutomatonLimits = DEFAULT) -> Dfa:
    """The texts of any of the automata, at least one; the first that accepts a text decides its outcome."""
    level = list(automata)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [union(a, b, limits) for a, b in pairs] + level[len(level) & ~1 :]
    return level[0]


@cache
def everything(top: int) -> Dfa:
    """The automaton of every text over the alphabet, outcome 0."""
    zero = np.zeros(1, np.int32)
    return canonical(top, zero, zero, np.zeros((1, 1), np.int32), zero)


def complement(a: Dfa, limits: AutomatonLimits = DEFAULT) -> Dfa:
    """The automaton of every text over the alphabet that `a` refuses, outcome 0."""
    return difference(everything(a.top), a, limits)
