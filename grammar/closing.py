"""A short way to the end of an output, in bytes: what a budget is kept with.

Does: go from a cursor, byte by byte, where the rules' own bounds are least, and step back where a text is refused that
no bound foresaw. Every byte is read by the machine itself, so what comes out is legal. Does not: promise the shortest
way.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from . import walk as w
from .automata import Dfa
from .automata.jit import kernel
from .automata.minimal import Ints
from .cursor import Cursor, Step
from .machine import Machine
from .rule import UNKNOWN
from .tables import (
    ALPHABET,
    CALLED,
    DEAD,
    ENDED,
    ENTRY,
    FINAL,
    FIRST,
    LEAF,
    LEAVE,
    OUTCOME,
    ROW,
    SIZE,
    UNRESOLVED,
)

ENDLESS: Final = 1 << 28
_SLACKS: Final = (2, 16, 128, 1 << 20)  # bytes allowed beyond the estimate, one try after the other
_MOST_REFUSED: Final = 512  # bytes refused or taken back in one try
_COMMON_OUTCOMES: Final = (0, 1, 2, 3)


@kernel
def weighted(table: Ints, start: Ints) -> Ints:
    """Least of (arcs to a state + that state's `start`), for each state."""
    cost = start.copy()
    changed = True
    while changed:
        changed = False
        for s in range(len(table) - 1, -1, -1):
            for c in range(table.shape[1]):
                t = table[s, c]
                if t >= 0 and cost[t] + 1 < cost[s]:
                    cost[s] = cost[t] + 1
                    changed = True
    return cost


class Bounds:
    """Bytes that suffice, by state and call site of one machine; found when asked for."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._states: dict[int, int] = {}
        self._leaves: dict[int, Ints] = {}
        self._open: set[int] = set()

    def after(self, site: int, outcome: int) -> int:
        """The state a site's rule goes on in after an outcome, `DEAD`, or `ENDED` - outcome; of the root `FINAL`."""
        if site == 0:
            return FINAL
        tables = self._machine.tables
        at = tables.sites[site, FIRST] + 2 * outcome
        if outcome >= tables.sites[site, SIZE] or tables.returns[at] == UNRESOLVED:
            self._machine.resolve(site, outcome, twin=False)
            tables = self._machine.tables
            at = tables.sites[site, FIRST] + 2 * outcome
        return int(tables.returns[at])

    def target(self, move: int) -> int:
        """Bytes to the end of the rule, of what `after` gives or an arc leads to."""
        return (
            ENDLESS if move == DEAD else 0 if move <= ENDED or move == FINAL else self.state(move)
        )

    def leaf(self, site: int, dfa: Dfa) -> Ints:
        """For each state of the leaf called at a site, bytes to the end of the *caller*."""
        costs = self._leaves.get(site)
        if costs is None:
            start = np.full(dfa.states, ENDLESS, np.int32)
            for outcome in dfa.outcomes:
                start[dfa.outcome == outcome] = self.target(self.after(site, outcome))
            costs = self._leaves[site] = weighted(dfa.table, start)
        return costs

    def state(self, state: int) -> int:
        """Bytes to the end of its rule, of a rule's state."""
        known = self._states.get(state)
        if known is not None:
            return known
        named = self._machine.name(state)
        assert named is not None
        least = named[0].least(named[1])
        if least == UNKNOWN:
            if state in self._open:
                return ENDLESS
            self._open.add(state)
            least = min((cost for cost, _ in self.moves(state)), default=ENDLESS)
            self._open.discard(state)
        self._states[state] = ENDLESS if least is None else least
        return self._states[state]

    def moves(self, state: int) -> list[tuple[int, int]]:
        """(bytes to the end of the rule that way, move) of what a rule's state may do; `LEAVE` is to end here."""
        tables = self._machine.tables
        if tables.states[state, ROW] < 0:
            self._machine.expand(state)
            tables = self._machine.tables
        row = int(tables.states[state, ROW])
        classes = int(tables.alphabets[tables.states[state, ALPHABET]].max()) + 1
        return sorted(
            (self._cost(move), move) for move in set(tables.cells[row : row + classes].tolist())
        )

    def _cost(self, move: int) -> int:
        if move == LEAVE:
            return 0
        if move > CALLED:
            return ENDLESS if move == DEAD else 1 + self.target(move)
        site = CALLED - move
        entry = int(self._machine.tables.sites[site, ENTRY])
        leaf = self._machine.tables.states[entry, LEAF]
        if leaf >= 0:
            return int(self.leaf(site, self._machine.leaves[leaf].dfa)[0])
        return self.state(entry) + self.rest(site)

    def rest(self, site: int) -> int:
        """Bytes its caller needs after a call of a rule, for the best of the commonest outcomes."""
        numbers = [self._machine.number(site, outcome) for outcome in _COMMON_OUTCOMES]
        return min(self.target(self.after(site, number)) for number in numbers)


class Closing:
    """A search for a way to the end, from a copy of a cursor: depth first, the shortest continuation first."""

    def __init__(self, cursor: Cursor, bounds: Bounds) -> None:
        self._cursor = cursor.fork()
        self._bounds = bounds
        self._machine = cursor.machine

    def text(self) -> bytes | None:
        """Bytes that complete the output; None if none were found within the bounds of the search."""
        estimate = self._estimate()
        for slack in _SLACKS:
            found = self._within(estimate + slack)
            if found is not None:
                return found
        return None

    def _estimate(self) -> int:
        """Bytes to the end if no text is refused."""
        cursor, bounds = self._cursor, self._bounds
        leaf = self._machine.tables.states[cursor.state, LEAF]
        frame, total = cursor.depth - 1, 0
        if leaf >= 0:
            found = self._machine.leaves[leaf]
            site = int(cursor.frames[frame, w.SITE])
            total, frame = int(bounds.leaf(site, found.dfa)[cursor.state - found.base]), frame - 1
        elif cursor.state != FINAL:
            total = bounds.state(cursor.state)
        sites = cursor.frames[1 : frame + 1, w.SITE].tolist()
        return total + sum(bounds.rest(site) for site in sites)

    def _within(self, most: int) -> bytes | None:
        """A way of at most so many bytes."""
        cursor, begun = self._cursor, len(self._cursor.output)
        refused = 0
        trail: list[tuple[Step | None, Iterator[int]]] = [(None, self._bytes())]
        while trail:
            if cursor.can_end():
                return bytes(cursor.output[begun:])
            byte = next(trail[-1][1], None) if len(trail) <= most else None
            if byte is None:
                step, _ = trail.pop()
                if step is not None:
                    cursor.undo(step)
                refused += 1
            else:
                one, memories = np.array([byte], np.uint8), len(cursor.memories)
                if cursor.read(one):
                    trail.append((cursor.commit(one, memories), self._bytes()))
                else:
                    cursor.memories.cut(memories)
                    refused += 1
            if refused > _MOST_REFUSED:
                break
        for step, _ in reversed(trail):
            if step is not None:
                cursor.undo(step)
        return None

    def _bytes(self) -> Iterator[int]:
        return self._from(self._cursor.state, self._cursor.depth - 1)

    def _from(self, state: int, frame: int) -> Iterator[int]:
        """Bytes that go on from a state of the rule of a frame, the best first."""
        leaf = self._machine.tables.states[state, LEAF]
        if state == FINAL:
            return
        if leaf < 0:
            for cost, move in self._bounds.moves(state):
                if cost < ENDLESS and move == LEAVE:
                    yield from self._left(frame, int(self._machine.tables.states[state, OUTCOME]))
                elif cost < ENDLESS:
                    yield from self._moved(state, move)
            return
        dfa, base = self._machine.leaves[leaf].dfa, self._machine.leaves[leaf].base
        site = int(self._cursor.frames[frame, w.SITE])
        ending = int(dfa.outcome[state - base])
        costs = self._bounds.leaf(site, dfa)
        leaving = ENDLESS if ending < 0 else self._bounds.target(self._bounds.after(site, ending))
        if leaving <= costs[state - base]:
            yield from self._left(frame, ending)
        yield from _inside(dfa, state - base, costs)
        if costs[state - base] < leaving < ENDLESS:
            yield from self._left(frame, ending)

    def _left(self, frame: int, ending: int) -> Iterator[int]:
        """Bytes that come after the rule of a frame has ended."""
        if frame > 0:
            target = self._bounds.after(int(self._cursor.frames[frame, w.SITE]), ending)
            parent = int(self._cursor.frames[frame, w.PARENT])
            if target <= ENDED:
                yield from self._left(parent, ENDED - target)
            elif target != DEAD:
                yield from self._from(target, parent)

    def _moved(self, state: int, move: int) -> Iterator[int]:
        """Bytes that make a move of a rule's state."""
        if move > CALLED:
            tables = self._machine.tables
            row = tables.cells[tables.states[state, ROW] :]
            taking = row[tables.alphabets[tables.states[state, ALPHABET]]] == move
            yield from np.flatnonzero(taking).tolist()
            return
        site = CALLED - move
        entry = int(self._machine.tables.sites[site, ENTRY])
        leaf = self._machine.tables.states[entry, LEAF]
        if leaf >= 0:
            dfa = self._machine.leaves[leaf].dfa
            yield from _inside(dfa, 0, self._bounds.leaf(site, dfa))
        else:
            for cost, inner in self._bounds.moves(entry):
                if cost < ENDLESS and inner != LEAVE:
                    yield from self._moved(entry, inner)


def _inside(dfa: Dfa, state: int, costs: Ints) -> Iterator[int]:
    """Bytes that stay in a leaf, by the cost of where they lead."""
    classes = dfa.class_of
    targets = np.where(classes >= 0, np.append(dfa.table[state], -1)[classes], -1)
    cost = np.where(targets >= 0, costs[targets], ENDLESS)
    order = np.argsort(cost, kind="stable")
    yield from order[cost[order] < ENDLESS].tolist()
