"""The compiled inner loops of the byte machine: read one byte, or a text.

Does: move a configuration (a state and a stack of frames) along bytes by the tables. Where an entry is unknown, the
loop stops and reports it, so that the caller can fill it in and resume at the same byte. Does not: change tables,
replace a stack by the frames that were read ahead (`text_step`), find forced bytes (`forced_bytes`), walk the tokens of
a vocabulary (`trie_walk`).

A frame is a row (site, parent, memory, begun): the call site, the row of the caller's frame, the version of the texts
seen in this activation (`UNSURE`: it grew within this walk), and the offset in the output at which its text begins.
Rows below `depth` are the stack before the walk; the walk itself makes the others.
"""

from typing import Final

import numpy as np

from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import inner_kernel, kernel
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
    LOW,
    OUTCOME,
    REMEMBERS,
    ROW,
    SIZE,
    UNRESOLVED,
    Tables,
)
from .walk_state import Note, note_of

# Columns of a frame.
SITE: Final = 0
PARENT: Final = 1
MEMORY: Final = 2
BEGUN: Final = 3
FRAME_COLUMNS: Final = 4

UNSURE: Final = -1

# The status after a byte.
MOVED: Final = 0
REFUSED: Final = 1
EXPAND: Final = 2  # the row of state `note.what` is unknown
RESOLVE: Final = 3  # the target of site `note.what` after `note.ending`, `note.twin` is unknown
UNDECIDED: Final = 4  # the text of frame `note.what` up to offset `note.until` decides; it ended with `note.ending`
FULL: Final = 5  # `frames` has no free row
CIRCLES: Final = 6  # rules call one another without reading a byte
VIEW: Final = 7  # the row of a leaf is needed
ASSUMED: Final = (
    8  # all was read, if the text of frame `note.what` up to offset `note.until` is new
)

# Where a text that was assumed to be new began.
INNER: Final = 1  # within the walk
OPEN: Final = 2  # before the walk

_MOST_CALLS: Final = 4096  # calls and ends for one byte
_PLAIN: Final = REMEMBERS | AS_WRITTEN


@kernel
def _answer(frames: Ints, note: Note, answers: Ints, flags: int) -> tuple[bool, int, int, int]:
    """(whether it is known, outcome or -1, twin, memory) of the end in `note`, where a text decides."""
    note.texts += 1
    if note.answered < len(answers):
        answer = answers[note.answered]
        note.answered += 1
        return True, answer[0], answer[1], answer[2]
    top = note.what
    fresh = frames[frames[top, PARENT], MEMORY] == UNSURE
    known = not (note.exact or flags & JUDGED or fresh)
    if known and top >= note.depth:
        note.assumption = max(note.assumption, INNER)
        note.unwritten |= flags != _PLAIN
    elif known and flags != _PLAIN:
        note.assumption = OPEN
    return known, note.ending, 0, UNSURE


@kernel
def end_rule(
    tables: Tables,
    frames: Ints,
    note: Note,
    answers: Ints,
    ending: int | np.int64,
    until: int | np.int64,
) -> int:
    """End the innermost rule with outcome `ending` and its text before offset `until`; the status, see `step`."""
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
            note.site, note.begun = np.int64(site), np.int64(frames[top, BEGUN])
            note.memory = np.int64(frames[parent, MEMORY])
            known, ending, twin, memory = _answer(frames, note, answers, flags)
            if not known:
                return UNDECIDED
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
        at = ending - tables.sites[site, LOW]
        target = np.int64(DEAD if at < 0 else UNRESOLVED)
        if 0 <= at < tables.sites[site, SIZE]:
            target = np.int64(tables.returns[tables.sites[site, FIRST] + 2 * at + twin])
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
def end_rule_at(
    tables: Tables,
    frames: Ints,
    note: Longs,
    answers: Ints,
    ending: int | np.int64,
    until: int | np.int64,
) -> int:
    """`end_rule` for callers that are not compiled."""
    return end_rule(tables, frames, note_of(note), answers, ending, until)


@kernel
def step(
    tables: Tables,
    frames: Ints,
    note: Note,
    answers: Ints,
    byte: np.int64,
    offset: int | np.int64,
) -> int:
    """Read one byte, at `offset` of the output; returns the status. Unless it is `MOVED`, the configuration is invalid.

    `answers`: rows (outcome or -1, twin, memory): the answers, in order, for the ends at this byte that a text decides.
    Without an answer, such an end gives `UNDECIDED`. But where `note.exact` is 0, a text that is only remembered is
    assumed to be new, and `note.assumption` tells the caller to correct that, unless the text is compared as written
    and began before the walk.
    """
    note.answered = 0
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
            status = end_rule(
                tables, frames, note, answers, np.int64(tables.states[state, OUTCOME]), offset
            )
            if status != MOVED:
                return status
        elif move > CALLED:
            return end_rule(tables, frames, note, answers, np.int64(ENDED - move), offset + 1)
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


@inner_kernel
def read(tables: Tables, frames: Ints, note: Note, answers: Ints, text: Bytes, done: int) -> int:
    """Read `text` from byte `done` on; returns the number of bytes read in all. `note.status`: why it stopped.

    The configuration in `note` is the one after these bytes. `answers`: the answers for the first byte, see `step`.
    Most bytes stay within a rule. They are handled inline: a call counts references to arrays.
    """
    nothing = answers[:0]
    note.status = MOVED
    while done < len(text):
        state, top, count = note.state, note.top, note.count
        row, move = tables.states[state, ROW], LEAVE
        if row >= 0:
            move = tables.cells[row + tables.alphabets[tables.states[state, ALPHABET], text[done]]]
        if move >= 0 and tables.sites[frames[top, SITE], LIVE] < 0:
            note.state = move
            answers = nothing
            done += 1
            continue
        texts = note.texts
        status = step(tables, frames, note, answers, np.int64(text[done]), note.offset + done)
        if status != MOVED:
            note.state, note.top, note.count, note.status = state, top, count, status
            return done
        if note.texts > texts:
            note.ended = done
        answers = nothing
        done += 1
    return done


@inner_kernel
def begin_at(note: Longs, state: int, depth: int, offset: int, exact: int) -> None:
    """Copy a configuration to `note` before a walk: its state, the height of its stack, the length of its output."""
    fields = note_of(note)
    fields.state, fields.top, fields.count = state, depth - 1, depth
    fields.depth = fields.lowest = depth
    fields.exact, fields.offset, fields.undecided, fields.texts = exact, offset, 0, 0
