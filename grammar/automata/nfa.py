"""Nondeterministic automata (Thompson's construction) and their determinisation by subsets.

Does: concatenate, alternate, repeat and embed automata, copying counted parts by array arithmetic; make a `Dfa` of it.
Does not: know patterns (`regex`), keep more than one alphabet partition.

An arc that reads nothing may carry a guard: it is only open at the start of the text, after something was read, or
at the end of the text.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..base.array_types import Ints, Longs
from .algebra import joint_classes
from .automaton_limits import DEFAULT, AutomatonLimits
from .dfa import Dfa, canonical
from .subset import FREE, subsets


@dataclass(frozen=True, slots=True)
class NfaFragment:
    """A piece of an `Nfa`: enter at `start`, leave at `end`; nothing enters `start` or leaves `end` from within."""

    start: int
    end: int


class Mark(NamedTuple):
    """How much of an `Nfa` was there at some moment."""

    states: int
    arcs: int
    jumps: int


class Nfa:
    """A growing automaton over symbol classes 0 to `width` - 1. Parts are used once each; build them in text order."""

    def __init__(self, width: int, limits: AutomatonLimits = DEFAULT) -> None:
        self.width = width
        self.limits = limits
        self.states = 0
        self.sets: dict[frozenset[int], int] = {}
        self.arcs = (array("i"), array("i"), array("i"))  # source, set, target
        self.jumps = (array("i"), array("i"), array("i"))  # source, guard, target

    def state(self) -> int:
        """A new state."""
        self.states += 1
        if self.states & 1023 == 0:
            self.limits.check(self.states // 2)
        return self.states - 1

    def jump(self, source: int, target: int, guard: int = FREE) -> None:
        """An arc that reads nothing."""
        for column, value in zip(self.jumps, (source, guard, target), strict=True):
            column.append(value)

    def arc(self, source: int, classes: frozenset[int], target: int) -> None:
        """An arc that reads one symbol of any of `classes`."""
        number = self.sets.setdefault(classes, len(self.sets))
        for column, value in zip(self.arcs, (source, number, target), strict=True):
            column.append(value)

    def symbols(self, classes: frozenset[int]) -> NfaFragment:
        """One symbol."""
        start = self.state()
        part = NfaFragment(start, self.state())
        self.arc(part.start, classes, part.end)
        return part

    def nothing(self, guard: int = FREE) -> NfaFragment:
        """The text of no symbols, where the guard is open."""
        start = self.state()
        part = NfaFragment(start, self.state())
        self.jump(part.start, part.end, guard)
        return part

    def sequence(self, parts: Sequence[NfaFragment]) -> NfaFragment:
        """One after the other; at least one part."""
        for a, b in pairwise(parts):
            self.jump(a.end, b.start)
        return NfaFragment(parts[0].start, parts[-1].end)

    def either(self, parts: Iterable[NfaFragment]) -> NfaFragment:
        """Any one of them."""
        start = self.state()
        part = NfaFragment(start, self.state())
        for each in parts:
            self.jump(part.start, each.start)
            self.jump(each.end, part.end)
        return part

    def many(self, part: NfaFragment) -> NfaFragment:
        """Any number of times, none included."""
        whole = self.nothing()
        self.jump(whole.start, part.start)
        self.jump(part.end, part.start)
        self.jump(part.end, whole.end)
        return whole

    def mark(self) -> Mark:
        """A position to `times` from: call it right before building the part that is to be repeated."""
        return Mark(self.states, len(self.arcs[0]), len(self.jumps[0]))

    def times(self, part: NfaFragment, since: Mark, low: int, high: int | None) -> NfaFragment:
        """The part that was built after the mark `since`, `low` to `high` times (None: any number more)."""
        size = self.states - since.states
        copies = max(low, 1) if high is None else high
        if copies == 0:
            return self.nothing()
        self.limits.check((self.states + size * copies) // 2)
        self._copy(since, size, copies)
        first = np.arange(copies, dtype=np.int64) * size
        ends, starts = part.end + first, part.start + first
        self._jumps(ends[:-1], starts[1:])
        whole = NfaFragment(self.state(), self.state())
        self.jump(whole.start, part.start)
        if low == 0:
            self.jump(whole.start, whole.end)
        if high is None:
            self.jump(int(ends[-1]), int(starts[-1]))
            self.jump(int(ends[-1]), whole.end)
        else:
            leaving = ends[max(low, 1) - 1 :]
            self._jumps(leaving, np.full(len(leaving), whole.end))
        return whole

    def _copy(self, since: Mark, size: int, copies: int) -> None:
        shift = np.arange(1, copies, dtype=np.int32) * np.int32(size)
        none = np.zeros_like(shift)
        for columns, begin in ((self.arcs, since.arcs), (self.jumps, since.jumps)):
            # Source and target are other states in each copy, what is read between them is the same.
            for column, by in zip(columns, (shift, none, shift), strict=True):
                block = np.frombuffer(column, np.int32)[begin:].copy()
                column.frombytes((block[None, :] + by[:, None]).tobytes())
        self.states += size * (copies - 1)

    def _jumps(self, sources: Longs, targets: Longs) -> None:
        for column, values in zip(
            self.jumps, (sources, np.zeros_like(sources), targets), strict=True
        ):
            column.frombytes(values.astype(np.int32).tobytes())

    def embed(self, dfa: Dfa, own: Sequence[frozenset[int]]) -> NfaFragment:
        """A copy of `dfa`; `own[c]` are the classes here that make up its class c."""
        base = self.states
        self.states += dfa.states
        self.limits.check(self.states // 2)
        part = NfaFragment(self.state(), self.state())
        self.jump(part.start, base)
        numbers = np.array([self.sets.setdefault(s, len(self.sets)) for s in own], np.int32)
        s, c = np.nonzero(dfa.table >= 0)
        added = np.stack((base + s, numbers[c], base + dfa.table[s, c])).astype(np.int32)
        for column, values in zip(self.arcs, added, strict=True):
            column.frombytes(values.tobytes())
        accepting = base + np.flatnonzero(dfa.outcome >= 0)
        self._jumps(accepting, np.full(len(accepting), part.end))
        return part

    def determinise(self, part: NfaFragment, top: int, bounds: Ints, classes: Ints) -> Dfa:
        """The language of `part` over the alphabet whose intervals have these classes; outcome 0.

        Raises:
            ConstraintTooLarge: more states than the limits allow (subsets may be exponentially many).
        """
        members = np.zeros((max(len(self.sets), 1), self.width), np.bool_)
        for classes_of_set, number in self.sets.items():
            members[number, list(classes_of_set)] = True
        arcs, jumps = _by_source(self.arcs, self.states), _by_source(self.jumps, self.states)
        table, ends, count = subsets(arcs, jumps, members, part.start, part.end, self.limits.states)
        self.limits.check(count)
        outcome = np.where(ends[:count], 0, -1)
        return canonical(top, bounds, classes, table[:count], outcome)


def concatenation(automata: Sequence[Dfa], limits: AutomatonLimits = DEFAULT) -> Dfa:
    """Texts of each, one after the other; outcome 0. At least one automaton, all over one alphabet."""
    bounds, classes, own = joint_classes(automata)
    nfa = Nfa(int(classes.max()) + 1, limits)
    parts = []
    for dfa, column in zip(automata, own, strict=True):
        sets = [frozenset(np.flatnonzero(column == c).tolist()) for c in range(dfa.table.shape[1])]
        parts.append(nfa.embed(dfa, sets))
    return nfa.determinise(nfa.sequence(parts), automata[0].top, bounds, classes)


def _by_source(
    columns: tuple["array[int]", "array[int]", "array[int]"], states: int
) -> tuple[Ints, Ints, Ints]:
    """(offsets, labels, targets) of arcs ordered by source."""
    source, label, target = (np.frombuffer(c, np.int32) for c in columns)
    order = np.argsort(source, kind="stable")
    offsets = np.zeros(states + 1, np.int32)
    offsets[1:] = np.cumsum(np.bincount(source, minlength=states))
    return offsets, label[order].astype(np.int32), target[order].astype(np.int32)
