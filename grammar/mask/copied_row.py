"""Compiled loops that find the legal tokens within a text that is copied from a document.

Does: walk the vocabulary's trie along all places of the document that a state stands for, and collect the tokens within
the text and the nodes at which it closes; write the whole mask where these places are few. Does not: continue behind
the closing bytes of many places (`compute_row`), or make states.

The places are sorted by what follows, so each one shares its first bytes with the one before it: every node of the trie
is reached once, except for the beginnings of escapes.
"""

import numpy as np

from ..base.addresses import grid, line, longs, octets
from ..base.array_types import Bytes, Ints, Longs, Words
from ..jit.kernel import brief_kernel, kernel
from ..machine.byte_step import MOVED
from ..machine.copied_texts import after_character, after_characters, pattern_at
from ..machine.lazy_tables import tables_at
from ..machine.walk_state import Note, note_of
from .compute_row import CHILDREN, EXITS_OF_TEXT, begin_exits, buffers_at
from .trie import Children, Trie, children_at, trie_at
from .trie_walk import WalkBuffers, walk_exits

Place = tuple[int, int, int, int, int, int, int, int]
"""The fields of a `CopiedPlace` without `texts`, the outcome as the machine numbers it."""

_ANEW = 256  # in place of a byte: no child has been sought
_RAW = 0x80  # bytes from here on belong to characters that are written without an escape

# Columns of the path along a place, by depth.
_NODE = 0
_CHARS = 1  # whole characters before the node
_WITHIN = 2  # the last node of an escape at this depth
_NEXT = 3  # the first of its children not passed yet,
_SOUGHT = 4  # ... which was sought on this byte
_STATE = 5  # of the pattern, after the whole characters
_COLUMNS = 6


@kernel
def _child(children: Children, path: Longs, byte: int | np.int64) -> int:
    """The child of the node of `path`, a row of the path, on a byte; -1 if there is none.

    The bytes sought below one node mostly ascend, so a search goes on where the one before it stopped.
    """
    node = path[_NODE]
    end = np.int64(children.first[node + 1])
    at = path[_NEXT] if byte >= path[_SOUGHT] else np.int64(children.first[node])
    while at < end and children.byte[at] < byte:
        at += 1
    path[_NEXT], path[_SOUGHT] = at, byte
    return int(children.node[at]) if at < end and children.byte[at] == byte else -1


@kernel
def _closing(children: Children, node: int | np.int64, byte: int | np.int64) -> int:
    """The child of a node on the byte that closes; -1 if there is none."""
    at, end = children.first[node], children.first[node + 1]
    while at < end and children.byte[at] < byte:
        at += 1
    return int(children.node[at]) if at < end and children.byte[at] == byte else -1


@kernel
def _collect(trie: Trie, note: Note, found: Ints, node: int | np.int64) -> None:
    for i in range(trie.first[node], trie.first[node + 1]):
        found[note.found] = trie.tokens[i]
        note.found += 1


@kernel
def _begins_with(
    text: Bytes, at: int | np.int64, end: int | np.int64, begun: int | np.int64, size: int
) -> bool:
    """Whether the character at `text[at:end]` begins with the `size` bytes of `begun` and has more bytes."""
    same = end - at > size
    for i in range(size if same else 0):
        same = same and text[at + i] == (begun >> (8 * i)) & 0xFF
    return bool(same)


@kernel
def _find(
    trie: Trie,
    children: Children,
    buffers: WalkBuffers,
    exits: Ints,
    note: Note,
    texts: Longs,
    place: Place,
) -> int:
    """Collect the tokens within the text into `buffers.found`, and its ends into `exits`; returns their number.

    `texts`: the addresses of `CopiedTexts`. `exits` int32 [any, 3]: as `trie_walk.walk_exits` takes them.
    """
    text, begins, order, reach = octets(texts, 0), line(texts, 1), line(texts, 2), line(texts, 3)
    low, high, length, begun, skipped, least, close, outcome = place
    longest, pattern = len(buffers.path) - 1, pattern_at(texts)
    path = np.zeros((longest + 1, _COLUMNS), np.int64)
    ends, begin, depth, refused = 0, np.int64(0), 0, False
    path[0, _SOUGHT] = _ANEW
    path[0, _STATE] = after_characters(pattern, order[low] if low < high else 0, length)
    if skipped == 0 and length >= least and pattern.outcome[path[0, _STATE]] >= 0:
        ends = _end(children, exits, ends, 0, close, outcome)
    for rank in range(low, high):
        if reach[rank] <= length:
            continue
        first = order[rank] + length
        at = np.int64(begins[first])
        if skipped > 0 and not _begins_with(text, at, begins[first + 1], begun, skipped):
            continue
        at += skipped
        most = longest
        if reach[rank] - length <= longest:  # mostly more can be copied: one place less to read
            most = min(int(begins[order[rank] + reach[rank]]) - int(at), longest)
        shared = 0
        while shared < min(depth, most) and text[at + shared] == text[begin + shared]:
            shared += 1
        if shared == most or (
            refused and shared == depth and text[at + shared] == text[begin + shared]
        ):
            continue
        begin, depth, refused = at, shared, False
        count = path[depth, _CHARS]
        while depth < most:
            byte = np.int64(text[at + depth])
            node = _child(children, path[depth], byte)
            if node < 0:
                refused = True
                break
            depth += 1
            whole = at + depth == begins[first + count + 1]
            count += int(whole)
            state = path[depth - 1, _STATE]
            state = after_character(pattern, state, first + count - 1) if whole else state
            path[depth, _NODE], path[depth, _CHARS], path[depth, _STATE] = node, count, state
            path[depth, _SOUGHT] = _ANEW
            if whole or byte >= _RAW or path[depth, _WITHIN] != node:
                _collect(trie, note, buffers.found, node)
                path[depth, _WITHIN] = path[depth, _WITHIN] if whole or byte >= _RAW else node
            if whole and length + count >= least and pattern.outcome[state] >= 0:
                ends = _end(children, exits, ends, node, close, outcome)
    return ends


@kernel
def _end(
    children: Children,
    exits: Ints,
    count: int,
    node: int | np.int64,
    close: int | np.int64,
    outcome: int | np.int64,
) -> int:
    """Add the exit by the byte `close` after a node, if tokens go that way; returns the number of exits."""
    child = _closing(children, node, close)
    if child < 0:
        return count
    exits[count, 0], exits[count, 1], exits[count, 2] = child, outcome, 1
    return count + 1


@kernel
def find_copied(scratch: Longs, texts: Longs, place: Place, held: Longs) -> int:
    """Start a row: find the tokens within the text and its exits, for `find_row`; returns the number of exits.

    `scratch`: its addresses. `texts`: those of `CopiedTexts`. `held`: the note's array.
    """
    begin_exits(scratch, held)
    trie, buffers, children = (
        trie_at(scratch, 0),
        buffers_at(scratch),
        children_at(scratch, CHILDREN),
    )
    return _find(trie, children, buffers, grid(scratch, EXITS_OF_TEXT), note_of(held), texts, place)


@brief_kernel
def fill_copied(
    held: Longs,
    scratch: Longs,
    texts: Longs,
    place: Place,
    depth: int,
    offset: int,
    mask: Words,
) -> int:
    """Write the whole mask without end tokens; returns the number of tokens found.

    -1 where the tables lack an entry, or where a comparison of texts decides: then the mask is not valid. `held`: the
    addresses of a cursor (`text_step.addresses_for`); `depth`, `offset`: the height of its stack, the length of its
    output.
    """
    note, frames, tables = note_of(longs(held, 0)), grid(held, 1), tables_at(longs(held, 2))
    trie, buffers, children = (
        trie_at(scratch, 0),
        buffers_at(scratch),
        children_at(scratch, CHILDREN),
    )
    note.depth, note.offset = depth, offset
    begin_exits(scratch, longs(held, 0))
    exits = grid(scratch, EXITS_OF_TEXT)
    count = _find(trie, children, buffers, exits, note, texts, place)
    walk_exits(tables, trie, frames, note, exits[:count], buffers)
    if note.status != MOVED or note.undecided or note.assumed:
        return -1
    mask[:] = 0
    for i in range(note.found):
        token = buffers.found[i]
        mask[token >> 5] |= np.uint32(1) << np.uint32(token & 31)
    return int(note.found)
