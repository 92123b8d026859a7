"""Deterministic finite automata as flat integer tables: the leaves of every grammar.

Does: hold an automaton in canonical form (minimal, trimmed, numbered breadth first) and answer questions about it. Does
not: combine automata (`algebra`), build them (`construct`, `nfa`), turn characters into bytes (`encode`).

The alphabet is 0 to `top` - 1, cut into intervals: bytes (`BYTES`) or code points (`CODE_POINTS`). Interval `i` runs
from `bounds[i]` to the next bound and belongs to class `classes[i]`; class -1 occurs in no text of the language.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from ..base.array_types import Ints
from ..contract.work import AUTOMATON, CELL_PART, spend
from ..jit.kernel import kernel
from .minimal import canonical_form, depths, distances

BYTES: Final = 256
CODE_POINTS: Final = 0x110000
REFUSED: Final = -1  # in `outcome`: the text may not end here

_SHORT: Final = 1 << 15  # states with numbers that fit into two bytes

DfaTables = tuple[Ints, Ints, Ints, Ints]
"""The `bounds`, `classes`, `table` and `outcome` of a `Dfa`, as arguments of compiled code."""


@kernel
def _class_of(bounds: Ints, classes: Ints, top: int) -> Ints:
    """The class of every symbol."""
    found = np.empty(top, np.int32)
    for i in range(len(bounds)):
        found[bounds[i] : bounds[i + 1] if i + 1 < len(bounds) else top] = classes[i]
    return found


@kernel
def _used(outcome: Ints) -> Ints:
    """The outcomes that occur, ascending."""
    used = np.zeros(outcome.max() + 1, np.bool_)
    for o in outcome:
        if o >= 0:
            used[o] = True
    return np.flatnonzero(used).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Dfa:
    """A deterministic automaton; state 0 is the start.

    Build it with `canonical`: then `fingerprint` is equal for equal languages.

    Attributes:
        top: size of the alphabet, `BYTES` or `CODE_POINTS`.
        bounds: int32 [intervals], ascending from 0.
        classes: int32 [intervals], class of each interval or -1.
        table: int32 [states, classes], the next state or -1.
        outcome: int32 [states], outcome (0 or more) of a text that ends in the state, or `REFUSED`.
    """

    top: int
    bounds: Ints
    classes: Ints
    table: Ints
    outcome: Ints

    def __post_init__(self) -> None:
        """Charge the work of filling the table."""
        spend(AUTOMATON + self.table.size // CELL_PART)

    @property
    def tables(self) -> DfaTables:
        """All tables that compiled code needs."""
        return self.bounds, self.classes, self.table, self.outcome

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.outcome)

    @property
    def empty(self) -> bool:
        """Whether the language has no text."""
        return self.states == 1 and self.outcome[0] < 0

    @property
    def size_bytes(self) -> int:
        """Bytes of the tables."""
        return self.table.nbytes + self.outcome.nbytes + self.bounds.nbytes + self.classes.nbytes

    @cached_property
    def class_of(self) -> Ints:
        """int32 [top]: class of every symbol. Meant for byte automata."""
        return _class_of(self.bounds, self.classes, self.top)

    @cached_property
    def fingerprint(self) -> bytes:
        """A 16-byte digest; equal exactly when the languages and outcomes are."""
        shape = np.array([self.top, len(self.bounds), *self.table.shape], np.int32)
        # Two bytes a state number where they suffice: half as much to digest.
        table = self.table.astype(np.int16) if self.states < _SHORT else self.table
        arrays = (shape, self.bounds, self.classes, self.outcome, table)
        return blake2b(b"".join([a.tobytes() for a in arrays]), digest_size=16).digest()

    @cached_property
    def outcomes(self) -> tuple[int, ...]:
        """The outcomes of all texts, ascending."""
        return tuple(_used(self.outcome).tolist())

    @cached_property
    def distance(self) -> Ints:
        """int32 [states]: fewest symbols from each state to an accepting one; -1 only in the empty language."""
        return distances(self.table, self.outcome >= 0)

    @cached_property
    def least(self) -> Mapping[int, int]:
        """For each outcome, the length of its shortest text."""
        depth = depths(self.table)
        return {o: int(depth[self.outcome == o].min()) for o in self.outcomes}

    def step(self, state: int, symbol: int) -> int:
        """The next state, or -1."""
        c = self.classes[self.bounds.searchsorted(symbol, "right") - 1]
        return int(self.table[state, c]) if c >= 0 else -1

    def judge(self, symbols: Iterable[int]) -> int:
        """The outcome of a whole text, or `REFUSED`."""
        state = 0
        for symbol in symbols:
            state = self.step(state, symbol)
            if state < 0:
                return REFUSED
        return int(self.outcome[state])

    def shortest(self) -> tuple[int, ...] | None:
        """A shortest text of the language, with the smallest symbol at each step; None if there is none."""
        if self.empty:
            return None
        first = np.full(self.table.shape[1], -1, np.int64)
        for low, c in zip(self.bounds[::-1], self.classes[::-1], strict=True):
            if c >= 0:
                first[c] = low
        state, text = 0, []
        while self.distance[state] > 0:
            row = self.table[state]
            nearer = np.flatnonzero((row >= 0) & (self.distance[row] == self.distance[state] - 1))
            c = nearer[np.argmin(first[nearer])]
            text.append(int(first[c]))
            state = int(row[c])
        return tuple(text)

    def restrict(self, outcomes: Iterable[int]) -> "Dfa":
        """The texts with one of these outcomes."""
        keep = np.isin(self.outcome, np.fromiter(outcomes, np.int32))
        return (
            self
            if bool((keep == (self.outcome >= 0)).all())
            else _with(self, np.where(keep, self.outcome, REFUSED))
        )

    def relabel(self, names: Mapping[int, int]) -> "Dfa":
        """The same texts with other outcomes; outcomes that are not in `names`, or map to -1, are refused."""
        wanted = [names.get(outcome, REFUSED) for outcome in self.outcomes]
        if all(new == old for new, old in zip(wanted, self.outcomes, strict=True)):
            return self
        if len(set(wanted)) == len(wanted) and REFUSED not in wanted:
            # An injective renaming keeps the automaton minimal.
            return Dfa(self.top, self.bounds, self.classes, self.table, _named(self, wanted))
        return _with(self, _named(self, wanted))

    def residual(self, state: int) -> "Dfa":
        """The language of the texts that may follow in a state."""
        order = np.arange(self.states, dtype=np.int32)
        order[[0, state]] = state, 0
        table = np.where(self.table >= 0, order[self.table], -1)[order].astype(np.int32)
        return canonical(
            self.top, self.bounds, self.classes, table, self.outcome[order], minimise=False
        )


def _named(dfa: Dfa, names: list[int]) -> Ints:
    """The outcomes of the states under new names, which are given in the order of `outcomes`."""
    new = np.full(dfa.outcomes[-1] + 2 if dfa.outcomes else 1, REFUSED, np.int32)
    new[list(dfa.outcomes)] = names
    return new[dfa.outcome]


def _with(dfa: Dfa, outcome: npt.NDArray[np.integer]) -> Dfa:
    return canonical(dfa.top, dfa.bounds, dfa.classes, dfa.table, outcome)


def canonical(
    top: int,
    bounds: Ints,
    classes: Ints,
    table: Ints,
    outcome: npt.NDArray[np.integer],
    minimise: bool = True,
) -> Dfa:
    """The canonical `Dfa` of the language that these tables recognise; the start state is 0.

    `minimise=False` is for tables that are minimal once they are trimmed and ordered.
    """
    tables = (
        np.ascontiguousarray(bounds, np.int32),
        np.ascontiguousarray(classes, np.int32),
        np.ascontiguousarray(table, np.int32),
        np.ascontiguousarray(outcome, np.int32),
    )
    return Dfa(top, *canonical_form(*tables, minimise))
