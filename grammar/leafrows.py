"""Rows of leaf states, shared by all grammars of a vocabulary.

Does: name states by what tokens can tell of them, so that equal ones share a row whatever leaf or grammar they come
from; derive the row of a state from that of the state most of its bytes lead to. Does not: go on behind a leaf
(`masking`).
"""

from collections.abc import Hashable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np

from .automata.minimal import Ints
from .embedded import Leaf
from .forest import merge
from .rows import Kept, LeafRow
from .tables import Bytes
from .trie import Trie
from .walk_leaf import LeafTables, ball, common_target, walk_beside, walk_leaf

_NO_NODES: Final = np.empty(0, np.int32)
_NO_EXITS: Final = np.empty((0, 3), np.int32)


@dataclass(slots=True, eq=False)
class View:
    """What is legal from one state of a leaf: a shared row, but for what is `dropped`, `added`, and exits of its own.

    `outcomes`: of each outcome in the row, the leaf's own.
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
            self.outcomes.nbytes + self.dropped.nbytes + self.added.nbytes + self.exits.nbytes + 400
        )

    def drop(self) -> None:
        """Nothing to let go that others hold."""

    @property
    def roots(self) -> Ints:
        """The exits of the row, as roots of its trees, with the leaf's own outcomes."""
        return self._own(self.row.roots)

    def all_exits(self, trie: Trie) -> Ints:
        """All exits as places in the vocabulary's trie."""
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
        self._views: Kept[View] = Kept(most_bytes // 8)
        self._rows: Kept[LeafRow] = Kept(most_bytes - most_bytes // 8)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._views.nbytes + self._rows.nbytes

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
        states = leaf.all if alive is None else alive
        tables = LeafTables(dfa.table, dfa.outcome, dfa.class_of, leaf.over, states)
        common = int(common_target(dfa.table, dfa.class_of, state)) if alive is None else -1
        if common in (state, -1) or int(common_target(dfa.table, dfa.class_of, common)) != common:
            return self._whole(tables, state)
        return self._beside(tables, state, self.view(leaf, common, alive), common)

    def _path(self, state: int, known: int) -> Ints:
        path = np.empty((self._longest + 1, 2), np.int32)
        path[0] = state, known
        return path

    def _whole(self, leaf: LeafTables, state: int) -> View:
        name, outcomes = ball(leaf, state, self._longest)
        key = blake2b(name.tobytes(), digest_size=16).digest()
        row = self._rows.get(key)
        if row is None or row.words is None:
            words = np.zeros(self._words, np.uint32)
            exits = np.empty((len(self._trie.byte), 3), np.int32)
            count = walk_leaf(leaf, self._trie, self._path(state, -1), words, exits)
            number = np.zeros(int(leaf.outcome.max(initial=0)) + 1, np.int32)
            number[outcomes] = np.arange(len(outcomes))
            exits = exits[:count].copy()
            if count:
                exits[:, 1] = number[exits[:, 1]]
            row = LeafRow(words, exits, *merge(self._trie, exits))
            self._rows.put(key, row)
        return View(row, outcomes, _NO_NODES, _NO_NODES, _NO_EXITS)

    def _beside(self, leaf: LeafTables, state: int, known: View, common: int) -> View:
        nodes = len(self._trie.byte)
        dropped, added = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
        exits = np.empty((nodes, 3), np.int32)
        path = self._path(state, common)
        drops, adds, count = walk_beside(leaf, self._trie, path, dropped, added, exits)
        return View(
            known.row,
            known.outcomes,
            dropped[:drops].copy(),
            added[:adds].copy(),
            exits[:count].copy(),
        )
