"""The byte machine's inner loops, compiled: one byte, a text.

Does: move a configuration (a state and a stack of frames) along bytes by the tables; stop and say what is missing where
the tables do not know, so that the caller can look it up and go on from the same place. Does not: change tables, walk
all tokens (`walk_tokens`).

A frame is a row (site, parent, memory, begun): the call site, the row of the caller's frame, the number of the set of
texts remembered in this activation (`UNSURE`: it grew within this walk), and the offset in the output at which its text
begins. Rows below `depth` are the stack before the walk, the others belong to the walk.
"""

from typing import Final

import numpy as np

from .arrays import Bytes, Ints, Longs
from .automata.jit import kernel
from .tables import (
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
EXPAND: Final = 2  # the row of state `note[WHAT]` is missing
RESOLVE: Final = 3  # where site `note[WHAT]` goes on after `note[ENDING]`, `note[TWIN]` is missing
LOOK: Final = 4  # a text decides: that of frame `note[WHAT]` up to offset `note[UNTIL]`, ended with `note[ENDING]`
FULL: Final = 5  # there are not enough frames
CIRCLES: Final = 6  # rules call one another without reading
VIEW: Final = 7  # the row of a leaf is wanted

# Slots of `note`: the configuration, the outcome of a step, where a walk stands.
STATE: Final = 0
TOP: Final = 1
COUNT: Final = 2  # frames in use
STATUS: Final = 3
WHAT: Final = 4
ENDING: Final = 5
TWIN: Final = 6
UNTIL: Final = 7
LOWEST: Final = 8  # the deepest frame of the stack that was left or changed
LOOKS: Final = 9  # answers used up by this byte
DEPTH: Final = 10  # frames of the stack before the walk
EXACT: Final = 11  # whether nothing is assumed about texts
OFFSET: Final = 12  # of the first byte read
NODE: Final = 13
END: Final = 14
ASKED: Final = 15  # nodes found where a text decides
EXIT: Final = 16
FOUND: Final = 17  # tokens found
ARCS: Final = 18  # the alphabet whose class 0 is left out at the first byte, or -1
LEAF_TOP: Final = 19  # the frame of the leaf that a walk starts in
LEAF_COUNT: Final = 20  # frames in use then
DOUBT: Final = 21  # `INNER` or `OPEN` where a text was taken to be new
DOUBTS: Final = 22  # nodes found where that was done
UNWRITTEN: Final = 23  # whether one that began within the walk is not compared as written
INSIDE: Final = 24  # whether what is behind exit `EXIT` or first byte `HEAD` is being walked
HEAD: Final = 25  # the first byte that is being walked, by its place among those of the vocabulary
NOTES: Final = 26

INNER: Final = 1  # it began within the walk
OPEN: Final = 2  # it began before

_MOST_CALLS: Final = 4096  # for one byte
_PLAIN: Final = REMEMBERS | AS_WRITTEN


@kernel
def _answer(frames: Ints, note: Longs, looks: Ints, flags: int) -> tuple[bool, int, int, int]:
    """(whether it is known, outcome or -1, twin, memory) where a text decides about the end in `note`."""
    if note[LOOKS] < len(looks):
        answer = looks[note[LOOKS]]
        note[LOOKS] += 1
        return True, answer[0], answer[1], answer[2]
    top = note[WHAT]
    fresh = frames[frames[top, PARENT], MEMORY] == UNSURE
    known = not (note[EXACT] or flags & JUDGED or fresh)
    if known and top >= note[DEPTH]:
        note[DOUBT] = max(note[DOUBT], INNER)
        note[UNWRITTEN] |= flags != _PLAIN
    elif known and flags != _PLAIN:
        note[DOUBT] = OPEN
    return known, note[ENDING], 0, UNSURE


@kernel
def leave(
    tables: Tables,
    frames: Ints,
    note: Longs,
    looks: Ints,
    ending: int | np.int64,
    until: int | np.int64,
) -> int:
    """End the innermost rule with outcome `ending`, its text stopping before offset `until`; see `step`."""
    while True:
        top = note[TOP]
        site, parent = frames[top, SITE], np.int64(frames[top, PARENT])
        note[LOWEST] = min(note[LOWEST], top)
        if parent < 0:
            note[STATE], note[TOP] = FINAL, -1
            return MOVED
        twin, flags = 0, tables.sites[site, FLAGS]
        if flags != 0:
            note[WHAT], note[ENDING], note[UNTIL] = top, ending, until
            known, ending, twin, memory = _answer(frames, note, looks, flags)
            if not known:
                return LOOK
            if ending < 0:
                return REFUSED
            if flags & REMEMBERS:
                if note[COUNT] == len(frames):
                    return FULL
                note[LOWEST] = min(note[LOWEST], parent)
                frames[note[COUNT]] = frames[parent]
                frames[note[COUNT], MEMORY] = memory
                parent = np.int64(note[COUNT])
                note[COUNT] += 1
        target = np.int64(UNRESOLVED)
        if ending < tables.sites[site, SIZE]:
            target = np.int64(tables.returns[tables.sites[site, FIRST] + 2 * ending + twin])
        if target == UNRESOLVED:
            note[WHAT], note[ENDING], note[TWIN] = site, ending, twin
            return RESOLVE
        if target == DEAD:
            return REFUSED
        note[TOP] = parent
        if target >= 0:
            note[STATE] = target
            return MOVED
        ending = int(ENDED - target)


@kernel
def step(
    tables: Tables, frames: Ints, note: Longs, looks: Ints, byte: np.int64, offset: int
) -> int:
    """Read one byte, which is at `offset` of the output; the status. Unless `MOVED`, the configuration is spoilt.

    `looks`: rows (outcome or -1, twin, memory) that answer, in order, the places of this byte where a text decides.
    Without an answer such a place gives `LOOK`; but where `note[EXACT]` is 0, a text that is only remembered is taken
    to be new, for the caller to correct: `note[DOUBT]` tells, unless it is compared as written and was begun before.
    """
    note[LOOKS] = 0
    for _ in range(_MOST_CALLS):
        state = note[STATE]
        row = tables.states[state, ROW]
        if row < 0:
            note[WHAT] = state
            return EXPAND
        move = tables.cells[row + tables.alphabets[tables.states[state, ALPHABET], byte]]
        if move >= 0:
            site = frames[note[TOP], SITE]
            live = tables.sites[site, LIVE]
            if live >= 0:
                note[LOWEST] = min(note[LOWEST], note[TOP])
                if tables.live[live + move - tables.sites[site, ENTRY]] == 0:
                    return REFUSED
            note[STATE] = move
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
            if note[COUNT] == len(frames):
                return FULL
            frame = frames[note[COUNT]]
            frame[SITE], frame[PARENT], frame[MEMORY], frame[BEGUN] = (
                CALLED - move,
                note[TOP],
                0,
                offset,
            )
            note[TOP] = note[COUNT]
            note[COUNT] += 1
            note[STATE] = tables.sites[CALLED - move, ENTRY]
    return CIRCLES


@kernel
def read(tables: Tables, frames: Ints, note: Longs, looks: Ints, text: Bytes, done: int) -> int:
    """Read `text` from byte `done` on; how many bytes are read then. `note[STATUS]` tells why it stopped.

    The configuration in `note` is that after the bytes read. `looks` is for the first of these bytes.
    """
    nothing = looks[:0]
    note[STATUS] = MOVED
    while done < len(text):
        state, top, count = note[STATE], note[TOP], note[COUNT]
        status = step(tables, frames, note, looks, np.int64(text[done]), note[OFFSET] + done)
        if status != MOVED:
            note[STATE], note[TOP], note[COUNT], note[STATUS] = state, top, count, status
            return done
        looks = nothing
        done += 1
    return done


@kernel
def read_at(held: Longs, frames: Ints, note: Longs, looks: Ints, text: Bytes, done: int) -> int:
    """`read` for callers that are not compiled, with `Tables.addresses`: see `addresses`."""
    return read(tables_at(held), frames, note, looks, text, done)


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
def force(tables: Tables, frames: Ints, note: Longs, looks: Ints, text: Bytes, done: int) -> int:
    """Read on into `text` from byte `done` while exactly one byte can come and nothing can end; bytes in `text` then.

    `note[STATUS]` is `MOVED` where it stopped for good; otherwise see `step`, and call again.
    """
    note[STATUS] = MOVED
    while done < len(text):
        state, top, count = note[STATE], note[TOP], note[COUNT]
        only, status = -1, MOVED
        for byte in range(257):
            if byte == 256:
                if only < 0:
                    break
                byte = only
            note[STATE], note[TOP], note[COUNT] = state, top, count
            status = step(tables, frames, note, looks, np.int64(byte), note[OFFSET] + done)
            if status == MOVED and byte != only:
                if only >= 0:
                    only = -2
                    break
                only = byte
            elif status != REFUSED and status != MOVED:
                break
        ends = tables.states[state, ROW] >= 0 and tables.states[state, OUTCOME] >= 0
        if only < 0 or ends or status != MOVED:
            note[STATE], note[TOP], note[COUNT] = state, top, count
            note[STATUS] = MOVED if only == -2 or ends or status == REFUSED else status
            return done
        text[done] = only
        done += 1
    return done
