"""Compiled loops that make frames: the continuations of the rules that begin after some prefix.

Does: store each distinct frame once; replace frames below a depth. Does not: make columns (`close_items`).

A call of a caller that can only end after it is not stored: the calls of the caller's own frame stand in its place, so
that recursion at the end of a rule adds no frames. Rules that begin with one another call one another before any byte
is read. Their frames refer to each other, so a group of them is stored as one: within it, a frame is named by the place
of its rule.

Every loop gets one array of addresses and makes its own views: passing the arrays themselves took 0.2 us a call.
"""

from typing import Final

import numpy as np

from ..base.array_types import Longs
from ..jit.kernel import kernel
from .column_store import (
    CALLS,
    DEAD,
    DEEPEST,
    FRAMES,
    MOST_CALLERS,
    MOST_FRAMES,
    NO_ROOM,
    OPEN,
    UNKNOWN,
    VISITED,
    columns_at,
    digest,
)
from .rule_arrays import INFINITE, rules_at

STATE: Final = 22  # where the field of the body state begins
PLACE: Final = 42  # the place of the frame in its group; of an item, the state in its leaf
FRAME_MASK: Final = (1 << STATE) - 1
ENTRY_MASK: Final = (1 << PLACE) - 1
_STATE_MASK: Final = (1 << (PLACE - STATE)) - 1


@kernel
def next_state(entry: int | np.int64) -> int:
    """The body state of an item, or of a body state with its frame."""
    return int((entry >> STATE) & _STATE_MASK)


@kernel
def frame_of(entry: int | np.int64) -> int:
    """The frame of an item, or of a body state with its frame."""
    return int(entry & FRAME_MASK)


@kernel
def caller(held: Longs, i: int | np.int64, frame: int | np.int64) -> int:
    """The body state with its frame in which call i, of a frame, goes on."""
    columns = columns_at(held)
    call = columns.calls[i]
    named = call & FRAME_MASK
    if named < MOST_FRAMES:
        return int(call & ENTRY_MASK)
    found = frame - (call >> PLACE) + (FRAME_MASK - named)
    return int((call & ENTRY_MASK & ~np.int64(FRAME_MASK)) | found)


@kernel
def predict_call(
    held: Longs,
    count: int | np.int64,
    rule: int | np.int64,
    state: int | np.int64,
    frame: int | np.int64,
) -> int:
    """Predict a rule that a body calls, to continue in `state` after it; the new count, or `DEAD` if too many."""
    rules, columns = rules_at(held), columns_at(held)
    if not rules.ends[state] or frame == OPEN:
        return _note(held, count, rule, (np.int64(state) << STATE) | frame)
    for i in range(columns.first_call[frame], columns.first_call[frame + 1]):
        count = _note(held, count, rule, caller(held, i, frame))
        if count < 0:
            return DEAD
    return int(count)


@kernel
def _note(
    held: Longs,
    count: int | np.int64,
    rule: int | np.int64,
    entry: int | np.int64,
) -> int:
    rules, columns = rules_at(held), columns_at(held)
    columns.note[VISITED] += 1
    if columns.note[VISITED] > MOST_CALLERS:
        return DEAD
    group = rules.group[rule]
    word, bit = group >> 5, np.int64(1) << (group & 31)
    columns.after[count] = columns.last[group] if columns.begun[word] & bit else -1
    columns.begun[word] |= bit
    columns.predicted[count] = (np.int64(rules.place[rule]) << PLACE) | entry
    columns.last[group] = count
    return int(count + 1)


@kernel
def group_frames(held: Longs, group: int | np.int64) -> int:
    """The first frame of the rules of a group, which are called as `predicted` says; `DEAD`, `NO_ROOM`."""
    rules, columns = rules_at(held), columns_at(held)
    size, i = 0, columns.last[group]
    while i >= 0:
        columns.sorted[size] = columns.predicted[i]
        size, i = size + 1, columns.after[i]
    if rules.loops[group]:
        for m in range(rules.first_member[group], rules.first_member[group + 1]):
            member = rules.member[m]
            state = rules.entry[member]
            for arc in range(rules.first_arc[state], rules.first_arc[state + 1]):
                label = rules.label[arc]
                if label >= 0 or rules.group[~label] != group:
                    continue
                if size >= len(columns.sorted):
                    return DEAD
                place, then = np.int64(rules.place[~label]), np.int64(rules.target[arc])
                columns.sorted[size] = (
                    (place << PLACE) | (then << STATE) | (FRAME_MASK - rules.place[member])
                )
                size += 1
    return _intern_frames(held, size)


@kernel
def _intern_frames(held: Longs, count: int | np.int64) -> int:
    """The first frame of the group with the first `count` calls of `columns.sorted`, in any order; `NO_ROOM`."""
    rules, columns = rules_at(held), columns_at(held)
    size = unique(columns.sorted, count)
    new = columns.sorted[:size]
    members = (new[size - 1] >> PLACE) + 1
    mask = len(columns.found) - 1
    at = digest(new, 0) & mask
    while columns.found[at] >= 0:
        home = np.int64(columns.found[at])
        if _same(held, home, members, new):
            return int(home)
        at = (at + 1) & mask
    home, begin = columns.note[FRAMES], columns.note[CALLS]
    if home + members >= len(columns.best) or begin + size > len(columns.calls):
        return NO_ROOM
    columns.found[at] = home
    columns.calls[begin : begin + size] = new
    i = 0
    for frame in range(home, home + members):
        columns.home[frame], columns.best[frame] = home, INFINITE
        columns.first_call[frame] = begin + i
        while i < size and new[i] >> PLACE == frame - home:
            i += 1
        columns.first_call[frame + 1] = begin + i
    columns.note[FRAMES], columns.note[CALLS] = home + members, begin + size
    changed = True
    while changed:
        changed = False
        for frame in range(home, home + members):
            for i in range(columns.first_call[frame], columns.first_call[frame + 1]):
                entry = caller(held, i, frame)
                cost = min(INFINITE, rules.rest[next_state(entry)] + columns.best[frame_of(entry)])
                if cost < columns.best[frame]:
                    columns.best[frame], changed = cost, members > 1
    return int(home)


@kernel
def _same(held: Longs, home: int | np.int64, members: int | np.int64, new: Longs) -> bool:
    """Whether the group at `home` has these members and calls."""
    columns = columns_at(held)
    end = home + members
    if end > columns.note[FRAMES] or (end < columns.note[FRAMES] and columns.home[end] != end):
        return False
    begin = columns.first_call[home]
    if columns.first_call[end] - begin != len(new):
        return False
    return equal(columns.calls[begin : begin + len(new)], new)


@kernel
def equal(left: Longs, right: Longs) -> bool:
    """Whether two arrays of one length are equal."""
    differ = 0
    for i in range(len(left)):
        differ += left[i] != right[i]
    return differ == 0


@kernel
def unique(numbers: Longs, count: int | np.int64) -> int:
    """Sort the first `count` numbers and drop repeated ones; how many are left."""
    numbers[:count].sort()
    size = 0
    for i in range(count):
        if i == 0 or numbers[i] != numbers[i - 1]:
            numbers[size] = numbers[i]
            size += 1
    return size


@kernel
def lower(held: Longs, f: int | np.int64, depth: int | np.int64) -> int:
    """Frame f with all frames replaced by `OPEN` that are `depth` calls away; `NO_ROOM`."""
    columns = columns_at(held)
    if f <= OPEN:
        return int(f)
    work, height = columns.work, 1
    work[0] = (np.int64(f) << 8) | depth
    while height:
        frame, at = work[height - 1] >> 8, work[height - 1] & 255
        if columns.lowered[frame * DEEPEST + at - 1] != UNKNOWN:
            height -= 1
            continue
        home = np.int64(columns.home[frame])
        below = _unknown_below(held, home, at)
        if below >= 0:
            work[height] = (np.int64(below) << 8) | (at - 1)
            height += 1
            continue
        if _lower_group(held, home, at) == NO_ROOM:
            return NO_ROOM
    return int(columns.lowered[f * DEEPEST + depth - 1])


@kernel
def _end(held: Longs, home: int | np.int64) -> int:
    """The frame after the last one of a group."""
    columns = columns_at(held)
    end = home + 1
    while end < columns.note[FRAMES] and columns.home[end] == home:
        end += 1
    return int(end)


@kernel
def _unknown_below(held: Longs, home: int | np.int64, depth: int | np.int64) -> int:
    """A frame that a group calls and that has not been cut at `depth` - 1; -1 if there is none."""
    columns = columns_at(held)
    if depth == 1:
        return -1
    for i in range(columns.first_call[home], columns.first_call[_end(held, home)]):
        named = columns.calls[i] & FRAME_MASK
        if OPEN < named < MOST_FRAMES and columns.lowered[named * DEEPEST + depth - 2] == UNKNOWN:
            return int(named)
    return -1


@kernel
def _lower_group(held: Longs, home: int | np.int64, depth: int | np.int64) -> int:
    """Cut the frames of a group at a depth, where those that it calls are cut already; 0 or `NO_ROOM`."""
    columns = columns_at(held)
    size, end = 0, _end(held, home)
    for i in range(columns.first_call[home], columns.first_call[end]):
        call = columns.calls[i]
        named = call & FRAME_MASK
        if OPEN < named < MOST_FRAMES:
            cut = OPEN if depth == 1 else columns.lowered[named * DEEPEST + depth - 2]
            call = (call & ~np.int64(FRAME_MASK)) | cut
        columns.sorted[size] = call
        size += 1
    found = _intern_frames(held, size)
    if found == NO_ROOM:
        return NO_ROOM
    for frame in range(home, end):
        columns.lowered[frame * DEEPEST + depth - 1] = found + frame - home
    return 0
