"""Which of some tokens begin a text that its caller remembers, compiled.

Does: read each token from one configuration, texts taken to be new, and look at the texts it has opened. Does not: know
which texts must not come (`tails`), or learn what tables lack: such tokens count as if they did.
"""

import numpy as np

from ..base.array_types import Bytes, Flags, Ints, Longs
from ..jit.kernel import kernel
from ..machine import byte_step as w
from ..machine.lazy_tables import ALPHABET, FLAGS, LEAF, REMEMBERS, ROW, Tables, tables_at
from ..machine.walk_state import note_of


@kernel
def _stays(tables: Tables, state: int, text: Bytes) -> bool:
    """Whether a text is read without leaving the leaf of a state; most texts are, within a string."""
    for byte in text:
        row = tables.states[state, ROW]
        if row < 0 or tables.states[state, LEAF] < 0:
            return False
        state = tables.cells[row + tables.alphabets[tables.states[state, ALPHABET], byte]]
        if state < 0:
            return False
    return True


@kernel
def beginning(
    held: Longs,
    frames: Ints,
    held_note: Longs,
    looks: Ints,
    blob: Bytes,
    starts: Longs,
    chosen: Flags,
) -> None:
    """Clear `chosen[i]` where the text i of `blob` opens no remembered text that is open at its end.

    `starts`: where each text begins in `blob`, and where the last ends. `held`: the addresses of tables. `held_note`:
    the note's array, as `Cursor.begin` leaves it; it is overwritten.
    """
    tables, note = tables_at(held), note_of(held_note)
    state, top, count, offset = note.state, note.top, note.count, note.offset
    for i in range(len(chosen)):
        if not chosen[i]:
            continue
        text = blob[starts[i] : starts[i + 1]]
        if _stays(tables, state, text):
            chosen[i] = False
            continue
        note.state, note.top, note.count = state, top, count
        w.read(tables, frames, note, looks, text, 0)
        if note.status != w.MOVED:
            continue
        at, opened = note.top, False
        while at >= 0 and frames[at, w.BEGUN] >= offset:
            if tables.sites[frames[at, w.SITE], FLAGS] & REMEMBERS:
                opened = True
                break
            at = np.int64(frames[at, w.PARENT])
        chosen[i] = opened
