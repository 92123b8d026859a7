"""All that a row needs, found by one compiled call.

Does: find the tokens legal in a configuration from its start to its words, beside the row of a leaf where there is one;
stop where the tables do not know, or where that leaf's row is wanted, and go on from there. Does not: look anything up,
make leaves' rows (`leafrows`), know Python's side of a row (`masking`).
"""

from typing import Final

import numpy as np

from .addresses import grid, line, longs, octets, words
from .arrays import Bytes, Ints, Longs, Words
from .automata.jit import kernel
from .tables import (
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
from .trie import Trie, heads_at, trie_at
from .walk import (
    ARCS,
    ASKED,
    COUNT,
    DEPTH,
    DOUBTS,
    EXACT,
    EXIT,
    EXPAND,
    FOUND,
    HEAD,
    INSIDE,
    LEAF_COUNT,
    LEAF_TOP,
    LOOK,
    LOOKS,
    LOWEST,
    MOVED,
    OFFSET,
    REFUSED,
    SITE,
    STATE,
    STATUS,
    TOP,
    UNWRITTEN,
    VIEW,
    WHAT,
    leave,
)
from .walk_tokens import Room, approach, walk, walk_all, walk_exits

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

# Slots of `stand`: where the making of a row stands, and what came of it.
PHASE: Final = 0
START: Final = 1  # the state of the configuration
FOUND_EARLY: Final = 2  # ... on the way to the leaf
FOUND_SHARED: Final = 3  # ... in the trees, after that
ASKED_EARLY: Final = 4
ASKED_SHARED: Final = 5
DOUBTS_EARLY: Final = 6
DOUBTS_SHARED: Final = 7
ENDS: Final = 8  # 1: the output may end; 0: it may not; -1: texts decide
SIZE: Final = 9  # words of its own
ASKS: Final = 10  # nodes told: that ask,
INNER: Final = 11  # ... that doubt a text begun within the token,
OPENED: Final = 12  # ... one begun before
STANDS: Final = 13

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
def _restart(note: Longs, stand: Longs) -> None:
    note[STATE], note[TOP], note[COUNT] = stand[START], note[DEPTH] - 1, note[DEPTH]
    note[LOWEST], note[EXACT], note[ARCS], note[STATUS] = note[DEPTH], 0, -1, MOVED
    note[FOUND] = note[ASKED] = note[DOUBTS] = note[UNWRITTEN] = 0
    note[LEAF_TOP], note[LEAF_COUNT] = note[TOP], note[COUNT]


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
def _enter(tables: Tables, desk: Longs, frames: Ints, note: Longs, room: Room, stand: Longs) -> int:
    """Begin, and enter the leaf called here if one has rows; the next phase, or `_BEGIN` where `note[STATUS]` tells."""
    _restart(note, stand)
    if note[STATE] == FINAL:
        return _ALL
    if tables.states[note[STATE], LEAF] < 0:
        approach(tables, trie_at(desk, 0), heads_at(desk, HEADS), frames, note, room)
        if note[STATUS] == REFUSED:
            _restart(note, stand)
            return _ALL
        if note[STATUS] != MOVED:
            return _BEGIN
        note[LEAF_TOP], note[LEAF_COUNT] = note[TOP], note[COUNT]
    if tables.states[note[STATE], NEAR] == 0:
        return _ALL
    site = np.int64(frames[note[LEAF_TOP], SITE])
    if tables.sites[site, LIVE] >= 0:
        note[LOWEST] = min(note[LOWEST], note[LEAF_TOP])
        if not _wide(tables, note[STATE], site):
            return _ALL
    stand[FOUND_EARLY], stand[ASKED_EARLY] = note[FOUND], note[ASKED]
    stand[DOUBTS_EARLY] = note[DOUBTS]
    note[EXIT] = note[INSIDE] = 0
    note[STATUS] = VIEW
    return _TREES


@kernel
def _ends(tables: Tables, frames: Ints, note: Longs, stand: Longs, looks: Ints) -> None:
    """Tell whether the output may end here; ends like `walk`."""
    note[STATE], note[TOP], note[COUNT] = stand[START], note[DEPTH] - 1, note[DEPTH]
    note[EXACT], note[STATUS] = 1, MOVED
    while note[STATE] != FINAL:
        state = note[STATE]
        if tables.states[state, ROW] < 0:
            note[WHAT], note[STATUS] = state, EXPAND
            return
        ending = np.int64(tables.states[state, OUTCOME])
        stand[ENDS] = 0
        if ending < 0:
            return
        note[LOOKS] = 0
        status = leave(tables, frames, note, looks, ending, note[OFFSET])
        if status == REFUSED:
            return
        if status == LOOK:
            stand[ENDS] = -1
            return
        if status != MOVED:
            note[STATUS] = status
            return
    stand[ENDS] = 1


@kernel
def _allow(touched: Bytes, whole: Words, token: int | np.int64) -> None:
    touched[token >> 5] = 1
    whole[token >> 5] |= np.uint32(1) << np.uint32(token & 31)


@kernel
def _own_words(desk: Longs, view: Longs, base: Words, stand: Longs, found: int | np.int64) -> int:
    """Write which words are not those of the leaf's row, and these words; how many.

    The mask is that row with the tokens found in its trees, then without those at and below the nodes dropped, then
    with all others found. It is written beside the row, in one piece: words picked here and there are slow to reach.
    """
    touched = octets(desk, TOUCHED)
    whole = words(desk, WORDS + (len(base) > 0))
    whole[: len(base)] = base
    skip, first, tokens, seen = line(desk, 2), line(desk, 3), line(desk, 4), line(desk, ROOM + 1)
    begin, split = stand[FOUND_EARLY], stand[FOUND_SHARED]
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
def _tell(desk: Longs, view: Longs, note: Longs, stand: Longs) -> None:
    """Write the nodes that ask, then those that doubt, as places in the vocabulary's trie."""
    trees, nodes_of, told = trie_at(view, 0), line(desk, NODES), line(desk, TOLD)
    asks, doubts = line(desk, ROOM + 2), line(desk, ROOM + 3)
    count = 0
    for i in range(note[ASKED]):
        if stand[ASKED_EARLY] <= i < stand[ASKED_SHARED]:
            count = _places(trees, nodes_of, told, count, np.int64(asks[i]))
        else:
            told[count] = asks[i]
            count += 1
    stand[ASKS] = count
    for opened in range(2):
        begun = count
        for i in range(note[DOUBTS]):
            if (doubts[i] < 0) == (opened == 0):
                continue
            node = np.int64(~doubts[i] if opened else doubts[i])
            if stand[DOUBTS_EARLY] <= i < stand[DOUBTS_SHARED]:
                count = _places(trees, nodes_of, told, count, node)
            else:
                told[count] = node
                count += 1
        stand[INNER + opened] = count - begun


@kernel
def find(machine: Longs, desk: Longs, view: Longs, base: Words, frames: Ints, note: Longs) -> None:
    """Make a row, or go on: the addresses of tables, desk and view, the words of its row; `stand[PHASE]` is 0 to begin.

    `note[STATUS]` is `MOVED` when all is done and `VIEW` where the row of the leaf of state `note[STATE]`, called by
    frame `note[LEAF_TOP]`, is wanted; otherwise see `walk.step`, and call again.
    """
    tables, trie, room = tables_at(machine), trie_at(desk, 0), room_at(desk)
    stand = longs(desk, STAND)
    if stand[PHASE] == _BEGIN:
        for slot in range(FOUND_EARLY, STANDS):
            stand[slot] = 0
        stand[PHASE] = _enter(tables, desk, frames, note, room, stand)
        if note[STATUS] != MOVED:
            return
        room.path[0] = note[: COUNT + 1]
        note[HEAD] = note[INSIDE] = 0
    if stand[PHASE] == _ALL:
        walk_all(tables, trie, heads_at(desk, HEADS), frames, note, room)
        if note[STATUS] != MOVED:
            return
        stand[PHASE] = _END
    if stand[PHASE] == _TREES:
        walk_exits(tables, trie_at(view, 0), frames, note, grid(view, ROOTS), room)
        if note[STATUS] != MOVED:
            return
        stand[FOUND_SHARED], stand[ASKED_SHARED] = note[FOUND], note[ASKED]
        stand[DOUBTS_SHARED] = note[DOUBTS]
        note[EXIT] = 0
        stand[PHASE] = _EXITS
    if stand[PHASE] == _EXITS:
        walk_exits(tables, trie, frames, note, grid(view, EXITS), room)
        if note[STATUS] != MOVED:
            return
        stand[PHASE] = _END
    _ends(tables, frames, note, stand, room.path[:0])
    if note[STATUS] == MOVED:
        stand[SIZE] = _own_words(desk, view, base, stand, note[FOUND])
        _tell(desk, view, note, stand)


@kernel
def walk_at(machine: Longs, desk: Longs, frames: Ints, note: Longs) -> None:
    """`walk` of the vocabulary's trie."""
    walk(tables_at(machine), trie_at(desk, 0), frames, note, room_at(desk))
