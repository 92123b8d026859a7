"""Determinisation by subset construction, compiled.

Does: close sets of states under epsilon arcs, step them, number the distinct sets. Does not: build the automaton
(`nfa`).
"""

from typing import Final

import numpy as np

from ..base.array_types import Flags, Ints, Longs
from ..jit.kernel import kernel

# Guards: where an epsilon arc may be taken.
FREE: Final = 0
AT_START: Final = 1
AT_END: Final = 2
NOT_START: Final = 3

_MOST_WORK: Final = 1024  # members of subsets that are visited, per allowed state

Arcs = tuple[Ints, Ints, Ints]  # offsets [states + 1], labels, targets, by source


@kernel
def _close(jumps: Arcs, members: Ints, count: int, stamp: Ints, now: int, guards: Flags) -> int:
    """Add all states reachable from `members[:count]` by open epsilon arcs; returns the new count."""
    offsets, guard, target = jumps
    for i in range(count):
        stamp[members[i]] = now
    head = 0
    while head < count:
        s = members[head]
        head += 1
        for j in range(offsets[s], offsets[s + 1]):
            if guards[guard[j]] and stamp[target[j]] != now:
                stamp[target[j]] = now
                members[count] = target[j]
                count += 1
    return count


@kernel
def _find(slots: Longs, pool: Ints, offsets: Longs, subset: Ints) -> np.int64:
    """The slot with this subset's number, or the free slot for it, in an open-addressing hash table."""
    mask = len(slots) - 1
    h = np.int64(1469598103934665603)
    for x in subset:
        h = (h ^ np.int64(x)) * np.int64(1099511628211)
        h ^= h >> np.int64(29)
    i = h & mask
    while slots[i] >= 0:
        a, b = offsets[slots[i]], offsets[slots[i] + 1]
        if b - a == len(subset):
            same = True
            for k in range(b - a):
                if pool[a + k] != subset[k]:
                    same = False
                    break
            if same:
                return i
        i = (i + 1) & mask
    return i


@kernel
def _sort(values: Ints, count: int) -> None:
    """Shellsort: short to compile, and subsets are short or nearly sorted."""
    gap = 1
    while 3 * gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            value, j = values[i], i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@kernel
def _essential(
    arcs: Arcs,
    jumps: Arcs,
    members: Ints,
    count: int,
    end: int,
) -> Ints:
    """The sorted members that later steps depend on: those with arcs or guarded epsilon arcs, and the end."""
    kept = np.empty(count, np.int32)
    n = 0
    for i in range(count):
        s = members[i]
        keep = s == end or arcs[0][s] < arcs[0][s + 1]
        if not keep:
            for j in range(jumps[0][s], jumps[0][s + 1]):
                keep = keep or jumps[1][j] != 0
        if keep:
            kept[n] = s
            n += 1
    _sort(kept, n)
    return kept[:n]


@kernel
def _step(
    arcs: Arcs, accepts: Flags, members: Ints, size: int, targets: Ints, stamp: Ints, now: int
) -> int:
    """Write the targets of arcs from `members[:size]` with an accepted set into `targets`; returns their count."""
    offsets, label, target = arcs
    n = 0
    for i in range(size):
        for j in range(offsets[members[i]], offsets[members[i] + 1]):
            if accepts[label[j]] and stamp[target[j]] != now:
                stamp[target[j]] = now
                targets[n] = target[j]
                n += 1
    return n


@kernel
def _larger(slots: Longs, pool: Ints, offsets: Longs, count: int) -> Longs:
    """A hash table of four times the size, with subsets 1 to `count` - 1."""
    larger = np.full(len(slots) * 4, -1, np.int64)
    for k in range(1, count):
        larger[_find(larger, pool, offsets, pool[offsets[k] : offsets[k + 1]])] = k
    return larger


@kernel
def subsets(
    arcs: Arcs, jumps: Arcs, sets: Flags, start: int, end: int, most: int
) -> tuple[Ints, Flags, int]:
    """The subset automaton: (table, whether each state accepts, count).

    Count -1: more than `most` states, or over the work limit. State 0 is the only subset with the start guard open, so
    no other state is merged with it.
    """
    states, width = len(arcs[0]) - 1, sets.shape[1]
    stamp, now = np.full(states, -1, np.int32), 0
    members, targets = np.empty(states, np.int32), np.empty(states, np.int32)
    moving = np.array([True, False, False, True])
    ending = np.array([True, True, True, False])
    members[0] = start
    size = _close(jumps, members, 1, stamp, now, np.array([True, True, False, False]))
    first = _essential(arcs, jumps, members, size, end)
    used = len(first)
    pool = np.concatenate((first, np.empty(1024, np.int32)))
    offsets = np.zeros(64, np.int64)
    offsets[1] = used
    slots = np.full(256, -1, np.int64)
    table, ends = np.full((63, width), -1, np.int32), np.zeros(63, np.bool_)
    head, count, work = 0, 1, 0
    while head < count:
        size = offsets[head + 1] - offsets[head]
        work += size
        if work > _MOST_WORK * most:
            return table, ends, -1
        members[:size] = pool[offsets[head] : offsets[head + 1]]
        now += 1
        _close(jumps, members, size, stamp, now, ending)
        ending[AT_START], ending[NOT_START] = False, True
        ends[head] = stamp[end] == now
        for c in range(width):
            now += 2
            n = _step(arcs, sets[:, c], members, size, targets, stamp, now - 1)
            if n == 0:
                continue
            n = _close(jumps, targets, n, stamp, now, moving)
            work += n
            subset = _essential(arcs, jumps, targets, n, end)
            if count == len(table):
                if count >= most:
                    return table, ends, -1
                offsets = np.concatenate((offsets, np.zeros(3 * count, np.int64)))
                table = np.concatenate((table, np.full((3 * count, width), -1, np.int32)))
                ends = np.concatenate((ends, np.zeros(3 * count, np.bool_)))
                slots = _larger(slots, pool, offsets, count)
            i = _find(slots, pool, offsets, subset)
            if slots[i] < 0:
                if used + len(subset) > len(pool):
                    room = np.empty(2 * len(pool) + len(subset), np.int32)
                    pool = np.concatenate((pool, room))
                pool[used : used + len(subset)] = subset
                slots[i] = count
                used += len(subset)
                count += 1
                offsets[count] = used
            table[head, c] = slots[i]
        head += 1
    return table, ends, count
