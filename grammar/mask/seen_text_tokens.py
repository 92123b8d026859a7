"""Compiled loops: select the tokens that begin a text which its container remembers, and texts that are refused.

Does: read each token from one configuration, assuming that texts are new, and examine the texts it leaves open. Does
not: know which texts must not come (`dead_prefixes`), or expand missing states of the tables: a token that reaches one
is selected.
"""

import numpy as np

from ..base.array_types import Bytes, Flags, Ints, Longs
from ..jit.kernel import kernel
from ..machine import byte_step as w
from ..machine.lazy_tables import ALPHABET, FLAGS, LEAF, REMEMBERS, ROW, Tables, tables_at
from ..machine.walk_state import note_of


@kernel
def _stays_in_leaf(tables: Tables, state: int, text: Bytes) -> bool:
    """Whether `text` is read without leaving the leaf of `state`, the usual case within a string."""
    for byte in text:
        row = tables.states[state, ROW]
        if row < 0 or tables.states[state, LEAF] < 0:
            return False
        state = tables.cells[row + tables.alphabets[tables.states[state, ALPHABET], byte]]
        if state < 0:
            return False
    return True


@kernel
def select_openers(
    held: Longs,
    frames: Ints,
    held_note: Longs,
    answers: Ints,
    blob: Bytes,
    starts: Longs,
    chosen: Flags,
) -> None:
    """Clear `chosen[i]` where reading text i of `blob` leaves open no remembered text that it began.

    `starts` int64 [texts + 1]: the offset of each text in `blob`, and of the end. `held`: the addresses of tables.
    `held_note`: the note's array, as `Cursor.begin` leaves it; it is overwritten.
    """
    tables, note = tables_at(held), note_of(held_note)
    state, top, count, offset = note.state, note.top, note.count, note.offset
    for i in range(len(chosen)):
        if not chosen[i]:
            continue
        text = blob[starts[i] : starts[i + 1]]
        if _stays_in_leaf(tables, state, text):
            chosen[i] = False
            continue
        note.state, note.top, note.count = state, top, count
        w.read(tables, frames, note, answers, text, 0)
        if note.status != w.MOVED:
            continue
        at, opened = note.top, False
        while at >= 0 and frames[at, w.BEGUN] >= offset:
            if tables.sites[frames[at, w.SITE], FLAGS] & REMEMBERS:
                opened = True
                break
            at = np.int64(frames[at, w.PARENT])
        chosen[i] = opened


@kernel
def select_refused(
    held: Longs,
    frames: Ints,
    held_note: Longs,
    answers: Ints,
    blob: Bytes,
    starts: Longs,
    chosen: Flags,
) -> None:
    """Clear `chosen[i]` where text i of `blob` has bytes and is legal, and nothing in it is compared with a text.

    The parameters are those of `select_openers`; `held_note` as `Cursor.begin` leaves it for an exact read.
    """
    tables, note = tables_at(held), note_of(held_note)
    state, top, count = note.state, note.top, note.count
    for i in range(len(chosen)):
        if not chosen[i] or starts[i] == starts[i + 1]:
            continue
        note.state, note.top, note.count = state, top, count
        w.read(tables, frames, note, answers, blob[starts[i] : starts[i + 1]], 0)
        chosen[i] = note.status != w.MOVED
