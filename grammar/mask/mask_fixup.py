"""Completes a mask where texts matter: earlier texts that must not come again, and checks at the end of a value.

Does: decide each token that a row leaves open, by reading its text. Does not: make rows (`compute_masks`), choose the
nodes that depend on earlier texts (`uniqueness`).
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..automata import Dfa
from ..base.array_types import Flags, Longs, Words
from ..contract.work import TEXT, spend
from ..machine import byte_step as w
from ..machine import walk_state as n
from ..machine.cursor import NO_ANSWERS, Cursor
from ..machine.exhaustion import (
    ItemInAnyOrder,
    beginnings_ahead,
    has_any_order,
    items_in_any_order,
    open_beginnings,
    reads_unique_item,
    special_spellings,
)
from ..machine.lazy_tables import DEAD, ENTRY, FIRST, LOW, SIZE
from ..machine.member_orders import next_bytes
from ..machine.open_texts import OpenText, OpenTexts
from ..machine.text_step import new_frames
from .compute_masks import TokenIndex, Walk
from .leaf_walk import allow, forbid
from .row_cache import Row
from .seen_text_tokens import select_openers, select_refused
from .token_texts import TokenMatches

_MOST_OPENED: Final = 256  # bound on the frames that one token opens; nearly all open far fewer


def correct(cursor: Cursor, index: TokenIndex, found: Row, row: Words) -> None:
    """Decide the tokens of a row that depend on texts: its undecided nodes, and texts that may repeat an earlier one.

    `row` holds the mask that `found` was unpacked to, and is corrected in place.
    """
    open_texts = cursor.open_texts
    todo = [(node, -1) for node in found.undecided.tolist()] if len(found.undecided) else []
    if open_texts is not None:
        if found.checks is not None:
            repeats = found.checks.against(cursor, open_texts, index.token_texts)
            todo += [(node, -1) for node in repeats]
        for text in open_texts.written:
            todo += _repeats(cursor, index, text, row)
    if todo:
        scratch = index.acquire()
        try:
            _decide(Walk(cursor, index, scratch), row, todo)
        finally:
            index.release(scratch)
    if open_texts is not None and (cursor.memories.barred or cursor.machine.special.unique_items):
        _forbid_dead_ends(cursor, index, row, open_texts)
    if cursor.machine.special.unique_items:
        _forbid_crossings(cursor, index, row)


def _decide(walking: Walk, row: Words, todo: list[tuple[int, int]]) -> None:
    """Decide the pairs (node, frame or -1) of `todo` one by one; entries may be added on the way.

    `frame`: a text that began in this frame equals an earlier one if it ends at the node.
    """
    cursor, index = walking.cursor, walking.index
    trie, memories = index.trie, len(cursor.memories)
    while todo:
        node, frame = todo.pop()
        spend(TEXT)
        if node:
            forbid(trie, row, node)
            legal = cursor.read(index.token_texts.at_node(node))
        else:
            legal = True
            walking.begin(exact=True)
        if legal and node:
            allow(trie, row, node)
        if (
            legal
            and frame >= 0
            and new_frames(cursor.frames, int(cursor.note[n.TOP]), cursor.depth)[0] > frame
        ):
            # The text is still open: the next byte may end it.
            child = node + 1
            while child < trie.skip[node]:
                todo.append((child, -1))
                child = int(trie.skip[child])
        elif legal:
            note = cursor.note
            note[n.EXACT] = note[n.UNDECIDED_NODES] = note[n.FOUND] = note[n.ASSUMED] = 0
            note[n.ARCS] = -1
            walking.below(node)
            for token in walking.found():
                row[token >> 5] |= np.uint32(1 << (int(token) & 31))
            assumed = walking.assumed()
            undecided = np.concatenate((walking.undecided(), np.maximum(assumed, ~assumed)))
            todo += [(more, -1) for more in undecided.tolist()]
        cursor.memories.cut(memories)


def _repeats(
    cursor: Cursor, index: TokenIndex, text: OpenText, row: Words
) -> list[tuple[int, int]]:
    """(node, frame) of each place where an open text would equal one that its container remembers.

    Where the repeat is certain to be refused with its last byte, the tokens are cleared at once instead.
    """
    begun, size = bytes(cursor.output[text.begun :]), len(cursor.output) - text.begun
    keys, prefixes = cursor.memories.keys(text.version), index.token_texts.prefixes
    nodes = prefixes.nodes_of(
        [key[size:] for key in keys if type(key) is bytes and key.startswith(begun)]
    )
    if not nodes:
        return []
    machine, site = cursor.machine, cursor.frames.item(text.frame, w.SITE)
    place, sites, returns = machine.sites[site], machine.tables.sites, machine.tables.returns
    assert place is not None
    entry, first, room = sites.item(site, ENTRY), sites.item(site, FIRST), sites.item(site, SIZE)
    leaf, low, found = isinstance(place.call.callee, Dfa), sites.item(site, LOW), []
    for rest, node in nodes:
        seen = cursor.memories.under(text.version, begun + rest)
        if seen is None:
            continue
        at = seen.outcome - low
        same = leaf and seen.over and seen.entry == entry and at < room
        if same and (at < 0 or returns.item(first + 2 * at + 1) == DEAD):
            prefixes.forbid(row, rest)
        else:
            found.append((node, text.frame))
    return found


def _forbid_dead_ends(cursor: Cursor, index: TokenIndex, row: Words, open_texts: OpenTexts) -> None:
    """Clear the tokens after which every completion repeats an earlier text (`dead_prefixes`, `exhaustion`)."""
    barred = cursor.memories.barred
    ahead = beginnings_ahead(cursor)
    respelled, any_order = bool(ahead), has_any_order(cursor)
    if any_order:
        ahead |= {b"{", b"["}
        for item in items_in_any_order(cursor):
            _forbid_repeats(item, index, row)
    for begun, exhausted in open_beginnings(cursor):
        for rest in exhausted.after(bytes(cursor.output[begun:])):
            index.token_texts.prefixes.forbid(row, rest)
        respelled = respelled or exhausted.depends_on_spelling
    if barred and not barred.keys().isdisjoint(open_texts.versions):
        for begun, texts in cursor.dead_prefixes.of_open_texts(
            cursor, cursor.frames[: cursor.depth].copy()
        ):
            _forbid_prefixes(cursor, index, row, begun, texts)
        ahead.update(text for memory in open_texts.versions for text in barred.get(memory, ()))
    for beginning in ahead:
        openers = _openers(cursor, index.token_texts.containing(beginning), row)
        _forbid_unread(cursor, index, row, openers)
    if respelled:
        tokens = index.token_texts.respelled
        _forbid_unread(cursor, index, row, tokens[_allowed(tokens, row)].tolist())


def _forbid_repeats(item: ItemInAnyOrder, index: TokenIndex, row: Words) -> None:
    """Clear the tokens after which an open item can only become a seen one, in some order of its members."""
    known, prefixes = item.begun, index.token_texts.prefixes
    todo = [(b"", item.near(known))]
    while todo:
        text, values = todo.pop()
        for byte in next_bytes(known + text, values):
            longer = text + byte.to_bytes()
            left = item.near(known + longer, values) if prefixes.allowed(row, longer) else ()
            if left and item.is_exhausted(known + longer, left):
                prefixes.forbid(row, longer)
            elif left:
                todo.append((longer, left))


def _forbid_crossings(cursor: Cursor, index: TokenIndex, row: Words) -> None:
    """Clear the tokens that end an item and begin the next one, where it can only repeat what is then seen."""
    texts = index.token_texts
    inside = reads_unique_item(cursor)
    crossings = texts.crossings if inside else texts.opening_crossings
    tokens = crossings.matches.tokens
    chosen = _allowed(tokens, row)
    if not chosen.any():
        return
    _select(select_openers, cursor, crossings.matches, chosen)
    listed = inside and (any(open_beginnings(cursor)) or has_any_order(cursor))
    if chosen.any() and not listed:
        sought = chosen[crossings.owners][crossings.commas]
        refused = sought.copy()
        _select(select_refused, cursor, crossings.others, refused)
        plainly = inside and not special_spellings(cursor)
        chosen = crossings.kept(chosen, sought & ~refused, with_respelled=not plainly)
    _forbid_unread(cursor, index, row, tokens[chosen].tolist())


def _forbid_unread(cursor: Cursor, index: TokenIndex, row: Words, tokens: Sequence[int]) -> None:
    """Clear those of the tokens that the cursor refuses."""
    memories = len(cursor.memories)
    for token in tokens:
        if not cursor.read(index.texts[token]):
            row[token >> 5] &= ~np.uint32(1 << (token & 31))
        cursor.memories.cut(memories)


def _openers(cursor: Cursor, matches: TokenMatches, row: Words) -> list[int]:
    """The tokens of `matches` that `row` allows and that may end inside a remembered text which they began."""
    chosen = _allowed(matches.tokens, row)
    if chosen.any():
        _select(select_openers, cursor, matches, chosen)
    found: list[int] = matches.tokens[chosen].tolist()
    return found


def _allowed(tokens: Longs, row: Words) -> Flags:
    """bool [tokens]: whether `row` allows each of the tokens."""
    allowed: Flags = (row[tokens >> 5] >> (tokens & 31).astype(np.uint32) & 1).astype(np.bool_)
    return allowed


def _select(
    loop: Callable[..., None], cursor: Cursor, matches: TokenMatches, chosen: Flags
) -> None:
    """Run `select_openers` or `select_refused` from the configuration of a cursor; clears flags of `chosen`."""
    cursor.begin(exact=loop is select_refused)
    cursor.make_room(_MOST_OPENED)
    tables = cursor.machine.tables  # keeps the arrays alive during the call
    loop(
        tables.addresses,
        cursor.frames,
        cursor.note,
        NO_ANSWERS,
        matches.blob,
        matches.starts,
        chosen,
    )


def _forbid_prefixes(
    cursor: Cursor, index: TokenIndex, row: Words, begun: int, beginnings: Sequence[bytes]
) -> None:
    """Clear the tokens after which the text that begins at offset `begun` would start with one of `beginnings`."""
    known = bytes(cursor.output[begun:])
    for beginning in beginnings:
        if len(beginning) > len(known) and beginning.startswith(known):
            index.token_texts.prefixes.forbid(row, beginning[len(known) :])
