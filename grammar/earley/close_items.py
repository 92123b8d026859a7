"""Compiled loops that make columns: reading a byte, completion and prediction, cutting.

Does: Earley's steps ("An efficient context-free parsing algorithm", 1970) on items with frames in place of origins;
store each distinct column once. A step that finds no room changes nothing that is seen; the caller makes room and
repeats it. Does not: make frames (`stack_frames`), walk vocabularies (`walk_tokens`).
"""

import numpy as np

from ..base.array_types import Longs
from ..jit.kernel import kernel
from .column_store import (
    COLUMNS,
    CUT,
    DEAD,
    DEPTHS,
    DONE,
    FULL,
    GENERATION,
    ITEMS,
    MOST_CALLERS,
    MOST_DIRECT,
    NO_ROOM,
    OPEN,
    OUTPUT,
    SLOT,
    SLOTS,
    UNKNOWN,
    VISITED,
    columns_at,
    digest,
)
from .rule_arrays import rules_at
from .stack_frames import (
    ENTRY_MASK,
    FRAME_MASK,
    PLACE,
    STATE,
    caller,
    equal,
    frame_of,
    group_frames,
    lower,
    next_state,
    predict_call,
    unique,
)


@kernel
def leaf_state(item: int | np.int64) -> int:
    """The state of an item in the leaf that it reads."""
    return int(item >> PLACE)


@kernel
def cost(held: Longs, item: int | np.int64) -> int:
    """The fewest bytes from the end of what an item reads to the end of the output."""
    rules, columns = rules_at(held), columns_at(held)
    return int(rules.rest[next_state(item)] + columns.best[frame_of(item)])


@kernel
def _push(held: Longs, count: int | np.int64, entry: int | np.int64) -> int:
    """Add a body state with its frame to the work, unless it has been there; the new count, or `DEAD` if too many."""
    columns = columns_at(held)
    mask = len(columns.stamps) - 1
    place = ((entry * 0x9E3779B1) ^ (entry >> 17)) & mask
    generation = columns.note[GENERATION]
    while columns.stamped[place] == generation:
        if columns.stamps[place] == entry:
            return int(count)
        place = (place + 1) & mask
    if count >= MOST_CALLERS:
        return DEAD
    columns.stamps[place], columns.stamped[place] = entry, np.int32(generation)
    columns.work[count] = entry
    return int(count + 1)


@kernel
def _complete(held: Longs, count: int | np.int64, flags: int) -> tuple[int, int]:
    """Add what follows the rules that end; (the new count, or `DEAD` if too many; flags)."""
    rules, columns = rules_at(held), columns_at(held)
    i = 0
    while i < count:
        entry = columns.work[i]
        frame = frame_of(entry)
        i += 1
        if not rules.final[next_state(entry)]:
            continue
        if frame <= OPEN:
            flags |= DONE if frame == OUTPUT else CUT
            continue
        for j in range(columns.first_call[frame], columns.first_call[frame + 1]):
            columns.note[VISITED] += 1
            count = _push(held, count, caller(held, j, frame))
            if count < 0 or columns.note[VISITED] > MOST_CALLERS:
                return DEAD, 0
    return int(count), flags


@kernel
def _begin(
    held: Longs,
    made: int | np.int64,
    predicted: int | np.int64,
    entry: int | np.int64,
    within: int | np.int64,
) -> tuple[int, int]:
    """Begin the leaves and predict the rules that a body state calls, except those of the group `within`.

    Returns (the number of items in `columns.made`, that of calls in `columns.predicted`); negative if too many.
    """
    rules, columns = rules_at(held), columns_at(held)
    state, frame = next_state(entry), frame_of(entry)
    begin, end = rules.first_arc[state], rules.first_arc[state + 1]
    if made + end - begin > len(columns.made):
        return DEAD, DEAD
    for arc in range(begin, end):
        label, then = np.int64(rules.label[arc]), np.int64(rules.target[arc])
        if label >= 0:
            columns.made[made] = (label << PLACE) | (then << STATE) | frame
            made += 1
        elif rules.group[~label] != within:
            predicted = predict_call(held, predicted, ~label, then, frame)
            if predicted < 0:
                return DEAD, DEAD
    return int(made), int(predicted)


@kernel
def _predict(held: Longs, made: int | np.int64, predicted: int | np.int64) -> int:
    """Begin the predicted rules; the number of items in `columns.made`, `DEAD` or `NO_ROOM`."""
    rules, columns = rules_at(held), columns_at(held)
    for word in range(len(columns.begun)):
        while columns.begun[word]:
            bit = 0
            while not (columns.begun[word] >> bit) & 1:
                bit += 1
            columns.begun[word] &= ~(np.int64(1) << bit)
            group = word * 32 + bit
            home = group_frames(held, group)
            if home < 0:
                return home
            for m in range(rules.first_member[group], rules.first_member[group + 1]):
                member = rules.member[m]
                entry = (np.int64(rules.entry[member]) << STATE) | (home + rules.place[member])
                made, predicted = _begin(held, made, predicted, entry, group)
                if made < 0:
                    return DEAD
    return int(made)


@kernel
def close(held: Longs, made: int, count: int, flags: int) -> tuple[int, int]:
    """Complete and predict from the first `count` entries of `work`.

    Returns (the number of items in `columns.made`, flags); (`DEAD`, 0) if there are too many; (`NO_ROOM`, 0).
    """
    columns = columns_at(held)
    columns.note[VISITED] = 0
    columns.begun[:] = 0
    count, flags = _complete(held, count, flags)
    predicted = 0
    for i in range(count):
        made, predicted = _begin(held, made, predicted, columns.work[i], -1)
        if made < 0:
            break
    if count < 0 or made < 0:
        return DEAD, 0
    made = _predict(held, made, predicted)
    return made, flags


@kernel
def intern(held: Longs, made: int, flags: int | np.int64) -> int:
    """The column of the first `made` items of `columns.made`, in any order; `NO_ROOM`."""
    columns = columns_at(held)
    size = unique(columns.made, made)
    new = columns.made[:size]
    mask = len(columns.hashed) - 1
    place = digest(new, flags) & mask
    while columns.hashed[place] >= 0:
        c = np.int64(columns.hashed[place])
        had = columns.items[columns.first[c] : columns.first[c + 1]]
        if columns.flags[c] == flags and len(had) == size and equal(had, new):
            return int(c)
        place = (place + 1) & mask
    c, at = columns.note[COLUMNS], columns.note[ITEMS]
    if c + 1 >= len(columns.flags) or at + size > len(columns.items):
        return NO_ROOM
    columns.hashed[place] = c
    columns.items[at : at + size] = new
    columns.first[c], columns.first[c + 1] = at, at + size
    columns.flags[c] = flags
    columns.note[COLUMNS], columns.note[ITEMS] = c + 1, at + size
    return int(c)


@kernel
def _slot(held: Longs, made: int | np.int64, count: int | np.int64) -> int:
    """The place in `direct` for the first `made` items of `made` and `count` entries of `work`; -1: they are too many.

    Most bytes lead many columns to the same few items, so most columns need not be closed and looked up again. A slot
    keeps the last entry only.
    """
    columns = columns_at(held)
    if count < 0 or made + count > MOST_DIRECT:
        return -1
    hashed = digest(columns.work[:count], digest(columns.made[:made], made))
    return int((hashed & (SLOTS - 1)) * SLOT)


@kernel
def _direct(held: Longs, at: int | np.int64, made: int | np.int64, count: int | np.int64) -> int:
    """The column in a slot; `UNKNOWN` if it is that of other items, which these then replace."""
    columns = columns_at(held)
    slot = columns.direct[at : at + SLOT]
    same = slot[0] == made and slot[1] == count
    for i in range(made + count):
        number = columns.made[i] if i < made else columns.work[i - made]
        same &= slot[3 + i] == number
        slot[3 + i] = number
    if not same:
        slot[0], slot[1], slot[2] = made, count, UNKNOWN
    return int(slot[2])


@kernel
def step(held: Longs, c: int | np.int64, kind: int | np.int64) -> int:
    """The column after a byte of class `kind`; `DEAD`, or `NO_ROOM`."""
    rules, columns = rules_at(held), columns_at(held)
    known = columns.moves[c * len(rules.only) + kind]
    return int(known) if known != UNKNOWN else new_step(held, c, kind)


@kernel
def new_step(held: Longs, c: int | np.int64, kind: int | np.int64) -> int:
    """`step` where it is not known yet."""
    rules, columns = rules_at(held), columns_at(held)
    columns.note[GENERATION] += 1
    made = count = 0
    for i in range(columns.first[c], columns.first[c + 1]):
        item = columns.items[i]
        leaf = np.int64(rules.following[leaf_state(item) * len(rules.only) + kind])
        if leaf < 0:
            continue
        after = item & ENTRY_MASK
        if rules.continues[leaf]:
            columns.made[made] = (leaf << PLACE) | after
            made += 1
        if rules.accepting[leaf] and count >= 0:
            count = _push(held, count, after)
    if made == 0 and count == 0:
        columns.moves[c * len(rules.only) + kind] = DEAD
        return DEAD
    slot = _slot(held, made, count)
    if slot >= 0:
        known = _direct(held, slot, made, count)
        if known != UNKNOWN:
            columns.moves[c * len(rules.only) + kind] = known
            return known
    made, flags = close(held, made, count, 0)
    if made == NO_ROOM:
        return NO_ROOM
    if made < 0:
        columns.note[FULL] += 1
    found = DEAD if made < 0 or (made == 0 and flags == 0) else intern(held, made, flags)
    if found != NO_ROOM:
        columns.moves[c * len(rules.only) + kind] = found
    if slot >= 0 and found >= 0:
        columns.direct[slot + 2] = found
    return found


@kernel
def first_column(held: Longs, nullable: bool) -> int:
    """The column before the first byte; `DEAD` if it has too many items, `NO_ROOM`."""
    rules, columns = rules_at(held), columns_at(held)
    columns.note[VISITED] = 0
    columns.begun[:] = 0
    whole = len(rules.final) - 1
    made = _predict(held, 0, predict_call(held, 0, 0, whole, OUTPUT))
    return made if made < 0 else intern(held, made, DONE if nullable else 0)


@kernel
def cut_at(held: Longs, c: int | np.int64, level: int | np.int64) -> int:
    """The column with all frames below depth `DEPTHS[level]` replaced by `OPEN`; `NO_ROOM`.

    What can be read without ending a rule of such a frame is the same after the cut, so its masks are shared by all
    outputs that differ only far up. A column with so many readings that a token may lead to too many is not cut: with
    fewer frames it would have fewer.
    """
    columns = columns_at(held)
    place = c * len(DEPTHS) + level
    if columns.cuts[place] != UNKNOWN:
        return int(columns.cuts[place])
    size = columns.first[c + 1] - columns.first[c]
    weight = size
    for i in range(columns.first[c], columns.first[c + 1]):
        frame = frame_of(columns.items[i])
        weight += columns.first_call[frame + 1] - columns.first_call[frame]
    if weight > MOST_CALLERS // 8:
        return int(c)
    for i in range(size):
        item = columns.items[columns.first[c] + i]
        frame = lower(held, frame_of(item), DEPTHS[level])
        if frame == NO_ROOM:
            return NO_ROOM
        columns.made[i] = (item & ~np.int64(FRAME_MASK)) | frame
    found = intern(held, size, columns.flags[c])
    if found != NO_ROOM:
        columns.cuts[place] = found
    return found
