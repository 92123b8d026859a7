"""Automata for the regular parts of a grammar.

Does: determine which parts are regular, inline small rules, and limit the total cost. Does not: handle recursion
(`flat`).
"""

from typing import Final

import numpy as np

from ..automata import CODE_POINTS, AutomatonLimits, Dfa
from ..automata import NfaFragment as Piece
from ..contract.errors import ConstraintTooLarge
from ..regex import charset as cs
from ..regex import regex_tree as rx
from ..regex.pattern import Emitter
from . import grammar_tree as tree
from .grammar_tree import Either, Fixed, Grammar, Part, Ref, Repeat, Text

# The most states of a leaf: `JOINED` if it refers to rules; otherwise `JOINED` plus 4 for each state before
# determinisation; never more than `MOST_STATES`.
JOINED: Final = 1 << 12
MOST_STATES: Final = 1 << 17
# States of all automata, before and after determinisation, beyond which rules are no longer flattened. Terminals, which
# cannot be split, may use four times as many.
MOST_WORK: Final = 1 << 17
FAILURE: Final = 1 << 14  # cost of an automaton that grew too large
INLINED: Final = 96  # the most nodes of a rule that is inlined into its callers


def _nodes(node: rx.Node) -> int:
    """The size of a pattern with its counted repeats expanded."""
    match node:
        case rx.Concat(parts) | rx.Alternation(parts):
            return 1 + sum(map(_nodes, parts))
        case rx.Repetition(part, low, high):
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


class RegularParts:
    """The regular rules of one grammar, added callees first.

    `sizes`: for each regular rule, roughly its states before determinisation. `made`: automata of the rules that are
    not inlined.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.sizes: dict[str, int] = {}
        self.made: dict[str, Dfa] = {}
        self._spent = 0
        # Terminals by value; other parts by identity: parts of counted repeats recur often and are expensive to
        # compare.
        self._tried: dict[Part | int, tuple[Part, Dfa | None]] = {}

    def is_regular(self, part: Part) -> bool:
        """Whether a part refers to regular rules only."""
        return all(name in self.sizes for name in tree.refs(part))

    def size(self, part: Part) -> int:
        """The states of a part's automaton before determinisation, roughly."""
        match part:
            case Text(pattern):
                return _nodes(pattern)
            case Fixed(dfa):
                return dfa.states
            case Ref(name):
                return 1 + self.sizes[name]
            case Repeat(inner, low, high):
                return 1 + self.size(inner) * max(low, 1 if high is None else high)
            case _:
                return 1 + sum(map(self.size, tree.children(part)))

    def tried(self, part: Part) -> Dfa | None:
        """The automaton of a regular part; None if it needs too many states."""
        if isinstance(part, Ref) and part.name in self.made:
            return self.made[part.name]
        key = part if isinstance(part, Text) else id(part)
        known = self._tried.get(key)
        if known is not None:
            return known[1]
        dfa = None
        whole = isinstance(part, Text | Fixed)  # cannot be split
        if self.size(part) <= MOST_STATES and (whole or self._spent < MOST_WORK):
            try:
                dfa = self.whole(part)
            except ConstraintTooLarge:
                self.spend(FAILURE)
        self._tried[key] = part, dfa
        return dfa

    def _limits(self, part: Part) -> AutomatonLimits:
        alone = not any(isinstance(node, Ref) for node in tree.walk(part))
        most = JOINED + (4 * self.size(part) if alone else 0)
        return AutomatonLimits(min(MOST_STATES, most))

    def whole(self, part: Part) -> Dfa:
        """The automaton of a regular part.

        Raises:
            ConstraintTooLarge: it needs too many states.
        """
        if isinstance(part, Ref) and part.name in self.made:
            return self.made[part.name]
        self.spend(self.size(part))
        dfa = _Emitter(self, part, self._limits(part)).dfa(part)
        self.spend(dfa.states)
        return dfa

    def spend(self, work: int) -> None:
        """Add to the work done.

        Raises:
            ConstraintTooLarge: the total is over the limit of one grammar.
        """
        self._spent += work
        if self._spent > 4 * MOST_WORK:
            raise ConstraintTooLarge("the automata of this grammar are too large together")


class _Emitter(Emitter):
    """Adds a regular part to an automaton."""

    def __init__(self, owner: RegularParts, part: Part, limits: AutomatonLimits) -> None:
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
                charsets.update(n.charset for n in rx.walk(node.tree) if isinstance(n, rx.Chars))
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
