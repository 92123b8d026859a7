"""The compiled loops that look at all bytes after a configuration: whether there is a choice, and which are forced.

Does: find the bytes that must come next, or that there is none. Does not: change tables or the stack (`text_step`),
spell forced text in tokens (`token_spelling`).
"""

from typing import Final

import numpy as np

from ..base.addresses import grid, longs
from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import inner_kernel, kernel
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
    SPAN,
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
_BYTES: Final = 256


@inner_kernel
def _byte_at(place: int) -> int:
    """All bytes in an order in which the first few mostly decide: from the space on."""
    return (place + _SPACE) % _BYTES


@inner_kernel
def _span(tables: Tables, state: np.int64) -> tuple[int, int, bool]:
    """(place of the first byte that has a move in a state with a row, that of the last, whether all call at one site).

    Places are those of `_byte_at`; without any move, the first is behind the last. All bytes are looked at once for a
    state, which keeps the result: threads that write it at once write the same.
    """
    kept = np.int64(tables.states[state, SPAN])
    if kept < 0:
        row, alphabet = tables.states[state, ROW], tables.states[state, ALPHABET]
        first, last, entered, begun = (
            _BYTES,
            0,
            1,
            tables.cells[row + tables.alphabets[alphabet, 0]],
        )
        for place in range(_BYTES):
            move = tables.cells[row + tables.alphabets[alphabet, _byte_at(place)]]
            if move != begun or move > CALLED:
                entered = 0
            if move != DEAD:
                first, last = min(first, place), place
        kept = np.int64((2 * first + entered) * _BYTES + last)
        tables.states[state, SPAN] = kept
    begin = kept // _BYTES
    return int(begin // 2), int(kept % _BYTES), begin % 2 == 1


@inner_kernel
def _entered(tables: Tables, site: np.int64, state: np.int64) -> tuple[np.int64, np.int64]:
    """(site, state) behind the calls that every byte enters, as far as rows are known."""
    for _ in range(_MOST_PEEKED):
        if tables.states[state, ROW] < 0 or not _span(tables, state)[2]:
            break
        site = np.int64(CALLED - tables.cells[tables.states[state, ROW]])
        state = np.int64(tables.sites[site, ENTRY])
    return site, state


@inner_kernel
def _look(tables: Tables, site: np.int64, state: np.int64, byte: int) -> int:
    """`MOVED` or `REFUSED` where the tables decide on a byte without the stack, else `_UNKNOWN`. Nothing moves.

    `site`: the call site of the innermost rule, which may restrict the live states of a leaf.
    """
    for _ in range(_MOST_PEEKED):
        row = tables.states[state, ROW]
        if row < 0:
            break
        move = np.int64(tables.cells[row + tables.alphabets[tables.states[state, ALPHABET], byte]])
        if move > CALLED:
            live = tables.sites[site, LIVE]
            if move >= 0 and live >= 0 and not tables.live[live + move - tables.sites[site, ENTRY]]:
                return REFUSED
            return REFUSED if move == DEAD else MOVED if move >= 0 else _UNKNOWN
        site = np.int64(CALLED - move)
        state = np.int64(tables.sites[site, ENTRY])
    return _UNKNOWN


@inner_kernel
def _peek(tables: Tables, site: np.int64, state: np.int64) -> tuple[int, int, int]:
    """(number of bytes with `MOVED`, number of those with `_UNKNOWN`, the last byte with one of these); see `_look`.

    Not all bytes are looked at where two have `MOVED`.
    """
    if tables.states[state, ROW] < 0:
        return 0, _BYTES, -1
    first, last, _ = _span(tables, state)
    if first < last and _look(tables, site, state, _byte_at(last)) == MOVED:
        last, legal, unknown, only = last - 1, 1, 0, _byte_at(last)
    else:
        legal, unknown, only = 0, 0, -1
    row, alphabet = tables.states[state, ROW], tables.states[state, ALPHABET]
    before, found = np.int64(CALLED), _UNKNOWN
    for place in range(first, last + 1):
        byte = _byte_at(place)
        move = np.int64(tables.cells[row + tables.alphabets[alphabet, byte]])
        if move != before or move <= CALLED:  # most bytes have the move of the byte before
            before, found = move, _look(tables, site, state, byte)
        if found != REFUSED:
            only = byte
            if found == MOVED:
                legal += 1
                if legal > 1:
                    break
            else:
                unknown += 1
    return legal, unknown, only


@inner_kernel
def _only(
    tables: Tables,
    frames: Ints,
    note: Note,
    entered: tuple[np.int64, np.int64],
    at: int | np.int64,
) -> tuple[int, int]:
    """(the only legal byte at offset `at`, -1 if there is none, -2 if there are more; the status of the last step).

    `entered`: see `_entered`. The configuration in `note` is invalid afterwards.
    """
    state, top, count = note.state, note.top, note.count
    only, status = -1, REFUSED
    for place in range(_BYTES):
        byte = _byte_at(place)
        found = _look(tables, entered[0], entered[1], byte)
        if found == REFUSED:
            continue
        status = MOVED
        if found != MOVED:
            note.state, note.top, note.count = state, top, count
            status = step(tables, frames, note, frames[:0], np.int64(byte), at)
        if status == MOVED:
            if only >= 0:
                return -2, status
            only = byte
        elif status != REFUSED:
            return -1, status
    return only, status


@inner_kernel
def _force(
    tables: Tables, frames: Ints, note: Note, text: Bytes, done: int, offset: int | np.int64
) -> int:
    note.status, note.chooses = MOVED, 0
    while done < len(text):
        state, top, count = note.state, note.top, note.count
        entered = _entered(tables, np.int64(frames[top, SITE]), np.int64(state))
        legal, unknown, only = _peek(tables, entered[0], entered[1])
        if legal > 1:
            note.chooses = np.int64(done == 0)
            break
        if tables.states[state, ROW] >= 0 and tables.states[state, OUTCOME] >= 0:
            break
        at, status = offset + done, REFUSED
        if legal + unknown > 1:
            only, status = _only(tables, frames, note, entered, at)
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


@inner_kernel
def forces_none(tables: Tables, frames: Ints, note: Note, offset: int, joined: Bytes) -> bool:
    """Whether certainly no token is forced in the configuration in `note`, at `offset`.

    So it is where two bytes are legal, or where the forced text, though not the end of the output, has no boundary that
    no token crosses. `joined` [65,536]: 1 for the pairs of bytes that a token has next to each other; empty: not known.
    Does not change the configuration, nor what `note` tells of the walk to it.
    """
    site, entered = _entered(tables, np.int64(frames[note.top, SITE]), np.int64(note.state))
    legal, unknown, _ = _peek(tables, site, entered)
    if legal > 1 or (legal + unknown < 2 and len(joined) == 0):
        return legal > 1
    state, top, count, exact = note.state, note.top, note.count, note.exact
    text = note.what, note.ending, note.twin, note.until, note.answered
    walk = note.lowest, note.texts, note.assumption, note.unwritten
    seen = note.site, note.begun, note.memory, note.status
    note.exact, left = 1, _MOST_STEPS
    for place in range(_BYTES if legal + unknown > 1 else 0):
        byte = _byte_at(place)
        if _look(tables, site, entered, byte) != _UNKNOWN:
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


@inner_kernel
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
