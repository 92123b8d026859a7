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
from .walk_state import note_of

# Of a byte, where a look at the tables is not enough.
_UNKNOWN: Final = 8
_CALLS: Final = 9
_MOST_PEEKED: Final = 16  # calls for one byte
_SPACE: Final = 32


@kernel
def _peek(tables: Tables, site: np.int64, state: np.int64, known: Bytes) -> int:
    """Fill `known` [256]: `MOVED` or `REFUSED` where the tables decide on a byte without the stack, else `_UNKNOWN`.

    `site`: the call site of the innermost rule. Nothing moves. Returns the number of bytes with `MOVED`.
    """
    known[:] = _UNKNOWN
    legal, called = (
        0,
        np.int64(0),
    )  # the site that is entered with the bytes still examined; at first all are
    for level in range(_MOST_PEEKED):
        row = tables.states[state, ROW]
        if row < 0:
            break
        alphabet = tables.alphabets[tables.states[state, ALPHABET]]
        live, entry = tables.sites[site, LIVE], tables.sites[site, ENTRY]
        called = np.int64(0)
        for byte in range(256):
            if level and known[byte] != _CALLS:
                continue
            move = tables.cells[row + alphabet[byte]]
            known[byte] = _UNKNOWN
            if move == DEAD or (move >= 0 and live >= 0 and tables.live[live + move - entry] == 0):
                known[byte] = REFUSED
            elif move >= 0:
                known[byte] = MOVED
                legal += 1
            elif move <= CALLED and called in (0, CALLED - move):
                called = np.int64(CALLED - move)
                known[byte] = _CALLS
        if not called:
            return legal
        site, state = called, np.int64(tables.sites[called, ENTRY])
    for byte in range(256):
        if known[byte] == _CALLS:
            known[byte] = _UNKNOWN
    return legal


@kernel
def has_choice(tables: Tables, site: np.int64, state: np.int64) -> bool:
    """Whether two bytes are legal in a state without its rule being left or calling another: no text is forced there.

    `site`: the call site of the innermost rule, which may restrict the live states of a leaf.
    """
    row = tables.states[state, ROW]
    if row < 0:
        return False
    alphabet = tables.alphabets[tables.states[state, ALPHABET]]
    live, entry = tables.sites[site, LIVE], tables.sites[site, ENTRY]
    found = 0
    for place in range(256):  # in most states the first few bytes from the space on decide
        move = tables.cells[row + alphabet[(place + _SPACE) % 256]]
        if move >= 0 and (live < 0 or tables.live[live + move - entry] != 0):
            found += 1
            if found > 1:
                return True
    return False


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
        for byte in range(257):
            if byte == 256:
                if only < 0:
                    break
                byte = only
            elif known[byte] == REFUSED:
                continue
            status = MOVED
            if byte == only or known[byte] != MOVED:
                note.state, note.top, note.count = state, top, count
                status = step(tables, frames, note, answers, np.int64(byte), note.offset + done)
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
