"""Masks of a configuration: which tokens are legal next.

Does: walk the trie from a cursor, with the part inside a leaf shared by all grammars; correct what depends on texts.
Does not: keep rows (`rows`), loop over bytes (`walk`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import walk as w
from .automata import Dfa
from .automata.minimal import Ints
from .cursor import Cursor
from .machine import Machine
from .masks import words
from .rows import Kept, LeafRow, Row
from .tables import AS_WRITTEN, FINAL, FLAGS, LEAF, REMEMBERS
from .trie import Trie, build, find
from .vocabulary import Vocabulary
from .walk import Bytes, Words
from .walk_leaf import common_target, walk_beside, walk_leaf


class TokenIndex:
    """A vocabulary indexed for walking, with the rows of all its grammars, which share those of leaves."""

    def __init__(self, vocabulary: Vocabulary, most_bytes: int) -> None:
        """`most_bytes` bounds the rows kept."""
        self.vocabulary = vocabulary
        self.trie: Trie = build(vocabulary)
        self.words = words(vocabulary.width)
        self.longest = int(self.trie.depth.max(initial=0))
        self.texts = _texts(vocabulary)
        self.leaf_rows: Kept[LeafRow] = Kept(most_bytes // 2)
        self.rows: Kept[Row] = Kept(most_bytes // 2)

    @cached_property
    def single_bytes(self) -> dict[int, int]:
        """The token of each byte that is a token by itself."""
        return {int(text[0]): token for token, text in self.texts.items() if len(text) == 1}

    def text_to(self, node: int) -> Bytes:
        """The bytes that lead to a trie node (not the root)."""
        token = int(self.trie.tokens[self.trie.first[node]])
        return self.texts[token][: self.trie.depth[node]]

    def leaf_row(self, machine: Machine, state: int) -> LeafRow:
        """The tokens that stay inside the leaf from one of its states, and where it is left."""
        leaf = machine.leaves[machine.tables.states[state, LEAF]]
        return self._leaf_row(leaf.dfa, state - leaf.base)

    def _leaf_row(self, dfa: Dfa, state: int) -> LeafRow:
        key = (dfa.fingerprint, state)
        row = self.leaf_rows.get(key)
        if row is None:
            common = self._common(dfa, state)
            if common == state:
                row = self._common_row(dfa, state)
            elif common >= 0 and self._common(dfa, common) == common:
                row = self._beside(dfa, state, common)
            else:
                row = self._whole(dfa, state)
            self.leaf_rows.put(key, row)
        return row

    @staticmethod
    def _common(dfa: Dfa, state: int) -> int:
        return int(common_target(dfa.table, dfa.class_of, state))

    def _path(self, state: int, known: int) -> Ints:
        path = np.empty((self.longest + 1, 2), np.int32)
        path[0] = state, known
        return path

    def _whole(self, dfa: Dfa, state: int) -> LeafRow:
        mask = np.zeros(self.words, np.uint32)
        exits = np.empty((len(self.trie.byte), 3), np.int32)
        tables = (dfa.table, dfa.outcome, dfa.class_of)
        count = walk_leaf(tables, self.trie, self._path(state, -1), mask, exits)
        return LeafRow(mask, exits[:count].copy())

    def _common_row(self, dfa: Dfa, state: int) -> LeafRow:
        """Kept under the language that is left, which leaves with different beginnings share."""
        key = dfa.residual(state).fingerprint
        row = self.leaf_rows.get(key)
        if row is None:
            row = self._whole(dfa, state)
            self.leaf_rows.put(key, row)
        return row

    def _beside(self, dfa: Dfa, state: int, common: int) -> LeafRow:
        known = self._leaf_row(dfa, common)
        mask = known.words.copy()
        exits = np.empty((len(self.trie.byte), 3), np.int32)
        dropped = np.empty((len(self.trie.byte), 2), np.int32)
        tables = (dfa.table, dfa.outcome, dfa.class_of)
        path = self._path(state, common)
        count, drops = walk_beside(tables, self.trie, path, mask, exits, dropped)
        # Dropped ranges come in ascending order; one may lie inside another.
        ends = np.maximum.accumulate(dropped[:drops, 1]) if drops else dropped[:0, 1]
        at = np.searchsorted(dropped[:drops, 0], known.exits[:, 0], "right") - 1
        kept = (at < 0) | (known.exits[:, 0] >= ends[at]) if drops else slice(None)
        return LeafRow(mask, np.concatenate((known.exits[kept], exits[:count])))


def _texts(vocabulary: Vocabulary) -> dict[int, Bytes]:
    """The bytes of each token that has some: slices of one writable array, the only kind compiled code is made for."""
    whole = np.frombuffer(b"".join(text or b"" for text in vocabulary.tokens), np.uint8).copy()
    texts, at = {}, 0
    for token, text in enumerate(vocabulary.tokens):
        if text is not None:
            texts[token] = whole[at : at + len(text)]
            at += len(text)
    return texts


@dataclass(slots=True, eq=False)
class Walk:
    """Tokens being found from one cursor."""

    cursor: Cursor
    index: TokenIndex
    row: Words
    path: Ints
    asks: Ints

    def below(self, node: int) -> None:
        """Allow what is legal below a node, from the configuration in `note`."""
        note = self.cursor.note
        self.path[self.index.trie.depth[node]] = note[: w.COUNT + 1]
        note[w.NODE], note[w.END] = node + 1, self.index.trie.skip[node]
        while True:
            tables = self.cursor.machine.tables
            w.walk(
                tables, self.index.trie, self.cursor.frames, note, self.path, self.row, self.asks
            )
            if note[w.STATUS] == w.MOVED:
                return
            self.cursor.learn()

    def exits(self, exits: Ints) -> None:
        """Allow what is legal behind the exits of the leaf on top of the stack."""
        note, work = self.cursor.note, (self.path, self.row, self.asks)
        note[w.EXIT] = 0
        while True:
            tables = self.cursor.machine.tables
            w.walk_exits(tables, self.index.trie, self.cursor.frames, note, exits, work)
            if note[w.STATUS] == w.MOVED:
                return
            self.cursor.learn()


def _walk(cursor: Cursor, index: TokenIndex, row: Words) -> Walk:
    nodes = len(index.trie.byte)
    path = np.empty((index.longest + 1, w.COUNT + 1), np.int32)
    return Walk(cursor, index, row, path, np.empty(nodes, np.int32))


def make_row(cursor: Cursor, index: TokenIndex) -> tuple[Row, int]:
    """(the mask without end tokens, on how many frames from the top it depends).

    Texts that are compared as written count as new if they were begun before; `correct` puts that right.
    """
    walk = _walk(cursor, index, np.zeros(index.words, np.uint32))
    cursor.begin(exact=False)
    machine = cursor.machine
    if cursor.state == FINAL or machine.tables.states[cursor.state, LEAF] < 0:
        walk.below(0)
    else:
        inside = index.leaf_row(machine, cursor.state)
        walk.row[:] = inside.words
        walk.exits(inside.exits)
    asks = walk.asks[: cursor.note[w.ASKED]].copy()
    return Row.pack(walk.row, asks), cursor.depth - int(cursor.note[w.LOWEST])


def correct(cursor: Cursor, index: TokenIndex, row: Words, asks: Ints) -> None:
    """Decide the tokens for which texts matter: at and below the nodes `asks`, and where a known text would end."""
    trie, memories = index.trie, len(cursor.memories)
    todo = [(node, -1) for node in asks.tolist()]
    todo += [(node, frame) for node, frame in _known(cursor, trie)]
    walk = _walk(cursor, index, row)
    while todo:
        node, frame = todo.pop()
        if node:
            w.forbid(trie, row, node)
            legal = cursor.read(index.text_to(node))
        else:
            legal = True
            cursor.begin(exact=True)
        if legal and node:
            w.allow(trie, row, node)
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
            cursor.note[w.EXACT] = cursor.note[w.ASKED] = 0
            walk.below(node)
            todo += [(more, -1) for more in walk.asks[: cursor.note[w.ASKED]].tolist()]
        cursor.memories.cut(memories)


def _known(cursor: Cursor, trie: Trie) -> list[tuple[int, int]]:
    """(node, frame) wherever a text begun in an open frame would equal one that its caller remembers."""
    found = []
    flags = cursor.machine.tables.sites[cursor.frames[1 : cursor.depth, w.SITE], FLAGS]
    for frame in (np.flatnonzero(flags == REMEMBERS | AS_WRITTEN) + 1).tolist():
        memory = int(cursor.frames[cursor.frames[frame, w.PARENT], w.MEMORY])
        begun = bytes(cursor.output[cursor.frames[frame, w.BEGUN] :])
        for key in cursor.memories.keys(memory):
            assert isinstance(key, bytes)
            if key.startswith(begun):
                node = int(find(trie, np.frombuffer(key[len(begun) :], np.uint8).copy()))
                if node >= 0:
                    found.append((node, frame))
    return found
