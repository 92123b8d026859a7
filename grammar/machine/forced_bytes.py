"""The compiled loops that look at all bytes after a configuration: whether there is a choice, and which are forced.

Does: find the bytes that must come next, or that there is none. Does not: change tables or the stack (`text_step`),
spell forced text in tokens (`token_spelling`).
"""

from typing import Final

import numpy as np

from ..base.addresses import grid, longs
from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import kernel
from .byte_step import MOVED, REFUSED, SITE, UNDECIDED, begin_at, step
from .lazy_tables import (
    ALPHABET,
    CALLED,
    DEAD,
    ENTRY,
    FINAL,
    LIVE,
    OUTCOME,
    ROW,
    UNRESOLVED,
    Tables,
    tables_at,
)
from .walk_state import Note, note_of

# Of a byte, where a look at the tables is not enough.
_UNKNOWN: Final = 8
_MOST_PEEKED: Final = 16  # calls for one byte
_MOST_STEPS: Final = 16  # bytes that are read only to find out whether there is a choice
_MOST_AHEAD: Final = 6  # bytes of forced text after which it is not looked at here: most have three
_SPACE: Final = 32


@kernel
def _peek(tables: Tables, site: np.int64, state: np.int64, known: Bytes) -> tuple[int, int, int]:
    """Fill `known` [256]: `MOVED` or `REFUSED` where the tables decide on a byte without the stack, else `_UNKNOWN`.

    `site`: the call site of the innermost rule, which may restrict the live states of a leaf. Nothing moves. Returns
    the number of bytes with `MOVED`, that with `_UNKNOWN`, and the last byte with one of these. At the second byte with
    `MOVED`, the rest of `known` is left as it is.
    """
    legal, unknown, last = 0, 0, -1
    row, alphabet = np.int64(tables.states[state, ROW]), tables.states[state, ALPHABET]
    before, found = np.int64(CALLED), _UNKNOWN
    for place in range(256):
        byte = (place + _SPACE) % 256
        move = np.int64(UNRESOLVED)
        if row >= 0:
            move = np.int64(tables.cells[row + tables.alphabets[alphabet, byte]])
        if move != before or move <= CALLED:  # most bytes have the move of the byte before
            before, inside, found = move, site, _UNKNOWN
            for _ in range(_MOST_PEEKED):
                if move > CALLED:
                    found = REFUSED if move == DEAD else MOVED if move >= 0 else _UNKNOWN
                    live = tables.sites[inside, LIVE]
                    if move >= 0 and live >= 0:
                        alive = tables.live[live + move - tables.sites[inside, ENTRY]]
                        found = MOVED if alive else REFUSED
                    break
                inside = np.int64(CALLED - move)
                at = tables.sites[inside, ENTRY]
                entered = tables.states[at, ROW]
                if entered < 0:
                    break
                letter = tables.alphabets[tables.states[at, ALPHABET], byte]
                move = np.int64(tables.cells[entered + letter])
        known[byte] = found
        if found != REFUSED:
            last = byte
            if found == MOVED:
                legal += 1
                if legal > 1:
                    break
            else:
                unknown += 1
    return legal, unknown, last


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
def _only(
    tables: Tables, frames: Ints, note: Note, known: Bytes, at: int | np.int64
) -> tuple[int, int]:
    """(the only legal byte at offset `at`, -1 if there is none, -2 if there are more; the status of the last step).

    `known`: see `_peek`. The configuration in `note` is invalid afterwards.
    """
    state, top, count = note.state, note.top, note.count
    only, status = -1, REFUSED
    for place in range(256):
        byte = (place + _SPACE) % 256
        if known[byte] == REFUSED:
            continue
        status = MOVED
        if known[byte] != MOVED:
            note.state, note.top, note.count = state, top, count
            status = step(tables, frames, note, frames[:0], np.int64(byte), at)
        if status == MOVED:
            if only >= 0:
                return -2, status
            only = byte
        elif status != REFUSED:
            return -1, status
    return only, status


@kernel
def _force(
    tables: Tables, frames: Ints, note: Note, text: Bytes, done: int, offset: int | np.int64
) -> int:
    known = np.empty(256, np.uint8)
    note.status, note.chooses = MOVED, 0
    while done < len(text):
        state, top, count = note.state, note.top, note.count
        site = np.int64(frames[top, SITE])
        legal, unknown, only = _peek(tables, site, np.int64(state), known)
        if legal > 1:
            note.chooses = np.int64(done == 0)
            break
        if tables.states[state, ROW] >= 0 and tables.states[state, OUTCOME] >= 0:
            break
        at, status = offset + done, REFUSED
        if legal + unknown > 1:
            only, status = _only(tables, frames, note, known, at)
            note.state, note.top, note.count = state, top, count
        if only >= 0:
            status = step(tables, frames, note, frames[:0], np.int64(only), at)
        if only < 0 or status != MOVED:
            note.state, note.top, note.count = state, top, count
            note.status = MOVED if only == -2 or status == REFUSED else status
            break
        text[done] = only
        done += 1
    return done


@kernel
def forces_none(tables: Tables, frames: Ints, note: Note, offset: int, joined: Bytes) -> bool:
    """Whether certainly no token is forced in the configuration in `note`, at `offset`.

    So it is where two bytes are legal, or where the forced text, though not the end of the output, has no boundary that
    no token crosses. `joined` [65,536]: 1 for the pairs of bytes that a token has next to each other; empty: not known.
    Does not change the configuration, nor what `note` tells of the walk to it.
    """
    site = np.int64(frames[note.top, SITE])
    if _goes_on(tables, site, np.int64(note.state)):
        return True
    known = np.empty(256, np.uint8)
    legal, unknown, _ = _peek(tables, site, np.int64(note.state), known)
    if legal > 1 or (legal + unknown < 2 and len(joined) == 0):
        return legal > 1
    state, top, count, exact = note.state, note.top, note.count, note.exact
    text = note.what, note.ending, note.twin, note.until, note.answered
    walk = note.lowest, note.texts, note.assumption, note.unwritten
    seen = note.site, note.begun, note.memory, note.status
    note.exact, left = 1, _MOST_STEPS
    for place in range(256 if legal + unknown > 1 else 0):
        byte = (place + _SPACE) % 256
        if known[byte] != _UNKNOWN:
            continue
        note.state, note.top, note.count = state, top, count
        left -= 1
        if step(tables, frames, note, frames[:0], np.int64(byte), offset) == MOVED:
            legal += 1
        if legal > 1 or left == 0:
            break
    none = legal > 1
    if not none and len(joined) > 0:
        note.state, note.top, note.count = state, top, count
        none = _joins(tables, frames, note, offset, joined)
    note.state, note.top, note.count, note.exact = state, top, count, exact
    note.what, note.ending, note.twin, note.until, note.answered = text
    note.lowest, note.texts, note.assumption, note.unwritten = walk
    note.site, note.begun, note.memory, note.status = seen
    return none


@kernel
def _joins(tables: Tables, frames: Ints, note: Note, offset: int, joined: Bytes) -> bool:
    """Whether the forced text certainly is short, not the end of the output, and crossed by tokens everywhere."""
    text = np.empty(_MOST_AHEAD, np.uint8)
    done = _force(tables, frames, note, text, 0, offset)
    found = done < _MOST_AHEAD and note.state != FINAL
    found = found and (note.status == MOVED or note.status == UNDECIDED)
    for i in range(1, done):
        found = found and joined[256 * np.int64(text[i - 1]) + text[i]] != 0
    return found


@kernel
def force(
    held: Longs, newest: Longs, text: Bytes, done: int, state: int, depth: int, offset: int
) -> int:
    """Write forced bytes to `text` from byte `done` on, while exactly one byte is legal and the output cannot end.

    Returns the number of bytes in `text`. `held`: see `text_step.addresses_for`; `newest`: `Tables.addresses`. A
    negative `done` begins at a place, its state, the height of its stack, and the length of its output; otherwise the
    place is not used. The status of the note is `MOVED` where the forced text ends; for any other status see `step`,
    fill in the entry, and call again. Its `chooses` is 1 if two bytes are legal at once, whatever the stack below the
    innermost frame.
    """
    note, frames = longs(held, 0), grid(held, 1)
    if done < 0:
        begin_at(note, state, depth, offset, 1)
    fields = note_of(note)
    return _force(tables_at(newest), frames, fields, text, max(done, 0), fields.offset)
