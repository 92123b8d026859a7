"""Canonical form of automaton tables: trimming, minimisation, numbering.

Does: bring the tables of a partial deterministic automaton into canonical form. Does not: interpret the columns
(`dfa`). Minimisation is Valmari's ("Fast brief practical DFA minimization", IPL 112, 2012): O(transitions x log
states).
"""

import numpy as np

from ..base.array_types import Flags, Ints, Longs
from ..jit.kernel import kernel


@kernel
def walk_from(table: Ints, start: int, alive: Flags) -> tuple[Ints, int]:
    """(queue, count): the live states in breadth-first order from `start`, in the first `count` entries of `queue`."""
    queue = np.empty(len(table), np.int32)
    if not alive[start]:
        return queue, 0
    seen = np.zeros(len(table), np.bool_)
    queue[0] = start
    seen[start] = True
    head, tail = 0, 1
    while head < tail:
        state = queue[head]
        head += 1
        for c in range(table.shape[1]):
            t = table[state, c]
            if t >= 0 and alive[t] and not seen[t]:
                seen[t] = True
                queue[tail] = t
                tail += 1
    return queue, tail


@kernel
def sources_of(table: Ints) -> tuple[Longs, Ints]:
    """Arcs by target: arcs into `t` come from `sources[offsets[t]:offsets[t + 1]]`, in order of (source, column)."""
    count, width = table.shape
    offsets = np.zeros(count + 1, np.int64)
    for s in range(count):
        for c in range(width):
            if table[s, c] >= 0:
                offsets[table[s, c] + 1] += 1
    for s in range(count):
        offsets[s + 1] += offsets[s]
    sources = np.empty(offsets[count], np.int32)
    place = offsets[:count].copy()
    for s in range(count):
        for c in range(width):
            t = table[s, c]
            if t >= 0:
                sources[place[t]] = s
                place[t] += 1
    return offsets, sources


@kernel
def distances(table: Ints, goal: Flags) -> Ints:
    """int32 [states]: fewest arcs from each state to a goal; -1 where no path leads to one."""
    offsets, sources = sources_of(table)
    distance = np.full(len(table), -1, np.int32)
    queue = np.empty(len(table), np.int32)
    tail = 0
    for s in range(len(table)):
        if goal[s]:
            distance[s] = 0
            queue[tail] = s
            tail += 1
    head = 0
    while head < tail:
        t = queue[head]
        head += 1
        for i in range(offsets[t], offsets[t + 1]):
            s = sources[i]
            if distance[s] < 0:
                distance[s] = distance[t] + 1
                queue[tail] = s
                tail += 1
    return distance


@kernel
def depths(table: Ints) -> Ints:
    """int32 [states]: fewest arcs from state 0 to each state; -1 where no path leads to it."""
    depth = np.full(len(table), -1, np.int32)
    queue, count = walk_from(table, 0, np.ones(len(table), np.bool_))
    depth[0] = 0
    for i in range(count):
        s = queue[i]
        for c in range(table.shape[1]):
            t = table[s, c]
            if t >= 0 and depth[t] < 0:
                depth[t] = depth[s] + 1
    return depth


@kernel
def trim(table: Ints, outcome: Ints, start: int) -> tuple[Ints, int]:
    """(new number of each state, count of states kept); -1 for states that are unreachable or cannot accept.

    Numbers follow a breadth-first walk over live states in column order, so equal tables get equal numbers.
    """
    alive = distances(table, outcome >= 0) >= 0
    queue, count = walk_from(table, start, alive)
    number = np.full(len(table), -1, np.int32)
    for i in range(count):
        number[queue[i]] = i
    return number, count


@kernel
def renumber(table: Ints, outcome: Ints, number: Ints, count: int) -> tuple[Ints, Ints]:
    """The tables under new state numbers; -1 drops a state, and several states may share a number."""
    width = table.shape[1]
    new_table = np.full((count, width), -1, np.int32)
    new_outcome = np.full(count, -1, np.int32)
    for state in range(len(number)):
        n = number[state]
        if n >= 0:
            new_outcome[n] = outcome[state]
            for c in range(width):
                t = table[state, c]
                if t >= 0:
                    new_table[n, c] = number[t]
    return new_table, new_outcome


@kernel
def _mark(
    e: int, elems: Ints, loc: Ints, block: Ints, first: Ints, marked: Ints, touched: Ints, w: int
) -> int:
    """Mark an element of a partition (variable names are Valmari's); returns the new `w`.

    `touched[:w]` are the blocks with marked elements. The elements of block s are `elems[first[s] : past[s]]`, the
    marked ones in front; element e is at `loc[e]`.
    """
    s = block[e]
    i = loc[e]
    j = first[s] + marked[s]
    elems[i] = elems[j]
    loc[elems[i]] = i
    elems[j] = e
    loc[e] = j
    if marked[s] == 0:
        touched[w] = s
        w += 1
    marked[s] += 1
    return w


@kernel
def _split(
    elems: Ints, block: Ints, first: Ints, past: Ints, marked: Ints, touched: Ints, w: int, z: int
) -> int:
    """Split the touched blocks into marked and unmarked elements; returns the new `z`.

    The smaller part becomes a new block, numbered from `z` on.
    """
    while w > 0:
        w -= 1
        s = touched[w]
        j = first[s] + marked[s]
        if j == past[s]:
            marked[s] = 0
            continue
        if marked[s] <= past[s] - j:
            first[z] = first[s]
            past[z] = j
            first[s] = j
        else:
            past[z] = past[s]
            first[z] = j
            past[s] = j
        for i in range(first[z], past[z]):
            block[elems[i]] = z
        marked[s] = 0
        marked[z] = 0
        z += 1
    return z


@kernel
def _group(keys: Ints, groups: int, elems: Ints, loc: Ints, first: Ints, past: Ints) -> None:
    """The initial partition: elements by key; keys are 0 to groups - 1, each of them in use."""
    for g in range(groups):
        first[g] = 0
    for e in range(len(keys)):
        past[keys[e]] += 1
    total = 0
    for g in range(groups):
        first[g] = total
        total += past[g]
        past[g] = first[g]
    for e in range(len(keys)):
        i = past[keys[e]]
        elems[i] = e
        loc[e] = i
        past[keys[e]] = i + 1


@kernel
def _arcs(table: Ints) -> tuple[Ints, Ints, int]:
    """(source and label of each arc in order of (source, column), number of labels); labels number the used columns."""
    count, width = table.shape
    total = 0
    for s in range(count):
        for c in range(width):
            if table[s, c] >= 0:
                total += 1
    tail = np.empty(total, np.int32)
    label = np.empty(total, np.int32)
    used = np.full(width, -1, np.int32)
    labels = 0
    m = 0
    for s in range(count):
        for c in range(width):
            if table[s, c] >= 0:
                if used[c] < 0:
                    used[c] = labels
                    labels += 1
                tail[m] = s
                label[m] = used[c]
                m += 1
    return tail, label, labels


@kernel
def _arriving(table: Ints, offsets: Longs, total: int) -> Ints:
    """Arc numbers (in the order of `_arcs`) by target, in the layout of `sources_of`."""
    arriving = np.empty(total, np.int32)
    place = offsets[: len(table)].copy()
    m = 0
    for s in range(len(table)):
        for c in range(table.shape[1]):
            t = table[s, c]
            if t >= 0:
                arriving[place[t]] = m
                place[t] += 1
                m += 1
    return arriving


@kernel
def blocks(table: Ints, kind: Ints, kinds: int) -> Ints:
    """The coarsest congruence of a trimmed table that separates kinds (0 to kinds - 1, each in use)."""
    count = len(table)
    tail, label, labels = _arcs(table)
    offsets, _ = sources_of(table)
    arriving = _arriving(table, offsets, len(tail))
    b_elems, b_loc, b_block = np.empty(count, np.int32), np.empty(count, np.int32), kind.copy()
    b_first, b_past = np.zeros(count + 1, np.int32), np.zeros(count + 1, np.int32)
    b_marked, touched = np.zeros(count + 1, np.int32), np.empty(max(count, len(tail)) + 1, np.int32)
    _group(kind, kinds, b_elems, b_loc, b_first, b_past)
    c_elems, c_loc, c_block = (
        np.empty(len(tail), np.int32),
        np.empty(len(tail), np.int32),
        label.copy(),
    )
    c_first, c_past = np.zeros(len(tail) + 1, np.int32), np.zeros(len(tail) + 1, np.int32)
    c_marked = np.zeros(len(tail) + 1, np.int32)
    _group(label, labels, c_elems, c_loc, c_first, c_past)
    b, b_count, c, c_count = 1, kinds, 0, labels
    while c < c_count:
        w = 0
        for i in range(c_first[c], c_past[c]):
            w = _mark(tail[c_elems[i]], b_elems, b_loc, b_block, b_first, b_marked, touched, w)
        b_count = _split(b_elems, b_block, b_first, b_past, b_marked, touched, w, b_count)
        c += 1
        while b < b_count:
            w = 0
            for i in range(b_first[b], b_past[b]):
                for j in range(offsets[b_elems[i]], offsets[b_elems[i] + 1]):
                    w = _mark(arriving[j], c_elems, c_loc, c_block, c_first, c_marked, touched, w)
            c_count = _split(c_elems, c_block, c_first, c_past, c_marked, touched, w, c_count)
            b += 1
    return b_block


@kernel
def _equal_columns(table: Ints) -> Ints:
    """For each column the first that equals it; -1 for columns without arcs."""
    count, width = table.shape
    joined = np.full(width, -1, np.int32)
    hashes = np.zeros(width, np.int64)
    for c in range(width):
        empty = True
        for s in range(count):
            hashes[c] = (hashes[c] ^ np.int64(table[s, c])) * np.int64(1099511628211)
            empty = empty and table[s, c] < 0
        if empty:
            continue
        joined[c] = c
        for b in range(c):
            if joined[b] == b and hashes[b] == hashes[c]:
                s = 0
                while s < count and table[s, b] == table[s, c]:
                    s += 1
                if s == count:
                    joined[c] = b
                    break
    return joined


@kernel
def merge_columns(bounds: Ints, classes: Ints, table: Ints) -> tuple[Ints, Ints, Ints]:
    """Merge classes with equal columns, and adjacent intervals of one class; classes without arcs become -1.

    Classes are numbered by their first symbol. Returns (bounds, classes, table).
    """
    count, width = table.shape
    joined = _equal_columns(table)
    names, used = np.full(width, -1, np.int32), 0
    order = np.empty(width, np.int32)
    new_bounds, new_classes = np.empty_like(bounds), np.empty_like(classes)
    kept = 0
    for i in range(len(bounds)):
        name = -1
        if classes[i] >= 0 and joined[classes[i]] >= 0:
            c = joined[classes[i]]
            if names[c] < 0:
                names[c] = used
                order[used] = c
                used += 1
            name = names[c]
        if kept == 0 or name != new_classes[kept - 1]:
            new_bounds[kept], new_classes[kept] = bounds[i], name
            kept += 1
    merged = np.empty((count, used), np.int32)
    for s in range(count):
        for c in range(used):
            merged[s, c] = table[s, order[c]]
    return new_bounds[:kept].copy(), new_classes[:kept].copy(), merged


@kernel
def _kinds(outcome: Ints) -> tuple[Ints, int]:
    """(outcomes numbered in order of appearance, how many there are)."""
    most = 0
    for s in range(len(outcome)):
        most = max(most, outcome[s])
    numbers = np.full(most + 2, -1, np.int32)
    kind, count = np.empty(len(outcome), np.int32), 0
    for s in range(len(outcome)):
        if numbers[outcome[s] + 1] < 0:
            numbers[outcome[s] + 1] = count
            count += 1
        kind[s] = numbers[outcome[s] + 1]
    return kind, count


@kernel
def canonical_form(
    bounds: Ints, classes: Ints, table: Ints, outcome: Ints, minimise: bool
) -> tuple[Ints, Ints, Ints, Ints]:
    """The tables trimmed, minimised if `minimise`, and numbered breadth first in symbol order; the start state is 0.

    The empty language is one state, one class -1 and no columns.
    """
    bounds, classes, table = merge_columns(bounds, classes, table)
    number, count = trim(table, outcome, 0)
    if count == 0:
        nothing = np.zeros(1, np.int32)
        return nothing, nothing - np.int32(1), np.empty((1, 0), np.int32), nothing - np.int32(1)
    table, outcome = renumber(table, outcome, number, count)
    if minimise:
        kind, kinds = _kinds(outcome)
        block = blocks(table, kind, kinds)
        quotient = 0
        for s in range(count):
            quotient = max(quotient, block[s] + 1)
        if quotient < count:
            # State 0 must stay first.
            first = block[0]
            for s in range(count):
                if block[s] == first:
                    block[s] = 0
                elif block[s] == 0:
                    block[s] = first
            table, outcome = renumber(table, outcome, block, quotient)
            number, count = trim(table, outcome, 0)
            table, outcome = renumber(table, outcome, number, count)
    bounds, classes, table = merge_columns(bounds, classes, table)
    return bounds, classes, table, outcome
