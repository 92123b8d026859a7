"""Masks of a configuration: which tokens are legal next.

Does: walk the trie from a cursor, with the part inside a leaf shared by all grammars. Does not: keep rows
(`rows`, `leafrows`), loop over bytes (`walk_tokens`), look at texts (`corrections`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from . import walk as w
from .automata.minimal import Ints, Longs
from .cursor import Cursor
from .doubts import Doubts, doubts_of
from .leafrows import LeafRows, View
from .masks import words
from .rows import Bits, Kept, Row, own_words, pack
from .tables import FINAL, FLAGS, JUDGED, LEAF, LIVE, NEAR, Bytes
from .trie import Trie, build, find
from .vocabulary import Vocabulary
from .walk_tokens import Room, approach, walk, walk_exits

_MOST_HOLDING: Final = 4096  # texts whose tokens are remembered
_MOST_TEXTS: Final = 1 << 14  # texts whose nodes are remembered
_NO_NODES: Final = np.empty(0, np.int32)


class TokenIndex:
    """A vocabulary indexed for walking, with the rows of all its grammars, which share those of leaves."""

    def __init__(self, vocabulary: Vocabulary, most_bytes: int) -> None:
        """`most_bytes` bounds the rows kept."""
        self.vocabulary = vocabulary
        self.trie: Trie = build(vocabulary)
        self.words = words(vocabulary.width)
        self.longest = int(self.trie.depth.max(initial=0))
        self.texts = _texts(vocabulary)
        self.leaf_rows = LeafRows(self.trie, self.words, most_bytes // 2)
        self.rows: Kept[Row] = Kept(most_bytes // 2)
        self._desks: list[Desk] = []
        self._holding: dict[bytes, tuple[int, ...]] = {}
        self._nodes_of: dict[bytes, int] = {}

    @property
    def nbytes(self) -> int:
        """Memory of the rows kept."""
        return self.rows.nbytes + self.leaf_rows.nbytes

    @cached_property
    def nodes(self) -> Ints:
        """int32 [width]: the node of each token's text, 0 if it has none."""
        nodes = np.zeros(self.vocabulary.width, np.int32)
        counts = np.diff(self.trie.first)
        nodes[self.trie.tokens] = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        return nodes

    def text_to(self, node: int) -> Bytes:
        """The bytes that lead to a trie node (not the root)."""
        token = int(self.trie.tokens[self.trie.first[node]])
        return self.texts[token][: self.trie.depth[node]]

    def node_of(self, text: bytes) -> int:
        """The trie node of a text; -1 if no token begins with it."""
        node = self._nodes_of.get(text)
        if node is None:
            node = -1
            if len(text) <= self.longest:
                node = int(find(self.trie, np.frombuffer(text, np.uint8).copy()))
            if len(self._nodes_of) >= _MOST_TEXTS:
                self._nodes_of.clear()
            self._nodes_of[text] = node
        return node

    def holding(self, text: bytes) -> tuple[int, ...]:
        """The tokens that hold a text."""
        if len(text) > self.longest:
            return ()
        known = self._holding.get(text)
        if known is None:
            known = tuple(self._searched(text))
            if len(self._holding) < _MOST_HOLDING:
                self._holding[text] = known
        return known

    def _searched(self, text: bytes) -> Iterator[int]:
        blob, starts, tokens = self._joined
        at = blob.find(text)
        while at >= 0:
            piece = int(starts.searchsorted(at, "right")) - 1
            if at + len(text) <= starts[piece + 1]:
                yield int(tokens[piece])
            at = blob.find(text, at + 1)

    @cached_property
    def _joined(self) -> tuple[bytes, Longs, Longs]:
        """All texts in one, where each begins (and the last ends), and of which token it is."""
        sizes = np.fromiter(map(len, self.texts.values()), np.int64)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        blob = b"".join(text.tobytes() for text in self.texts.values())
        return blob, starts, np.fromiter(self.texts, np.int64)

    def borrow(self) -> "Desk":
        """Room to work in, for one thread at a time; to be given back."""
        return self._desks.pop() if self._desks else Desk.of(self)

    def give(self, desk: "Desk") -> None:
        """Take back what was borrowed."""
        self._desks.append(desk)


@dataclass(frozen=True, slots=True, eq=False)
class Desk:
    """Arrays that a walk writes to."""

    room: Room
    bits: Bits

    @classmethod
    def of(cls, index: TokenIndex) -> "Desk":
        """Room for any walk over a vocabulary."""
        nodes, tokens = len(index.trie.byte), len(index.trie.tokens)
        path = np.empty((index.longest + 1, w.COUNT + 1), np.int32)
        found, asks = np.empty(2 * tokens, np.int32), np.empty(nodes, np.int32)
        room = Room(path, found, asks, np.empty(2 * nodes, np.int32))
        touched = np.zeros(index.words, np.uint8)
        values, at = np.zeros(index.words, np.uint32), np.empty(index.words, np.int32)
        return cls(room, Bits(touched, values, at))


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
    room: Room

    def begin(self, exact: bool) -> None:
        """Start from the cursor's own place, with nothing found."""
        self.cursor.begin(exact)
        note = self.cursor.note
        note[w.FOUND], note[w.ARCS] = 0, -1
        note[w.DOUBTS] = note[w.UNWRITTEN] = 0
        note[w.LEAF_TOP], note[w.LEAF_COUNT] = self.cursor.depth - 1, self.cursor.depth

    def approach(self) -> bool:
        """Enter the leaf that is called here, if there is one that has rows."""
        cursor = self.cursor
        while True:
            approach(cursor.machine.tables, self.index.trie, cursor.frames, cursor.note, self.room)
            status = cursor.note[w.STATUS]
            if status in (w.MOVED, w.REFUSED):
                break
            cursor.learn()
            self.begin(exact=False)
        note = cursor.note
        if status == w.REFUSED:
            self.begin(exact=False)
        else:
            note[w.LEAF_TOP], note[w.LEAF_COUNT] = note[w.TOP], note[w.COUNT]
        return bool(status == w.MOVED)

    def below(self, node: int) -> None:
        """Find what is legal below a node, from the configuration in `note`."""
        cursor, note, trie = self.cursor, self.cursor.note, self.index.trie
        self.room.path[trie.depth[node]] = note[: w.COUNT + 1]
        note[w.NODE], note[w.END] = node + 1, trie.skip[node]
        while True:
            walk(cursor.machine.tables, trie, cursor.frames, note, self.room)
            if note[w.STATUS] == w.MOVED:
                return
            cursor.learn()

    def exits(self, trie: Trie, exits: Ints) -> None:
        """Find what is legal behind exits of the leaf on top of the stack."""
        cursor, note = self.cursor, self.cursor.note
        note[w.EXIT] = 0
        while True:
            walk_exits(cursor.machine.tables, trie, cursor.frames, note, exits, self.room)
            if note[w.STATUS] == w.MOVED:
                return
            cursor.learn()

    def found(self) -> Ints:
        """The tokens found."""
        return self.room.found[: self.cursor.note[w.FOUND]]

    def asked(self) -> Ints:
        """The nodes where a text decides."""
        return self.room.asks[: self.cursor.note[w.ASKED]].copy()

    def doubted(self) -> Ints:
        """The nodes where a text was taken to be new; see `Room`."""
        return self.room.doubts[: self.cursor.note[w.DOUBTS]].copy()


def make_row(cursor: Cursor, index: TokenIndex) -> tuple[Row, int]:
    """(the mask without end tokens, on how many frames from the top it depends).

    Texts that are compared as written count as new if they were begun before; `corrections.correct` puts that right.
    """
    desk = index.borrow()
    try:
        walking = Walk(cursor, index, desk.room)
        walking.begin(exact=False)
        view = _view(walking)
        dropped, split, base = _NO_NODES, 0, None
        if view is None:
            walking.below(0)
            asks, doubts = walking.asked(), walking.doubted()
        else:
            base, dropped = view.row, view.dropped
            split, asks, doubts = _behind(walking, view)
        note = cursor.note
        at, own = own_words(index.trie, base, dropped, walking.found(), split, desk.bits)
        doubted, lowest = _doubts(walking, doubts), min(int(note[w.LOWEST]), _lowest(cursor))
        may_end = cursor.may_end()
        row = Row(base, *pack(base, at, own, index.words), asks, may_end, doubted)
    finally:
        index.give(desk)
    return row, cursor.depth - min(lowest, int(note[w.LOWEST]))


def _lowest(cursor: Cursor) -> int:
    """The deepest frame that a row depends on even if no token leaves it: that of a leaf only some of which counts."""
    place = cursor.machine.sites[int(cursor.frames[cursor.depth - 1, w.SITE])]
    return cursor.depth - (place is not None and place.call.live is not None)


def _view(walking: Walk) -> View | None:
    """The row of the leaf that the cursor is in or before, with which to begin; None: walk all tokens."""
    cursor, note = walking.cursor, walking.cursor.note
    tables = cursor.machine.tables
    if cursor.state == FINAL:
        return None
    if tables.states[cursor.state, LEAF] < 0:
        if not walking.approach():
            return None
        tables = cursor.machine.tables
    state = int(note[w.STATE])
    if tables.states[state, NEAR] == 0:
        return None
    leaf = cursor.machine.leaves[tables.states[state, LEAF]]
    live = int(tables.sites[cursor.frames[note[w.LEAF_TOP], w.SITE], LIVE])
    alive = None if live < 0 else tables.live[live : live + leaf.dfa.states]
    if alive is not None:
        note[w.LOWEST] = min(note[w.LOWEST], note[w.LEAF_TOP])
    if alive is not None and not leaf.wide(state - leaf.base, alive):
        return None
    return walking.index.leaf_rows.view(leaf, state - leaf.base, alive)


def _behind(walking: Walk, view: View) -> tuple[int, Ints, Ints]:
    """Find what follows the exits of a view, and the tokens it adds.

    Gives (how many are found by the shared row, asks, doubts).
    """
    cursor, index, note = walking.cursor, walking.index, walking.cursor.note
    flags = cursor.machine.tables.sites[cursor.frames[note[w.LEAF_TOP], w.SITE], FLAGS]
    # What was found on the way to the leaf stands in the vocabulary's trie, and nothing of it is dropped.
    early, asks, doubts = walking.found().copy(), walking.asked(), walking.doubted()
    note[w.FOUND] = note[w.ASKED] = note[w.DOUBTS] = 0
    split = 0
    if flags & JUDGED:
        # A text decides at each exit, so each is looked at by itself.
        own = view.all_exits(index.trie)
    else:
        trees = view.row.trees
        walking.exits(trees, view.roots)
        split, own = int(note[w.FOUND]), view.exits
        asks = np.concatenate((asks, _of_tokens(trees, walking.asked(), index)))
        found = walking.doubted()
        inner = _of_tokens(trees, found[found >= 0], index)
        doubts = np.concatenate((doubts, inner, ~_of_tokens(trees, ~found[found < 0], index)))
        note[w.ASKED] = note[w.DOUBTS] = 0
    if len(own):
        walking.exits(index.trie, own)
        asks = np.concatenate((asks, walking.asked()))
        doubts = np.concatenate((doubts, walking.doubted()))
    pieces = [
        index.trie.tokens[index.trie.first[node] : index.trie.first[node + 1]]
        for node in view.added.tolist()
    ]
    for tokens in (early, *pieces):
        walking.room.found[note[w.FOUND] : note[w.FOUND] + len(tokens)] = tokens
        note[w.FOUND] += len(tokens)
    return split, asks, doubts


def _doubts(walking: Walk, nodes: Ints) -> Doubts | None:
    if not len(nodes):
        return None
    inner, index = nodes[nodes >= 0], walking.index
    texts = [index.text_to(node).tobytes() for node in inner.tolist()]
    written = not walking.cursor.note[w.UNWRITTEN]
    return doubts_of(inner, written, ~nodes[nodes < 0], texts)


def _of_tokens(trees: Trie, asks: Ints, index: TokenIndex) -> Ints:
    """The places in the vocabulary's trie of all tokens at and below some nodes of trees."""
    if not len(asks):
        return _NO_NODES
    parts = [trees.tokens[trees.first[node] : trees.first[trees.skip[node]]] for node in asks]
    nodes: Ints = np.unique(index.nodes[np.concatenate(parts)])
    return nodes
