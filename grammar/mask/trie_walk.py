"""Compiled loops that walk all tokens of a trie through the byte machine.

Does: find the tokens that can be read from a configuration, or from the exits of a leaf. A walk stops where the tables
lack an entry; the caller adds the entry and continues the walk. Does not: read single texts (`byte_step`), know masks
(`row_cache`).
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
    MEMORY,
    MOVED,
    PARENT,
    REFUSED,
    SITE,
    UNDECIDED,
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

_DEEPEST = 64  # bound on nested calls entered without reading a byte


class WalkBuffers(NamedTuple):
    """Working arrays of a walk: `path[d]` is the configuration (state, top, count) at depth d.

    `undecided`: nodes where only a comparison of texts decides; their subtrees are left out. `assumed`: nodes where a
    text was assumed to be new (`~node`: a text that began before the token); the tokens found at and below them are
    right only if it is.
    """

    path: Ints  # [longest token + 1, 3]
    found: Ints  # tokens
    undecided: Ints
    assumed: Ints


@kernel
def _collect(trie: Trie, note: Note, found: Ints, node: int | np.int64) -> None:
    for i in range(trie.first[node], trie.first[node + 1]):
        found[note.found] = trie.tokens[i]
        note.found += 1


@kernel
def _note_assumption(note: Note, buffers: WalkBuffers, node: int | np.int64) -> None:
    if note.assumption:
        buffers.assumed[note.assumed] = node if note.assumption == INNER else ~node
        note.assumed += 1
        note.assumption = 0


@kernel
def _lives(
    tables: Tables, frames: Ints, note: Note, top: int | np.int64, move: int | np.int64
) -> bool:
    """Whether the state `move` of a leaf is live at the call site of frame `top`."""
    site = frames[top, SITE]
    live = tables.sites[site, LIVE]
    if live < 0:
        return True
    note.lowest = min(note.lowest, top)
    return bool(tables.live[live + move - tables.sites[site, ENTRY]])


@kernel
def _resume_row(
    tables: Tables, frames: Ints, note: Note, path: Ints, depth: int | np.int64
) -> tuple[int, int]:
    """(row, alphabet) of the state to which the rule at a depth returns; row -1 if returning takes more than that."""
    state = path[depth, 0]
    note.state, note.top, note.count, note.answered = state, path[depth, 1], path[depth, 2], 0
    ending = np.int64(tables.states[state, OUTCOME])
    if end_rule(tables, frames, note, path[:0], ending, note.offset + depth) != MOVED:
        return -1, 0
    return tables.states[note.state, ROW], tables.states[note.state, ALPHABET]


@kernel
def _follow(
    tables: Tables, trie: Trie, frames: Ints, note: Note, buffers: WalkBuffers, node: int | np.int64
) -> int:
    """Step to a node; returns the next node to visit, or -1 with the reason in `note.status`."""
    path, d = buffers.path, trie.depth[node]
    note.state, note.top, note.count = path[d - 1, 0], path[d - 1, 1], path[d - 1, 2]
    note.assumption = 0
    byte = np.int64(trie.byte[node])
    status = step(tables, frames, note, path[:0], byte, note.offset + d - 1)
    if status == MOVED:
        path[d, 0], path[d, 1], path[d, 2] = note.state, note.top, note.count
        _collect(trie, note, buffers.found, node)
        _note_assumption(note, buffers, node)
        return int(node + 1)
    if status == UNDECIDED:
        buffers.undecided[note.undecided] = node
        note.undecided += 1
    elif status != REFUSED:
        note.status = status
        return -1
    return int(trie.skip[node])


@kernel
def walk(tables: Tables, trie: Trie, frames: Ints, note: Note, buffers: WalkBuffers) -> None:
    """Walk the nodes from `note.node` to `note.end` - 1 and collect the tokens at the nodes that can be reached.

    Nodes where only a comparison decides go to `undecided`, and their subtrees are left out. `note.status` is `MOVED`
    when the walk is done; for other values see `step`, and call again.

    Most bytes are refused or stay within a rule. Both cases are handled inline: a call counts references to arrays.
    """
    path = buffers.path
    node = np.int64(note.node)
    left, resumed, alphabet = np.int64(-1), 0, 0  # `left`: the depth of the rule that ended last
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
            _collect(trie, note, buffers.found, node)
            node += 1
            continue
        if known and move == LEAVE and left != d - 1:
            left = d - 1
            resumed, alphabet = _resume_row(tables, frames, note, path, left)
        if known and move == LEAVE and resumed >= 0:
            move = tables.cells[resumed + tables.alphabets[alphabet, byte]]
        for _ in range(_DEEPEST):
            state = tables.sites[max(CALLED - move, 0), ENTRY]
            if move > CALLED or tables.states[state, ROW] < 0:
                break
            classes = tables.alphabets[tables.states[state, ALPHABET]]
            move = tables.cells[tables.states[state, ROW] + classes[byte]]
        if move == DEAD:
            node = np.int64(trie.skip[node])
            continue
        node, before = np.int64(_follow(tables, trie, frames, note, buffers, node)), node
        left = np.int64(-1)
        if note.status != MOVED:
            node = before
            break
    note.node = node


@kernel
def _walked(tables: Tables, trie: Trie, frames: Ints, note: Note, buffers: WalkBuffers) -> bool:
    """Finish the head that is in progress, if there is one; whether the walk may go on."""
    note.status = MOVED
    if note.inside:
        walk(tables, trie, frames, note, buffers)
        if note.status == MOVED:
            note.inside = 0
            note.head += 1
    return bool(note.status == MOVED)


@kernel
def walk_all(
    tables: Tables, trie: Trie, heads: Heads, frames: Ints, note: Note, buffers: WalkBuffers
) -> None:
    """Walk the whole trie from the configuration in `buffers.path[0]`, starting at head `note.head`.

    Ends like `walk`. Most first bytes are refused in most states; their nodes, which lie far apart in memory, are not
    read at all.
    """
    if not _walked(tables, trie, frames, note, buffers):
        return
    begun = buffers.path[0, 0]
    row, number = tables.states[begun, ROW], tables.states[begun, ALPHABET]
    if row < 0:
        note.what, note.status = begun, EXPAND
        return
    site = frames[buffers.path[0, 1], SITE]
    live, entry = tables.sites[site, LIVE], tables.sites[site, ENTRY]
    left, resumed, alphabet = False, 0, 0
    for head in range(note.head, len(heads.byte)):
        byte = heads.byte[head]
        move = tables.cells[row + tables.alphabets[number, byte]]
        if move == LEAVE:
            if not left:
                left = True
                resumed, alphabet = _resume_row(tables, frames, note, buffers.path, 0)
            if resumed >= 0:
                move = tables.cells[resumed + tables.alphabets[alphabet, byte]]
        elif move >= 0 and live >= 0:
            note.lowest = min(note.lowest, buffers.path[0, 1])
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
        if not _walked(tables, trie, frames, note, buffers):
            return
    note.head = len(heads.byte)


@kernel
def walk_exits(
    tables: Tables, trie: Trie, frames: Ints, note: Note, exits: Ints, buffers: WalkBuffers
) -> None:
    """Walk on behind the exits of the leaf of frame `note.leaf_top`, starting at exit `note.exit` or within it.

    An exit is (node, outcome, whether the node's byte was read). `trie` is the vocabulary's, or the trees of merged
    continuations; then roots take the place of exits. Ends like `walk`.
    """
    path = buffers.path
    answers = path[:0]
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
            note.top, note.count, note.answered = note.leaf_top, note.leaf_count, 0
            status = end_rule(tables, frames, note, answers, ending, note.offset + d)
            if status == UNDECIDED:
                buffers.undecided[note.undecided] = node
                note.undecided += 1
            elif status == MOVED:
                path[d, 0], path[d, 1], path[d, 2] = note.state, note.top, note.count
                _note_assumption(note, buffers, node)
                if was_read:
                    _collect(trie, note, buffers.found, node)
                note.node, note.end, note.inside = node + was_read, trie.skip[node], 1
            elif status != REFUSED:
                note.status = status
                return
        if note.inside:
            walk(tables, trie, frames, note, buffers)
            if note.status != MOVED:
                return
            note.inside = 0
        note.exit += 1


@kernel
def _can_enter(tables: Tables, note: Note) -> int:
    """`MOVED` if a state only calls a leaf that has shared rows, apart from arcs over bytes that the leaf refuses."""
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
    tables: Tables, trie: Trie, heads: Heads, frames: Ints, note: Note, buffers: WalkBuffers
) -> None:
    """Enter the leaf that a state calls, and collect the tokens that the other arcs on the way take.

    `note.status` is `MOVED` when the configuration in `note` is inside the leaf, `REFUSED` if there is no leaf to
    enter; for other values see `step`, and start again from the beginning.
    """
    note.status = _can_enter(tables, note)
    if note.status != MOVED:
        return
    path = buffers.path
    while tables.states[note.state, LEAF] < 0:
        state, top, count = note.state, note.top, note.count
        path[0, 0], path[0, 1], path[0, 2] = state, top, count
        note.arcs = tables.states[state, ALPHABET]
        note.head = note.inside = 0
        walk_all(tables, trie, heads, frames, note, buffers)
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
