"""Computes the mask of a configuration: which tokens are legal next.

Does: own the index of a vocabulary and the scratch arrays of walks; make a row from a cursor, with the part inside a
leaf taken from the rows that all grammars share. Does not: keep rows (`row_cache`, `leaf_cache`), loop over bytes
(`compute_row`, `trie_walk`), compare texts (`mask_fixup`).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..base.addresses import addresses, describe
from ..base.array_types import Ints, Longs, Words
from ..contract.bitmask import words
from ..contract.vocabulary import Vocabulary
from ..contract.work import LEAF_ROW, ROW, making, spend, spend_once
from ..machine import byte_step as w
from ..machine import walk_state as n
from ..machine.copied_texts import CopiedPlace, copied_place
from ..machine.cursor import Cursor
from ..machine.lazy_tables import FLAGS, JUDGED, LEAF, LIVE
from . import compute_row as r
from .copied_row import find_copied
from .leaf_cache import LeafCache, ViewArrays
from .row_cache import NO_WORDS, GrammarRowCaches, LeafRow, Row, pack
from .token_texts import TextIndex
from .trie import children, heads
from .trie_walk import WalkBuffers
from .uniqueness import checks_of

_NO_NODES: Final = np.empty(0, np.int32)
_NO_EXITS: Final = np.empty((0, 3), np.int32)


class TokenIndex:
    """A vocabulary indexed for walks, with the cached rows of leaves; shared by all grammars of the vocabulary.

    `texts`: the bytes of each token that has text. `words`: 32-bit words of a mask.
    """

    def __init__(self, vocabulary: Vocabulary, most_bytes: int) -> None:
        """Half of `most_bytes` bounds the rows of leaves, the other half bounds the rows of each grammar."""
        self.vocabulary = vocabulary
        self.token_texts = TextIndex(vocabulary)
        self.texts = self.token_texts.by_token
        self.trie = self.token_texts.trie
        self.heads = heads(self.trie)
        self.children = children(self.trie)
        self.words = words(vocabulary.width)
        self.leaf_rows = LeafCache(self.trie, self.words, most_bytes // 2)
        self.rows = GrammarRowCaches(most_bytes // 2)
        self.no_view = ViewArrays(*self.trie, _NO_EXITS, _NO_EXITS, _NO_NODES, _NO_NODES)
        self._free: list[Scratch] = []

    @property
    def nbytes(self) -> int:
        """Memory of the cached rows."""
        return self.rows.nbytes + self.leaf_rows.nbytes

    @property
    def texts_bytes(self) -> int:
        """Memory of the cached searches for texts."""
        return self.token_texts.nbytes

    def acquire(self) -> "Scratch":
        """Scratch arrays for one thread; hand them back with `release`."""
        return self._free.pop() if self._free else Scratch(self)

    def release(self, scratch: "Scratch") -> None:
        """Make scratch arrays available to the next `acquire`."""
        self._free.append(scratch)


class Scratch:
    """Working arrays of one walk, and the addresses of all arrays that a walk uses (layout: `compute_row`)."""

    def __init__(self, index: TokenIndex) -> None:
        """Arrays large enough for any walk over the vocabulary of `index`."""
        trie, longest = index.trie, index.token_texts.longest
        nodes, tokens = len(trie.byte), len(trie.tokens)
        path = np.empty((longest + 1, n.COUNT + 1), np.int32)
        found, undecided = np.empty(2 * tokens, np.int32), np.empty(2 * nodes, np.int32)
        self.buffers = WalkBuffers(path, found, undecided, np.empty(3 * nodes, np.int32))
        self.places = np.empty(index.words, np.intp)  # the index type that numpy writes with
        self.differing = np.empty(index.words, np.uint32)
        self.reported = np.empty(8 * nodes, np.int32)
        # Of a copied text: they are read before anything is reported.
        self.exits = self.reported[: 6 * nodes].reshape(-1, 3)
        self.progress = np.zeros(r.PROGRESS_FIELDS, np.int64)
        touched = np.zeros((index.words + 7) // 8, np.int64)
        masks = np.zeros(index.words, np.uint32), np.empty(index.words, np.uint32)
        self._held = (
            *(*trie, index.token_texts.nodes, *self.buffers, touched.view(np.uint8), *masks),
            *(self.places, self.differing, self.reported, self.progress, *index.heads, touched),
            *(self.exits, *index.children),
        )
        self.addresses = addresses(*self._held)


@dataclass(slots=True, eq=False)
class Walk:
    """A walk of the vocabulary's trie from one cursor, which collects the legal tokens."""

    cursor: Cursor
    index: TokenIndex
    scratch: Scratch

    def begin(self, exact: bool) -> None:
        """Start from the configuration of the cursor, with no tokens found."""
        self.cursor.begin(exact)
        note = self.cursor.note
        note[n.FOUND], note[n.ARCS] = 0, -1
        note[n.ASSUMED] = note[n.UNWRITTEN] = 0
        note[n.LEAF_TOP], note[n.LEAF_COUNT] = self.cursor.depth - 1, self.cursor.depth

    def below(self, node: int) -> None:
        """Find the legal tokens below a node, from the configuration in `note`."""
        cursor, note, trie = self.cursor, self.cursor.note, self.index.trie
        self.scratch.buffers.path[trie.depth[node]] = note[: n.COUNT + 1]
        note[n.NODE], note[n.END] = node + 1, trie.skip[node]
        while True:
            tables = cursor.machine.tables  # keeps the arrays alive during the call
            r.walk_at(tables.addresses, self.scratch.addresses, cursor.frames, note)
            if note[n.STATUS] == w.MOVED:
                return
            cursor.fill_in()

    def found(self) -> Ints:
        """int32 [n]: the tokens found."""
        return self.scratch.buffers.found[: self.cursor.note[n.FOUND]]

    def undecided(self) -> Ints:
        """int32 [n]: the nodes where only a comparison of texts can decide."""
        return self.scratch.buffers.undecided[: self.cursor.note[n.UNDECIDED_NODES]].copy()

    def assumed(self) -> Ints:
        """int32 [n]: the nodes where a text was assumed to be new; see `WalkBuffers`."""
        return self.scratch.buffers.assumed[: self.cursor.note[n.ASSUMED]].copy()


def make_row(cursor: Cursor, index: TokenIndex, mask: Words) -> tuple[Row, int]:
    """(the mask without end tokens, the number of frames from the top of the stack that it depends on).

    Overwrites `mask` with this mask, because another thread may drop the row's base before the caller unpacks the row.
    A text that must differ from earlier ones is assumed to be new where it began before the token;
    `mask_fixup.correct` checks the assumption.
    """
    scratch = index.acquire()
    try:
        base, shared = _run(cursor, index, scratch)
        spend(ROW + (int(cursor.note[n.FOUND]) >> 3))
        ends, size, count, inner, opened = scratch.progress[r.ENDS :].tolist()
        at, own = scratch.places[:size].copy(), scratch.differing[:size].copy()
        undecided, checks = _NO_NODES, None
        if count:
            undecided = scratch.reported[:count].copy()
        if inner or opened:
            assumed = scratch.reported[count : count + inner + opened].copy()
            as_written = not cursor.note[n.UNWRITTEN]
            checks = checks_of(assumed[:inner], as_written, assumed[inner:])
    finally:
        index.release(scratch)
    may_end = None if ends < 0 else ends > 0
    lowest = min(int(cursor.note[n.LOWEST]), _lowest(cursor))
    row = Row(base, *pack(base, at, own, index.words), undecided, may_end, checks)
    row.write(mask, shared)
    return row, cursor.depth - lowest


def _run(cursor: Cursor, index: TokenIndex, scratch: Scratch) -> tuple[LeafRow | None, Words]:
    """Compute a row into `scratch`; (the row of the leaf that it is expressed relative to or None, its words)."""
    machine, note = cursor.machine, cursor.note
    scratch.progress[r.PHASE], scratch.progress[r.START] = 0, cursor.state
    note[n.DEPTH], note[n.OFFSET] = cursor.depth, len(cursor.output)
    row, shared, view = None, NO_WORDS, index.no_view.addresses
    copied = copied_place(machine.name(cursor.state))
    if copied is not None:
        view = _exits_of(copied, cursor, index, scratch)
    while True:
        tables = machine.tables  # keeps the arrays alive during the call
        r.find_row(tables.addresses, scratch.addresses, view, shared, cursor.frames, note)
        status = note[n.STATUS]
        if status == w.MOVED:
            return row, shared
        if status == w.VIEW:
            row, shared, arrays = _view(cursor, index)
            view = arrays.addresses
        else:
            cursor.fill_in()


def _exits_of(copied: CopiedPlace, cursor: Cursor, index: TokenIndex, scratch: Scratch) -> Longs:
    """Find the tokens within a copied text; the addresses of a view with the exits of the text."""
    texts, low, high, length, begun, skipped, least, close, outcome = copied
    number = cursor.machine.number(cursor.frames.item(cursor.depth - 1, w.SITE), outcome)
    place = low, high, length, begun, skipped, least, close, number
    count = find_copied(scratch.addresses, texts.addresses, place, cursor.note)
    view = index.no_view.addresses.copy()
    describe(view, r.EXITS, scratch.exits[:count])
    return view


def _lowest(cursor: Cursor) -> int:
    """The deepest frame that a row depends on even if no token leaves it.

    It is the top frame where the call site restricts the live states of its leaf.
    """
    place = cursor.machine.sites[cursor.frames.item(cursor.depth - 1, w.SITE)]
    return cursor.depth - (place is not None and place.call.live is not None)


def _view(cursor: Cursor, index: TokenIndex) -> tuple[LeafRow, Words, ViewArrays]:
    """(the row of the leaf in `note`, its words, the arrays of the leaf's view)."""
    note, tables = cursor.note, cursor.machine.tables
    state, site = int(note[n.STATE]), cursor.frames.item(int(note[n.LEAF_TOP]), w.SITE)
    leaf = cursor.machine.leaves[tables.states.item(state, LEAF)]
    live = tables.sites.item(site, LIVE)
    alive = None if live < 0 else tables.live[live : live + leaf.dfa.states]
    judged = tables.sites.item(site, FLAGS) & JUDGED
    place = leaf.dfa.fingerprint, state - leaf.base, live < 0
    spend_once(place, LEAF_ROW)
    while True:
        with making(place):  # paid for: it counts the same if the row is there already
            view = index.leaf_rows.view(leaf, state - leaf.base, alive)
        shared = view.row.words
        if shared is not None:  # another thread may just have dropped it
            return view.row, shared, view.judged_arrays(index.trie) if judged else view.arrays
