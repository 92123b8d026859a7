"""Masks of a configuration: which tokens are legal next.

Does: walk the trie from a cursor, with the part inside a leaf shared by all grammars. Does not: keep rows
(`rows`, `leafrows`), loop over bytes (`trie_walk`), look at texts (`corrections`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..base.addresses import addresses
from ..base.array_types import Bytes, Flags, Ints, Longs, Words
from ..base.bounded_cache import Kept
from ..contract.bitmask import words
from ..contract.vocabulary import Vocabulary
from ..machine import byte_step as w
from ..machine import walk_state as n
from ..machine.cursor import NO_LOOKS, Cursor
from ..machine.lazy_tables import FLAGS, JUDGED, LEAF, LIVE
from . import compute_row as r
from .leaf_cache import LeafRows, LeafSource
from .row_cache import LeafRow, Row, Shelves, pack
from .seen_text_tokens import beginning
from .token_prefixes import Beginnings
from .trie import Trie, build, heads
from .trie_walk import Room
from .uniqueness import UniquenessChecks, doubts_of

_HOLDING_BYTES: Final = 8 << 20  # of texts whose tokens are remembered
_MOST_OPENED: Final = 256  # frames that a token opens, mostly far fewer
_NO_NODES: Final = np.empty(0, np.int32)
_NO_WORDS: Final = np.empty(0, np.uint32)
_NO_EXITS: Final = np.empty((0, 3), np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Holding:
    """Some tokens, their texts in one, and where each begins there (and the last ends)."""

    tokens: Longs
    blob: Bytes
    starts: Longs

    @classmethod
    def of(cls, tokens: list[int], texts: list[Bytes]) -> "Holding":
        """Of these tokens, which read these texts."""
        starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        blob = np.concatenate(texts) if texts else np.empty(0, np.uint8)
        return cls(np.array(tokens, np.int64), blob, starts)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.tokens.nbytes + self.blob.nbytes + self.starts.nbytes


class TokenIndex:
    """A vocabulary indexed for walking, with the rows of leaves, which all its grammars share."""

    def __init__(self, vocabulary: Vocabulary, most_bytes: int) -> None:
        """`most_bytes`: half of it bounds the rows of leaves, half those of each grammar."""
        self.vocabulary = vocabulary
        self.trie: Trie = build(vocabulary)
        self.heads = heads(self.trie)
        self.words = words(vocabulary.width)
        self.longest = int(self.trie.depth.max(initial=0))
        self.texts = _texts(vocabulary)
        self.leaf_rows = LeafRows(self.trie, self.words, most_bytes // 2)
        self.rows = Shelves(most_bytes // 2)
        self.nothing = LeafSource(*self.trie, _NO_EXITS, _NO_EXITS, _NO_NODES, _NO_NODES)
        self._desks: list[Scratch] = []
        self._holding: Kept[bytes, Holding] = Kept(_HOLDING_BYTES)
        self.beginnings = Beginnings(self.trie)

    @property
    def nbytes(self) -> int:
        """Memory of the rows kept."""
        return self.rows.nbytes + self.leaf_rows.nbytes

    @property
    def texts_bytes(self) -> int:
        """Memory of what is remembered of texts."""
        return self._holding.nbytes + self.beginnings.nbytes

    @cached_property
    def nodes(self) -> Ints:
        """int32 [width]: the node of each token's text, 0 if it has none."""
        nodes = np.zeros(self.vocabulary.width, np.int32)
        counts = np.diff(self.trie.first)
        nodes[self.trie.tokens] = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        return nodes

    @cached_property
    def escaped(self) -> Flags:
        """bool [nodes]: a backslash is on the way to the node."""
        found = np.zeros(len(self.trie.byte), np.bool_)
        for node in np.flatnonzero(self.trie.byte == ord("\\")).tolist():
            found[node : self.trie.skip[node]] = True
        return found

    def text_to(self, node: int) -> Bytes:
        """The bytes that lead to a trie node (not the root)."""
        token = int(self.trie.tokens[self.trie.first[node]])
        return self.texts[token][: self.trie.depth[node]]

    def holding(self, text: bytes) -> "Holding":
        """The tokens that hold a text."""
        known = self._holding.get(text)
        if known is None:
            found = list(self._searched(text)) if len(text) <= self.longest else []
            known = Holding.of(found, [self.texts[token] for token in found])
            self._holding.put(text, known, len(text) + known.nbytes)
        return known

    def opening(self, cursor: Cursor, held: "Holding", row: Words) -> list[int]:
        """Those of some tokens that `row` lets through and that may leave a remembered text open they have begun."""
        tokens = held.tokens
        chosen = (row[tokens >> 5] >> (tokens & 31).astype(np.uint32) & 1).astype(np.bool_)
        if chosen.any():
            cursor.begin(exact=False)
            cursor.make_room(_MOST_OPENED)
            beginning(
                cursor.machine.tables.addresses,
                cursor.frames,
                cursor.note,
                NO_LOOKS,
                held.blob,
                held.starts,
                chosen,
            )
        found: list[int] = tokens[chosen].tolist()
        return found

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

    def borrow(self) -> "Scratch":
        """Room to work in, for one thread at a time; to be given back."""
        return self._desks.pop() if self._desks else Scratch(self)

    def give(self, desk: "Scratch") -> None:
        """Take back what was borrowed."""
        self._desks.append(desk)


class Scratch:
    """Arrays that a walk writes to, and the addresses of all that it works with."""

    def __init__(self, index: TokenIndex) -> None:
        """Room for any walk over a vocabulary."""
        trie = index.trie
        nodes, tokens = len(trie.byte), len(trie.tokens)
        path = np.empty((index.longest + 1, n.COUNT + 1), np.int32)
        found, asks = np.empty(2 * tokens, np.int32), np.empty(2 * nodes, np.int32)
        self.room = Room(path, found, asks, np.empty(3 * nodes, np.int32))
        self.at = np.empty(index.words, np.intp)  # what numpy writes with
        self.own = np.empty(index.words, np.uint32)
        self.told = np.empty(8 * nodes, np.int32)
        self.stand = np.zeros(r.STANDS, np.int64)
        touched = np.zeros((index.words + 7) // 8, np.int64)
        masks = np.zeros(index.words, np.uint32), np.empty(index.words, np.uint32)
        self._held = (
            *(*trie, index.nodes, *self.room, touched.view(np.uint8), *masks),
            *(self.at, self.own, self.told, self.stand, *index.heads, touched),
        )
        self.addresses = addresses(*self._held)


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
    desk: Scratch

    def begin(self, exact: bool) -> None:
        """Start from the cursor's own place, with nothing found."""
        self.cursor.begin(exact)
        note = self.cursor.note
        note[n.FOUND], note[n.ARCS] = 0, -1
        note[n.ASSUMED] = note[n.UNWRITTEN] = 0
        note[n.LEAF_TOP], note[n.LEAF_COUNT] = self.cursor.depth - 1, self.cursor.depth

    def below(self, node: int) -> None:
        """Find what is legal below a node, from the configuration in `note`."""
        cursor, note, trie = self.cursor, self.cursor.note, self.index.trie
        self.desk.room.path[trie.depth[node]] = note[: n.COUNT + 1]
        note[n.NODE], note[n.END] = node + 1, trie.skip[node]
        while True:
            tables = cursor.machine.tables  # held until the call is over
            r.walk_at(tables.addresses, self.desk.addresses, cursor.frames, note)
            if note[n.STATUS] == w.MOVED:
                return
            cursor.learn()

    def found(self) -> Ints:
        """int32 [n]: the tokens found."""
        return self.desk.room.found[: self.cursor.note[n.FOUND]]

    def asked(self) -> Ints:
        """int32 [n]: the nodes where a text decides."""
        return self.desk.room.asks[: self.cursor.note[n.ASKED]].copy()

    def doubted(self) -> Ints:
        """int32 [n]: the nodes where a text was taken to be new; see `Room`."""
        return self.desk.room.doubts[: self.cursor.note[n.ASSUMED]].copy()


def make_row(cursor: Cursor, index: TokenIndex) -> tuple[Row, int]:
    """(the mask without end tokens, on how many frames from the top it depends).

    Texts that are compared as written count as new if they were begun before; `corrections.correct` puts that right.
    """
    desk = index.borrow()
    try:
        base = _find(cursor, index, desk)
        ends, size, asked, inner, opened = desk.stand[r.ENDS :].tolist()
        at, own = desk.at[:size].copy(), desk.own[:size].copy()
        asks, doubts = _NO_NODES, None
        if asked:
            asks = desk.told[:asked].copy()
        if inner or opened:
            told = desk.told[asked : asked + inner + opened].copy()
            doubts = _doubts(cursor, told[:inner], told[inner:])
    finally:
        index.give(desk)
    may_end = None if ends < 0 else ends > 0
    lowest = min(int(cursor.note[n.LOWEST]), _lowest(cursor))
    return Row(
        base, *pack(base, at, own, index.words), asks, may_end, doubts
    ), cursor.depth - lowest


def _find(cursor: Cursor, index: TokenIndex, desk: Scratch) -> LeafRow | None:
    """Make a row on a desk; the leaf's row that it is beside."""
    machine, note = cursor.machine, cursor.note
    desk.stand[r.PHASE], desk.stand[r.START] = 0, cursor.state
    note[n.DEPTH], note[n.OFFSET] = cursor.depth, len(cursor.output)
    row, shared, source = None, _NO_WORDS, index.nothing
    while True:
        tables = machine.tables  # held until the call is over
        r.find(tables.addresses, desk.addresses, source.addresses, shared, cursor.frames, note)
        status = note[n.STATUS]
        if status == w.MOVED:
            return row
        if status == w.VIEW:
            row, shared, source = _view(cursor, index)
        else:
            cursor.learn()


def _lowest(cursor: Cursor) -> int:
    """The deepest frame that a row depends on even if no token leaves it: that of a leaf only some of which counts."""
    place = cursor.machine.sites[cursor.frames.item(cursor.depth - 1, w.SITE)]
    return cursor.depth - (place is not None and place.call.live is not None)


def _view(cursor: Cursor, index: TokenIndex) -> tuple[LeafRow, Words, LeafSource]:
    """The row of the leaf in `note`, its words, and what stands beside it."""
    note, tables = cursor.note, cursor.machine.tables
    state, site = int(note[n.STATE]), cursor.frames.item(int(note[n.LEAF_TOP]), w.SITE)
    leaf = cursor.machine.leaves[tables.states.item(state, LEAF)]
    live = tables.sites.item(site, LIVE)
    alive = None if live < 0 else tables.live[live : live + leaf.dfa.states]
    judged = tables.sites.item(site, FLAGS) & JUDGED
    while True:
        view = index.leaf_rows.view(leaf, state - leaf.base, alive)
        shared = view.row.words
        if shared is not None:  # it may just have been dropped
            return view.row, shared, view.judged(index.trie) if judged else view.source


def _doubts(cursor: Cursor, inner: Ints, opened: Ints) -> UniquenessChecks | None:
    return doubts_of(inner, not cursor.note[n.UNWRITTEN], opened)
