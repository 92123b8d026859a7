"""The cache of rows of leaf states, shared by all grammars of a vocabulary.

Does: identify states that no token can tell apart, so that they share a row across leaves and grammars; derive the row
of a state from the row of a similar state. Does not: continue after the end of a leaf (`compute_row`).
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
from ..base.bounded_cache import BoundedCache
from ..leaves.strings import any_string
from ..machine.leaf import Leaf
from ..machine.leaf_similarity import ALIKE, LeafSimilarity, similarity_within, surely_unlike
from .continuations import merge
from .leaf_closure import stay_bounds, subtrees
from .leaf_walk import (
    LeafTables,
    ReferenceLeaf,
    Subtrees,
    common_target,
    neighbourhood,
    walk_difference,
    walk_leaf,
)
from .row_cache import LeafRow, RowCache
from .trie import Trie, heights

_SPELLINGS: Final = (Spelling.JSON_CANONICAL, Spelling.JSON)
_QUOTE: Final = ord('"')
_SHORT: Final = 1 << 14  # number of states below which a canonical form fits into int16
_LONGEST_STAY: Final = 24  # bytes that stay bounds cover; longer tokens are walked
# By leaf: dissimilar states that take the same bytes, from which rows of other states are derived.
_MOST_SEEDS: Final = 4
_PYTHON_BYTES: Final = 1500  # the Python objects of a view
_NO_NODES: Final = np.empty(0, np.int32)
_NO_EXITS: Final = np.empty((0, 3), np.int32)


class ViewArrays:
    """The arrays of a view with their addresses, as `compute_row.find_row` takes them."""

    def __init__(self, *arrays: Ints | Bytes) -> None:
        """The five arrays of the trees of continuations; their roots, all other exits, nodes dropped, nodes added."""
        self._held = arrays
        self.addresses = addresses(*arrays)


@dataclass(eq=False)
class View:
    """The legal tokens from one state of a leaf: a shared row, with differences at some nodes of the vocabulary's trie.

    `outcomes` int32: the leaf's outcome for each outcome of the row. The row does not hold at and below the nodes
    `dropped`; tokens at the nodes `added` stay inside; `exits` int32 [n, 3] are the leaf's additional exits (see
    `LeafRow`).
    """

    row: LeafRow
    outcomes: Ints
    dropped: Ints
    added: Ints
    exits: Ints

    @property
    def nbytes(self) -> int:
        """Memory held, without the row."""
        return (
            self.outcomes.nbytes
            + self.dropped.nbytes
            + self.added.nbytes
            + self.exits.nbytes
            + _PYTHON_BYTES
        )

    def drop(self) -> None:
        """Do nothing: the memory is freed with the last reference."""

    @property
    def bare(self) -> bool:
        """Whether the view equals its row, without differences."""
        return not (len(self.dropped) or len(self.added) or len(self.exits))

    @cached_property
    def arrays(self) -> ViewArrays:
        """The arrays for `find_row`; the exits of the row are the roots of its trees."""
        roots = self._own(self.row.roots)
        return ViewArrays(*self.row.trees, roots, self.exits, self.dropped, self.added)

    def judged_arrays(self, trie: Trie) -> ViewArrays:
        """Like `arrays`, for a leaf that is judged by its text: each exit is a separate one, none is merged."""
        exits = self.all_exits(trie)
        return ViewArrays(*self.row.trees, _NO_EXITS, exits, self.dropped, self.added)

    def all_exits(self, trie: Trie) -> Ints:
        """int32 [n, 3]: all exits, as nodes of the vocabulary's trie."""
        known = self._own(self.row.exits)
        # Dropped subtrees come in ascending order; one may contain another.
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


class LeafCache:
    """Makes and caches the views and rows of leaf states.

    An eighth of `most_bytes` bounds the views, the rest bounds the rows.
    """

    def __init__(self, trie: Trie, words: int, most_bytes: int) -> None:
        self._trie = trie
        self._words = words
        self._longest = int(trie.depth.max(initial=0))
        self._views: RowCache[View] = RowCache(most_bytes // 8)
        self._free: list[_LeafBuffers] = []
        self._seeds: BoundedCache[bytes, tuple[int, ...]] = BoundedCache()
        self._continuations: BoundedCache[bytes, tuple[Trie, Ints]] = BoundedCache()
        self._rows: RowCache[LeafRow] = RowCache(most_bytes - most_bytes // 8)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return sum(
            each.nbytes for each in (self._views, self._rows, self._seeds, self._continuations)
        )

    def view(self, leaf: Leaf, state: int, alive: Bytes | None) -> View:
        """The view of a state of a leaf; `alive` uint8 [states] marks the states that may be entered, None: all."""
        key: Hashable = (leaf.dfa.fingerprint, state, None if alive is None else alive.tobytes())
        view = self._views.get(key)
        if view is None or view.row.words is None:
            view = self._make(leaf, state, alive)
            self._views.put(key, view)
        return view

    def _make(self, leaf: Leaf, state: int, alive: Bytes | None) -> View:
        """Derive a view from a similar state where there is one; else walk the vocabulary."""
        dfa = leaf.dfa
        tables = _tables(leaf, leaf.all if alive is None else alive)
        common = _common(leaf, state) if alive is None else -1
        if common not in (state, -1) and _common(leaf, common) == common:
            view = self.view(leaf, common, alive)
            if view.bare:
                return self._derive(tables, (state, common), view, leaf.identity)
        if alive is None and common != state and self._may_be_plain(leaf, state):
            like = leaf.similarity
            assert like.plain is not None
            inside = like.plain.step(0, _QUOTE)
            if _is_like_plain(leaf, like, state, inside):
                twin = int(like.twin[state])
                view = self.view(self._plain[like.plain.fingerprint], twin, None)
                return self._derive(tables, (state, twin), view, like)
        for other in self._similar_states(leaf, state) if alive is None else ():
            like, view = similarity_within(dfa, state, other), self.view(leaf, other, None)
            if like.bytes[state] >= ALIKE and view.bare:
                return self._derive(tables, (state, other), view, like)
        return self._walk(tables, state)

    def _may_be_plain(self, leaf: Leaf, state: int) -> bool:
        """Whether a state may be similar to one of a leaf for any string; False for a state of such a leaf itself.

        A quick test before `Leaf.similarity`, which takes long.
        """
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

    def _similar_states(self, leaf: Leaf, state: int) -> list[int]:
        """At most one earlier state of a leaf that takes the same bytes and may be similar."""
        dfa = leaf.dfa
        if not leaf.wide(state, leaf.all):
            return []
        taken = np.append(dfa.table[state] >= 0, dfa.outcome[state] >= 0)
        key = dfa.fingerprint + taken.tobytes()
        known = self._seeds.get(key) or ()
        others = [other for other in known if not surely_unlike(dfa, state, dfa, other)]
        if state not in known and not others and len(known) < _MOST_SEEDS:
            self._seeds.put(key, (*known, state), len(key))
        return [other for other in others[:1] if other != state]

    @cached_property
    def _plain(self) -> dict[bytes, Leaf]:
        """The leaves that accept any string, by the fingerprint of their automaton."""
        leaves = [Leaf(any_string(spelling), 0) for spelling in _SPELLINGS]
        return {leaf.dfa.fingerprint: leaf for leaf in leaves}

    @cached_property
    def _subtrees(self) -> Subtrees:
        return subtrees(self._trie)

    @cached_property
    def _heights(self) -> Ints:
        return heights(self._trie)

    def _walk(self, leaf: LeafTables, state: int) -> View:
        """Compute a view by a walk from scratch, unless a state with an equal form has a row already."""
        form, outcomes = neighbourhood(leaf, state, self._longest)
        if len(leaf.outcome) < _SHORT:
            form = form.astype(np.int16)  # half as much to digest
        key = blake2b(form.tobytes(), digest_size=16).digest()
        row = self._rows.get(key)
        if row is None or row.words is None:
            words = np.zeros(self._words, np.uint32)
            buffers = self._free.pop() if self._free else _LeafBuffers.of(self._trie)
            buffers.path[0] = state, -1
            bounds = stay_bounds(leaf, state, min(self._longest, _LONGEST_STAY))
            count = walk_leaf(
                leaf, bounds, self._trie, self._subtrees, buffers.path, words, buffers.exits
            )
            number = np.zeros(int(leaf.outcome.max(initial=0)) + 1, np.int32)
            number[outcomes] = np.arange(len(outcomes))
            exits = buffers.exits[:count].copy()
            self._free.append(buffers)
            if count:
                exits[:, 1] = number[exits[:, 1]]
            row = LeafRow(words, exits, *self._merged(exits))
            self._rows.put(key, row)
        return View(row, outcomes, _NO_NODES, _NO_NODES, _NO_EXITS)

    def _merged(self, exits: Ints) -> tuple[Trie, Ints]:
        """`merge`, cached by exits: strings with different bounds and patterns often have the same exits."""
        key = exits.tobytes()
        found = self._continuations.get(key)
        if found is None:
            found = trees, roots = merge(self._trie, exits)
            size = len(key) + roots.nbytes + sum(array.nbytes for array in trees)
            self._continuations.put(key, found, size)
        return found

    def _derive(
        self, leaf: LeafTables, states: tuple[int, int], known: View, like: LeafSimilarity
    ) -> View:
        """The view of the first state of `states`, derived from the view `known` of the second one.

        The second is a state of the same leaf, or of a leaf that accepts any string.
        """
        reference = ReferenceLeaf(leaf, like.twin, like.bytes, like.meaning, self._heights)
        outcomes = known.outcomes
        if like.plain is not None:
            plain = self._plain[like.plain.fingerprint]
            reference = reference._replace(leaf=_tables(plain, plain.all))
            outcomes = like.meaning[outcomes]
        buffers = self._free.pop() if self._free else _LeafBuffers.of(self._trie)
        buffers.path[0] = states
        drops, adds, count = walk_difference(leaf, reference, self._trie, *buffers)
        view = View(
            known.row,
            outcomes,
            buffers.dropped[:drops].copy(),
            buffers.added[:adds].copy(),
            buffers.exits[:count].copy(),
        )
        self._free.append(buffers)
        return view


class _LeafBuffers(NamedTuple):
    """Working arrays of a walk inside a leaf, for one thread at a time."""

    path: Ints  # [longest token + 1, 2]
    dropped: Ints  # [nodes]
    added: Ints  # [nodes]
    exits: Ints  # [nodes, 3]

    @classmethod
    def of(cls, trie: Trie) -> "_LeafBuffers":
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


def _is_like_plain(leaf: Leaf, like: LeafSimilarity, state: int, inside: int) -> bool:
    """Whether a state, or its most common successor, behaves for `ALIKE` bytes like the inside of any string."""
    if state == 0 and like.twin[0] == 0:
        state = leaf.dfa.step(0, _QUOTE)
    if state < 0 or like.twin[state] != inside:
        return False
    common = _common(leaf, state)
    after = int(like.bytes[common]) if common >= 0 and like.twin[common] == inside else 0
    return max(int(like.bytes[state]), after) >= ALIKE


def _common(leaf: Leaf, state: int) -> int:
    return int(common_target(leaf.dfa.table, leaf.dfa.class_of, state))
