"""Determinisation of patterns with look-ahead, look-behind and word boundaries.

Does: determinise an automaton with guards that depend on the surrounding text. A thread that passes a look-ahead gets a
deterministic *monitor*, which reads along and must accept at the end; a look-behind is a *tracker* that has read the
whole text so far. Each assertion so becomes an intersection or a complement at any place, also inside repeats. Does
not: handle patterns without assertions (`automata.subset` is faster).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ..automata import CODE_POINTS, AutomatonLimits, Dfa, Nfa, NfaFragment, canonical
from ..automata.subset import AT_END, AT_START, FREE, NOT_START
from .charset import WORD, Alphabet
from .regex_tree import Look

WORD_EDGE: Final = 4
NO_WORD_EDGE: Final = 5
FIRST_LOOK: Final = 6

_MAX_WORK: Final = 8  # threads, monitors and moves that are visited, per allowed state


class Context(IntEnum):
    """The kind of character before a position."""

    FIRST = 0
    NOT_WORD = 1
    WORD = 2


@dataclass(frozen=True, slots=True)
class Lookaround:
    """A compiled look-around; a negative one is already complemented.

    Ahead: the rest of the text must be in the automaton of the context at that place (or in the only automaton).
    Behind: the text so far must be in the only automaton.
    """

    behind: bool
    automata: tuple[Dfa, ...]


@dataclass(slots=True)
class LookBudget:
    """The work limit that all automata of one pattern share, and the look-arounds compiled so far."""

    limits: AutomatonLimits
    looks: dict[Look, Lookaround] = field(default_factory=dict)
    done: int = 0

    def spend(self, work: int) -> None:
        """Add to the work done.

        Raises:
            ConstraintTooLarge: the total is over the limit.
        """
        self.done += work
        self.limits.check(self.done // _MAX_WORK)


Monitor = tuple[int, int, int]  # number of the look-around, index of its automaton, state
Thread = tuple[int, frozenset[Monitor]]


class State(NamedTuple):
    """A state of the deterministic automaton. `trackers` has the state of each look-behind, -1 for look-aheads."""

    threads: frozenset[Thread]
    context: Context
    trackers: tuple[int, ...]


class Threads:
    """Transitions between sets of threads of an `Nfa` with guards."""

    def __init__(
        self, nfa: Nfa, looks: Sequence[Lookaround], alphabet: Alphabet, budget: LookBudget
    ) -> None:
        self.budget = budget
        self.looks = looks
        self.alphabet = alphabet
        by_number = {number: classes for classes, number in nfa.sets.items()}
        self.arcs: list[list[tuple[frozenset[int], int]]] = [[] for _ in range(nfa.states)]
        self.jumps: list[list[tuple[int, int]]] = [[] for _ in range(nfa.states)]
        for source, number, target in zip(*nfa.arcs, strict=True):
            self.arcs[source].append((by_number[number], target))
        for source, guard, target in zip(*nfa.jumps, strict=True):
            self.jumps[source].append((guard, target))
        self.tracks_words = any(g in (WORD_EDGE, NO_WORD_EDGE) for g in nfa.jumps[1]) or any(
            len(look.automata) > 1 for look in looks
        )

    @cached_property
    def _columns(self) -> list[list[list[int]]]:
        """For each look-around and automaton, its class by class of the alphabet."""
        points = self.alphabet.bounds[np.unique(self.alphabet.classes, return_index=True)[1]]
        return [
            [
                a.classes[np.searchsorted(a.bounds, points, "right") - 1].tolist()
                for a in look.automata
            ]
            for look in self.looks
        ]

    @cached_property
    def _universal(self) -> list[list[int]]:
        """For each look-around and automaton, the state that accepts every text, or -1."""

        def universal(a: Dfa) -> int:
            if (a.classes < 0).any():
                return -1
            own = np.arange(a.states)[:, None]
            found = np.flatnonzero((a.table == own).all(axis=1) & (a.outcome >= 0))
            return int(found[0]) if len(found) else -1

        return [[universal(a) for a in look.automata] for look in self.looks]

    def start(self, part: NfaFragment, context: Context) -> State:
        """The state before the first character."""
        trackers = tuple(0 if look.behind else -1 for look in self.looks)
        return State(frozenset({(part.start, frozenset[Monitor]())}), context, trackers)

    def close(self, state: State, word_next: bool | None) -> set[Thread]:
        """All threads after epsilon arcs; `word_next`: whether a word character follows (None: the text ends).

        Raises:
            ConstraintTooLarge: see `LookBudget`.
        """
        threads, context, trackers = state
        closed = set(threads)
        todo = list(threads)
        while todo:
            place, monitors = todo.pop()
            self.budget.spend(1 + len(monitors))
            for guard, target in self.jumps[place]:
                passed = self._pass(guard, monitors, context, trackers, word_next)
                if passed is not None and (target, passed) not in closed:
                    closed.add((target, passed))
                    todo.append((target, passed))
        return closed

    def _pass(
        self,
        guard: int,
        monitors: frozenset[Monitor],
        context: Context,
        trackers: tuple[int, ...],
        word_next: bool | None,
    ) -> frozenset[Monitor] | None:
        """The monitors after a guard, or None if the guard is closed."""
        if guard == FREE:
            return monitors
        if guard >= FIRST_LOOK:
            number = guard - FIRST_LOOK
            look = self.looks[number]
            if look.behind:
                at = trackers[number]
                return monitors if at >= 0 and look.automata[0].outcome[at] >= 0 else None
            which = int(context) if len(look.automata) > 1 else 0
            if look.automata[which].empty:
                return None
            return (
                monitors if self._universal[number][which] == 0 else monitors | {(number, which, 0)}
            )
        edge = (context is Context.WORD) != bool(word_next)
        opened = {
            AT_START: context is Context.FIRST,
            NOT_START: context is not Context.FIRST,
            AT_END: word_next is None,
            WORD_EDGE: edge,
            NO_WORD_EDGE: not edge,
        }
        return monitors if opened[guard] else None

    def accepts(self, state: State, part: NfaFragment) -> bool:
        """Whether the text may end in this state."""
        return any(
            place == part.end
            and all(self.looks[n].automata[which].outcome[at] >= 0 for n, which, at in monitors)
            for place, monitors in self.close(state, None)
        )

    def steps(self, state: State) -> list[State | None]:
        """The next state for each class of the alphabet; None if no thread survives."""
        words = self.alphabet.sets[WORD]
        plain = self._readers(state, word_next=False)
        before_word = self._readers(state, word_next=True) if self.tracks_words else plain
        found: list[State | None] = []
        for c in range(self.alphabet.width):
            self.budget.spend(1 + len(self.looks))
            moved = self._read(before_word if c in words else plain, c)
            if not moved:
                found.append(None)
                continue
            trackers = tuple(
                self._move(n, 0, at, c) if look.behind else -1
                for n, (look, at) in enumerate(zip(self.looks, state.trackers, strict=True))
            )
            word = self.tracks_words and c in words
            context = Context.WORD if word else Context.NOT_WORD
            found.append(State(self._weakest(moved), context, trackers))
        return found

    def _readers(self, state: State, *, word_next: bool) -> dict[frozenset[Monitor], list[int]]:
        """The NFA states with outgoing arcs, grouped by monitors."""
        found: dict[frozenset[Monitor], list[int]] = {}
        for place, monitors in self.close(state, word_next):
            if self.arcs[place]:
                found.setdefault(monitors, []).append(place)
        return found

    def _read(self, readers: dict[frozenset[Monitor], list[int]], c: int) -> set[Thread]:
        moved: set[Thread] = set()
        for monitors, places in readers.items():
            after = self._watch(monitors, c)
            self.budget.spend(len(places) + len(monitors))
            if after is not None:
                arcs = (arc for place in places for arc in self.arcs[place])
                moved.update((target, after) for classes, target in arcs if c in classes)
        return moved

    def _move(self, number: int, which: int, at: int, c: int) -> int:
        column = self._columns[number][which][c]
        return (
            int(self.looks[number].automata[which].table[at, column])
            if at >= 0 and column >= 0
            else -1
        )

    def _watch(self, monitors: Iterable[Monitor], c: int) -> frozenset[Monitor] | None:
        after = []
        for number, which, at in monitors:
            target = self._move(number, which, at, c)
            if target < 0:
                return None
            if target != self._universal[number][which]:
                after.append((number, which, target))
        return frozenset(after)

    def _weakest(self, threads: Iterable[Thread]) -> frozenset[Thread]:
        """The threads without those that require more than another thread at the same place."""
        by_place: dict[int, list[frozenset[Monitor]]] = {}
        for place, monitors in sorted(threads, key=lambda t: len(t[1])):
            kept = by_place.setdefault(place, [])
            self.budget.spend(len(kept))
            if not any(weaker <= monitors for weaker in kept):
                kept.append(monitors)
        return frozenset((place, monitors) for place, kept in by_place.items() for monitors in kept)


def determinise(threads: Threads, part: NfaFragment, context: Context) -> Dfa:
    """The language of `part`, read after `context`; outcome 0.

    Raises:
        ConstraintTooLarge: more states than the limits allow.
    """
    start = threads.start(part, context)
    numbers = {start: 0}
    states = [start]
    rows: list[list[int]] = []
    ends: list[int] = []
    for state in states:
        threads.budget.limits.check(8 * len(states))
        row = []
        for target in threads.steps(state):
            if target is not None and target not in numbers:
                numbers[target] = len(states)
                states.append(target)
            row.append(-1 if target is None else numbers[target])
        rows.append(row)
        ends.append(0 if threads.accepts(state, part) else -1)
    alphabet = threads.alphabet
    table, outcome = np.array(rows, np.int32), np.array(ends, np.int32)
    return canonical(CODE_POINTS, alphabet.bounds, alphabet.classes, table, outcome)
