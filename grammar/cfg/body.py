"""Rules of a grammar as automata over labels; a label is the number of a leaf or the name of another rule.

Does: remove epsilon arcs, left and right recursion, and nondeterminism over labels. Does not: know grammar syntax trees
(`flat`) or bytes (`lower`).

A body denotes the texts of its rule *except the empty text*; callers skip a rule that can be empty. State 0 is the
start; no arc enters it and it is not final.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from ..contract.errors import ConstraintTooLarge

Label = int | str
MOST_STATES = 1 << 14
MOST_COPIED = 1 << 17  # states of all bodies without left recursion
MOST_ARCS = 1 << 19  # arcs visited while one body is built


@dataclass(frozen=True, slots=True)
class Body:
    """A deterministic body: `arcs[state]` maps each label to one target."""

    arcs: tuple[dict[Label, int], ...]
    final: tuple[bool, ...]

    def ends(self, state: int) -> bool:
        """Whether a state is final and has no outgoing arcs."""
        return self.final[state] and not self.arcs[state]

    def reached(self, state: int, without: int = -1) -> list[int]:
        """The states reachable from a state without passing `without`, in breadth-first order, itself first."""
        found = [state]
        for s in found:
            found += [
                t for t in dict.fromkeys(self.arcs[s].values()) if t != without and t not in found
            ]
        return found


@dataclass(slots=True)
class NondeterministicBody:
    """A nondeterministic body: `arcs[state]` is a set of (label, target) pairs."""

    arcs: list[set[tuple[Label, int]]]
    final: list[bool]

    def ends(self, state: int) -> bool:
        """Whether a state is final and has no outgoing arcs."""
        return self.final[state] and not self.arcs[state]

    def labels(self) -> set[Label]:
        """All labels."""
        return {label for row in self.arcs for label, _ in row}


class BodyBuilder:
    """A body under construction: states, labelled arcs and epsilon arcs. State 0 is the start, 1 the end."""

    def __init__(self) -> None:
        self.arcs: list[set[tuple[Label, int]]] = [set(), set()]
        self.free: list[set[int]] = [set(), set()]

    def state(self) -> int:
        """Add a state and return its number.

        Raises:
            ConstraintTooLarge: too many states.
        """
        if len(self.arcs) >= MOST_STATES:
            raise ConstraintTooLarge(f"a rule of this grammar needs more than {MOST_STATES} states")
        self.arcs.append(set())
        self.free.append(set())
        return len(self.arcs) - 1

    def without_epsilon(self) -> NondeterministicBody:
        """The body without epsilon arcs and without the empty text.

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
        return NondeterministicBody(arcs, final)

    def _closure(self, state: int) -> set[int]:
        seen, stack = {state}, [state]
        while stack:
            fresh = self.free[stack.pop()] - seen
            seen |= fresh
            stack.extend(fresh)
        return seen


def without_self_recursion(name: str, loose: NondeterministicBody) -> NondeterministicBody:
    """The body of a rule with calls of itself at its start or end turned into loops.

    A call at the end becomes a jump to the start. A call at the start is removed, and its continuation may follow each
    end.
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
    return NondeterministicBody(arcs, list(final))


def without_left_recursion(bodies: dict[str, NondeterministicBody], members: Sequence[str]) -> None:
    """Remove left recursion among `members`, in place (Paull's algorithm).

    Raises:
        ConstraintTooLarge: the bodies grow too large.
    """
    place, states = {name: i for i, name in enumerate(members)}, 0
    for i, name in enumerate(members):
        bodies[name] = without_self_recursion(name, _begun_later(bodies, members, place, i))
        states += len(bodies[name].arcs)
        if states > MOST_COPIED:
            raise ConstraintTooLarge("the left recursion of this grammar needs too many states")


def _begun_later(
    bodies: dict[str, NondeterministicBody],
    members: Sequence[str],
    place: Mapping[str, int],
    own: int,
) -> NondeterministicBody:
    """The body of member `own` with copies of earlier members in place of initial calls of them.

    These begin with members after themselves, so each is copied for all of its calls at once.
    """
    body = bodies[members[own]]
    arcs, final = [set(row) for row in body.arcs], list(body.final)
    calls: dict[int, set[int]] = {}
    waiting: list[int] = []

    def begin(more: Iterable[tuple[Label, int]]) -> None:
        for label, target in more:
            earlier = place.get(label, own) if isinstance(label, str) else own
            if earlier >= own:
                arcs[0].add((label, target))
                continue
            if earlier not in calls:
                calls[earlier] = set()
                heappush(waiting, earlier)
            calls[earlier].add(target)

    begins, arcs[0] = arcs[0], set()
    begin(begins)
    while waiting:
        earlier = heappop(waiting)
        callee = bodies[members[earlier]]
        for target in sorted(calls.pop(earlier)):
            base = len(arcs)
            if base + len(callee.arcs) > MOST_STATES:
                raise ConstraintTooLarge("the left recursion of this grammar needs too many states")
            for s, row in enumerate(callee.arcs):
                moved = {(label, to + base) for label, to in row}
                arcs.append(moved | arcs[target] if callee.final[s] else moved)
                final.append(callee.final[s] and final[target])
            begin(arcs[base])
    return NondeterministicBody(arcs, final)


def determinised(loose: NondeterministicBody) -> Body:
    """The deterministic body, by subset construction.

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
                    raise ConstraintTooLarge("a rule of this grammar needs too many states")
                numbers[reached] = len(queue)
                queue.append(reached)
            row[label] = numbers[reached]
        arcs.append(row)
    return Body(tuple(arcs), tuple(any(loose.final[s] for s in subset) for subset in queue))


def _check(work: int) -> None:
    if work > MOST_ARCS:
        raise ConstraintTooLarge("a rule of this grammar needs too many automaton arcs")
