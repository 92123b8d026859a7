"""Masks put right where texts matter: what was said before, what a judge says.

Does: decide the tokens of a row, one text after the other, that it leaves open. Does not: make rows (`masking`), tell
which nodes are open (`doubts`).
"""

from collections.abc import Sequence

import numpy as np

from ..automata import Dfa
from ..base.array_types import Words
from ..machine import byte_step as w
from ..machine import walk_state as n
from ..machine.cursor import Cursor
from ..machine.exhaustion import beginnings_ahead, open_beginnings
from ..machine.lazy_tables import DEAD, ENTRY, FIRST, SIZE
from ..machine.open_texts import OpenText, OpenTexts
from .compute_masks import TokenIndex, Walk
from .leaf_walk import allow, forbid
from .row_cache import Row


def correct(cursor: Cursor, index: TokenIndex, found: Row, row: Words) -> None:
    """Decide the tokens of a row for which texts matter: where it asks, where a text may come that came before.

    `row` is where `found` was written.
    """
    recalled = cursor.open_texts
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
    if recalled is not None:
        _bar(cursor, index, row, recalled)


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
            and w.new_frames(cursor.frames, int(cursor.note[n.TOP]), cursor.depth)[0] > frame
        ):
            # The text is still open: the next byte may end it.
            child = node + 1
            while child < trie.skip[node]:
                todo.append((child, -1))
                child = int(trie.skip[child])
        elif legal:
            note = cursor.note
            note[n.EXACT] = note[n.ASKED] = note[n.FOUND] = note[n.ASSUMED] = 0
            note[n.ARCS] = -1
            walking.below(node)
            for token in walking.found():
                row[token >> 5] |= np.uint32(1 << (int(token) & 31))
            doubts = walking.doubted()
            again = np.concatenate((walking.asked(), np.maximum(doubts, ~doubts)))
            todo += [(more, -1) for more in again.tolist()]
        cursor.memories.cut(memories)


def _known(cursor: Cursor, index: TokenIndex, text: OpenText, row: Words) -> list[tuple[int, int]]:
    """(node, frame) wherever a text that has begun would equal one that its caller remembers.

    Where that surely is refused, with the last byte that makes it so, the tokens are taken out at once.
    """
    begun, size = bytes(cursor.output[text.begun :]), len(cursor.output) - text.begun
    keys = cursor.memories.keys(text.version)
    nodes = index.beginnings.nodes_of(
        [key[size:] for key in keys if type(key) is bytes and key.startswith(begun)]
    )
    if not nodes:
        return []
    machine, site = cursor.machine, cursor.frames.item(text.frame, w.SITE)
    place, sites, returns = machine.sites[site], machine.tables.sites, machine.tables.returns
    assert place is not None
    entry, first, room = sites.item(site, ENTRY), sites.item(site, FIRST), sites.item(site, SIZE)
    leaf, found = isinstance(place.call.callee, Dfa), []
    for rest, node in nodes:
        said = cursor.memories.under(text.version, begun + rest)
        if said is None:
            continue
        same = leaf and said.over and said.entry == entry and said.outcome < room
        if same and returns.item(first + 2 * said.outcome + 1) == DEAD:
            index.beginnings.forbid(row, rest)
        else:
            found.append((node, text.frame))
    return found


def _bar(cursor: Cursor, index: TokenIndex, row: Words, recalled: OpenTexts) -> None:
    """Take out the tokens after which only a text could come that must not come again (`tails`, `exhaustion`)."""
    barred = cursor.memories.barred
    ahead = beginnings_ahead(cursor)
    for begun, beginnings in open_beginnings(cursor):
        _refuse(cursor, index, row, begun, beginnings)
    if barred and not barred.keys().isdisjoint(recalled.versions):
        for begun, texts in cursor.dead_prefixes.of_open_texts(
            cursor, cursor.frames[: cursor.depth].copy()
        ):
            _refuse(cursor, index, row, begun, texts)
        ahead.update(text for memory in recalled.versions for text in barred.get(memory, ()))
    memories = len(cursor.memories)
    for beginning in ahead:
        for token in index.opening(cursor, index.holding(beginning), row):
            if not cursor.read(index.texts[token]):
                row[token >> 5] &= ~np.uint32(1 << (token & 31))
            cursor.memories.cut(memories)


def _refuse(
    cursor: Cursor, index: TokenIndex, row: Words, begun: int, beginnings: Sequence[bytes]
) -> None:
    """Take out the tokens by which the text that begins at `begun` would get one of these beginnings."""
    known = bytes(cursor.output[begun:])
    for beginning in beginnings:
        if len(beginning) > len(known) and beginning.startswith(known):
            index.beginnings.forbid(row, beginning[len(known) :])
