"""Compilation of patterns to automata over code points.

Does: anchors anywhere, counted repeats, search or full match; passes patterns with look-around or word boundaries to
`look`. Does not: parse (`parse`), turn code points into bytes (`encode`).
"""

from collections.abc import Iterable
from contextlib import suppress
from itertools import dropwhile
from typing import Final, NoReturn

from ..automata import (
    CODE_POINTS,
    DEFAULT,
    AutomatonLimits,
    Dfa,
    Nfa,
    NfaFragment,
    complement,
    difference,
    intersection,
)
from ..automata.automaton_cache import automaton_bytes, size_bounded_cache
from ..automata.subset import AT_END, AT_START
from ..contract.errors import ConstraintTooLarge, Refusal, UnsupportedConstraint
from . import charset as cs
from .charset import Alphabet
from .look import (
    FIRST_LOOK,
    NO_WORD_EDGE,
    WORD_EDGE,
    Context,
    Lookaround,
    LookBudget,
    Threads,
    determinise,
)
from .modifiers import Modifiers
from .parse import parse
from .regex_tree import Alternation, Chars, Concat, Edge, Look, Node, Repetition, walk

ANYTHING: Final = Repetition(Chars(cs.ANY), 0, None)
# Look-aheads at the start of a pattern that get automata of their own, and the states of each.
_MOST_LEADING: Final = 16
_MOST_SEPARATE: Final = 1 << 13
_WORD_EDGES: Final = (Edge.WORD, Edge.NOT_WORD)
_GUARDS: Final = {
    Edge.START: AT_START,
    Edge.END: AT_END,
    Edge.WORD: WORD_EDGE,
    Edge.NOT_WORD: NO_WORD_EDGE,
}


@size_bounded_cache(6 << 20, automaton_bytes)
def search(source: str, limits: AutomatonLimits = DEFAULT) -> Dfa:
    """Texts that contain a match, which is what JSON Schema's `pattern` requires; outcome 0.

    Raises:
        InvalidConstraint, UnsupportedConstraint: see `parse`.
        ConstraintTooLarge: more states than `limits` allow.
    """
    return compile_tree(Concat((ANYTHING, parse(source), ANYTHING)), limits)


@size_bounded_cache(6 << 20, automaton_bytes)
def whole(source: str, limits: AutomatonLimits = DEFAULT) -> Dfa:
    """Texts that the pattern matches from start to end; outcome 0. Raises as `search` does."""
    return compile_tree(parse(source), limits)


@size_bounded_cache(6 << 20, automaton_bytes)
def whole_extended(source: str, limits: AutomatonLimits = DEFAULT) -> Dfa:
    """The same for a pattern that may use the syntax that Python and PCRE add to ECMA-262 (`parse`)."""
    return compile_tree(parse(source, Modifiers()), limits)


def compile_tree(tree: Node, limits: AutomatonLimits = DEFAULT) -> Dfa:
    """The texts that a tree matches from start to end."""
    looks, rest = _leading_looks(tree)
    if 0 < len(looks) <= _MOST_LEADING and not _looks_around([rest, *(k.part for k in looks)]):
        # The rest alone may have many states, though not together with the look-aheads.
        with suppress(ConstraintTooLarge):
            few = AutomatonLimits(min(limits.states, _MOST_SEPARATE))
            return _with_leading(looks, rest, few)
    charsets = [node.charset for node in walk(tree) if isinstance(node, Chars)]
    if not _looks_around([tree]):
        alphabet = cs.alphabet(charsets, limits)
        emitter = Emitter(alphabet, limits)
        part = emitter.emit(tree)
        return emitter.nfa.determinise(part, CODE_POINTS, alphabet.bounds, alphabet.classes)
    return _with_looks(
        tree, cs.alphabet([*charsets, cs.WORD, cs.ANY], limits), Context.FIRST, LookBudget(limits)
    )


def _looks_around(trees: Iterable[Node]) -> bool:
    """Whether a part of the trees depends on the text around it."""
    return any(isinstance(n, Look) or n in _WORD_EDGES for tree in trees for n in walk(tree))


def _leading_looks(tree: Node) -> tuple[tuple[Look, ...], Node]:
    """The look-aheads at the start of the text, and the tree without them."""
    todo, parts = [tree], list[Node]()
    while todo:
        node = todo.pop()
        if isinstance(node, Concat):
            todo.extend(reversed(node.parts))
        else:
            parts.append(node)
    if parts[:2] == [ANYTHING, Edge.START]:  # a search that can only begin at the start
        del parts[:2]
    looks: dict[Look, None] = {}
    for node in parts:
        if not isinstance(node, Look) or node.behind:
            break
        looks[node] = None
    return tuple(looks), Concat(tuple(dropwhile(looks.__contains__, parts)))


def _with_leading(looks: tuple[Look, ...], rest: Node, limits: AutomatonLimits) -> Dfa:
    """The texts of `rest` that have all look-aheads: automata of whole texts, which are combined quickly."""
    found = compile_tree(rest, limits)
    for look in looks:
        texts = compile_tree(Concat((look.part, ANYTHING)), limits)
        found = (difference if look.negative else intersection)(found, texts, limits)
    return found


def _with_looks(tree: Node, alphabet: Alphabet, context: Context, budget: LookBudget) -> Dfa:
    emitter = Emitter(alphabet, budget.limits)
    part = emitter.emit(tree)
    for look in emitter.looks:
        if look not in budget.looks:
            budget.looks[look] = _lookaround(look, alphabet, budget)
    looks = tuple(budget.looks[look] for look in emitter.looks)
    return determinise(Threads(emitter.nfa, looks, alphabet, budget), part, context)


def _lookaround(look: Look, alphabet: Alphabet, budget: LookBudget) -> Lookaround:
    """The compiled automata of a look-around.

    Raises:
        UnsupportedConstraint: a look-behind inside a look-around, or a look-behind with an assertion about the text
            after it.
    """
    inner = list(walk(look.part))
    beyond = (Edge.END, Edge.WORD, Edge.NOT_WORD)
    if look.behind and any(isinstance(n, Look) or n in beyond for n in inner):
        _refuse(look, "a look-behind with an assertion about what follows")
    if any(isinstance(n, Look) and n.behind for n in inner):
        _refuse(look, "a look-behind inside a look-ahead")
    tree = Concat((ANYTHING, look.part) if look.behind else (look.part, ANYTHING))
    placed = not look.behind and any(n in (Edge.START, Edge.WORD, Edge.NOT_WORD) for n in inner)
    contexts = tuple(Context) if placed else (Context.FIRST,)
    automata = tuple(_with_looks(tree, alphabet, context, budget) for context in contexts)
    if look.negative:
        automata = tuple(complement(a, budget.limits) for a in automata)
    return Lookaround(look.behind, automata)


def _refuse(look: Look, construct: str) -> NoReturn:
    hint = "say the same with a look-ahead at the start, or without look-around"
    refusal = Refusal(f"char {look.offset}", "look-around", f"{construct} cannot be enforced", hint)
    raise UnsupportedConstraint(
        f"{construct} (char {look.offset}) cannot be enforced; {hint}", (refusal,)
    )


class Emitter:
    """Adds pattern trees to an `Nfa`. Guard `FIRST_LOOK` + i stands for the i-th of `looks`."""

    def __init__(self, alphabet: Alphabet, limits: AutomatonLimits) -> None:
        self.sets = alphabet.sets
        self.nfa = Nfa(alphabet.width, limits)
        self.looks: dict[Look, int] = {}

    def emit(self, node: Node) -> NfaFragment:
        """The fragment that reads the texts of `node`."""
        match node:
            case Chars(charset):
                return self.nfa.symbols(self.sets[charset])
            case Concat(()):
                return self.nfa.nothing()
            case Concat(parts):
                return self.nfa.sequence([self.emit(p) for p in parts])
            case Alternation(parts):
                return self.nfa.either([self.emit(p) for p in parts])
            case Repetition(part, 0, None):
                return self.nfa.many(self.emit(part))
            case Repetition(part, low, high):
                since = self.nfa.mark()
                return self.nfa.times(self.emit(part), since, low, high)
            case Look():
                number = self.looks.setdefault(node, len(self.looks))
                return self.nfa.nothing(FIRST_LOOK + number)
            case Edge():
                return self.nfa.nothing(_GUARDS[node])
