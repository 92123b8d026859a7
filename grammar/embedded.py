"""A leaf as the machine holds it: an automaton, where its copy begins, and what walks ask of it beforehand.

Does: tell which states are over, from which a kept row pays, and which still count when only some outcomes do. Does
not: walk (`walk_leaf`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from .automata import Dfa
from .automata.jit import kernel
from .automata.minimal import Flags, Ints
from .likeness import Likeness, identity, likeness
from .tables import Bytes

_MANY: Final = (
    24  # bytes that can come next, from which on a state lets a good part of the vocabulary through
)
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


@kernel
def _only_ending(table: Ints, class_of: Ints, outcome: Ints, state: int, text: Bytes) -> int:
    """See `Leaf.only_ending`: the length of the beginning, or -1."""
    size = len(text)
    forced = np.zeros(size + 1, np.bool_)
    for i in range(size + 1):
        ways = 0
        for byte in range(256):
            if class_of[byte] >= 0 and table[state, class_of[byte]] >= 0:
                ways += 1
        if i == size and outcome[state] >= 0:
            break
        forced[i] = ways == 1 and outcome[state] < 0
        c = class_of[text[i]] if i < size else -1
        state = table[state, c] if c >= 0 else -1
        if state < 0:
            return -1
    begun = size
    while begun > 1 and forced[begun - 1]:
        begun -= 1
    if ways == 0:
        return begun if begun < size else -1
    for byte in (48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 46, 101, 69):
        if class_of[byte] >= 0 and table[state, class_of[byte]] >= 0:
            return -1
    return begun


@dataclass(frozen=True, eq=False)
class Leaf:
    """State s of the automaton is state `base` + s of the machine."""

    dfa: Dfa
    base: int

    @cached_property
    def all(self) -> Bytes:
        """uint8 [states]: all 1."""
        return np.ones(self.dfa.states, np.uint8)

    @cached_property
    def over(self) -> Flags:
        """bool [states]: a text has ended there and cannot go on."""
        return (self.dfa.outcome >= 0) & (self.dfa.table < 0).all(axis=1)

    @cached_property
    def near(self) -> Flags:
        """bool [states]: many bytes can come, now or after one more."""
        class_of = self.dfa.class_of
        sizes = np.bincount(class_of[class_of >= 0], minlength=self.dfa.table.shape[1])
        many = (self.dfa.table >= 0) @ sizes >= _MANY
        if self.dfa.states <= _SMALL:
            many = many | np.append(many, False)[self.dfa.table].any(axis=1)
        near: Flags = many
        return near

    @cached_property
    def likeness(self) -> Likeness:
        """How far its states fare like any string."""
        return likeness(self.dfa, self.over)

    @cached_property
    def identity(self) -> Likeness:
        """Each state is like itself."""
        return identity(self.dfa)

    def wide(self, state: int, alive: Bytes) -> bool:
        """Whether many bytes can come in a state if only those states count that are `alive`."""
        class_of, row = self.dfa.class_of, self.dfa.table[state]
        open_classes = np.append((row >= 0) & (alive[row] != 0), False)
        return int(open_classes[class_of].sum()) >= _MANY

    def only_ending(self, state: int, text: bytes) -> bytes | None:
        """The shortest beginning of a text, read from a state on, that nothing else completes; None: see `tails`."""
        dfa, said = self.dfa, np.frombuffer(text, np.uint8).copy()
        size = int(_only_ending(dfa.table, dfa.class_of, dfa.outcome, state, said))
        return None if size < 0 else text[:size]

    @cached_property
    def _arcs(self) -> tuple[Ints, Ints]:
        return _arcs(self.dfa.table)

    def alive(self, counts: Bytes) -> Bytes:
        """uint8 [states]: 1 where an outcome o with `counts[o]` is in reach."""
        return _alive(*self._arcs, self.dfa.outcome, counts)
