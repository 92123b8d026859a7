"""A leaf as the machine holds it: an automaton, where its copy begins, and what walks ask of it beforehand.

Does: tell in which states a text is over, in which a row that is kept pays, and which states still count when only some
outcomes do. Does not: walk (`leaf_walk`).
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
    STATE_COLUMNS,
)
from .leaf_similarity import LeafSimilarity, identity, likeness
from .unique_prefixes import Endings

_STATE_BYTES: Final = 24  # what is known of a state besides its arcs
_PYTHON_BYTES: Final = 6_000  # of a leaf besides its arrays
_SMALL: Final = 256  # states of a leaf up to which rows before such a state are kept, too


@kernel
def _arcs(table: Ints) -> tuple[Ints, Ints]:
    """(first, target): the different states that state s leads to are `target[first[s] : first[s + 1]]`."""
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
    """Of each state: whether a text has ended there and cannot go on; whether it is `NEAR` (see `tables`)."""
    count, width = table.shape
    sizes = np.zeros(width + 1, np.int32)
    for c in class_of:
        sizes[c] += 1  # those of class -1 are counted last, where nobody looks
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
    """(cells, states) of a machine that holds a copy from state `base` and cell `first` on; see `Leaf.copied`."""
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
    return cells, states


@kernel
def _alive(first: Ints, target: Ints, outcome: Ints, counts: Bytes) -> Bytes:
    """1 for each state from which an end is in reach whose outcome counts."""
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
    """State s of the automaton is state `base` + s of the machine; `chosen`: only some outcomes count at its calls."""

    dfa: Dfa
    base: int
    chosen: bool = False

    @cached_property
    def all(self) -> Bytes:
        """uint8 [states]: all 1."""
        return np.ones(self.dfa.states, np.uint8)

    @property
    def held_bytes(self) -> int:
        """Memory held, by estimate; the copy is the machine's."""
        return self.dfa.size_bytes + _STATE_BYTES * self.dfa.states + _PYTHON_BYTES

    @cached_property
    def _facts(self) -> tuple[Flags, Flags]:
        return _facts(self.dfa.table, self.dfa.outcome, self.dfa.class_of)

    @property
    def over(self) -> Flags:
        """bool [states]: a text has ended there and cannot go on."""
        return self._facts[0]

    def copied(self, first: int, alphabet: int, number: int) -> tuple[Ints, Ints]:
        """(cells, states) of its copy, whose cells begin at `first`; see `tables`.

        An end that takes no further byte is turned into `ENDED` on the arcs that lead there, so it ends at once.
        """
        cells, states = _copied(self.dfa.table, self.dfa.outcome, self._facts, self.base, first)
        states[:, ALPHABET], states[:, LEAF] = alphabet, number
        return cells, states

    @property
    def alphabet(self) -> Ints:
        """int32 [256]: the class of each byte in the copy, the last one for those that never occur."""
        class_of = self.dfa.class_of
        return np.where(class_of >= 0, class_of, self.dfa.table.shape[1]).astype(np.int32)

    @cached_property
    def likeness(self) -> LeafSimilarity:
        """How far its states fare like any string."""
        return likeness(self.dfa, self.over)

    @cached_property
    def identity(self) -> LeafSimilarity:
        """Each state is like itself."""
        return identity(self.dfa)

    def wide(self, state: int, alive: Bytes) -> bool:
        """Whether many bytes can come in a state if only those states count that are `alive`."""
        class_of, row = self.dfa.class_of, self.dfa.table[state]
        open_classes = np.append((row >= 0) & (alive[row] != 0), False)
        return int(open_classes[class_of].sum()) >= MANY_BYTES

    @cached_property
    def endings(self) -> Endings:
        """Where its texts are completed in one way only."""
        return Endings(self.dfa, self.alive)

    @cached_property
    def _arcs(self) -> tuple[Ints, Ints]:
        return _arcs(self.dfa.table)

    def alive(self, counts: Bytes) -> Bytes:
        """uint8 [states]: 1 where an outcome o with `counts[o]` is in reach."""
        return _alive(*self._arcs, self.dfa.outcome, counts)

    @cached_property
    def rest(self) -> int:
        """An outcome that is in reach from every state that can go on; -1 if there is none.

        In the leaf of an object's names it is that of names the schema does not mention.
        """
        last = self.dfa.outcomes[-1]
        counts = np.zeros(last + 1, np.uint8)
        counts[last] = 1
        return last if self.alive(counts)[~self.over].all() else -1
