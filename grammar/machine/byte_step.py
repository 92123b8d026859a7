"""The byte machine's inner loops, compiled: one byte, a text.

Does: move a configuration (a state and a stack of frames) along bytes by the tables; stop and say what is missing where
the tables do not know, so that the caller can look it up and go on from the same place. Does not: change tables, walk
all tokens (`trie_walk`).

A frame is a row (site, parent, memory, begun): the call site, the row of the caller's frame, the number of the set of
texts remembered in this activation (`UNSURE`: it grew within this walk), and the offset in the output at which its text
begins. Rows below `depth` are the stack before the walk, the others belong to the walk.
"""

from typing import Final

import numpy as np

from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import kernel
from .lazy_tables import (
    ALPHABET,
    AS_WRITTEN,
    CALLED,
    DEAD,
    ENDED,
    ENTRY,
    FINAL,
    FIRST,
    FLAGS,
    JUDGED,
    LEAVE,
    LIVE,
    OUTCOME,
    REMEMBERS,
    ROW,
    SIZE,
    UNRESOLVED,
    Tables,
    tables_at,
)
from .walk_state import Note, note_of

# Columns of a frame.
SITE: Final = 0
PARENT: Final = 1
MEMORY: Final = 2
BEGUN: Final = 3
FRAME_COLUMNS: Final = 4

UNSURE: Final = -1

# What became of a byte.
MOVED: Final = 0
REFUSED: Final = 1
EXPAND: Final = 2  # the row of state `note.what` is missing
RESOLVE: Final = 3  # where site `note.what` goes on after `note.ending`, `note.twin` is missing
LOOK: Final = 4  # a text decides: that of frame `note.what` up to offset `note.until`, ended with `note.ending`
FULL: Final = 5  # there are not enough frames
CIRCLES: Final = 6  # rules call one another without reading
VIEW: Final = 7  # the row of a leaf is wanted

INNER: Final = 1  # it began within the walk
OPEN: Final = 2  # it began before

_MOST_CALLS: Final = 4096  # for one byte
_PLAIN: Final = REMEMBERS | AS_WRITTEN


@kernel
def _answer(frames: Ints, note: Note, looks: Ints, flags: int) -> tuple[bool, int, int, int]:
    """(whether it is known, outcome or -1, twin, memory) where a text decides about the end in `note`."""
    if note.looks < len(looks):
        answer = looks[note.looks]
        note.looks += 1
        return True, answer[0], answer[1], answer[2]
    top = note.what
    fresh = frames[frames[top, PARENT], MEMORY] == UNSURE
    known = not (note.exact or flags & JUDGED or fresh)
    if known and top >= note.depth:
        note.doubt = max(note.doubt, INNER)
        note.unwritten |= flags != _PLAIN
    elif known and flags != _PLAIN:
        note.doubt = OPEN
    return known, note.ending, 0, UNSURE


@kernel
def leave(
    tables: Tables,
    frames: Ints,
    note: Note,
    looks: Ints,
    ending: int | np.int64,
    until: int | np.int64,
) -> int:
    """End the innermost rule with outcome `ending`, its text stopping before offset `until`; see `step`."""
    while True:
        top = note.top
        site, parent = frames[top, SITE], np.int64(frames[top, PARENT])
        note.lowest = min(note.lowest, top)
        if parent < 0:
            note.state, note.top = FINAL, -1
            return MOVED
        twin, flags = 0, tables.sites[site, FLAGS]
        if flags != 0:
            note.what, note.ending, note.until = top, ending, until
            known, ending, twin, memory = _answer(frames, note, looks, flags)
            if not known:
                return LOOK
            if ending < 0:
                return REFUSED
            if flags & REMEMBERS:
                if note.count == len(frames):
                    return FULL
                note.lowest = min(note.lowest, parent)
                frames[note.count] = frames[parent]
                frames[note.count, MEMORY] = memory
                parent = np.int64(note.count)
                note.count += 1
        target = np.int64(UNRESOLVED)
        if ending < tables.sites[site, SIZE]:
            target = np.int64(tables.returns[tables.sites[site, FIRST] + 2 * ending + twin])
        if target == UNRESOLVED:
            note.what, note.ending, note.twin = site, ending, twin
            return RESOLVE
        if target == DEAD:
            return REFUSED
        note.top = parent
        if target >= 0:
            note.state = target
            return MOVED
        ending = int(ENDED - target)


@kernel
def leave_at(
    tables: Tables,
    frames: Ints,
    note: Longs,
    looks: Ints,
    ending: int | np.int64,
    until: int | np.int64,
) -> int:
    """`leave` for callers that are not compiled."""
    return leave(tables, frames, note_of(note), looks, ending, until)


@kernel
def step(tables: Tables, frames: Ints, note: Note, looks: Ints, byte: np.int64, offset: int) -> int:
    """Read one byte, which is at `offset` of the output; the status. Unless `MOVED`, the configuration is spoilt.

    `looks`: rows (outcome or -1, twin, memory) that answer, in order, the places of this byte where a text decides.
    Without an answer such a place gives `LOOK`; but where `note.exact` is 0, a text that is only remembered is taken
    to be new, for the caller to correct: `note.doubt` tells, unless it is compared as written and was begun before.
    """
    note.looks = 0
    for _ in range(_MOST_CALLS):
        state = note.state
        row = tables.states[state, ROW]
        if row < 0:
            note.what = state
            return EXPAND
        move = tables.cells[row + tables.alphabets[tables.states[state, ALPHABET], byte]]
        if move >= 0:
            site = frames[note.top, SITE]
            live = tables.sites[site, LIVE]
            if live >= 0:
                note.lowest = min(note.lowest, note.top)
                if tables.live[live + move - tables.sites[site, ENTRY]] == 0:
                    return REFUSED
            note.state = move
            return MOVED
        if move == DEAD:
            return REFUSED
        if move == LEAVE:
            status = leave(
                tables, frames, note, looks, np.int64(tables.states[state, OUTCOME]), offset
            )
            if status != MOVED:
                return status
        elif move > CALLED:
            return leave(tables, frames, note, looks, np.int64(ENDED - move), offset + 1)
        else:
            if note.count == len(frames):
                return FULL
            frame = frames[note.count]
            frame[SITE], frame[PARENT], frame[MEMORY], frame[BEGUN] = (
                CALLED - move,
                note.top,
                0,
                offset,
            )
            note.top = note.count
            note.count += 1
            note.state = tables.sites[CALLED - move, ENTRY]
    return CIRCLES


@kernel
def read(tables: Tables, frames: Ints, note: Note, looks: Ints, text: Bytes, done: int) -> int:
    """Read `text` from byte `done` on; how many bytes are read then. `note.status` tells why it stopped.

    The configuration in `note` is that after the bytes read. `looks` is for the first of these bytes.
    """
    nothing = looks[:0]
    note.status = MOVED
    while done < len(text):
        state, top, count = note.state, note.top, note.count
        status = step(tables, frames, note, looks, np.int64(text[done]), note.offset + done)
        if status != MOVED:
            note.state, note.top, note.count, note.status = state, top, count, status
            return done
        looks = nothing
        done += 1
    return done


@kernel
def read_at(held: Longs, frames: Ints, note: Longs, looks: Ints, text: Bytes, done: int) -> int:
    """`read` for callers that are not compiled, with `Tables.addresses`: see `addresses`."""
    return read(tables_at(held), frames, note_of(note), looks, text, done)


@kernel
def chain(frames: Ints, top: int, depth: int) -> tuple[int, Ints]:
    """(frames of the stack that are kept, the frames on top of them in order, relinked) of a new stack."""
    height, at = 0, top
    while at >= depth:
        height += 1
        at = frames[at, PARENT]
    kept = at + 1
    fresh = np.empty((height, FRAME_COLUMNS), np.int32)
    at = top
    for i in range(height):
        fresh[height - 1 - i] = frames[at]
        at = frames[at, PARENT]
        fresh[height - 1 - i, PARENT] = kept + height - 2 - i
    return kept, fresh


@kernel
def force(tables: Tables, frames: Ints, held: Longs, looks: Ints, text: Bytes, done: int) -> int:
    """Read on into `text` from byte `done` while exactly one byte can come and nothing can end; bytes in `text` then.

    `held` is the note's array. Its status is `MOVED` where reading stopped for good; else see `step`, and call again.
    """
    note = note_of(held)
    note.status = MOVED
    while done < len(text):
        state, top, count = note.state, note.top, note.count
        only, status = -1, MOVED
        for byte in range(257):
            if byte == 256:
                if only < 0:
                    break
                byte = only
            note.state, note.top, note.count = state, top, count
            status = step(tables, frames, note, looks, np.int64(byte), note.offset + done)
            if status == MOVED and byte != only:
                if only >= 0:
                    only = -2
                    break
                only = byte
            elif status != REFUSED and status != MOVED:
                break
        ends = tables.states[state, ROW] >= 0 and tables.states[state, OUTCOME] >= 0
        if only < 0 or ends or status != MOVED:
            note.state, note.top, note.count = state, top, count
            note.status = MOVED if only == -2 or ends or status == REFUSED else status
            return done
        text[done] = only
        done += 1
    return done
