"""The compiled loops that look at all bytes after a configuration: whether there is a choice, and which are forced.

Does: find the bytes that must come next, or that there is none. Does not: change tables or the stack (`text_step`),
spell forced text in tokens (`token_spelling`).
"""

from typing import Final

import numpy as np

from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import kernel
from .byte_step import MOVED, REFUSED, SITE, step
from .lazy_tables import ALPHABET, CALLED, DEAD, ENTRY, LIVE, OUTCOME, ROW, Tables, tables_at
from .walk_state import Note, note_of

# Of a byte, where a look at the tables is not enough.
_UNKNOWN: Final = 8
_MOST_PEEKED: Final = 16  # calls for one byte
_MOST_STEPS: Final = 16  # bytes that are read only to find out whether there is a choice
_SPACE: Final = 32


@kernel
def _peek(tables: Tables, site: np.int64, state: np.int64, known: Bytes) -> int:
    """Fill `known` [256]: `MOVED` or `REFUSED` where the tables decide on a byte without the stack, else `_UNKNOWN`.

    `site`: the call site of the innermost rule, which may restrict the live states of a leaf. Nothing moves. Returns
    the number of bytes with `MOVED`; at the second one, the rest of `known` is left as it is.
    """
    legal = 0
    for place in range(256):
        byte = (place + _SPACE) % 256
        at, inside, found = np.int64(state), np.int64(site), _UNKNOWN
        for _ in range(_MOST_PEEKED):
            row = tables.states[at, ROW]
            if row < 0:
                break
            move = tables.cells[row + tables.alphabets[tables.states[at, ALPHABET], byte]]
            if move >= 0:
                live = tables.sites[inside, LIVE]
                found = MOVED
                if live >= 0 and tables.live[live + move - tables.sites[inside, ENTRY]] == 0:
                    found = REFUSED
                break
            if move > CALLED:
                found = REFUSED if move == DEAD else _UNKNOWN
                break
            inside = np.int64(CALLED - move)
            at = np.int64(tables.sites[inside, ENTRY])
        known[byte] = found
        if found == MOVED:
            legal += 1
            if legal > 1:
                return legal
    return legal


@kernel
def _goes_on(tables: Tables, site: np.int64, state: np.int64) -> bool:
    """Whether two bytes are legal without the rule of a state being left or calling another: so in most states."""
    row = tables.states[state, ROW]
    if row < 0:
        return False
    alphabet = tables.alphabets[tables.states[state, ALPHABET]]
    live, entry = tables.sites[site, LIVE], tables.sites[site, ENTRY]
    found = 0
    for place in range(256):  # mostly the first few bytes from the space on decide
        move = tables.cells[row + alphabet[(place + _SPACE) % 256]]
        if move >= 0 and (live < 0 or tables.live[live + move - entry] != 0):
            found += 1
            if found > 1:
                return True
    return False


@kernel
def has_choice(tables: Tables, frames: Ints, note: Note, offset: int) -> bool:
    """Whether two bytes certainly are legal in the configuration in `note`, at `offset`: no text is forced there.

    Does not change the configuration, nor what `note` tells of the walk to it.
    """
    site = np.int64(frames[note.top, SITE])
    if _goes_on(tables, site, np.int64(note.state)):
        return True
    known = np.empty(256, np.uint8)
    legal = _peek(tables, site, np.int64(note.state), known)
    if legal > 1:
        return True
    state, top, count, exact = note.state, note.top, note.count, note.exact
    text = note.what, note.ending, note.twin, note.until, note.answered
    walk = note.lowest, note.texts, note.assumption, note.unwritten
    seen = note.site, note.begun, note.memory
    note.exact, left = 1, _MOST_STEPS
    for place in range(256):
        byte = (place + _SPACE) % 256
        if known[byte] != _UNKNOWN:
            continue
        note.state, note.top, note.count = state, top, count
        left -= 1
        if step(tables, frames, note, frames[:0], np.int64(byte), offset) == MOVED:
            legal += 1
        if legal > 1 or left == 0:
            break
    note.state, note.top, note.count, note.exact = state, top, count, exact
    note.what, note.ending, note.twin, note.until, note.answered = text
    note.lowest, note.texts, note.assumption, note.unwritten = walk
    note.site, note.begun, note.memory = seen
    return legal > 1


@kernel
def force(held: Longs, frames: Ints, fields: Longs, text: Bytes, done: int) -> int:
    """Write forced bytes to `text` from byte `done` on, while exactly one byte is legal and the output cannot end.

    Returns the number of bytes in `text`. `held`: `Tables.addresses`; `fields`: the array of a `Note`. Its status is
    `MOVED` where the forced text ends; for any other status see `step`, fill in the entry, and call again. Its
    `chooses` is 1 if two bytes are legal at once, whatever the stack below the innermost frame.
    """
    tables, note, answers = tables_at(held), note_of(fields), frames[:0]
    known = np.empty(256, np.uint8)
    note.status, note.chooses = MOVED, 0
    while done < len(text):
        state, top, count = note.state, note.top, note.count
        only, status = -1, REFUSED
        if _peek(tables, np.int64(frames[top, SITE]), np.int64(state), known) > 1:
            note.chooses = np.int64(done == 0)
            return done
        for place in range(257):
            byte = (place + _SPACE) % 256
            if place == 256:
                if only < 0:
                    break
                byte = only
            elif known[byte] == REFUSED:
                continue
            status = MOVED
            if place == 256 or known[byte] != MOVED:
                note.state, note.top, note.count = state, top, count
                status = step(tables, frames, note, answers, np.int64(byte), note.offset + done)
            if status == MOVED and place < 256:
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
