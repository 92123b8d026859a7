"""All tokens of a trie walked through the byte machine, compiled.

Does: find the tokens that can be read from a configuration, or from where a leaf ends. Stops where the tables do not
know, for the caller to look it up and go on (`walk`). Does not: read single texts (`walk`), know masks (`rows`).
"""

from typing import NamedTuple

import numpy as np

from ..base.array_types import Ints
from ..jit.kernel import kernel
from ..machine.byte_step import (
    BEGUN,
    CIRCLES,
    EXPAND,
    FULL,
    INNER,
    LOOK,
    MEMORY,
    MOVED,
    PARENT,
    REFUSED,
    SITE,
    end_rule,
    step,
)
from ..machine.lazy_tables import (
    ALPHABET,
    CALLED,
    DEAD,
    ENTRY,
    FLAGS,
    LEAF,
    LEAVE,
    LIVE,
    NEAR,
    OUTCOME,
    ROW,
    Tables,
)
from ..machine.walk_state import Note
from .trie import Heads, Trie

_DEEPEST = 64  # calls entered without reading a byte


class Room(NamedTuple):
    """Where a walk works: `path[d]` is the configuration (state, top, count) at depth d; tokens and nodes found.

    `asks` are nodes where a text decides, `doubts` such where one was taken to be new (`~node`: one begun before): at
    them and below, all that was found is right only if it is.
    """

    path: Ints  # [longest token + 1, 3]
    found: Ints
    asks: Ints
    doubts: Ints


@kernel
def _collect(trie: Trie, note: Note, found: Ints, node: int | np.int64) -> None:
    for i in range(trie.first[node], trie.first[node + 1]):
        found[note.found] = trie.tokens[i]
        note.found += 1


@kernel
def _doubt(note: Note, room: Room, node: int | np.int64) -> None:
    if note.assumption:
        room.doubts[note.assumed] = node if note.assumption == INNER else ~node
        note.assumed += 1
        note.assumption = 0


@kernel
def _lives(
    tables: Tables, frames: Ints, note: Note, top: int | np.int64, move: int | np.int64
) -> bool:
    """Whether a state inside a leaf counts where the leaf was called."""
    site = frames[top, SITE]
    live = tables.sites[site, LIVE]
    if live < 0:
        return True
    note.lowest = min(note.lowest, top)
    return bool(tables.live[live + move - tables.sites[site, ENTRY]])


@kernel
def _behind(
    tables: Tables, frames: Ints, note: Note, path: Ints, depth: int | np.int64
) -> tuple[int, int]:
    """(row, alphabet) of the state behind the rule of the configuration at a depth; row -1: that is not plain."""
    state = path[depth, 0]
    note.state, note.top, note.count, note.looks = state, path[depth, 1], path[depth, 2], 0
    ending = np.int64(tables.states[state, OUTCOME])
    if end_rule(tables, frames, note, path[:0], ending, note.offset + depth) != MOVED:
        return -1, 0
    return tables.states[note.state, ROW], tables.states[note.state, ALPHABET]


@kernel
def _follow(
    tables: Tables, trie: Trie, frames: Ints, note: Note, room: Room, node: int | np.int64
) -> int:
    """Take the step to a node; the next node to look at, -1 where `note.status` says why there is none."""
    path, d = room.path, trie.depth[node]
    note.state, note.top, note.count = path[d - 1, 0], path[d - 1, 1], path[d - 1, 2]
    note.assumption = 0
    byte = np.int64(trie.byte[node])
    status = step(tables, frames, note, path[:0], byte, note.offset + d - 1)
    if status == MOVED:
        path[d, 0], path[d, 1], path[d, 2] = note.state, note.top, note.count
        _collect(trie, note, room.found, node)
        _doubt(note, room, node)
        return int(node + 1)
    if status == LOOK:
        room.asks[note.asked] = node
        note.asked += 1
    elif status != REFUSED:
        note.status = status
        return -1
    return int(trie.skip[node])


@kernel
def walk(tables: Tables, trie: Trie, frames: Ints, note: Note, room: Room) -> None:
    """Walk the nodes from `note.node` to `note.end` - 1, finding the tokens at those that can be reached.

    Nodes where only a text can decide go to `asks`, and what is below them is left out. `note.status` is `MOVED` when
    all is done; otherwise see `step`, and call again.

    Most bytes are refused or stay within a rule: that is told here, without a call, which counts references to arrays.
    """
    path = room.path
    node = np.int64(note.node)
    left, behind, alphabet = np.int64(-1), 0, 0  # the depth whose rule was ended last
    note.status = MOVED
    while node < note.end:
        d = np.int64(trie.depth[node])
        byte = trie.byte[node]
        state, move = path[d - 1, 0], LEAVE
        known = tables.states[state, ROW] >= 0
        if known:
            classes = tables.alphabets[tables.states[state, ALPHABET]]
            move = tables.cells[tables.states[state, ROW] + classes[byte]]
        if move >= 0 and _lives(tables, frames, note, path[d - 1, 1], move):
            path[d, 0], path[d, 1], path[d, 2] = move, path[d - 1, 1], path[d - 1, 2]
            left = np.int64(-1)
            _collect(trie, note, room.found, node)
            node += 1
            continue
        if known and move == LEAVE and left != d - 1:
            left = d - 1
            behind, alphabet = _behind(tables, frames, note, path, left)
        if known and move == LEAVE and behind >= 0:
            move = tables.cells[behind + tables.alphabets[alphabet, byte]]
        for _ in range(_DEEPEST):
            state = tables.sites[max(CALLED - move, 0), ENTRY]
            if move > CALLED or tables.states[state, ROW] < 0:
                break
            classes = tables.alphabets[tables.states[state, ALPHABET]]
            move = tables.cells[tables.states[state, ROW] + classes[byte]]
        if move == DEAD:
            node = np.int64(trie.skip[node])
            continue
        node, before = np.int64(_follow(tables, trie, frames, note, room, node)), node
        left = np.int64(-1)
        if note.status != MOVED:
            node = before
            break
    note.node = node


@kernel
def _walked(tables: Tables, trie: Trie, frames: Ints, note: Note, room: Room) -> bool:
    """Walk to the end of the head that is begun, if one is; whether that is done."""
    note.status = MOVED
    if note.inside:
        walk(tables, trie, frames, note, room)
        if note.status == MOVED:
            note.inside = 0
            note.head += 1
    return bool(note.status == MOVED)


@kernel
def walk_all(
    tables: Tables, trie: Trie, heads: Heads, frames: Ints, note: Note, room: Room
) -> None:
    """Walk the whole trie from the configuration in `room.path[0]`, beginning with head `note.head`. Ends like `walk`.

    Most first bytes are refused in most states; their nodes, which lie far apart in memory, are not even looked at.
    """
    if not _walked(tables, trie, frames, note, room):
        return
    begun = room.path[0, 0]
    row, number = tables.states[begun, ROW], tables.states[begun, ALPHABET]
    if row < 0:
        note.what, note.status = begun, EXPAND
        return
    site = frames[room.path[0, 1], SITE]
    live, entry = tables.sites[site, LIVE], tables.sites[site, ENTRY]
    left, behind, alphabet = False, 0, 0
    for head in range(note.head, len(heads.byte)):
        byte = heads.byte[head]
        move = tables.cells[row + tables.alphabets[number, byte]]
        if move == LEAVE:
            if not left:
                left = True
                behind, alphabet = _behind(tables, frames, note, room.path, 0)
            if behind >= 0:
                move = tables.cells[behind + tables.alphabets[alphabet, byte]]
        elif move >= 0 and live >= 0:
            note.lowest = min(note.lowest, room.path[0, 1])
            move = move if tables.live[live + move - entry] else DEAD
        for _ in range(_DEEPEST):
            state = tables.sites[max(CALLED - move, 0), ENTRY]
            if move > CALLED or tables.states[state, ROW] < 0:
                break
            taken = tables.alphabets[tables.states[state, ALPHABET], byte]
            move = tables.cells[tables.states[state, ROW] + taken]
        if move == DEAD or (note.arcs >= 0 and tables.alphabets[note.arcs, byte] == 0):
            continue
        note.node, note.end = heads.node[head], heads.node[head + 1]
        note.head, note.inside = head, 1
        if not _walked(tables, trie, frames, note, room):
            return
    note.head = len(heads.byte)


@kernel
def walk_exits(
    tables: Tables, trie: Trie, frames: Ints, note: Note, exits: Ints, room: Room
) -> None:
    """Go on from where the leaf of frame `note.leaf_top` ends, from exit `note.exit` on, or within it.

    An exit is (node, outcome, whether the node's byte was read); the root of a tree stands for what follows the exit.
    Ends like `walk`.
    """
    path = room.path
    looks = path[:0]
    note.status = MOVED
    note.arcs = -1
    while note.exit < len(exits):
        if not note.inside:
            node, ending, was_read = (
                np.int64(exits[note.exit, 0]),
                np.int64(exits[note.exit, 1]),
                exits[note.exit, 2] != 0 or trie.depth[exits[note.exit, 0]] == 0,
            )
            note.assumption = 0
            d = max(np.int64(trie.depth[node]) - 1 + was_read, 0)
            note.top, note.count, note.looks = note.leaf_top, note.leaf_count, 0
            status = end_rule(tables, frames, note, looks, ending, note.offset + d)
            if status == LOOK:
                room.asks[note.asked] = node
                note.asked += 1
            elif status == MOVED:
                path[d, 0], path[d, 1], path[d, 2] = note.state, note.top, note.count
                _doubt(note, room, node)
                if was_read:
                    _collect(trie, note, room.found, node)
                note.node, note.end, note.inside = node + was_read, trie.skip[node], 1
            elif status != REFUSED:
                note.status = status
                return
        if note.inside:
            walk(tables, trie, frames, note, room)
            if note.status != MOVED:
                return
            note.inside = 0
        note.exit += 1


@kernel
def _can_enter(tables: Tables, note: Note) -> int:
    """`MOVED` if a state does nothing but call (arcs apart, which take other bytes) a leaf with rows of its own."""
    state = note.state
    taken = np.zeros(256, np.bool_)
    for _ in range(_DEEPEST):
        row = tables.states[state, ROW]
        if row < 0:
            note.what = state
            return EXPAND
        alphabet = tables.alphabets[tables.states[state, ALPHABET]]
        if tables.states[state, LEAF] >= 0:
            if tables.states[state, NEAR] == 0:
                return REFUSED
            for byte in range(256):
                if taken[byte] and tables.cells[row + alphabet[byte]] != DEAD:
                    return REFUSED
            return MOVED
        for byte in range(256):
            taken[byte] |= alphabet[byte] != 0
        site = CALLED - tables.cells[row]
        if site < 0 or tables.sites[site, FLAGS] != 0 or tables.sites[site, LIVE] >= 0:
            return REFUSED
        state = np.int64(tables.sites[site, ENTRY])
    return CIRCLES


@kernel
def approach(
    tables: Tables, trie: Trie, heads: Heads, frames: Ints, note: Note, room: Room
) -> None:
    """Enter the leaf that a state calls, finding the tokens that other arcs on the way take.

    `note.status` is `MOVED` when the configuration in `note` is that in the leaf, `REFUSED` where there is none to
    enter; otherwise see `step`: begin again.
    """
    note.status = _can_enter(tables, note)
    if note.status != MOVED:
        return
    path = room.path
    while tables.states[note.state, LEAF] < 0:
        state, top, count = note.state, note.top, note.count
        path[0, 0], path[0, 1], path[0, 2] = state, top, count
        note.arcs = tables.states[state, ALPHABET]
        note.head = note.inside = 0
        walk_all(tables, trie, heads, frames, note, room)
        if note.status != MOVED:
            return
        if count == len(frames):
            note.status = FULL
            return
        site = CALLED - tables.cells[tables.states[state, ROW]]
        frames[count, SITE], frames[count, PARENT] = site, top
        frames[count, MEMORY], frames[count, BEGUN] = 0, note.offset
        note.state, note.top, note.count = tables.sites[site, ENTRY], count, count + 1
    note.arcs = -1
    note.status = MOVED
