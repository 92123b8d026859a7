"""Compiled loop that finds the legal tokens within a text that is copied from a document.

Does: walk the vocabulary's trie along all places of the document that a state stands for, and collect the tokens within
the text and the nodes at which it closes. Does not: continue behind these (`compute_row`), or make states.

The places are sorted by what follows, so each one shares its first bytes with the one before it: every node of the trie
is reached once, except for the beginnings of escapes.
"""

import numpy as np

from ..base.addresses import line, octets
from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import kernel
from ..machine.walk_state import Note, note_of
from .compute_row import HEADS, begin_exits, buffers_at
from .trie import Heads, Trie, heads_at, trie_at

_RAW = 0x80  # bytes from here on belong to characters that are written without an escape


@kernel
def _child(trie: Trie, heads: Heads, node: int | np.int64, byte: int | np.int64) -> int:
    """The child of a node on a byte; -1 if there is none."""
    if node == 0:
        for head in range(len(heads.byte)):
            if heads.byte[head] == byte:
                return int(heads.node[head])
        return -1
    child, end = node + 1, trie.skip[node]
    while child < end and trie.byte[child] < byte:
        child = np.int64(trie.skip[child])
    return int(child) if child < end and trie.byte[child] == byte else -1


@kernel
def _collect(trie: Trie, note: Note, found: Ints, node: int | np.int64) -> None:
    for i in range(trie.first[node], trie.first[node + 1]):
        found[note.found] = trie.tokens[i]
        note.found += 1


@kernel
def _begins_with(text: Bytes, at: int | np.int64, end: int | np.int64, begun: Bytes) -> bool:
    """Whether the character at `text[at:end]` begins with `begun` and has more bytes."""
    return bool(end - at > len(begun)) and bool(np.all(text[at : at + len(begun)] == begun))


@kernel
def find_copied(
    scratch: Longs, texts: Longs, place: Longs, begun: Bytes, exits: Ints, held: Longs
) -> int:
    """Start a row: collect the tokens within the text into `found`, and its ends into `exits`; returns their number.

    `texts`: the addresses of `CopiedTexts`. `place`: low, high, length, least, close and outcome of a `CopiedPlace`.
    `exits` int32 [any, 3]: as `trie_walk.walk_exits` takes them. `held`: the note's array.
    """
    begin_exits(scratch, held)
    note, trie, heads = note_of(held), trie_at(scratch, 0), heads_at(scratch, HEADS)
    buffers = buffers_at(scratch)
    text, begins, order, reach = octets(texts, 0), line(texts, 1), line(texts, 2), line(texts, 3)
    low, high, length, least, close, outcome = place
    longest = len(buffers.path) - 1
    # By depth: the node, the whole characters before it, and the last node within an escape.
    nodes, chars = np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    within = np.zeros(longest + 1, np.int64)
    ends, begin, depth, refused = 0, np.int64(0), 0, False
    if len(begun) == 0 and length >= least:
        ends = _end(trie, heads, exits, ends, 0, close, outcome)
    for rank in range(low, high):
        if reach[rank] <= length:
            continue
        first = order[rank] + length
        at = np.int64(begins[first])
        if len(begun) > 0 and not _begins_with(text, at, np.int64(begins[first + 1]), begun):
            continue
        at += len(begun)
        most = min(int(begins[order[rank] + reach[rank]]) - int(at), longest)
        shared = 0
        while shared < min(depth, most) and text[at + shared] == text[begin + shared]:
            shared += 1
        if shared == most or (
            refused and shared == depth and text[at + shared] == text[begin + shared]
        ):
            continue
        begin, depth, refused = at, shared, False
        count = chars[depth]
        while depth < most:
            byte = np.int64(text[at + depth])
            node = _child(trie, heads, nodes[depth], byte)
            if node < 0:
                refused = True
                break
            depth += 1
            whole = at + depth == begins[first + count + 1]
            count += int(whole)
            nodes[depth], chars[depth] = node, count
            if whole or byte >= _RAW:
                _collect(trie, note, buffers.found, node)
            elif within[depth] != node:
                within[depth] = node
                _collect(trie, note, buffers.found, node)
            if whole and length + count >= least:
                ends = _end(trie, heads, exits, ends, node, close, outcome)
    return ends


@kernel
def _end(
    trie: Trie,
    heads: Heads,
    exits: Ints,
    count: int,
    node: int | np.int64,
    close: int | np.int64,
    outcome: int | np.int64,
) -> int:
    """Add the exit by the byte `close` after a node, if tokens go that way; returns the number of exits."""
    child = _child(trie, heads, node, close)
    if child < 0:
        return count
    exits[count, 0], exits[count, 1], exits[count, 2] = child, outcome, 1
    return count + 1
