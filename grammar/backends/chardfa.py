"""Deterministic automata over characters: what a context-free grammar cannot say about its strings.

Does: determinise a pattern, intersect, complement, give the shortest text. Does not: know bytes or JSON.
"""

from collections import deque
from dataclasses import dataclass
from typing import TypeVar

from ..errors import ConstraintTooLarge
from .chars import Ranges, complement, intersection, union
from .ecma import ANY, Node
from .positions import Positions

MOST_STATES = 3_000

State = TypeVar("State", int, tuple[int, int])
Arcs = tuple[tuple[Ranges, int], ...]


@dataclass(frozen=True, slots=True)
class CharDfa:
    """State 0 is the start; `arcs[state]` are disjoint classes and where they lead; no arc is no way on."""

    arcs: tuple[Arcs, ...]
    accepting: frozenset[int]

    def both(self, other: "CharDfa") -> "CharDfa":
        """Texts in both languages.

        Raises:
            ConstraintTooLarge: the product has too many states.
        """
        numbers = {(0, 0): 0}
        todo = [(0, 0)]
        arcs: list[Arcs] = []
        for left, right in todo:
            found: list[tuple[Ranges, int]] = []
            for some, a in self.arcs[left]:
                for others, b in other.arcs[right]:
                    common = intersection(some, others)
                    if common:
                        found.append((common, _number(numbers, todo, (a, b))))
            arcs.append(tuple(found))
        ends = {n for (a, b), n in numbers.items() if a in self.accepting and b in other.accepting}
        return CharDfa(tuple(arcs), frozenset(ends)).trimmed()

    def inverse(self) -> "CharDfa":
        """All texts that are not in the language."""
        sink = len(self.arcs)
        arcs: list[Arcs] = []
        for found in (*self.arcs, ()):
            rest = complement(union(*(ranges for ranges, _ in found)))
            arcs.append((*found, (rest, sink)) if rest else found)
        ends = frozenset(range(sink + 1)) - self.accepting
        return CharDfa(tuple(arcs), ends).trimmed()

    def trimmed(self) -> "CharDfa":
        """Without the states that cannot be reached or from which nothing is accepted; the start stays."""
        reached = {0}
        ahead = [0]
        while ahead:
            for _, target in self.arcs[ahead.pop()]:
                if target not in reached:
                    reached.add(target)
                    ahead.append(target)
        back: dict[int, set[int]] = {}
        for state, found in enumerate(self.arcs):
            for _, target in found:
                back.setdefault(target, set()).add(state)
        alive = set(self.accepting & reached)
        todo = list(alive)
        while todo:
            for state in back.get(todo.pop(), ()):
                if state not in alive:
                    alive.add(state)
                    todo.append(state)
        kept = alive & reached
        order = [0, *(state for state in range(1, len(self.arcs)) if state in kept)]
        numbers = {state: number for number, state in enumerate(order)}
        arcs = tuple(
            tuple(
                (ranges, numbers[target]) for ranges, target in self.arcs[state] if target in alive
            )
            for state in order
        )
        return CharDfa(arcs, frozenset(numbers[state] for state in self.accepting & reached))

    def shortest(self) -> str | None:
        """A shortest text of the language; None where there is none."""
        seen = {0}
        queue = deque([(0, "")])
        while queue:
            state, text = queue.popleft()
            if state in self.accepting:
                return text
            for ranges, target in self.arcs[state]:
                if target not in seen:
                    seen.add(target)
                    queue.append((target, text + sample(ranges)))
        return None


def determinise(node: Node, limit: int = MOST_STATES) -> CharDfa:
    """The automaton of an anchor-free pattern that must match a whole text.

    Raises:
        ConstraintTooLarge: it has more than `limit` states.
    """
    positions = Positions(node)
    start = -1  # the state before any character; others are sets of positions just read
    numbers: dict[int, int] = {start: 0}
    todo = [start]
    arcs: list[Arcs] = []
    for state in todo:
        ahead = positions.first if state == start else positions.after(state)
        targets: dict[int, list[Ranges]] = {}
        for ranges, takers in positions.alphabet:
            if hit := ahead & takers:
                targets.setdefault(hit, []).append(ranges)
        arcs.append(
            tuple(
                (union(*parts), _number(numbers, todo, hit, limit))
                for hit, parts in targets.items()
            )
        )
    ends = {n for state, n in numbers.items() if state != start and state & positions.last}
    return CharDfa(tuple(arcs), frozenset(ends | ({0} if positions.nullable else set()))).trimmed()


def _number(
    numbers: dict[State, int], todo: list[State], state: State, limit: int = MOST_STATES
) -> int:
    if state not in numbers:
        if len(numbers) >= limit:
            raise ConstraintTooLarge(
                f"a string needs more than {limit} states; use simpler patterns or smaller bounds"
            )
        numbers[state] = len(numbers)
        todo.append(state)
    return numbers[state]


def sample(ranges: Ranges) -> str:
    """A character of a class, a plain one if it holds any."""
    for low, high in (
        (0x61, 0x7A),
        (0x30, 0x39),
        (0x41, 0x5A),
        (0x20, 0x21),
        (0x23, 0x5B),
        (0x5D, 0x7E),
    ):
        common = intersection(ranges, ((low, high),))
        if common:
            return chr(common[0][0])
    above = intersection(ranges, ((0xA0, ANY.ranges[-1][1]),))
    return chr((above or ranges)[0][0])
