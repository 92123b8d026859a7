"""The compiled computation of a whole mask row, in one call from Python.

Does: find the legal tokens of a configuration and the words of their mask, relative to the shared row of a leaf where
there is one. It stops where the tables lack an entry or where a leaf's row is needed, and continues from there when it
is called again. Does not: expand tables, make the rows of leaves (`leaf_cache`), wrap results for Python
(`compute_masks`).
"""

from typing import Final

import numpy as np

from ..base.addresses import grid, line, longs, octets, words
from ..base.array_types import Bytes, Ints, Longs, Words
from ..jit.kernel import kernel
from ..machine.byte_step import EXPAND, MOVED, REFUSED, SITE, UNDECIDED, VIEW, end_rule
from ..machine.lazy_tables import (
    ALPHABET,
    DEAD,
    ENTRY,
    FINAL,
    LEAF,
    LEAVE,
    LIVE,
    MANY_BYTES,
    NEAR,
    OUTCOME,
    ROW,
    Tables,
    tables_at,
)
from ..machine.records import Whole, record_of
from ..machine.walk_state import Note, note_of
from .trie import Trie, heads_at, trie_at
from .trie_walk import WalkBuffers, approach, walk, walk_all, walk_exits

# Numbers of the arrays of a `Scratch`, in the order of their addresses. Numbers 0 to 4 are the vocabulary's trie.
NODE_OF: Final = 5  # the trie node of each token
BUFFERS: Final = 6  # the four arrays of `WalkBuffers`
TOUCHED: Final = 10  # uint8 [words of a mask], 1 where a word was written
WORDS: Final = 11  # two masks: one all zero between uses, one for masks relative to a leaf's row
PLACES: Final = 13  # result: the places of the words that differ from the leaf's row
DIFFERING: Final = 14  # result: these words
REPORTED: Final = 15  # result: the undecided nodes, then those of both kinds of assumptions
PROGRESS: Final = 16  # the fields of `RowProgress`
HEADS: Final = 17  # the two arrays of `Heads`
GROUPS: Final = 19  # `TOUCHED`, eight bytes as one int64
EXITS_OF_TEXT: Final = 20  # the exits of a copied text
CHILDREN: Final = 21  # the three arrays of `Children`
# Numbers of the arrays of a view. Numbers 0 to 4 are the trees of its continuations.
ROOTS: Final = 5
EXITS: Final = 6
DROPPED: Final = 7
ADDED: Final = 8


class RowProgress:
    """Progress of the computation of a row, and its results; all int64.

    `..._early` counts the entries found on the way to the leaf; `..._shared` adds those found in its trees.
    """

    phase: Whole
    start: Whole  # the state of the configuration
    found_early: Whole
    found_shared: Whole
    undecided_early: Whole
    undecided_shared: Whole
    assumed_early: Whole
    assumed_shared: Whole
    ends: Whole  # 1: the output may end; 0: it may not; -1: undecided
    size: Whole  # words that differ from the leaf's row
    undecided: Whole  # nodes reported: undecided,
    inner: Whole  # ... with an assumption about a text that begins within the token,
    opened: Whole  # ... with one about a text that began before it


_progress_of = record_of(RowProgress)
_SLOTS: Final = tuple(RowProgress.__annotations__)
PROGRESS_FIELDS: Final = len(_SLOTS)
# Indices into the array, for Python.
PHASE: Final = _SLOTS.index("phase")
START: Final = _SLOTS.index("start")
ENDS: Final = _SLOTS.index("ends")  # the first of the results

_FIRST_RESULT: Final = _SLOTS.index("found_early")

# Phases.
_BEGIN: Final = 0
_ALL: Final = 1
_TREES: Final = 2
_EXITS: Final = 3
_END: Final = 4
_COPIED: Final = 5  # the exits of a text in which the output cannot end


@kernel
def buffers_at(held: Longs) -> WalkBuffers:
    """The walk buffers among the arrays of a scratch."""
    return WalkBuffers(
        grid(held, BUFFERS),
        line(held, BUFFERS + 1),
        line(held, BUFFERS + 2),
        line(held, BUFFERS + 3),
    )


@kernel
def _restart(note: Note, progress: RowProgress) -> None:
    note.state, note.top, note.count = progress.start, note.depth - 1, note.depth
    note.lowest, note.exact, note.arcs, note.status = note.depth, 0, -1, MOVED
    note.found = note.undecided = note.assumed = note.unwritten = 0
    note.leaf_top, note.leaf_count = note.top, note.count


@kernel
def _wide(tables: Tables, state: int | np.int64, site: int | np.int64) -> bool:
    """Whether a leaf's state takes many bytes (`MANY_BYTES`), counting only targets that are live at a call site."""
    row, classes = tables.states[state, ROW], tables.alphabets[tables.states[state, ALPHABET]]
    first = tables.sites[site, LIVE] - tables.sites[site, ENTRY]
    count = 0
    for byte in range(256):
        move = tables.cells[row + classes[byte]]
        if move >= 0:
            count += int(tables.live[first + move])
        elif move != DEAD and move != LEAVE:
            count += 1
    return count >= MANY_BYTES


@kernel
def _enter(
    tables: Tables,
    scratch: Longs,
    frames: Ints,
    note: Note,
    buffers: WalkBuffers,
    progress: RowProgress,
) -> int:
    """Start, and enter the leaf that is called here if it has shared rows.

    Returns the next phase; `_BEGIN` if `note.status` says that an entry of the tables is missing.
    """
    _restart(note, progress)
    if note.state == FINAL:
        return _ALL
    if tables.states[note.state, LEAF] < 0:
        approach(tables, trie_at(scratch, 0), heads_at(scratch, HEADS), frames, note, buffers)
        if note.status == REFUSED:
            _restart(note, progress)
            return _ALL
        if note.status != MOVED:
            return _BEGIN
        note.leaf_top, note.leaf_count = note.top, note.count
    if tables.states[note.state, NEAR] == 0:
        return _ALL
    site = np.int64(frames[note.leaf_top, SITE])
    if tables.sites[site, LIVE] >= 0:
        note.lowest = min(note.lowest, note.leaf_top)
        if not _wide(tables, note.state, site):
            return _ALL
    progress.found_early, progress.undecided_early = note.found, note.undecided
    progress.assumed_early = note.assumed
    note.exit = note.inside = 0
    note.status = VIEW
    return _TREES


@kernel
def _ends(tables: Tables, frames: Ints, note: Note, progress: RowProgress, answers: Ints) -> None:
    """Set `progress.ends`: whether the output may end here. Ends like `walk`."""
    note.state, note.top, note.count = progress.start, note.depth - 1, note.depth
    note.exact, note.status = 1, MOVED
    while note.state != FINAL:
        state = note.state
        if tables.states[state, ROW] < 0:
            note.what, note.status = state, EXPAND
            return
        ending = np.int64(tables.states[state, OUTCOME])
        progress.ends = 0
        if ending < 0:
            return
        note.answered = 0
        status = end_rule(tables, frames, note, answers, ending, note.offset)
        if status == REFUSED:
            return
        if status == UNDECIDED:
            progress.ends = -1
            return
        if status != MOVED:
            note.status = status
            return
    progress.ends = 1


@kernel
def _allow(touched: Bytes, whole: Words, token: int | np.int64) -> None:
    touched[token >> 5] = 1
    whole[token >> 5] |= np.uint32(1) << np.uint32(token & 31)


@kernel
def _write_words(
    scratch: Longs, view: Longs, base: Words, progress: RowProgress, found: int | np.int64
) -> int:
    """Compute the mask and write the words that differ from the leaf's row; returns their number.

    The mask is the leaf's row plus the tokens found in its trees, minus those at and below the dropped nodes, plus all
    other tokens found. It is computed on a contiguous copy of the row: scattered words are slow to reach.
    """
    touched = octets(scratch, TOUCHED)
    whole = words(scratch, WORDS + (len(base) > 0))
    whole[: len(base)] = base
    skip, first, tokens, seen = (
        line(scratch, 2),
        line(scratch, 3),
        line(scratch, 4),
        line(scratch, BUFFERS + 1),
    )
    begin, split = progress.found_early, progress.found_shared
    for i in range(begin, split):
        _allow(touched, whole, seen[i])
    for node in line(view, DROPPED):
        for k in range(first[node], first[skip[node]]):
            touched[tokens[k] >> 5] = 1
            whole[tokens[k] >> 5] &= ~(np.uint32(1) << np.uint32(tokens[k] & 31))
    for i in range(begin):
        _allow(touched, whole, seen[i])
    for i in range(split, found):
        _allow(touched, whole, seen[i])
    for node in line(view, ADDED):
        for k in range(first[node], first[node + 1]):
            _allow(touched, whole, tokens[k])
    return _collect_differing(scratch, whole, base)


@kernel
def _collect_differing(scratch: Longs, whole: Words, base: Words) -> int:
    """Write the places and words of `whole` that were touched and differ from `base`; returns their number.

    Resets the touched marks, and the mask where there is no base.
    """
    groups = longs(scratch, GROUPS)
    at, own = longs(scratch, PLACES), words(scratch, DIFFERING)
    count = 0
    for group in range(len(groups)):
        if groups[group] == 0:
            continue
        groups[group] = 0
        for word in range(8 * group, min(8 * group + 8, len(whole))):
            before = base[word] if len(base) > 0 else np.uint32(0)
            if whole[word] != before:
                at[count], own[count] = word, whole[word]
                count += 1
            if len(base) == 0:
                whole[word] = 0
    return count


@kernel
def _report_places(
    trees: Trie, nodes_of: Ints, reported: Ints, count: int, node: int | np.int64
) -> int:
    """Append the vocabulary's trie nodes of all tokens at and below a node of `trees`; returns the new count."""
    begin, end = trees.first[node], trees.first[trees.skip[node]]
    places = np.empty(end - begin, np.int32)
    for k in range(begin, end):
        places[k - begin] = nodes_of[trees.tokens[k]]
    places.sort()
    for k in range(len(places)):
        if k == 0 or places[k] != places[k - 1]:
            reported[count] = places[k]
            count += 1
    return count


@kernel
def _report(scratch: Longs, view: Longs, note: Note, progress: RowProgress) -> None:
    """Write the undecided nodes, then the nodes with assumptions, as nodes of the vocabulary's trie."""
    trees, nodes_of, reported = trie_at(view, 0), line(scratch, NODE_OF), line(scratch, REPORTED)
    undecided, assumed = line(scratch, BUFFERS + 2), line(scratch, BUFFERS + 3)
    count = 0
    for i in range(note.undecided):
        if progress.undecided_early <= i < progress.undecided_shared:
            count = _report_places(trees, nodes_of, reported, count, np.int64(undecided[i]))
        else:
            reported[count] = undecided[i]
            count += 1
    progress.undecided = count
    for opened in range(2):
        begun = count
        for i in range(note.assumed):
            if (assumed[i] < 0) == (opened == 0):
                continue
            node = np.int64(~assumed[i] if opened else assumed[i])
            if progress.assumed_early <= i < progress.assumed_shared:
                count = _report_places(trees, nodes_of, reported, count, node)
            else:
                reported[count] = node
                count += 1
        if opened:
            progress.opened = count - begun
        else:
            progress.inner = count - begun


@kernel
def find_row(
    machine: Longs, scratch: Longs, view: Longs, base: Words, frames: Ints, held: Longs
) -> None:
    """Compute a row, or continue a computation; `progress.phase` is 0 to start.

    `machine`, `scratch`, `view`: addresses of the tables, of a `Scratch`, of a leaf's view. `base`: the words of the
    view's row, empty without one. `held`: the note's array.

    `note.status` is `MOVED` when the row is done. It is `VIEW` when the view of the leaf of state `note.state`, called
    by frame `note.leaf_top`, is needed. For other values see `byte_step.step`. Unless it is done, call again.
    """
    tables, trie, buffers = tables_at(machine), trie_at(scratch, 0), buffers_at(scratch)
    progress, note = _progress_of(longs(scratch, PROGRESS)), note_of(held)
    if progress.phase == _BEGIN:
        longs(scratch, PROGRESS)[_FIRST_RESULT:] = 0
        progress.phase = _enter(tables, scratch, frames, note, buffers, progress)
        if note.status != MOVED:
            return
        buffers.path[0, 0], buffers.path[0, 1], buffers.path[0, 2] = (
            note.state,
            note.top,
            note.count,
        )
        note.head = note.inside = 0
    if progress.phase == _ALL:
        walk_all(tables, trie, heads_at(scratch, HEADS), frames, note, buffers)
        if note.status != MOVED:
            return
        progress.phase = _END
    if progress.phase == _TREES:
        walk_exits(tables, trie_at(view, 0), frames, note, grid(view, ROOTS), buffers)
        if note.status != MOVED:
            return
        progress.found_shared, progress.undecided_shared = note.found, note.undecided
        progress.assumed_shared = note.assumed
        note.exit = 0
        progress.phase = _EXITS
    if progress.phase == _EXITS or progress.phase == _COPIED:
        walk_exits(tables, trie, frames, note, grid(view, EXITS), buffers)
        if note.status != MOVED:
            return
        if progress.phase == _EXITS:
            progress.phase = _END
    if progress.phase == _END:
        _ends(tables, frames, note, progress, buffers.path[:0])
    if note.status == MOVED:
        progress.size = _write_words(scratch, view, base, progress, note.found)
        _report(scratch, view, note, progress)


@kernel
def begin_exits(scratch: Longs, held: Longs) -> None:
    """Start a row of which the tokens within a text are found in another way: `find_row` goes on behind its exits."""
    progress, note = _progress_of(longs(scratch, PROGRESS)), note_of(held)
    longs(scratch, PROGRESS)[_FIRST_RESULT:] = 0
    _restart(note, progress)
    note.exit = note.inside = 0
    progress.phase = _COPIED


@kernel
def walk_at(machine: Longs, scratch: Longs, frames: Ints, note: Longs) -> None:
    """Run `walk` over the vocabulary's trie, with all arrays given by address."""
    walk(tables_at(machine), trie_at(scratch, 0), frames, note_of(note), buffers_at(scratch))
