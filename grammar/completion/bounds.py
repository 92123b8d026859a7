"""How many bytes suffice to end an output, by what its rules say of themselves.

Does: add up, over the stack of an output, what each rule promises (`Rule.least`), without a search. Does not: find the
text (`closing`), or know which texts must not come again.
"""

from typing import Final

import numpy as np

from ..automata.minimal import distances
from ..base.array_types import Ints
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
from .search import RuleGraph

_TRIED: Final = 8  # outcomes of a leaf
_FRESH: Final = 8  # bytes more for a text that must be new
_PLACE_BYTES: Final = 200  # what is known of a state or site, about
_DEEPEST: Final = 6  # states in a row that say nothing

Out = tuple[int, int]
"""Bytes to the end of a callee, and the move its caller makes then."""


@kernel
def _nearest_outcomes(table: Ints, outcome: Ints, distance: Ints, order: Ints) -> Ints:
    """The outcome of an end that is nearest to each state; -1 where there is none."""
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


class Bounds:
    """Over one machine, for all its outputs; what was found is kept by state and call site."""

    def __init__(self, graph: RuleGraph) -> None:
        self._graph = graph
        self._machine = graph.machine
        self._outs: dict[tuple[int, int], Out | None] = {}
        self._rests: dict[int, int | None] = {}
        self._nearest: dict[int, Ints] = {}
        self._far: dict[tuple[int, int], Ints] = {}

    @property
    def nbytes(self) -> int:
        """Memory of what was found, by estimate."""
        arrays = (*self._nearest.values(), *self._far.values())
        places = len(self._outs) + len(self._rests) + len(arrays)
        return _PLACE_BYTES * places + sum(array.nbytes for array in arrays)

    def of(self, cursor: Cursor) -> int | None:
        """Bytes that suffice; None where the rules do not say enough."""
        frames, at, state, total = cursor.frames, cursor.depth - 1, cursor.state, 0
        while state != FINAL:
            site = frames.item(at, SITE)
            if site == ROOT:
                rest = self._rest(state, _DEEPEST)
                return None if rest is None else total + rest
            out = self._out(state, site)
            if out is None:
                return None
            total, state, at = total + out[0], out[1], at - 1
            while state < 0:  # the caller ends at once
                site = frames.item(at, SITE)
                if site == ROOT:
                    return total
                if self._texts_count(site):
                    return None
                state, at = self._behind(site, ENDED - state), at - 1
                if state == DEAD:
                    return None
        return total

    def _out(self, state: int, site: int) -> Out | None:
        key = (state, site)
        if key not in self._outs:
            self._outs[key] = self._find_out(state, site, _DEEPEST)
        return self._outs[key]

    def _find_out(self, state: int, site: int, deep: int) -> Out | None:
        """From a state of the callee of a site."""
        machine = self._machine
        if self._texts_count(site):
            return None
        if machine.tables.states.item(state, LEAF) >= 0:
            more = _FRESH if machine.tables.sites.item(site, FLAGS) else 0
            return self._out_of_leaf(state, site, more)
        place = machine.sites[site]
        usual = None if place is None else place.call.usual
        rest = None if usual is None else self._rest(state, deep)
        if usual is None or rest is None:
            return None
        behind = self._behind(site, machine.number(site, usual))
        return None if behind == DEAD else (rest, behind)

    def _out_of_leaf(self, state: int, site: int, more: int) -> Out | None:
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
            behind = DEAD if far < 0 else self._behind(site, outcome)
            if behind != DEAD:
                return far + more, behind
        return None

    def _texts_count(self, site: int) -> bool:
        """Whether more than being new is asked of the text of a callee."""
        flags = self._machine.tables.sites.item(site, FLAGS)
        return bool(flags & JUDGED or (flags & REMEMBERS and not flags & AS_WRITTEN))

    def _behind(self, site: int, outcome: int) -> int:
        """The move of a caller after an outcome of its callee, whose text is new."""
        return next(self._graph.targets(site, outcome), DEAD)

    def _rest(self, state: int, deep: int) -> int | None:
        """Bytes from a rule's state to its end; `deep`: how many states that say nothing may follow one another."""
        if state not in self._rests:
            named = self._machine.name(state)
            if named is None:  # the whole output is a leaf
                return None
            least = named[0].least(named[1])
            self._rests[state] = self._by_a_step(state, deep - 1) if least == UNKNOWN else least
        return self._rests[state]

    def _by_a_step(self, state: int, deep: int) -> int | None:
        """The best of what the moves from a state lead to."""
        found = []
        for move, _ in self._graph.moves(state) if deep else ():
            used, target = int(move != LEAVE), move
            if move <= CALLED:
                entry = self._machine.tables.sites.item(CALLED - move, ENTRY)
                out = self._find_out(entry, CALLED - move, deep)
                if out is None:
                    continue
                used, target = out
            rest = self._rest(target, deep) if target >= 0 else 0
            if rest is not None:
                found.append(used + rest)
        return min(found, default=None)
