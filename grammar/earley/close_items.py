"""Compiled loops that make columns: reading a byte, prediction and completion, cutting.

Does: Earley's steps ("An efficient context-free parsing algorithm", 1970) on items with columns as origins; store
each distinct column once. A step that finds no room changes nothing; the caller makes room and repeats it. Does not:
walk vocabularies (`walk_tokens`).
"""

from typing import Final

import numpy as np

from ..base.array_types import Longs
from ..jit.kernel import kernel
from .column_store import (
    COLUMNS,
    CUT,
    DEAD,
    DEPTH,
    DONE,
    FULL,
    GENERATION,
    ITEMS,
    MOST_CALLERS,
    MOST_ITEMS,
    NO_ROOM,
    OPEN,
    UNKNOWN,
    VISITED,
    Columns,
    columns_at,
    digest,
)
from .rule_arrays import FAR, RuleArrays, rules_at

_ORIGIN: Final = 21
_NEXT: Final = 20
_WHAT: Final = 41
_WAITS: Final = 1 << 61
_ORIGINS: Final = (1 << _ORIGIN) - 1
_NEXTS: Final = (1 << _NEXT) - 1
_WHATS: Final = (1 << 20) - 1


@kernel
def what(item: int | np.int64) -> int:
    """The leaf state that an item reads, or the rule it awaits."""
    return int((item >> _WHAT) & _WHATS)


@kernel
def next_state(item: int | np.int64) -> int:
    """The state of the calling body after that."""
    return int((item >> _ORIGIN) & _NEXTS)


@kernel
def origin(item: int | np.int64) -> int:
    """1 + the column where the calling body began; 0: the column of the item."""
    return int(item & _ORIGINS)


@kernel
def awaits(columns: Columns, c: int | np.int64, rule: int | np.int64) -> int:
    """The index of the first item of column c that awaits a rule; there is one, unless the column is `OPEN`."""
    low, high, least = columns.waiting[c], columns.first[c + 1], _WAITS | (rule << _WHAT)
    while low < high:
        middle = (low + high) >> 1
        if columns.items[middle] < least:
            low = middle + 1
        else:
            high = middle
    return int(low)


@kernel
def _push(
    columns: Columns, count: int | np.int64, state: int | np.int64, at: int | np.int64
) -> int:
    """Add a body state with its origin to the work, unless it has been there; the new count, or `DEAD` if too many."""
    entry = (np.int64(state) << _ORIGIN) | at
    mask = len(columns.stamps) - 1
    place = ((entry * 0x9E3779B1) ^ (entry >> 17)) & mask
    generation = columns.note[GENERATION]
    while columns.stamped[place] == generation:
        if columns.stamps[place] == entry:
            return int(count)
        place = (place + 1) & mask
    if count >= len(columns.work):
        return DEAD
    columns.stamps[place], columns.stamped[place] = entry, np.int32(generation)
    columns.work[count] = entry
    return int(count + 1)


@kernel
def _complete(
    columns: Columns,
    count: int | np.int64,
    rule: int | np.int64,
    at: int | np.int64,
) -> int:
    """Push what awaited a rule in the column before `at`; the new count, or `DEAD` if too many."""
    c = at - 1
    i, end = awaits(columns, c, rule), columns.first[c + 1]
    while i < end and what(columns.items[i]) == rule:
        item = columns.items[i]
        begun = origin(item)
        count = _push(columns, count, next_state(item), begun if begun else at)
        columns.note[VISITED] += 1
        if count < 0 or columns.note[VISITED] > MOST_CALLERS:
            return DEAD
        i += 1
    return int(count)


@kernel
def close(
    rules: RuleArrays, columns: Columns, made: int, count: int, flags: int
) -> tuple[int, int]:
    """Predict and complete until nothing is left in `work`.

    Returns (the number of items in `columns.made`, flags); (`DEAD`, 0) if there are too many.
    """
    pushed = 0
    columns.note[VISITED] = 0
    while count > 0:
        count -= 1
        entry = columns.work[count]
        state, at = entry >> _ORIGIN, entry & _ORIGINS
        pushed += 1
        begin, end = rules.first_arc[state], rules.first_arc[state + 1]
        if made + end - begin > len(columns.made) or pushed > MOST_ITEMS:
            return DEAD, 0
        for arc in range(begin, end):
            label, then = np.int64(rules.label[arc]), np.int64(rules.target[arc])
            if label >= 0:
                columns.made[made] = (label << _WHAT) | (then << _ORIGIN) | at
            else:
                columns.made[made] = _WAITS | (~label << _WHAT) | (then << _ORIGIN) | at
                count = _push(columns, count, rules.entry[~label], 0)
                if count < 0:
                    return DEAD, 0
            made += 1
        if rules.final[state]:
            rule = rules.rule_of[state]
            if rule < 0:
                flags |= DONE
            elif at == OPEN + 1:
                flags |= CUT
            else:
                count = _complete(columns, count, rule, at)
                if count < 0:
                    return DEAD, 0
    return made, flags


@kernel
def _after(rules: RuleArrays, columns: Columns, c: int | np.int64, item: int | np.int64) -> int:
    """The fewest bytes from the end of what an item of column c reads or awaits to the end of the output."""
    state, begun = next_state(item), origin(item)
    rest, rule = rules.rest[state], rules.rule_of[state]
    if rule < 0 or begun == OPEN + 1:
        return int(rest)
    return int(min(FAR, rest + columns.best[awaits(columns, begun - 1 if begun else c, rule)]))


@kernel
def _measure(rules: RuleArrays, columns: Columns, c: int) -> None:
    """Compute `cost` and `best` of a new column: first what began earlier, then what begins here."""
    low, end = columns.waiting[c], columns.first[c + 1]
    inner = 0
    for i in range(low, end):
        columns.best[i] = columns.cost[i] = FAR
    for i in range(low, end):
        if origin(columns.items[i]) == 0:
            inner += 1
        else:
            _lower(rules, columns, c, i)
    changed = inner > 0
    while changed:
        changed = False
        for i in range(low, end):
            if origin(columns.items[i]) == 0:
                changed |= _lower(rules, columns, c, i)
    for i in range(columns.first[c], low):
        columns.cost[i], columns.best[i] = _after(rules, columns, c, columns.items[i]), 0


@kernel
def _lower(rules: RuleArrays, columns: Columns, c: int, i: int) -> bool:
    """Compute the cost of item i again; whether it makes the best of its rule smaller."""
    cost = _after(rules, columns, c, columns.items[i])
    columns.cost[i] = cost
    group = awaits(columns, c, what(columns.items[i]))
    if cost < columns.best[group]:
        columns.best[group] = cost
        return True
    return False


@kernel
def intern(rules: RuleArrays, columns: Columns, made: int, flags: int) -> int:
    """The column of the first `made` items of `columns.made`, in any order; `NO_ROOM`."""
    new = columns.made[:made]
    new.sort()
    size = 0
    for i in range(made):
        if i == 0 or new[i] != new[i - 1]:
            new[size] = new[i]
            size += 1
    new = columns.made[:size]
    mask = len(columns.hashed) - 1
    place = digest(new, flags) & mask
    while columns.hashed[place] >= 0:
        c = np.int64(columns.hashed[place])
        if columns.flags[c] == flags and columns.first[c + 1] - columns.first[c] == size:
            same, at = True, columns.first[c]
            for i in range(size):
                if columns.items[at + i] != new[i]:
                    same = False
                    break
            if same:
                return int(c)
        place = (place + 1) & mask
    c, at = columns.note[COLUMNS], columns.note[ITEMS]
    if c + 1 >= len(columns.flags) or at + size > len(columns.items):
        return NO_ROOM
    columns.hashed[place] = c
    columns.items[at : at + size] = new
    columns.first[c], columns.first[c + 1] = at, at + size
    columns.flags[c] = flags
    waiting = at
    while waiting < at + size and columns.items[waiting] < _WAITS:
        waiting += 1
    columns.waiting[c] = waiting
    columns.note[COLUMNS], columns.note[ITEMS] = c + 1, at + size
    _measure(rules, columns, c)
    return int(c)


@kernel
def step(rules: RuleArrays, columns: Columns, c: int | np.int64, kind: int | np.int64) -> int:
    """The column after a byte of class `kind`; `DEAD`, or `NO_ROOM`."""
    cell = c * len(rules.only) + kind
    known = columns.moves[cell]
    if known != UNKNOWN:
        return int(known)
    columns.note[GENERATION] += 1
    made = count = 0
    for i in range(columns.first[c], columns.waiting[c]):
        item = columns.items[i]
        leaf = np.int64(rules.following[what(item) * len(rules.only) + kind])
        if leaf < 0:
            continue
        begun = origin(item)
        at = begun if begun else c + 1
        then = np.int64(next_state(item))
        if rules.goes_on[leaf]:
            columns.made[made] = (leaf << _WHAT) | (then << _ORIGIN) | at
            made += 1
        if rules.accepting[leaf]:
            count = _push(columns, count, then, at)
    flags = 0
    made, flags = close(rules, columns, made, count, flags)
    if made < 0:
        columns.note[FULL] += 1
    found = DEAD if made < 0 or (made == 0 and flags == 0) else intern(rules, columns, made, flags)
    if found != NO_ROOM:
        columns.moves[cell] = found
    return found


@kernel
def first_column(held: Longs, nullable: bool) -> int:
    """The column before the first byte; `DEAD` if it has too many items, `NO_ROOM`."""
    rules, columns = rules_at(held), columns_at(held)
    whole = np.int64(len(rules.final) - 1)
    columns.note[GENERATION] += 1
    columns.made[0] = _WAITS | (whole << _ORIGIN)
    made, flags = close(
        rules, columns, 1, _push(columns, 0, rules.entry[0], 0), DONE if nullable else 0
    )
    return DEAD if made < 0 else intern(rules, columns, made, flags)


@kernel
def _cut_once(rules: RuleArrays, columns: Columns, c: int, depth: int) -> int:
    """Column c cut at a depth, where all its origins are cut already; `NO_ROOM`."""
    size = columns.first[c + 1] - columns.first[c]
    for i in range(size):
        item = columns.items[columns.first[c] + i]
        begun = origin(item)
        if begun:
            ends = depth == 1 or begun == OPEN + 1
            cut = OPEN if ends else columns.cuts[(begun - 1) * DEPTH + depth - 2]
            item = (item & ~np.int64(_ORIGINS)) | (cut + 1)
        columns.made[i] = item
    return intern(rules, columns, size, columns.flags[c])


@kernel
def cut_at(rules: RuleArrays, columns: Columns, c: int, depth: int) -> int:
    """The column with all origins below a depth replaced by `OPEN`; `NO_ROOM`.

    What can be read without ending a rule of such an origin is the same after the cut, so its masks are shared by all
    outputs that differ only far up.
    """
    if c == OPEN:
        return OPEN
    if columns.cuts[c * DEPTH + depth - 1] != UNKNOWN:
        return int(columns.cuts[c * DEPTH + depth - 1])
    height, work = 1, columns.work
    work[0] = (np.int64(c) << 3) | depth
    while height:
        entry = work[height - 1]
        column, at = entry >> 3, entry & 7
        waits = False
        for i in range(columns.first[column], columns.first[column + 1]):
            begun = origin(columns.items[i])
            if (
                at > 1
                and begun > OPEN + 1
                and columns.cuts[(begun - 1) * DEPTH + at - 2] == UNKNOWN
            ):
                work[height] = (np.int64(begun - 1) << 3) | (at - 1)
                height += 1
                waits = True
                break
        if waits:
            continue
        cut = _cut_once(rules, columns, column, at)
        if cut == NO_ROOM:
            return NO_ROOM
        columns.cuts[column * DEPTH + at - 1] = cut
        height -= 1
    return int(columns.cuts[c * DEPTH + depth - 1])
