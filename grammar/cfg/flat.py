"""Flattening of a grammar into two levels: automata for its regular parts, and bodies over them.

Does: flatten rules that do not recurse, and rules that recurse only at one end (Nederhof, "Practical experiments with
regular approximation of context-free languages", 2000), exactly. Does not: decide how bodies are run (`lower`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..automata import CODE_POINTS, AutomatonLimits, Dfa, Nfa, difference, union, words
from ..automata import NfaFragment as Piece
from ..contract.errors import ConstraintTooLarge
from ..regex import charset as cs
from . import grammar_tree as tree
from .body import BodyBuilder, Label, NondeterministicBody, without_self_recursion
from .grammar_tree import Either, Grammar, Part, Ref, Repeat
from .order import components
from .regular import FAILURE, INLINED, JOINED, RegularParts, class_sets


@dataclass(frozen=True, slots=True)
class FlatGrammar:
    """A grammar in two levels: `leaves` are automata over code points without the empty text, `bodies` the other rules.

    `whole`: the automaton of the language if the grammar is regular. `least`: for each rule the fewest bytes.
    """

    start: str
    least: dict[str, int]
    leaves: list[Dfa]
    bodies: dict[str, NondeterministicBody]
    whole: Dfa | None


def flatten(grammar: Grammar, least: dict[str, int]) -> FlatGrammar:
    """The two levels of a trimmed grammar.

    Raises:
        ConstraintTooLarge: a terminal needs too many states, or all automata together do.
    """
    return _Flattener(grammar, least).run()


class _Flattener:
    def __init__(self, grammar: Grammar, least: dict[str, int]) -> None:
        self.grammar = grammar
        self.least = least
        self.regular = RegularParts(grammar)
        self.leaves: list[Dfa] = []
        self.numbers: dict[bytes, int] = {}
        self.bodies: dict[str, NondeterministicBody] = {}
        # By identity: parts of counted repeats recur often, and comparing them is expensive.
        self.grouped: dict[int, tuple[tuple[Part, ...], list[Part]]] = {}

    def run(self) -> FlatGrammar:
        rules, start = self.grammar.rules, self.grammar.start
        called = {name: tuple(tree.refs(part)) for name, part in rules.items()}
        callers: dict[str, set[str]] = {name: set() for name in rules}
        for name, callees in called.items():
            for callee in callees:
                callers[callee].add(name)
        for members in components(called):
            if len(members) > 1 or members[0] in called[members[0]]:
                own = set(members)
                self._recursive(members, [m for m in members if m == start or callers[m] - own])
            else:
                self._plain(members[0])
        whole = self.regular.whole(Ref(start)) if start in self.regular.sizes else None
        return FlatGrammar(start, self.least, self.leaves, self.bodies, whole)

    def _plain(self, name: str) -> None:
        """Process a rule that does not recurse."""
        part = self.grammar.rules[name]
        if name not in self.grammar.kept and self.regular.is_regular(part):
            weight = self.regular.size(part)
            if weight <= INLINED:
                self.regular.sizes[name] = weight
                return
            dfa = self.regular.tried(part)
            if dfa is not None:
                self.regular.made[name], self.regular.sizes[name] = dfa, dfa.states
                return
        self.bodies[name] = self._body(part)

    def _recursive(self, members: Sequence[str], entered: Sequence[str]) -> None:
        """Process mutually recursive rules. `entered`: those that others call."""
        bodies = {name: self._body(self.grammar.rules[name]) for name in members}
        if len(members) == 1:
            bodies[members[0]] = without_self_recursion(members[0], bodies[members[0]])
        flat = None if self.grammar.kept & set(members) else self._linear(bodies, entered)
        if flat is None:
            self.bodies.update(bodies)
        for name, dfa in (flat or {}).items():
            self.regular.made[name] = union(dfa, words({"": 0})) if self.least[name] == 0 else dfa
            self.regular.sizes[name] = dfa.states

    def _linear(
        self, bodies: dict[str, NondeterministicBody], entered: Sequence[str]
    ) -> dict[str, Dfa] | None:
        """The automata of the rules `entered`, of rules that recurse at one end only.

        None if they do not, or exceed the limits.
        """
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
            return {name: self._linear_dfa(bodies, name, right) for name in entered}
        except ConstraintTooLarge:
            self.regular.spend(FAILURE)
            return None

    def _linear_dfa(self, bodies: dict[str, NondeterministicBody], name: str, right: bool) -> Dfa:
        """The automaton of one of these rules. `right`: the recursion is at the end of each rule, else at its start."""
        used = sorted(
            {label for b in bodies.values() for label in b.labels() if isinstance(label, int)}
        )
        alphabet = cs.alphabet(c for n in used for c in class_sets(self.leaves[n]))
        nfa = Nfa(alphabet.width, AutomatonLimits(JOINED))
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
                    if isinstance(label, int):
                        leaf = self.leaves[label]
                        piece = nfa.embed(leaf, [alphabet.sets[c] for c in class_sets(leaf)])
                        nfa.jump(base + s, piece.start)
                        nfa.jump(piece.end, base + target)
                    elif right:
                        nfa.jump(base + s, first[label])
                    else:
                        ends = [f for f, final in enumerate(bodies[label].final) if final]
                        for end in ends:
                            nfa.jump(first[label] + end, base + target)
        dfa = nfa.determinise(whole, CODE_POINTS, alphabet.bounds, alphabet.classes)
        self.regular.spend(nfa.states + dfa.states)
        return dfa

    def _body(self, part: Part) -> NondeterministicBody:
        wiring = BodyBuilder()
        self._wire(wiring, part, 0, 1)
        return wiring.without_epsilon()

    def _wire(self, wiring: BodyBuilder, part: Part, source: int, target: int) -> None:
        """Connect two states by `part`."""
        if self.regular.is_regular(part):
            dfa = self.regular.tried(part)
            if dfa is not None:
                self._leaf(wiring, dfa, source, target)
                return
        match part:
            case Ref(name) if name not in self.regular.sizes:
                wiring.arcs[source].add((name, target))
                if self.least[name] == 0:
                    wiring.free[source].add(target)
            case Ref(name):
                self._wire(wiring, self.grammar.rules[name], source, target)
            case tree.Sequence(parts):
                self._wire_sequence(wiring, self._grouped(parts), source, target)
            case Either(parts):
                regular = tuple(p for p in parts if self.regular.is_regular(p))
                others = [p for p in parts if not self.regular.is_regular(p)]
                joined: list[Part] = (
                    [Either(regular)] if 1 < len(regular) < len(parts) else [*regular]
                )
                for p in (*joined, *others):
                    self._wire(wiring, p, source, target)
            case Repeat(inner, low, high):
                self._wire_repeat(wiring, Repeat(inner, low, high), source, target)
            case _:
                raise ConstraintTooLarge(
                    "a terminal of this grammar needs an automaton that is too large"
                )

    def _grouped(self, parts: tuple[Part, ...]) -> list[Part]:
        """The parts with adjacent regular parts joined, unless all are regular (then they are too large together)."""
        if id(parts) not in self.grouped:
            self.grouped[id(parts)] = parts, self._group(parts)
        return self.grouped[id(parts)][1]

    def _group(self, parts: tuple[Part, ...]) -> list[Part]:
        if all(map(self.regular.is_regular, parts)):
            return list(parts)
        grouped: list[list[Part]] = []
        for part in parts:
            if (
                grouped
                and self.regular.is_regular(part)
                and self.regular.is_regular(grouped[-1][0])
            ):
                grouped[-1].append(part)
            else:
                grouped.append([part])
        return [tree.sequence(group) for group in grouped]

    def _wire_sequence(
        self, wiring: BodyBuilder, parts: list[Part], source: int, target: int
    ) -> None:
        if not parts:
            wiring.free[source].add(target)
        for i, part in enumerate(parts):
            following = target if i == len(parts) - 1 else wiring.state()
            self._wire(wiring, part, source, following)
            source = following

    def _wire_repeat(self, wiring: BodyBuilder, repeat: Repeat, source: int, target: int) -> None:
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

    def _leaf(self, wiring: BodyBuilder, dfa: Dfa, source: int, target: int) -> None:
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
