"""Bounds on the bytes that suffice to end an output, from the distances that its rules report.

Does: add up `Rule.least` over the stack of an output, without a search. Does not: find the text (`shortest_end`), or
know which texts must not come twice.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from ..automata import Dfa
from ..automata.minimal import distances
from ..base.array_types import Ints
from ..base.bounded_cache import BoundedCache
from ..jit.kernel import kernel
from ..machine.byte_step import SITE
from ..machine.cursor import Cursor
from ..machine.lazy_tables import (
    AS_WRITTEN,
    CALLED,
    DEAD,
    ENDED,
    ENTRY,
    FINAL,
    FLAGS,
    JUDGED,
    LEAF,
    LEAVE,
    REMEMBERS,
    ROOT,
)
from ..machine.rule import UNKNOWN
from .rule_graph import RuleGraph

_TRIED: Final = 8  # outcomes of a leaf that are tried
_VISITED: Final = 512  # states of a leaf in which an outcome is sought
_FRESH: Final = 8  # more bytes for a text that must be new
_PLACE_BYTES: Final = 200  # estimate for a state or site
_DEEPEST: Final = 6  # states in a row without a reported distance

CalleeEnd = tuple[int, int]
"""Bytes to the end of a callee, and the move of its caller after that."""


@kernel
def _nearest_outcomes(table: Ints, outcome: Ints, distance: Ints, order: Ints) -> Ints:
    """For each state, the outcome of the nearest end; -1 where there is none."""
    nearest = np.full(len(table), -1, np.int32)
    for s in order:
        if distance[s] == 0:
            nearest[s] = outcome[s]
        elif distance[s] > 0:
            for c in range(table.shape[1]):
                t = table[s, c]
                if t >= 0 and distance[t] == distance[s] - 1:
                    nearest[s] = nearest[t]
                    break
    return nearest


def _reached(dfa: Dfa, start: int) -> Iterator[tuple[int, int]]:
    """(distance in bytes, outcome) of the outcomes within reach of a state, the nearest first, each once."""
    seen, met, ahead, depth = {start}, set[int](), [start], 0
    while ahead and len(seen) <= _VISITED:
        for state in ahead:
            outcome = dfa.outcome.item(state)
            if outcome >= 0 and outcome not in met:
                met.add(outcome)
                yield depth, outcome
        following = dict.fromkeys(dfa.table[ahead].ravel().tolist())
        ahead = [state for state in following if state >= 0 and state not in seen]
        seen.update(ahead)
        depth += 1


class Bounds:
    """The bounds of one machine, shared by all its outputs; results are kept by state and call site."""

    def __init__(self, graph: RuleGraph) -> None:
        self._graph = graph
        self._machine = graph.machine
        self._callee_ends: dict[tuple[int, int], CalleeEnd | None] = {}
        self._distances: dict[int, int | None] = {}
        self._nearest: dict[int, Ints] = {}
        self._far: dict[tuple[int, int], Ints] = {}
        self._known: BoundedCache[tuple[int, bytes], int] = BoundedCache()  # by state and stack

    @property
    def nbytes(self) -> int:
        """Estimated memory of the results kept."""
        arrays = (*self._nearest.values(), *self._far.values())
        places = len(self._callee_ends) + len(self._distances) + len(arrays)
        return _PLACE_BYTES * places + sum(array.nbytes for array in arrays) + self._known.nbytes

    def of(self, cursor: Cursor) -> int | None:
        """Bytes that suffice to end the output of a cursor; None where the rules do not report enough."""
        place = cursor.state, cursor.stack
        known = self._known.get(place)
        if known is None:
            known = self._sum(cursor)
            if known is not None:
                self._known.put(place, known, len(cursor.stack))
        return known

    def _sum(self, cursor: Cursor) -> int | None:
        frames, at, state, total = cursor.frames, cursor.depth - 1, cursor.state, 0
        while state != FINAL:
            site = frames.item(at, SITE)
            if site == ROOT:
                rest = self._distance(state, _DEEPEST)
                return None if rest is None else total + rest
            out = self._callee_end(state, site)
            if out is None:
                return None
            total, state, at = total + out[0], out[1], at - 1
            while state < 0:  # the caller ends, too
                site = frames.item(at, SITE)
                if site == ROOT:
                    return total
                if self._depends_on_text(site):
                    return None
                state, at = self._target(site, ENDED - state), at - 1
                if state == DEAD:
                    return None
        return total

    def _callee_end(self, state: int, site: int) -> CalleeEnd | None:
        key = (state, site)
        if key not in self._callee_ends:
            self._callee_ends[key] = self._find_callee_end(state, site, _DEEPEST)
        return self._callee_ends[key]

    def _find_callee_end(self, state: int, site: int, deep: int) -> CalleeEnd | None:
        """The shortest known end from a state of the callee of a site."""
        machine = self._machine
        if self._depends_on_text(site):
            return None
        if machine.tables.states.item(state, LEAF) >= 0:
            more = _FRESH if machine.tables.sites.item(site, FLAGS) else 0
            return self._leaf_end(state, site, more)
        place = machine.sites[site]
        usual = None if place is None else place.call.usual
        rest = None if usual is None else self._distance(state, deep)
        if usual is None or rest is None:
            return None
        behind = self._target(site, machine.number(site, usual))
        return None if behind == DEAD else (rest, behind)

    def _leaf_end(self, state: int, site: int, more: int) -> CalleeEnd | None:
        machine = self._machine
        number = machine.tables.states.item(state, LEAF)
        leaf, place = machine.leaves[number], machine.sites[site]
        assert place is not None
        live = place.call.live
        if number not in self._nearest:
            dfa = leaf.dfa
            order = np.argsort(dfa.distance, kind="stable").astype(np.int32)
            self._nearest[number] = _nearest_outcomes(dfa.table, dfa.outcome, dfa.distance, order)
        tried = [self._nearest[number].item(state - leaf.base)]
        tried += sorted(leaf.dfa.outcomes if live is None else live, reverse=True)[:_TRIED]
        for outcome in tried:
            if outcome < 0 or (live is not None and outcome not in live):
                continue
            if (number, outcome) not in self._far:
                ends = leaf.dfa.outcome == outcome
                self._far[number, outcome] = distances(leaf.dfa.table, ends)
            far = self._far[number, outcome].item(state - leaf.base)
            behind = DEAD if far < 0 else self._target(site, outcome)
            if behind != DEAD:
                return far + more, behind
        # As in a trie of property names, most of which the object has already.
        for far, outcome in _reached(leaf.dfa, state - leaf.base):
            behind = (
                DEAD if live is not None and outcome not in live else self._target(site, outcome)
            )
            if behind != DEAD:
                return far + more, behind
        return None

    def _depends_on_text(self, site: int) -> bool:
        """Whether the text of a callee is judged, or compared other than byte by byte."""
        flags = self._machine.tables.sites.item(site, FLAGS)
        return bool(flags & JUDGED or (flags & REMEMBERS and not flags & AS_WRITTEN))

    def _target(self, site: int, outcome: int) -> int:
        """The caller's move after an outcome of its callee with a new text."""
        return self._graph.target(site, outcome)

    def _distance(self, state: int, deep: int) -> int | None:
        """Bytes from a state of a rule to its end; `deep`: states in a row that may report no distance."""
        if state not in self._distances:
            named = self._machine.name(state)
            if named is None:  # the whole output is a leaf
                return None
            least = named[0].least(named[1])
            self._distances[state] = (
                self._distance_by_moves(state, deep - 1) if least == UNKNOWN else least
            )
        return self._distances[state]

    def _distance_by_moves(self, state: int, deep: int) -> int | None:
        """The fewest bytes to the end over the moves of a state."""
        found = []
        for move, _ in self._graph.moves(state) if deep else ():
            used, target = int(move != LEAVE), move
            if move <= CALLED:
                entry = self._machine.tables.sites.item(CALLED - move, ENTRY)
                out = self._find_callee_end(entry, CALLED - move, deep)
                if out is None:
                    continue
                used, target = out
            rest = self._distance(target, deep) if target >= 0 else 0
            if rest is not None:
                found.append(used + rest)
        return min(found, default=None)
