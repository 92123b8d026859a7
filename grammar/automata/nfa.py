"""Nondeterministic automata (Thompson's construction) and their determinisation.

Does: concatenate, alternate, repeat and embed automata, copying counted parts with array arithmetic; determinise the
result. Does not: parse patterns (`regex`), hold more than one alphabet partition.

An epsilon arc ("jump") may carry a guard: it is open only at the start of the text, after a symbol was read, or at the
end of the text.
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
    """A part of an `Nfa` between `start` and `end`; no inner arc enters `start` or leaves `end`."""

    start: int
    end: int


class Mark(NamedTuple):
    """The size of an `Nfa` at some point of its construction."""

    states: int
    arcs: int
    jumps: int


class Nfa:
    """A nondeterministic automaton under construction, over symbol classes 0 to `width` - 1.

    Use each fragment once, and build fragments in text order.
    """

    def __init__(self, width: int, limits: AutomatonLimits = DEFAULT) -> None:
        self.width = width
        self.limits = limits
        self.states = 0
        self.sets: dict[frozenset[int], int] = {}
        self.arcs = (array("i"), array("i"), array("i"))  # source, set, target
        self.jumps = (array("i"), array("i"), array("i"))  # source, guard, target

    def state(self) -> int:
        """Add a state and return its number."""
        self.states += 1
        if self.states & 1023 == 0:
            self.limits.check(self.states // 2)
        return self.states - 1

    def jump(self, source: int, target: int, guard: int = FREE) -> None:
        """Add an epsilon arc."""
        for column, value in zip(self.jumps, (source, guard, target), strict=True):
            column.append(value)

    def arc(self, source: int, classes: frozenset[int], target: int) -> None:
        """Add an arc that reads one symbol of any of `classes`."""
        number = self.sets.setdefault(classes, len(self.sets))
        for column, value in zip(self.arcs, (source, number, target), strict=True):
            column.append(value)

    def symbols(self, classes: frozenset[int]) -> NfaFragment:
        """A fragment that reads one symbol of `classes`."""
        start = self.state()
        part = NfaFragment(start, self.state())
        self.arc(part.start, classes, part.end)
        return part

    def nothing(self, guard: int = FREE) -> NfaFragment:
        """A fragment that reads the empty text, where the guard is open."""
        start = self.state()
        part = NfaFragment(start, self.state())
        self.jump(part.start, part.end, guard)
        return part

    def sequence(self, parts: Sequence[NfaFragment]) -> NfaFragment:
        """The concatenation of at least one fragment."""
        for a, b in pairwise(parts):
            self.jump(a.end, b.start)
        return NfaFragment(parts[0].start, parts[-1].end)

    def either(self, parts: Iterable[NfaFragment]) -> NfaFragment:
        """The alternation of fragments."""
        start = self.state()
        part = NfaFragment(start, self.state())
        for each in parts:
            self.jump(part.start, each.start)
            self.jump(each.end, part.end)
        return part

    def many(self, part: NfaFragment) -> NfaFragment:
        """The fragment repeated any number of times, including none."""
        whole = self.nothing()
        self.jump(whole.start, part.start)
        self.jump(part.end, part.start)
        self.jump(part.end, whole.end)
        return whole

    def mark(self) -> Mark:
        """The current size, as the argument `since` of `times`; call it right before building that fragment."""
        return Mark(self.states, len(self.arcs[0]), len(self.jumps[0]))

    def times(self, part: NfaFragment, since: Mark, low: int, high: int | None) -> NfaFragment:
        """The fragment that was built after the mark `since`, `low` to `high` times (None: unbounded)."""
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
            # A copy has its own source and target states and the same label or guard.
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
        """A copy of `dfa` as a fragment; `own[c]` are the classes of this automaton that make up class c of `dfa`."""
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
        """The language of `part` as a `Dfa` with outcome 0, over the alphabet with these intervals and classes.

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
    """The concatenation of at least one automaton, all over one alphabet; outcome 0."""
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
    """(offsets, labels, targets) of arcs sorted by source."""
    source, label, target = (np.frombuffer(c, np.int32) for c in columns)
    order = np.argsort(source, kind="stable")
    offsets = np.zeros(states + 1, np.int32)
    offsets[1:] = np.cumsum(np.bincount(source, minlength=states))
    return offsets, label[order].astype(np.int32), target[order].astype(np.int32)
