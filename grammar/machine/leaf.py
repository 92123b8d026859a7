"""A leaf of a machine: an automaton, the place of its copy in the tables, and facts about its states.

Does: determine in which states a text is over, where a shared mask pays, and which states are alive when only some
outcomes count. Does not: walk tokens (`leaf_walk`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..automata import Dfa
from ..base.array_types import Bytes, Flags, Ints
from ..jit.kernel import kernel
from .lazy_tables import (
    ALPHABET,
    DEAD,
    ENDED,
    LEAF,
    LEAVE,
    MANY_BYTES,
    NEAR,
    OUTCOME,
    ROW,
    SPAN,
    STATE_COLUMNS,
)
from .leaf_similarity import LeafSimilarity, identity, similarity_to_any_string
from .unique_prefixes import UniquePrefixes

_STATE_BYTES: Final = 24  # facts about a state, without its arcs
_PYTHON_BYTES: Final = 6_000  # Python objects of a leaf, without its arrays
# States: in leaves up to this size, masks one byte before such a state are shared as well.
_SMALL: Final = 256


@kernel
def _arcs(table: Ints) -> tuple[Ints, Ints]:
    """(first, target): `target[first[s] : first[s + 1]]` are the distinct successors of state s."""
    first = np.zeros(len(table) + 1, np.int32)
    target = np.empty(table.size, np.int32)
    stamp = np.full(len(table), -1, np.int32)
    count = 0
    for s in range(len(table)):
        for c in range(table.shape[1]):
            t = table[s, c]
            if t >= 0 and stamp[t] != s:
                stamp[t] = s
                target[count] = t
                count += 1
        first[s + 1] = count
    return first, target[:count].copy()


@kernel
def _facts(table: Ints, outcome: Ints, class_of: Ints) -> tuple[Flags, Flags]:
    """For each state: whether a text has ended there and cannot go on; whether it is `NEAR` (see `lazy_tables`)."""
    count, width = table.shape
    sizes = np.zeros(width + 1, np.int32)
    for c in class_of:
        sizes[c] += 1  # class -1 is counted in the last element, which is not used
    over, near = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    many = np.zeros(count, np.bool_)
    for s in range(count):
        open_bytes, some = 0, False
        for c in range(width):
            if table[s, c] >= 0:
                open_bytes += sizes[c]
                some = True
        many[s] = open_bytes >= MANY_BYTES
        over[s] = outcome[s] >= 0 and not some
    for s in range(count):
        near[s] = many[s]
        if count <= _SMALL:
            for c in range(width):
                near[s] = near[s] or (table[s, c] >= 0 and many[table[s, c]])
    return over, near


@kernel
def _copied(
    table: Ints, outcome: Ints, facts: tuple[Flags, Flags], base: int, first: int
) -> tuple[Ints, Ints]:
    """(cells, states) of the copy of an automaton from state `base` and cell `first` on; see `Leaf.copied`."""
    over, near = facts
    count, width = table.shape
    cells = np.empty((count, width + 1), np.int32)
    states = np.empty((count, STATE_COLUMNS), np.int32)
    for s in range(count):
        default = DEAD if outcome[s] < 0 else LEAVE
        cells[s, width] = default
        for c in range(width):
            t = table[s, c]
            cells[s, c] = default if t < 0 else ENDED - outcome[t] if over[t] else base + t
        states[s, ROW] = first + s * (width + 1)
        states[s, ALPHABET] = -1
        states[s, OUTCOME] = outcome[s]
        states[s, LEAF] = -1
        states[s, NEAR] = near[s]
        states[s, SPAN] = -1
    return cells, states


@kernel
def _alive(first: Ints, target: Ints, outcome: Ints, counts: Bytes) -> Bytes:
    """1 for each state from which an outcome that counts can be reached."""
    alive = np.zeros(len(outcome), np.uint8)
    for s in range(len(outcome)):
        if outcome[s] >= 0:
            alive[s] = counts[outcome[s]]
    changed = True
    while changed:
        changed = False
        for s in range(len(outcome) - 1, -1, -1):
            at = first[s]
            while alive[s] == 0 and at < first[s + 1]:
                if alive[target[at]] != 0:
                    alive[s] = 1
                    changed = True
                at += 1
    return alive


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf: state s of `dfa` is state `base` + s of the machine. `chosen`: only some outcomes count at its calls."""

    dfa: Dfa
    base: int
    chosen: bool = False

    @cached_property
    def all(self) -> Bytes:
        """uint8 [states]: all 1."""
        return np.ones(self.dfa.states, np.uint8)

    @property
    def held_bytes(self) -> int:
        """Estimated memory held, without the copy, which belongs to the machine."""
        return self.dfa.size_bytes + _STATE_BYTES * self.dfa.states + _PYTHON_BYTES

    @cached_property
    def _facts(self) -> tuple[Flags, Flags]:
        return _facts(self.dfa.table, self.dfa.outcome, self.dfa.class_of)

    @property
    def over(self) -> Flags:
        """bool [states]: a text has ended there and cannot go on."""
        return self._facts[0]

    def copied(self, first: int, alphabet: int, number: int) -> tuple[Ints, Ints]:
        """(cells, states) of the copy, with cells from `first` on; see `lazy_tables`.

        Arcs to an end that takes no further byte become `ENDED`, so that the leaf ends at once.
        """
        cells, states = _copied(self.dfa.table, self.dfa.outcome, self._facts, self.base, first)
        states[:, ALPHABET], states[:, LEAF] = alphabet, number
        return cells, states

    @property
    def alphabet(self) -> Ints:
        """int32 [256]: the class of each byte in the copy; the last class holds the bytes that never occur."""
        class_of = self.dfa.class_of
        return np.where(class_of >= 0, class_of, self.dfa.table.shape[1]).astype(np.int32)

    @cached_property
    def similarity(self) -> LeafSimilarity:
        """How similar its states are to those of the leaf of any string."""
        return similarity_to_any_string(self.dfa, self.over)

    @cached_property
    def identity(self) -> LeafSimilarity:
        """The similarity of each state to itself."""
        return identity(self.dfa)

    def wide(self, state: int, alive: Bytes) -> bool:
        """Whether many bytes are legal in a state, if only the states in `alive` may be reached."""
        class_of, row = self.dfa.class_of, self.dfa.table[state]
        open_classes = np.append((row >= 0) & (alive[row] != 0), False)
        return int(open_classes[class_of].sum()) >= MANY_BYTES

    @cached_property
    def unique_prefixes(self) -> UniquePrefixes:
        """Its unique prefixes."""
        return UniquePrefixes(self.dfa, self.alive)

    @cached_property
    def _arcs(self) -> tuple[Ints, Ints]:
        return _arcs(self.dfa.table)

    def alive(self, counts: Bytes) -> Bytes:
        """uint8 [states]: 1 where an outcome o with `counts[o]` can be reached."""
        return _alive(*self._arcs, self.dfa.outcome, counts)

    @cached_property
    def rest(self) -> int:
        """An outcome that can be reached from every state that can go on; -1 if there is none.

        In the leaf of an object's property names, it is the outcome of the names that the schema does not mention.
        """
        last = self.dfa.outcomes[-1]
        counts = np.zeros(last + 1, np.uint8)
        counts[last] = 1
        return last if self.alive(counts)[~self.over].all() else -1
