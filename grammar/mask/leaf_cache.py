"""Rows of leaf states, shared by all grammars of a vocabulary.

Does: name states by what tokens can tell of them, so that equal ones share a row whatever leaf or grammar they come
from; derive the row of a state from that of the state most of its bytes lead to. Does not: go on behind a leaf
(`masking`).
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np

from ..automata import Spelling
from ..base.addresses import addresses
from ..base.array_types import Bytes, Ints
from ..base.bounded_cache import Kept
from ..leaves.strings import any_string
from ..machine.leaf import Leaf
from ..machine.leaf_similarity import ALIKE, LeafSimilarity, similarity_within, surely_unlike
from .continuations import merge
from .leaf_closure import parts, stays
from .leaf_walk import LeafTables, Parts, ReferenceLeaf, ball, common_target, walk_beside, walk_leaf
from .row_cache import LeafRow, RowCache
from .trie import Trie, heights

_SPELLINGS: Final = (Spelling.JSON_CANONICAL, Spelling.JSON)
_QUOTE: Final = ord('"')
_SHORT: Final = 1 << 14  # states whose numbers, and twice as large ones, fit into two bytes
_STAYING: Final = 24  # bytes for which it is told what stays inside; longer tokens are walked
_MOST_FIRSTS: Final = 4  # states of a leaf that take the same bytes and are not like one another
_PYTHON_BYTES: Final = 1500  # what the objects of a view add
_NO_NODES: Final = np.empty(0, np.int32)
_NO_EXITS: Final = np.empty((0, 3), np.int32)


class LeafSource:
    """A view as a walk takes it (see `compute_row`): arrays, held with their addresses."""

    def __init__(self, *arrays: Ints | Bytes) -> None:
        """The five arrays of the trees below exits; their roots, all other exits, the nodes dropped, those added."""
        self._held = arrays
        self.addresses = addresses(*arrays)


@dataclass(eq=False)
class View:
    """What is legal from one state of a leaf: a shared row, but for some places in the vocabulary's trie.

    `outcomes` int32: of each outcome in the row, the leaf's own. What the row says does not count at and below the
    nodes `dropped`; at those `added` tokens stay inside; `exits` int32 [n, 3] are its own (see `LeafRow`).
    """

    row: LeafRow
    outcomes: Ints
    dropped: Ints
    added: Ints
    exits: Ints

    @property
    def nbytes(self) -> int:
        """Memory held, without that of the row."""
        return (
            self.outcomes.nbytes
            + self.dropped.nbytes
            + self.added.nbytes
            + self.exits.nbytes
            + _PYTHON_BYTES
        )

    def drop(self) -> None:
        """Nothing to let go that others hold."""

    @property
    def bare(self) -> bool:
        """Whether it is that of the row alone."""
        return not (len(self.dropped) or len(self.added) or len(self.exits))

    @cached_property
    def source(self) -> LeafSource:
        """What stands beyond the row's own words; the exits of the row are roots of its trees."""
        roots = self._own(self.row.roots)
        return LeafSource(*self.row.trees, roots, self.exits, self.dropped, self.added)

    def judged(self, trie: Trie) -> LeafSource:
        """As `source`, where a text decides at each exit: so each is looked at by itself."""
        exits = self.all_exits(trie)
        return LeafSource(*self.row.trees, _NO_EXITS, exits, self.dropped, self.added)

    def all_exits(self, trie: Trie) -> Ints:
        """int32 [n, 3]: all exits, as places in the vocabulary's trie."""
        known = self._own(self.row.exits)
        # Dropped ranges come in ascending order; one may lie inside another.
        if len(self.dropped):
            ends = np.maximum.accumulate(trie.skip[self.dropped])
            at = np.searchsorted(self.dropped, known[:, 0], "right") - 1
            known = known[(at < 0) | (known[:, 0] >= ends[at])]
        return np.concatenate((known, self.exits))

    def _own(self, exits: Ints) -> Ints:
        own = exits.copy()
        if len(own):
            own[:, 1] = self.outcomes[own[:, 1]]
        return own


class LeafRows:
    """Makes and keeps them."""

    def __init__(self, trie: Trie, words: int, most_bytes: int) -> None:
        self._trie = trie
        self._words = words
        self._longest = int(trie.depth.max(initial=0))
        self._views: RowCache[View] = RowCache(most_bytes // 8)
        self._rooms: list[_Room] = []
        self._firsts: Kept[bytes, tuple[int, ...]] = Kept()
        self._forests: Kept[bytes, tuple[Trie, Ints]] = Kept()
        self._rows: RowCache[LeafRow] = RowCache(most_bytes - most_bytes // 8)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return sum(each.nbytes for each in (self._views, self._rows, self._firsts, self._forests))

    def view(self, leaf: Leaf, state: int, alive: Bytes | None) -> View:
        """What is legal in a state of a leaf; `alive`: the states that count, None: all."""
        key: Hashable = (leaf.dfa.fingerprint, state, None if alive is None else alive.tobytes())
        view = self._views.get(key)
        if view is None or view.row.words is None:
            view = self._make(leaf, state, alive)
            self._views.put(key, view)
        return view

    def _make(self, leaf: Leaf, state: int, alive: Bytes | None) -> View:
        dfa = leaf.dfa
        tables = _tables(leaf, leaf.all if alive is None else alive)
        common = _common(leaf, state) if alive is None else -1
        if common not in (state, -1) and _common(leaf, common) == common:
            view = self.view(leaf, common, alive)
            if view.bare:
                return self._beside(tables, (state, common), view, leaf.identity)
        if alive is None and common != state and self._may_be_plain(leaf, state):
            like = leaf.similarity
            assert like.plain is not None
            inside = like.plain.step(0, _QUOTE)
            if _likely(leaf, like, state, inside):
                twin = int(like.twin[state])
                view = self.view(self._plain[like.plain.fingerprint], twin, None)
                return self._beside(tables, (state, twin), view, like)
        for other in self._others(leaf, state) if alive is None else ():
            like, view = similarity_within(dfa, state, other), self.view(leaf, other, None)
            if like.bytes[state] >= ALIKE and view.bare:
                return self._beside(tables, (state, other), view, like)
        return self._whole(tables, state)

    def _may_be_plain(self, leaf: Leaf, state: int) -> bool:
        """False where a state is of such a leaf, or surely unlike: how far all states are like takes long to tell."""
        dfa = leaf.dfa
        if dfa.fingerprint in self._plain:
            return False
        if state == 0 and not leaf.wide(0, leaf.all):
            state = dfa.step(0, _QUOTE)
        if "similarity" in vars(leaf) or state < 0:
            return True
        places = [place for place in (state, _common(leaf, state)) if place >= 0]
        return any(
            not surely_unlike(dfa, place, plain.dfa, plain.dfa.step(0, _QUOTE))
            for plain in self._plain.values()
            for place in places
        )

    def _others(self, leaf: Leaf, state: int) -> list[int]:
        """A state of a leaf that takes the same bytes and whose view was asked for before, if one may be alike."""
        dfa = leaf.dfa
        if not leaf.wide(state, leaf.all):
            return []
        taken = np.append(dfa.table[state] >= 0, dfa.outcome[state] >= 0)
        key = dfa.fingerprint + taken.tobytes()
        known = self._firsts.get(key) or ()
        others = [other for other in known if not surely_unlike(dfa, state, dfa, other)]
        if state not in known and not others and len(known) < _MOST_FIRSTS:
            self._firsts.put(key, (*known, state), len(key))
        return [other for other in others[:1] if other != state]

    @cached_property
    def _plain(self) -> dict[bytes, Leaf]:
        """The leaves of any string, by the fingerprints of their automata."""
        leaves = [Leaf(any_string(spelling), 0) for spelling in _SPELLINGS]
        return {leaf.dfa.fingerprint: leaf for leaf in leaves}

    @cached_property
    def _parts(self) -> Parts:
        return parts(self._trie)

    @cached_property
    def _heights(self) -> Ints:
        return heights(self._trie)

    def _whole(self, leaf: LeafTables, state: int) -> View:
        name, outcomes = ball(leaf, state, self._longest)
        if len(leaf.outcome) < _SHORT:
            name = name.astype(np.int16)  # half as much to digest
        key = blake2b(name.tobytes(), digest_size=16).digest()
        row = self._rows.get(key)
        if row is None or row.words is None:
            words = np.zeros(self._words, np.uint32)
            room = self._rooms.pop() if self._rooms else _Room.of(self._trie)
            room.path[0] = state, -1
            still = stays(leaf, state, min(self._longest, _STAYING))
            count = walk_leaf(leaf, still, self._trie, self._parts, room.path, words, room.exits)
            number = np.zeros(int(leaf.outcome.max(initial=0)) + 1, np.int32)
            number[outcomes] = np.arange(len(outcomes))
            exits = room.exits[:count].copy()
            self._rooms.append(room)
            if count:
                exits[:, 1] = number[exits[:, 1]]
            row = LeafRow(words, exits, *self._merged(exits))
            self._rows.put(key, row)
        return View(row, outcomes, _NO_NODES, _NO_NODES, _NO_EXITS)

    def _merged(self, exits: Ints) -> tuple[Trie, Ints]:
        """See `merge`: strings are left in the same places whatever their bounds and patterns are."""
        key = exits.tobytes()
        found = self._forests.get(key)
        if found is None:
            found = trees, roots = merge(self._trie, exits)
            size = len(key) + roots.nbytes + sum(array.nbytes for array in trees)
            self._forests.put(key, found, size)
        return found

    def _beside(
        self, leaf: LeafTables, states: tuple[int, int], known: View, like: LeafSimilarity
    ) -> View:
        """Of the first of two states, by the view of the second, of the same leaf or that of any string."""
        beside = ReferenceLeaf(leaf, like.twin, like.bytes, like.meaning, self._heights)
        outcomes = known.outcomes
        if like.plain is not None:
            plain = self._plain[like.plain.fingerprint]
            beside = beside._replace(leaf=_tables(plain, plain.all))
            outcomes = like.meaning[outcomes]
        room = self._rooms.pop() if self._rooms else _Room.of(self._trie)
        room.path[0] = states
        drops, adds, count = walk_beside(leaf, beside, self._trie, *room)
        view = View(
            known.row,
            outcomes,
            room.dropped[:drops].copy(),
            room.added[:adds].copy(),
            room.exits[:count].copy(),
        )
        self._rooms.append(room)
        return view


class _Room(NamedTuple):
    """Where a walk writes; for one thread at a time."""

    path: Ints
    dropped: Ints
    added: Ints
    exits: Ints

    @classmethod
    def of(cls, trie: Trie) -> "_Room":
        nodes, longest = len(trie.byte), int(trie.depth.max(initial=0))
        return cls(
            np.empty((longest + 1, 2), np.int32),
            np.empty(nodes, np.int32),
            np.empty(nodes, np.int32),
            np.empty((nodes, 3), np.int32),
        )


def _tables(leaf: Leaf, alive: Bytes) -> LeafTables:
    dfa = leaf.dfa
    return LeafTables(dfa.table, dfa.outcome, dfa.class_of, leaf.over, alive)


def _likely(leaf: Leaf, like: LeafSimilarity, state: int, inside: int) -> bool:
    """Whether a state is like one inside of any string, now or after most bytes, for some time."""
    if state == 0 and like.twin[0] == 0:
        state = leaf.dfa.step(0, _QUOTE)
    if state < 0 or like.twin[state] != inside:
        return False
    common = _common(leaf, state)
    after = int(like.bytes[common]) if common >= 0 and like.twin[common] == inside else 0
    return max(int(like.bytes[state]), after) >= ALIKE


def _common(leaf: Leaf, state: int) -> int:
    return int(common_target(leaf.dfa.table, leaf.dfa.class_of, state))
