"""A grammar over bytes: deterministic bodies and byte automata, with first sets and shortest lengths.

Does: represent byte sets as 256-bit integers; compute the least cost from every state of a body. Does not: choose
between alternatives (`lower`, `chart`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from ..automata import Dfa, combine
from ..contract.errors import ConstraintTooLarge
from .body import Body, Label
from .order import components

Mask = int  # bit b: byte b is in the set
ENDLESS = 1 << 40
MOST_JOINED = 1 << 16  # states of all joint automata
_NOWHERE = frozenset[int]()


@lru_cache(maxsize=4096)
def mask_bytes(mask: Mask) -> bytes:
    """The bytes of a set, ascending."""
    return bytes(b for b in range(256) if mask >> b & 1)


@dataclass(frozen=True, eq=False)
class GrammarLeaf:
    """An automaton over bytes that does not accept the empty text."""

    dfa: Dfa

    @cached_property
    def columns(self) -> list[Mask]:
        """The byte set of each class."""
        masks = [0] * self.dfa.table.shape[1]
        for byte, column in enumerate(self.dfa.class_of.tolist()):
            if column >= 0:
                masks[column] |= 1 << byte
        return masks

    @cached_property
    def _rows(self) -> dict[int, tuple[tuple[Mask, int], ...]]:
        return {}

    def arcs(self, state: int) -> tuple[tuple[Mask, int], ...]:
        """(byte set, target) pairs of a state."""
        row = self._rows.get(state)
        if row is None:
            targets: dict[int, Mask] = {}
            for column, target in enumerate(self.dfa.table[state].tolist()):
                if target >= 0:
                    targets[target] = targets.get(target, 0) | self.columns[column]
            row = self._rows[state] = tuple((mask, target) for target, mask in targets.items())
        return row

    def taken(self, state: int) -> Mask:
        """The bytes with an arc from a state."""
        mask = 0
        for more, _ in self.arcs(state):
            mask |= more
        return mask

    @cached_property
    def first(self) -> Mask:
        """The first bytes of all texts."""
        return self.taken(0)

    def ends(self, state: int) -> bool:
        """Whether a text may end in a state."""
        return bool(self.dfa.outcome[state] >= 0)

    @cached_property
    def open_ends(self) -> frozenset[tuple[int, Mask]]:
        """For each accepting state with outgoing arcs: its outcome and the bytes of its arcs."""
        ends = enumerate(self.dfa.outcome.tolist())
        return frozenset(
            (o, self.taken(state)) for state, o in ends if o >= 0 and self.taken(state)
        )

    @cached_property
    def least(self) -> int:
        """The length of a shortest text."""
        return int(self.dfa.distance[0])


@dataclass(frozen=True, eq=False)
class ByteGrammar:
    """A grammar with bodies that are deterministic over labels. Parts of bodies are added on demand (`part_until`).

    `nullable`: the start rule also has the empty text.
    """

    start: str
    nullable: bool
    leaves: Sequence[GrammarLeaf]
    bodies: dict[str, Body]
    _joined: dict[tuple[int, ...], tuple[GrammarLeaf, tuple[frozenset[int], ...]]] = field(
        default_factory=dict
    )

    @cached_property
    def rest(self) -> dict[str, list[int]]:
        """For each body, the fewest bytes from each state to a final one."""
        return self._found[0]

    @cached_property
    def shortest_labels(self) -> dict[str, list[Label | None]]:
        """For each body, the label of the first arc of a shortest path from each state; None: end there."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[dict[str, list[int]], dict[str, list[Label | None]]]:
        rest = {n: [0 if f else ENDLESS for f in body.final] for n, body in self.bodies.items()}
        labels: dict[str, list[Label | None]] = {
            n: [None] * len(b.final) for n, b in self.bodies.items()
        }
        users: dict[str, set[str]] = {name: set() for name in self.bodies}
        for name, body in self.bodies.items():
            for row in body.arcs:
                for label in row:
                    if isinstance(label, str):
                        users[label].add(name)
        order = [name for members in components(users) for name in members]
        waiting = dict.fromkeys(order)  # an ordered set; its last are callees
        while waiting:
            name, _ = waiting.popitem()
            before = rest[name][0]
            self._relax(name, rest, labels[name])
            if rest[name][0] < before:
                waiting.update(dict.fromkeys(users[name]))
        return rest, labels

    def _relax(self, name: str, rest: dict[str, list[int]], way: list[Label | None]) -> None:
        own, arcs = rest[name], self.bodies[name].arcs
        changed = True
        while changed:
            changed = False
            for state in range(len(arcs) - 1, -1, -1):
                for label, target in arcs[state].items():
                    least = rest[label][0] if isinstance(label, str) else self.leaves[label].least
                    if least + own[target] < own[state]:
                        own[state], way[state], changed = least + own[target], label, True

    @cached_property
    def first(self) -> dict[str, Mask]:
        """For each rule, the first bytes of its texts. No rule may be left-recursive."""
        begins = {
            name: [label for label in body.arcs[0] if isinstance(label, str)]
            for name, body in self.bodies.items()
        }
        first: dict[str, Mask] = {}
        for (name,) in components(begins):
            first[name] = self.firsts(self.bodies[name].arcs[0], first)
        return first

    def firsts(self, labels: Mapping[Label, int], first: Mapping[str, Mask]) -> Mask:
        """The first bytes of any of these labels."""
        mask = 0
        for label in labels:
            mask |= first[label] if isinstance(label, str) else self.leaves[label].first
        return mask

    def post_dominators(self, name: str, state: int) -> list[int]:
        """The states on every path from a state to the end of a body, the farthest first."""
        body = self.bodies[name]
        return [
            gate
            for gate in reversed(body.reached(state))
            if gate != state and not any(body.final[s] for s in body.reached(state, without=gate))
        ]

    def part_until(self, name: str, gate: int) -> str:
        """The name of the part of body `name` up to its state `gate`; the part is added on first use."""
        part = f"{name} until {gate}"
        if part not in self.bodies:
            body = self.bodies[name]
            arcs = tuple({} if s == gate else row for s, row in enumerate(body.arcs))
            self.bodies[part] = Body(arcs, tuple(s == gate for s in range(len(arcs))))
            self.rest[part] = [0 if s == gate else ENDLESS for s in range(len(arcs))]
            self.shortest_labels[part] = [None] * len(arcs)
            self._relax(part, self.rest, self.shortest_labels[part])
        return part

    def joint(self, labels: tuple[int, ...]) -> tuple[GrammarLeaf, tuple[frozenset[int], ...]]:
        """The product of several leaves: outcome o means that the text is in each leaf of `sets[o]`.

        Raises:
            ConstraintTooLarge: all products together have too many states.
        """
        known = self._joined.get(labels)
        if known is not None:
            return known
        half = len(labels) // 2
        if not half:
            return self.leaves[labels[0]], (frozenset(labels),)
        # By halves: each state is then copied as often as they can be halved, not once for each leaf after it.
        (left, some), (right, others) = self.joint(labels[:half]), self.joint(labels[half:])
        width = len(others) + 1
        choice = np.arange(-1, (len(some) + 1) * width - 1, dtype=np.int32).reshape(-1, width)
        both = combine(left.dfa, right.dfa, choice)
        kept = both.outcomes
        dfa = both.relabel({old: new for new, old in enumerate(kept)})
        ways = [divmod(old + 1, width) for old in kept]
        named, besides = (_NOWHERE, *some), (_NOWHERE, *others)
        found = GrammarLeaf(dfa), tuple(named[x] | besides[y] for x, y in ways)
        self._joined[labels] = found
        if sum(leaf.dfa.states for leaf, _ in self._joined.values()) > MOST_JOINED:
            raise ConstraintTooLarge("too many terminals of this grammar share a beginning")
        return found
