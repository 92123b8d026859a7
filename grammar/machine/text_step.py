"""The compiled loops that read a text and move a stack to the configuration after it.

Does: read ahead from a stack, and replace the stack by the frames read ahead. Does not: read single bytes
(`byte_step`), decide where a text must be compared (`cursor`).
"""

import numpy as np

from ..base.addresses import describe, grid, longs, octets
from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import brief_kernel, inner_kernel, kernel
from .byte_step import (
    ASSUMED,
    FRAME_COLUMNS,
    FULL,
    MEMORY,
    MOVED,
    PARENT,
    SITE,
    UNDECIDED,
    UNSURE,
    begin_at,
    read,
)
from .forced_bytes import forces_none
from .lazy_tables import Tables, tables_at
from .walk_state import Note, note_of


@inner_kernel
def _read(tables: Tables, frames: Ints, note: Note, joined: Bytes, text: Bytes, done: int) -> int:
    """Read `text` from byte `done` on, and set `Note.chooses`; see `read` and `forces_none`."""
    done = read(tables, frames, note, frames[:0], text, done)
    return _choosing(tables, frames, note, joined, done, len(text))


@inner_kernel
def _choosing(tables: Tables, frames: Ints, note: Note, joined: Bytes, done: int, size: int) -> int:
    """Set `Note.chooses` after `done` of `size` bytes were read; returns `done`."""
    note.chooses = 0
    if done == size and note.top >= 0:
        note.chooses = np.int64(forces_none(tables, frames, note, note.offset + done, joined))
    return done


@kernel
def read_at(held: Longs, frames: Ints, note: Longs, answers: Ints, text: Bytes, done: int) -> int:
    """`read` for callers that are not compiled; also sets `Note.chooses`. `held`: `Tables.addresses`."""
    tables, fields = tables_at(held), note_of(note)
    done = read(tables, frames, fields, answers, text, done)
    return _choosing(tables, frames, fields, text[:0], done, len(text))


@kernel
def read_from(
    held: Longs, frames: Ints, note: Longs, text: Bytes, place: tuple[int, int, int]
) -> tuple[int, int]:
    """`begin_at` a place (state, depth, offset), then `read_at` all of `text`; (number of bytes read, the status)."""
    state, depth, offset = place
    begin_at(note, state, depth, offset, 1)
    done = read_at(held, frames, note, frames[:0], text, 0)
    return done, int(note_of(note).status)


@kernel
def addresses_for(note: Longs, frames: Ints, newest: Longs, joined: Bytes) -> Longs:
    """The addresses that `advance` takes; one call instead of the five of `addresses`. `joined`: see `forces_none`."""
    held = np.empty(12, np.int64)
    describe(held, 0, note)
    describe(held, 1, frames)
    describe(held, 2, newest)
    describe(held, 3, joined)
    return held


@kernel
def new_frames(frames: Ints, top: int, depth: int) -> tuple[int, Ints]:
    """The stack with the innermost frame `top`, as (number of frames kept of the old stack, new frames above them).

    The new frames are in order, outermost first, with their `PARENT` renumbered.
    """
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
def _copy(frames: Ints, begin: int | np.int64, end: int | np.int64, to: int | np.int64) -> None:
    for i in range(end - begin):
        for column in range(FRAME_COLUMNS):
            frames[to + i, column] = frames[begin + i, column]


@kernel
def _settle(frames: Ints, note: Note, version: int) -> int:
    """Make the frames of the configuration in `note` the stack in place of one of height `note.depth`.

    Then `note.depth` is the height of the new stack, and `note.kept` the number of frames kept of the old one; the
    frames above these are copied to the rows from `note.count` on. After these copies come the call sites of the new
    frames, one after the other. `FULL` if `frames` has no room for that. `version`: of the seen texts, in frames where
    it is `UNSURE`.
    """
    height, at = 0, note.top
    while at >= note.depth:
        height += 1
        at = np.int64(frames[at, PARENT])
    kept = at + 1
    fresh = note.count + note.depth - kept
    if fresh + height > len(frames):
        return FULL
    _copy(frames, kept, note.depth, note.count)
    at = note.top
    for i in range(height - 1, -1, -1):
        _copy(frames, at, at + 1, fresh + i)
        at = np.int64(frames[at, PARENT])
        frames[fresh + i, PARENT] = kept + i - 1
        if frames[fresh + i, MEMORY] == UNSURE:
            frames[fresh + i, MEMORY] = version
    _copy(frames, fresh, fresh + height, kept)
    for i in range(height):
        frames[fresh + i // FRAME_COLUMNS, i % FRAME_COLUMNS] = frames[kept + i, SITE]
    note.kept, note.depth = kept, kept + height
    return MOVED


@brief_kernel
def settle(frames: Ints, note: Longs, version: int) -> int:
    """`_settle` for callers that are not compiled."""
    return _settle(frames, note_of(note), version)


@brief_kernel
def advance(held: Longs, text: Bytes, state: int, depth: int, offset: int, version: int) -> int:
    """Read `text` from a place, and make the frames after it the stack.

    Returns twice the state after it, plus `Note.chooses`, where the stack stays as it is; else -1 - status. Unless that
    is `MOVED` or `ASSUMED`, none changed. `ASSUMED`: one text ended that is only remembered; `version` is that of the
    seen texts with it, if it is new. `note.kept` and `note.depth` as `_settle` sets them. `held`: see `addresses_for`.
    """
    note, frames, tables = longs(held, 0), grid(held, 1), tables_at(longs(held, 2))
    begin_at(note, state, depth, offset, 0)
    fields = note_of(note)
    fields.kept = depth
    fields.done = _read(tables, frames, fields, octets(held, 3), text, 0)
    return _advanced(frames, fields, depth, version)


@brief_kernel
def advance_on(
    held: Longs, text: Bytes, state: int, done: int, chooses: int, depth: int, version: int
) -> int:
    """Go on with `advance`, which lacked an entry, from `state`, with the bytes before `done` read; returns the same.

    `chooses`: see `Note.chooses`, for `state`; it counts if all bytes are read.
    """
    fields, frames, tables = note_of(longs(held, 0)), grid(held, 1), tables_at(longs(held, 2))
    fields.state, fields.done = state, done
    if done < len(text):
        fields.done = _read(tables, frames, fields, octets(held, 3), text, done)
    else:
        fields.status, fields.chooses = MOVED, chooses
    return _advanced(frames, fields, depth, version)


@inner_kernel
def _advanced(frames: Ints, note: Note, depth: int, version: int) -> int:
    """Make the frames of the configuration in `note` the stack, if all of a text was read; returns as `advance`."""
    if note.status == MOVED:
        if note.texts == 0 and note.top == depth - 1:
            return int(2 * note.state + note.chooses)
        status = MOVED
        if note.texts > 0:
            status = ASSUMED if note.texts == 1 else UNDECIDED
        if status != UNDECIDED and note.top != depth - 1 and _settle(frames, note, version) == FULL:
            status = FULL
        note.status = status
    return int(-1 - note.status)
