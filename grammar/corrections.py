"""Masks put right where texts matter: what was said before, what a judge says.

Does: decide the tokens of a row, one text after the other, that it leaves open. Does not: make rows (`masking`), tell
which nodes are open (`doubts`).
"""

from typing import Final

import numpy as np

from . import walk as w
from .automata import Dfa
from .cursor import Cursor
from .machine import Machine
from .masking import TokenIndex, Walk
from .memories import Said
from .recall import OpenText
from .rows import Row
from .tables import DEAD, FLAGS
from .tails import barred_texts
from .walk import Words
from .walk_leaf import allow, forbid

_FEW: Final = 8  # tokens up to which a call of compiled code costs more than they do
_OTHERS: Final = [np.uint32(~(1 << bit) & 0xFFFFFFFF) for bit in range(32)]


def correct(cursor: Cursor, index: TokenIndex, found: Row, row: Words) -> None:
    """Decide the tokens of a row for which texts matter: where it asks, where a text may come that came before.

    `row` is where `found` was written.
    """
    recalled = cursor.recalled
    todo = [(node, -1) for node in found.asks.tolist()] if len(found.asks) else []
    if recalled is not None:
        if found.doubts is not None:
            doubts = found.doubts.against(cursor, recalled, index)
            todo += [(node, -1) for node in doubts]
        for text in recalled.written:
            todo += _known(cursor, index, text, row)
    if todo:
        desk = index.borrow()
        try:
            _decide(Walk(cursor, index, desk), row, todo)
        finally:
            index.give(desk)
    barred = cursor.memories.barred
    if barred and recalled is not None and not barred.keys().isdisjoint(recalled.versions):
        _bar(cursor, index, row)


def _decide(walking: Walk, row: Words, todo: list[tuple[int, int]]) -> None:
    """Decide pairs (node, frame or -1) one after the other.

    `frame`: a text begun there would equal a known one if it ended at the node.
    """
    cursor, index = walking.cursor, walking.index
    trie, memories = index.trie, len(cursor.memories)
    while todo:
        node, frame = todo.pop()
        if node:
            forbid(trie, row, node)
            legal = cursor.read(index.text_to(node))
        else:
            legal = True
            walking.begin(exact=True)
        if legal and node:
            allow(trie, row, node)
        if (
            legal
            and frame >= 0
            and w.chain(cursor.frames, int(cursor.note[w.TOP]), cursor.depth)[0] > frame
        ):
            # The text is still open: the next byte may end it.
            child = node + 1
            while child < trie.skip[node]:
                todo.append((child, -1))
                child = int(trie.skip[child])
        elif legal:
            note = cursor.note
            note[w.EXACT] = note[w.ASKED] = note[w.FOUND] = note[w.DOUBTS] = 0
            note[w.ARCS] = -1
            walking.below(node)
            for token in walking.found():
                row[token >> 5] |= np.uint32(1 << (int(token) & 31))
            doubts = walking.doubted()
            again = np.concatenate((walking.asked(), np.maximum(doubts, ~doubts)))
            todo += [(more, -1) for more in again.tolist()]
        cursor.memories.cut(memories)


def _known(cursor: Cursor, index: TokenIndex, text: OpenText, row: Words) -> list[tuple[int, int]]:
    """(node, frame) wherever a text that has begun would equal one that its caller remembers.

    Where that surely is refused the tokens are taken out at once.
    """
    begun, found = bytes(cursor.output[text.begun :]), []
    memories, trie = cursor.memories, index.trie
    keys = memories.keys(text.version)
    for key in [key for key in keys if type(key) is bytes and key.startswith(begun)]:
        node, said = index.node_of(key[len(begun) :]), memories.under(text.version, key)
        if node < 0 or said is None:
            continue
        if not _refused(cursor.machine, int(cursor.frames[text.frame, w.SITE]), said):
            found.append((node, text.frame))
            continue
        tokens = trie.tokens[trie.first[node] : trie.first[trie.skip[node]]]
        if len(tokens) > _FEW:
            forbid(trie, row, node)
        else:
            for token in tokens.tolist():
                row[token >> 5] &= _OTHERS[token & 31]
    return found


def _refused(machine: Machine, site: int, said: Said) -> bool:
    """Whether a text is refused for good at its last byte, when it comes at a site and was said before."""
    place, (entry, first, size) = machine.sites[site], machine.tables.sites[site, :FLAGS].tolist()
    assert place is not None
    if not (said.over and said.entry == entry and isinstance(place.call.callee, Dfa)):
        return False
    twin = first + 2 * said.outcome + 1
    return said.outcome < size and bool(machine.tables.returns[twin] == DEAD)


def _bar(cursor: Cursor, index: TokenIndex, row: Words) -> None:
    """Take out the tokens after which only a text could come that must not come again (see `tails`)."""
    frames, memories = cursor.frames[: cursor.depth].copy(), len(cursor.memories)
    recalled = cursor.recalled
    assert recalled is not None
    for begun, beginnings in barred_texts(cursor, frames):
        known = bytes(cursor.output[begun:])
        for beginning in beginnings:
            if len(beginning) > len(known) and beginning.startswith(known):
                node = index.node_of(beginning[len(known) :])
                if node >= 0:
                    forbid(index.trie, row, node)
    for memory in recalled.versions:
        for beginning in cursor.memories.barred.get(memory, ()):
            for token in index.holding(beginning):
                if row[token >> 5] >> np.uint32(token & 31) & 1:
                    if not cursor.read(index.texts[token]):
                        row[token >> 5] &= ~np.uint32(1 << (token & 31))
                    cursor.memories.cut(memories)
