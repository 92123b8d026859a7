"""Regular pieces of a grammar as automata, and what is left as bodies over them.

Does: flatten rules that do not recurse, and those that recurse only at one end (Nederhof, "Practical experiments with
regular approximation of context-free languages", 2000), exactly. Does not: decide how bodies are run (`lower`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..automata import CODE_POINTS, Dfa, Limits, Nfa, difference, union, words
from ..automata import Part as Piece
from ..errors import ConstraintTooLarge
from ..regex import charset as cs
from ..regex import tree as rx
from ..regex.pattern import Emitter
from . import tree
from .body import Label, Loose, Wiring, unrolled
from .order import components
from .tree import Either, Fixed, Grammar, Part, Ref, Repeat, Text

MOST_STATES: Final = (
    1 << 17
)  # of a leaf, at most: `_JOINED` and 4 for each state before it is determinised
_JOINED: Final = 1 << 12  # of a leaf that is put together from rules
MOST_WORK: Final = (
    1 << 18
)  # states of all automata of a grammar, before and after they are determinised
_FAILURE: Final = 1 << 14  # what an automaton that grew too large counts as
_INLINED: Final = (
    96  # nodes of a rule that is written into its callers rather than made an automaton first
)


@dataclass(frozen=True, slots=True)
class Flat:
    """A grammar in two levels: `leaves` are automata over code points without the empty text, `bodies` the rest.

    `whole`: the automaton of everything, where the grammar is regular. `least`: of each rule the fewest bytes.
    """

    start: str
    least: dict[str, int]
    leaves: list[Dfa]
    bodies: dict[str, Loose]
    whole: Dfa | None


def flatten(grammar: Grammar, least: dict[str, int]) -> Flat:
    """The two levels of a trimmed grammar.

    Raises:
        ConstraintTooLarge: a rule that cannot be taken apart needs too many states, or all take too long.
    """
    return _Flattener(grammar, least).run()


def _charsets(node: rx.Node) -> Iterator[cs.Charset]:
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, rx.Chars):
            yield node.charset
        elif isinstance(node, rx.Sequence | rx.Either):
            stack.extend(node.parts)
        elif isinstance(node, rx.Repeat):
            stack.append(node.part)


def _nodes(node: rx.Node) -> int:
    """The size of a pattern with its counted repeats written out."""
    match node:
        case rx.Sequence(parts) | rx.Either(parts):
            return 1 + sum(map(_nodes, parts))
        case rx.Repeat(part, low, high):
            return 1 + _nodes(part) * max(low, 1 if high is None else high)
        case _:
            return 1


def class_sets(dfa: Dfa) -> list[cs.Charset]:
    """The code points of each class of an automaton."""
    ends = np.append(dfa.bounds[1:], dfa.top) - 1
    return [
        tuple(
            zip(dfa.bounds[dfa.classes == c].tolist(), ends[dfa.classes == c].tolist(), strict=True)
        )
        for c in range(dfa.table.shape[1])
    ]


class _Flattener:
    def __init__(self, grammar: Grammar, least: dict[str, int]) -> None:
        self.grammar = grammar
        self.least = least
        self.spent = 0
        self.weight: dict[str, int] = {}  # of regular rules
        self.made: dict[str, Dfa] = {}  # of regular rules that are not written into their callers
        self.leaves: list[Dfa] = []
        self.numbers: dict[bytes, int] = {}
        self.bodies: dict[str, Loose] = {}
        # By identity: parts of counted repeats come again and again, and are large to compare.
        self.tried: dict[int, tuple[Part, Dfa | None]] = {}
        self.grouped: dict[int, tuple[tuple[Part, ...], list[Part]]] = {}

    def run(self) -> Flat:
        rules, start = self.grammar.rules, self.grammar.start
        for members in components({name: tuple(tree.refs(part)) for name, part in rules.items()}):
            if len(members) > 1 or members[0] in tree.refs(rules[members[0]]):
                self._recursive(members)
            else:
                self._plain(members[0])
        whole = self._whole(Ref(start)) if start in self.weight else None
        return Flat(start, self.least, self.leaves, self.bodies, whole)

    def _plain(self, name: str) -> None:
        """Settle a rule that does not recurse."""
        part = self.grammar.rules[name]
        if name not in self.grammar.kept and self._regular(part):
            weight = self._weight(part)
            if weight <= _INLINED:
                self.weight[name] = weight
                return
            dfa = self._tried(part)
            if dfa is not None:
                self.made[name], self.weight[name] = dfa, dfa.states
                return
        self.bodies[name] = self._body(part)

    def _recursive(self, members: Sequence[str]) -> None:
        """Settle rules that call one another."""
        bodies = {name: self._body(self.grammar.rules[name]) for name in members}
        if len(members) == 1:
            bodies[members[0]] = unrolled(members[0], bodies[members[0]])
        flat = None if self.grammar.kept & set(members) else self._linear(bodies)
        if flat is None:
            self.bodies.update(bodies)
        for name, dfa in (flat or {}).items():
            self.made[name] = union(dfa, words({"": 0})) if self.least[name] == 0 else dfa
            self.weight[name] = dfa.states

    def _linear(self, bodies: dict[str, Loose]) -> dict[str, Dfa] | None:
        """The automata of rules that call one another at one end only; None if they do not, or it takes too much."""
        calls = [
            (body, s, label, target)
            for body in bodies.values()
            for s, row in enumerate(body.arcs)
            for label, target in row
            if isinstance(label, str)
        ]
        if any(label not in bodies for _, _, label, _ in calls):
            return None
        right = all(body.ends(target) for body, _, _, target in calls)
        if not right and any(s != 0 for _, s, _, _ in calls):
            return None
        try:
            return {name: self._linear_dfa(bodies, name, right) for name in bodies}
        except ConstraintTooLarge:
            self._spend(_FAILURE)
            return None

    def _linear_dfa(self, bodies: dict[str, Loose], name: str, right: bool) -> Dfa:
        used = sorted(
            {label for b in bodies.values() for label in b.labels() if isinstance(label, int)}
        )
        alphabet = cs.alphabet(c for n in used for c in class_sets(self.leaves[n]))
        nfa = Nfa(alphabet.width, Limits(_JOINED))
        whole = Piece(nfa.state(), nfa.state())
        first: dict[str, int] = {}
        for other, body in bodies.items():
            first[other] = nfa.state()
            for _ in body.arcs[1:]:
                nfa.state()
        for other, body in bodies.items():
            base = first[other]
            if other == name or not right:
                nfa.jump(whole.start, base)
            for s, row in enumerate(body.arcs):
                if body.final[s] and (right or other == name):
                    nfa.jump(base + s, whole.end)
                for label, target in sorted(row, key=str):
                    if isinstance(label, str):
                        callee = bodies[label]
                        if right:
                            nfa.jump(base + s, first[label])
                        for f in () if right else range(len(callee.final)):
                            if callee.final[f]:
                                nfa.jump(first[label] + f, base + target)
                        continue
                    leaf = self.leaves[label]
                    piece = nfa.embed(leaf, [alphabet.sets[c] for c in class_sets(leaf)])
                    nfa.jump(base + s, piece.start)
                    nfa.jump(piece.end, base + target)
        dfa = nfa.determinise(whole, CODE_POINTS, alphabet.bounds, alphabet.classes)
        self._spend(nfa.states + dfa.states)
        return dfa

    def _regular(self, part: Part) -> bool:
        return all(name in self.weight for name in tree.refs(part))

    def _weight(self, part: Part) -> int:
        """States of the automaton before it is determinised, roughly."""
        match part:
            case Text(pattern):
                return _nodes(pattern)
            case Fixed(dfa):
                return dfa.states
            case Ref(name):
                return 1 + self.weight[name]
            case Repeat(inner, low, high):
                return 1 + self._weight(inner) * max(low, 1 if high is None else high)
            case _:
                return 1 + sum(map(self._weight, tree.children(part)))

    def _tried(self, part: Part) -> Dfa | None:
        """The automaton of a regular part; None if it takes too many states."""
        known = self.tried.get(id(part))
        if known is not None:
            return known[1]
        dfa = None
        if self._weight(part) <= MOST_STATES:
            try:
                dfa = self._whole(part)
            except ConstraintTooLarge:
                self._spend(_FAILURE)
        self.tried[id(part)] = part, dfa
        return dfa

    def _limits(self, part: Part) -> Limits:
        alone = not any(isinstance(node, Ref) for node in tree.walk(part))
        most = _JOINED + (4 * self._weight(part) if alone else 0)
        return Limits(min(MOST_STATES, most))

    def _whole(self, part: Part) -> Dfa:
        if isinstance(part, Ref) and part.name in self.made:
            return self.made[part.name]
        self._spend(self._weight(part))
        dfa = _Emitter(self, part, self._limits(part)).dfa(part)
        self._spend(dfa.states)
        return dfa

    def _spend(self, work: int) -> None:
        self.spent += work
        if self.spent > MOST_WORK:
            raise ConstraintTooLarge("the automata of this grammar are too large together")

    def _body(self, part: Part) -> Loose:
        wiring = Wiring()
        self._wire(wiring, part, 0, 1)
        return wiring.loose()

    def _wire(self, wiring: Wiring, part: Part, source: int, target: int) -> None:
        """Let `part` lead from one state to another."""
        if self._regular(part):
            dfa = self._tried(part)
            if dfa is not None:
                self._leaf(wiring, dfa, source, target)
                return
        match part:
            case Ref(name) if name not in self.weight:
                wiring.arcs[source].add((name, target))
                if self.least[name] == 0:
                    wiring.free[source].add(target)
            case Ref(name):
                self._wire(wiring, self.grammar.rules[name], source, target)
            case tree.Sequence(parts):
                self._wire_sequence(wiring, self._grouped(parts), source, target)
            case Either(parts):
                regular = tuple(p for p in parts if self._regular(p))
                others = [p for p in parts if not self._regular(p)]
                joined: list[Part] = (
                    [Either(regular)] if 1 < len(regular) < len(parts) else [*regular]
                )
                for p in (*joined, *others):
                    self._wire(wiring, p, source, target)
            case Repeat(inner, low, high):
                self._wire_repeat(wiring, Repeat(inner, low, high), source, target)
            case _:
                raise ConstraintTooLarge(
                    "a text of this grammar needs an automaton that is too large"
                )

    def _grouped(self, parts: tuple[Part, ...]) -> list[Part]:
        """Neighbours that are regular as one part, unless all are (then they are too large together)."""
        if id(parts) not in self.grouped:
            self.grouped[id(parts)] = parts, self._group(parts)
        return self.grouped[id(parts)][1]

    def _group(self, parts: tuple[Part, ...]) -> list[Part]:
        if all(map(self._regular, parts)):
            return list(parts)
        grouped: list[list[Part]] = []
        for part in parts:
            if grouped and self._regular(part) and self._regular(grouped[-1][0]):
                grouped[-1].append(part)
            else:
                grouped.append([part])
        return [tree.sequence(group) for group in grouped]

    def _wire_sequence(self, wiring: Wiring, parts: list[Part], source: int, target: int) -> None:
        if not parts:
            wiring.free[source].add(target)
        for i, part in enumerate(parts):
            following = target if i == len(parts) - 1 else wiring.state()
            self._wire(wiring, part, source, following)
            source = following

    def _wire_repeat(self, wiring: Wiring, repeat: Repeat, source: int, target: int) -> None:
        for _ in range(repeat.low):
            following = wiring.state()
            self._wire(wiring, repeat.part, source, following)
            source = following
        if repeat.high is None:
            loop = wiring.state()
            wiring.free[source].add(loop)
            self._wire(wiring, repeat.part, loop, loop)
            wiring.free[loop].add(target)
            return
        wiring.free[source].add(target)
        for _ in range(repeat.high - repeat.low):
            following = wiring.state()
            self._wire(wiring, repeat.part, source, following)
            wiring.free[following].add(target)
            source = following

    def _leaf(self, wiring: Wiring, dfa: Dfa, source: int, target: int) -> None:
        if dfa.outcome[0] >= 0:
            wiring.free[source].add(target)
            dfa = difference(dfa, words({"": 0}))
        if dfa.empty:
            return
        number = self.numbers.setdefault(dfa.fingerprint, len(self.leaves))
        if number == len(self.leaves):
            self.leaves.append(dfa)
        label: Label = number
        wiring.arcs[source].add((label, target))


class _Emitter(Emitter):
    """Writes a regular part into an automaton."""

    def __init__(self, owner: _Flattener, part: Part, limits: Limits) -> None:
        self.owner = owner
        charsets: set[cs.Charset] = set()
        self._collect(part, charsets)
        self.alphabet = cs.alphabet(charsets or [cs.ANY])
        super().__init__(self.alphabet, limits)

    def dfa(self, part: Part) -> Dfa:
        piece = self.write(part)
        return self.nfa.determinise(piece, CODE_POINTS, self.alphabet.bounds, self.alphabet.classes)

    def _collect(self, part: Part, charsets: set[cs.Charset]) -> None:
        for node in tree.walk(part):
            if isinstance(node, Text):
                charsets.update(_charsets(node.tree))
            elif isinstance(node, Fixed):
                charsets.update(class_sets(node.dfa))
            elif isinstance(node, Ref) and node.name in self.owner.made:
                charsets.update(class_sets(self.owner.made[node.name]))
            elif isinstance(node, Ref):
                self._collect(self.owner.grammar.rules[node.name], charsets)

    def write(self, part: Part) -> Piece:
        match part:
            case Text(pattern):
                return self.emit(pattern)
            case Fixed(dfa):
                return self._embed(dfa)
            case Ref(name):
                made = self.owner.made.get(name)
                return self._embed(made) if made else self.write(self.owner.grammar.rules[name])
            case tree.Sequence(()):
                return self.nfa.nothing()
            case tree.Sequence(parts):
                return self.nfa.sequence([self.write(p) for p in parts])
            case Either(parts):
                return self.nfa.either([self.write(p) for p in parts])
            case Repeat(inner, 0, None):
                return self.nfa.many(self.write(inner))
            case Repeat(inner, low, high):
                since = self.nfa.mark()
                return self.nfa.times(self.write(inner), since, low, high)

    def _embed(self, dfa: Dfa) -> Piece:
        return self.nfa.embed(dfa, [self.alphabet.sets[c] for c in class_sets(dfa)])
