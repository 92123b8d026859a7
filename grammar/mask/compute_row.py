"""All that a row needs, found by one compiled call.

Does: find the tokens legal in a configuration from its start to its words, beside the row of a leaf where there is one;
stop where the tables do not know, or where that leaf's row is wanted, and go on from there. Does not: look anything up,
make leaves' rows (`leafrows`), know Python's side of a row (`masking`).
"""

from typing import Final

import numpy as np

from ..base.addresses import grid, line, longs, octets, words
from ..base.array_types import Bytes, Ints, Longs, Words
from ..jit.kernel import kernel
from ..machine.byte_step import EXPAND, LOOK, MOVED, REFUSED, SITE, VIEW, end_rule
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
from .trie_walk import Room, approach, walk, walk_all, walk_exits

# Arrays of a desk and of a view, in the order of their addresses; the first five of each are a trie.
NODES: Final = 5  # of each token
ROOM: Final = 6  # four arrays
TOUCHED: Final = 10  # 1 where a word is
WORDS: Final = 11  # two arrays: one all zero between uses, one for masks beside another
AT: Final = 13
OWN: Final = 14
TOLD: Final = 15
STAND: Final = 16
HEADS: Final = 17  # two arrays
GROUPS: Final = 19  # eight of `TOUCHED` in one
ROOTS: Final = 5
EXITS: Final = 6
DROPPED: Final = 7
ADDED: Final = 8


class Stand:
    """Progress of the making of a row, and its results; all int64."""

    phase: Whole
    start: Whole  # the state of the configuration
    found_early: Whole  # ... on the way to the leaf
    found_shared: Whole  # ... in the trees, after that
    asked_early: Whole
    asked_shared: Whole
    doubts_early: Whole
    doubts_shared: Whole
    ends: Whole  # 1: the output may end; 0: it may not; -1: texts decide
    size: Whole  # words of its own
    asks: Whole  # nodes written: where a text decides,
    inner: Whole  # ... where a text begun within the token was taken to be new,
    opened: Whole  # ... one begun before


_stand_of = record_of(Stand)
_SLOTS: Final = tuple(Stand.__annotations__)
STANDS: Final = len(_SLOTS)
# Slots of the array, for Python.
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


@kernel
def room_at(held: Longs) -> Room:
    """The room of a desk."""
    return Room(grid(held, ROOM), line(held, ROOM + 1), line(held, ROOM + 2), line(held, ROOM + 3))


@kernel
def _restart(note: Note, stand: Stand) -> None:
    note.state, note.top, note.count = stand.start, note.depth - 1, note.depth
    note.lowest, note.exact, note.arcs, note.status = note.depth, 0, -1, MOVED
    note.found = note.asked = note.assumed = note.unwritten = 0
    note.leaf_top, note.leaf_count = note.top, note.count


@kernel
def _wide(tables: Tables, state: int | np.int64, site: int | np.int64) -> bool:
    """Whether many bytes can come in a leaf's state if only those states count that live at a site."""
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
def _enter(tables: Tables, desk: Longs, frames: Ints, note: Note, room: Room, stand: Stand) -> int:
    """Begin, and enter the leaf called here if one has rows; the next phase, or `_BEGIN` where `note.status` tells."""
    _restart(note, stand)
    if note.state == FINAL:
        return _ALL
    if tables.states[note.state, LEAF] < 0:
        approach(tables, trie_at(desk, 0), heads_at(desk, HEADS), frames, note, room)
        if note.status == REFUSED:
            _restart(note, stand)
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
    stand.found_early, stand.asked_early = note.found, note.asked
    stand.doubts_early = note.assumed
    note.exit = note.inside = 0
    note.status = VIEW
    return _TREES


@kernel
def _ends(tables: Tables, frames: Ints, note: Note, stand: Stand, looks: Ints) -> None:
    """Tell whether the output may end here; ends like `walk`."""
    note.state, note.top, note.count = stand.start, note.depth - 1, note.depth
    note.exact, note.status = 1, MOVED
    while note.state != FINAL:
        state = note.state
        if tables.states[state, ROW] < 0:
            note.what, note.status = state, EXPAND
            return
        ending = np.int64(tables.states[state, OUTCOME])
        stand.ends = 0
        if ending < 0:
            return
        note.looks = 0
        status = end_rule(tables, frames, note, looks, ending, note.offset)
        if status == REFUSED:
            return
        if status == LOOK:
            stand.ends = -1
            return
        if status != MOVED:
            note.status = status
            return
    stand.ends = 1


@kernel
def _allow(touched: Bytes, whole: Words, token: int | np.int64) -> None:
    touched[token >> 5] = 1
    whole[token >> 5] |= np.uint32(1) << np.uint32(token & 31)


@kernel
def _own_words(desk: Longs, view: Longs, base: Words, stand: Stand, found: int | np.int64) -> int:
    """Write which words are not those of the leaf's row, and these words; how many.

    The mask is that row with the tokens found in its trees, then without those at and below the nodes dropped, then
    with all others found. It is written beside the row, in one piece: words picked here and there are slow to reach.
    """
    touched = octets(desk, TOUCHED)
    whole = words(desk, WORDS + (len(base) > 0))
    whole[: len(base)] = base
    skip, first, tokens, seen = line(desk, 2), line(desk, 3), line(desk, 4), line(desk, ROOM + 1)
    begin, split = stand.found_early, stand.found_shared
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
    return _differing(desk, whole, base)


@kernel
def _differing(desk: Longs, whole: Words, base: Words) -> int:
    """Write where a mask was touched and is not `base`, and its words there; how many. Leaves the desk as it was."""
    groups = longs(desk, GROUPS)
    at, own = longs(desk, AT), words(desk, OWN)
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
def _places(trees: Trie, nodes_of: Ints, told: Ints, count: int, node: int | np.int64) -> int:
    """Tell the places in the vocabulary's trie of all tokens at and below a node of trees; the new count of `told`."""
    begin, end = trees.first[node], trees.first[trees.skip[node]]
    places = np.empty(end - begin, np.int32)
    for k in range(begin, end):
        places[k - begin] = nodes_of[trees.tokens[k]]
    places.sort()
    for k in range(len(places)):
        if k == 0 or places[k] != places[k - 1]:
            told[count] = places[k]
            count += 1
    return count


@kernel
def _tell(desk: Longs, view: Longs, note: Note, stand: Stand) -> None:
    """Write the nodes that ask, then those that doubt, as places in the vocabulary's trie."""
    trees, nodes_of, told = trie_at(view, 0), line(desk, NODES), line(desk, TOLD)
    asks, doubts = line(desk, ROOM + 2), line(desk, ROOM + 3)
    count = 0
    for i in range(note.asked):
        if stand.asked_early <= i < stand.asked_shared:
            count = _places(trees, nodes_of, told, count, np.int64(asks[i]))
        else:
            told[count] = asks[i]
            count += 1
    stand.asks = count
    for opened in range(2):
        begun = count
        for i in range(note.assumed):
            if (doubts[i] < 0) == (opened == 0):
                continue
            node = np.int64(~doubts[i] if opened else doubts[i])
            if stand.doubts_early <= i < stand.doubts_shared:
                count = _places(trees, nodes_of, told, count, node)
            else:
                told[count] = node
                count += 1
        if opened:
            stand.opened = count - begun
        else:
            stand.inner = count - begun


@kernel
def find(machine: Longs, desk: Longs, view: Longs, base: Words, frames: Ints, held: Longs) -> None:
    """Make a row, or go on: the addresses of tables, desk and view, the words of its row; the note's array.

    `stand.phase` is 0 to begin.

    `note.status` is `MOVED` when all is done and `VIEW` where the row of the leaf of state `note.state`, called by
    frame `note.leaf_top`, is wanted; otherwise see `walk.step`, and call again.
    """
    tables, trie, room = tables_at(machine), trie_at(desk, 0), room_at(desk)
    stand, note = _stand_of(longs(desk, STAND)), note_of(held)
    if stand.phase == _BEGIN:
        longs(desk, STAND)[_FIRST_RESULT:] = 0
        stand.phase = _enter(tables, desk, frames, note, room, stand)
        if note.status != MOVED:
            return
        room.path[0, 0], room.path[0, 1], room.path[0, 2] = note.state, note.top, note.count
        note.head = note.inside = 0
    if stand.phase == _ALL:
        walk_all(tables, trie, heads_at(desk, HEADS), frames, note, room)
        if note.status != MOVED:
            return
        stand.phase = _END
    if stand.phase == _TREES:
        walk_exits(tables, trie_at(view, 0), frames, note, grid(view, ROOTS), room)
        if note.status != MOVED:
            return
        stand.found_shared, stand.asked_shared = note.found, note.asked
        stand.doubts_shared = note.assumed
        note.exit = 0
        stand.phase = _EXITS
    if stand.phase == _EXITS:
        walk_exits(tables, trie, frames, note, grid(view, EXITS), room)
        if note.status != MOVED:
            return
        stand.phase = _END
    _ends(tables, frames, note, stand, room.path[:0])
    if note.status == MOVED:
        stand.size = _own_words(desk, view, base, stand, note.found)
        _tell(desk, view, note, stand)


@kernel
def walk_at(machine: Longs, desk: Longs, frames: Ints, note: Longs) -> None:
    """`walk` of the vocabulary's trie."""
    walk(tables_at(machine), trie_at(desk, 0), frames, note_of(note), room_at(desk))
