"""Rules as automata over labels: a label is the number of a leaf (a regular piece) or the name of another rule.

Does: take out arcs that read nothing, recursion at either end of a rule, and nondeterminism over labels. Does not:
know parts (`flat`) or bytes (`lower`).

A body stands for the texts of its rule *but the empty one*; a rule that can be empty is skipped by its callers instead.
State 0 is the start; no arc enters it and it is not final.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..contract.errors import ConstraintTooLarge

Label = int | str
MOST_STATES = 1 << 14
MOST_ARCS = 1 << 19  # looked at to make one body


@dataclass(frozen=True, slots=True)
class Body:
    """Deterministic: `arcs[state]` has one target a label."""

    arcs: tuple[dict[Label, int], ...]
    final: tuple[bool, ...]

    def ends(self, state: int) -> bool:
        """Whether a state is final and nothing goes on from it."""
        return self.final[state] and not self.arcs[state]

    def reached(self, state: int, without: int = -1) -> list[int]:
        """The states that a state leads to, itself first, the nearest first; by ways that avoid `without`."""
        found = [state]
        for s in found:
            found += [
                t for t in dict.fromkeys(self.arcs[s].values()) if t != without and t not in found
            ]
        return found


@dataclass(slots=True)
class Loose:
    """Nondeterministic: `arcs[state]` are pairs of label and target."""

    arcs: list[set[tuple[Label, int]]]
    final: list[bool]

    def ends(self, state: int) -> bool:
        """Whether a state is final and nothing goes on from it."""
        return self.final[state] and not self.arcs[state]

    def labels(self) -> set[Label]:
        """All labels."""
        return {label for row in self.arcs for label, _ in row}


class Wiring:
    """A body being built: states, arcs, and arcs that read nothing. State 0 is the start, 1 the end."""

    def __init__(self) -> None:
        self.arcs: list[set[tuple[Label, int]]] = [set(), set()]
        self.free: list[set[int]] = [set(), set()]

    def state(self) -> int:
        """A new state.

        Raises:
            ConstraintTooLarge: too many.
        """
        if len(self.arcs) >= MOST_STATES:
            raise ConstraintTooLarge(f"a rule of this grammar has more than {MOST_STATES} places")
        self.arcs.append(set())
        self.free.append(set())
        return len(self.arcs) - 1

    def loose(self) -> Loose:
        """The same without arcs that read nothing, and without the empty text.

        Raises:
            ConstraintTooLarge: too many arcs.
        """
        arcs, final, work = [], [], 0
        for state in range(len(self.arcs)):
            closed = self._closure(state)
            work += len(closed)
            _check(work)
            arcs.append(set().union(*(self.arcs[s] for s in closed)))
            final.append(1 in closed and state != 0)
        return Loose(arcs, final)

    def _closure(self, state: int) -> set[int]:
        seen, stack = {state}, [state]
        while stack:
            fresh = self.free[stack.pop()] - seen
            seen |= fresh
            stack.extend(fresh)
        return seen


def unrolled(name: str, loose: Loose) -> Loose:
    """The body of a rule without calls of itself at its start or its end: both become loops.

    A call at the end goes back to the start; one at the start is left out, and what follows it may follow each end.
    """
    arcs, final = [set(row) for row in loose.arcs], loose.final
    again = {target for label, target in arcs[0] if label == name and target != 0}
    arcs[0] = {arc for arc in arcs[0] if arc[0] != name}
    last = {
        s: {arc for arc in row if arc[0] == name and loose.ends(arc[1])}
        for s, row in enumerate(arcs)
    }
    begun = arcs[0] - last[0]
    for s, calls in last.items():
        if calls:
            arcs[s] = (arcs[s] - calls) | begun
    more = set().union(*(arcs[p] for p in again))
    if more:
        arcs = [row | more if final[s] else row for s, row in enumerate(arcs)]
    return Loose(arcs, list(final))


def without_left_recursion(bodies: dict[str, Loose], members: Sequence[str]) -> None:
    """Rewrite the bodies of `members`, which begin with one another, so that none does (Paull's algorithm).

    Raises:
        ConstraintTooLarge: the bodies grow too large.
    """
    for i, name in enumerate(members):
        for earlier in members[:i]:
            bodies[name] = _begun_by(bodies[name], earlier, bodies[earlier])
        bodies[name] = unrolled(name, bodies[name])


def _begun_by(body: Loose, name: str, callee: Loose) -> Loose:
    """The body with a copy of `callee` for each place where it begins with a call of it."""
    arcs, final = [set(row) for row in body.arcs], list(body.final)
    for call in sorted(arc for arc in arcs[0] if arc[0] == name):
        target = call[1]
        arcs[0].discard(call)
        base = len(arcs)
        if base + len(callee.arcs) > MOST_STATES:
            raise ConstraintTooLarge("the left recursion of this grammar takes too many places")
        for s, row in enumerate(callee.arcs):
            moved = {(label, to + base) for label, to in row}
            arcs.append(moved | arcs[target] if callee.final[s] else moved)
            final.append(callee.final[s] and final[target])
        arcs[0] |= arcs[base]
    return Loose(arcs, final)


def determined(loose: Loose) -> Body:
    """One target a label, by subsets.

    Raises:
        ConstraintTooLarge: too many subsets.
    """
    start = frozenset((0,))
    numbers, queue = {start: 0}, [start]
    arcs: list[dict[Label, int]] = []
    work = 0
    for subset in queue:
        targets: dict[Label, set[int]] = {}
        work += sum(len(loose.arcs[s]) for s in subset)
        _check(work)
        for s in subset:
            for label, target in loose.arcs[s]:
                targets.setdefault(label, set()).add(target)
        row = {}
        for label in sorted(targets, key=str):
            reached = frozenset(targets[label])
            if reached not in numbers:
                if len(queue) >= MOST_STATES:
                    raise ConstraintTooLarge("a rule of this grammar has too many places")
                numbers[reached] = len(queue)
                queue.append(reached)
            row[label] = numbers[reached]
        arcs.append(row)
    return Body(tuple(arcs), tuple(any(loose.final[s] for s in subset) for subset in queue))


def _check(work: int) -> None:
    if work > MOST_ARCS:
        raise ConstraintTooLarge("a rule of this grammar has too many places that are alike")
