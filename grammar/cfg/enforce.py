"""Selection of the back end of a grammar: an automaton, the byte machine, or Earley items.

Does: prefer the byte machine where one byte of look-ahead suffices; report the reason otherwise. Does not: parse
sources (`ebnf`, `lark`), follow outputs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..automata import Dfa, Spelling, encode
from ..contract.errors import ConstraintTooLarge, Unsatisfiable
from .body import (
    Body,
    NondeterministicBody,
    determinised,
    without_left_recursion,
    without_self_recursion,
)
from .flat import FlatGrammar, flatten
from .form import ByteGrammar, GrammarLeaf, Mask
from .grammar_tree import Grammar
from .lower import LookaheadConflict, lower
from .order import components
from .table import GrammarRule
from .trim import trim


@dataclass(frozen=True, slots=True)
class NondeterministicGrammar:
    """A grammar that the byte machine cannot run, and the reason."""

    form: ByteGrammar
    reason: str


def enforce(grammar: Grammar, following: Mask = 0) -> GrammarRule | Dfa | NondeterministicGrammar:
    """The automaton, rule or nondeterministic grammar that enforces a grammar.

    `following`: the bytes that may follow a text of the grammar, where it is a part of an output.

    Raises:
        Unsatisfiable: the grammar has no text.
        ConstraintTooLarge: the grammar is over a limit.
    """
    grammar, least = trim(grammar)
    flat = flatten(grammar, least)
    if flat.whole is not None:
        automaton = encode(flat.whole, Spelling.UTF8)
        if automaton.empty:
            raise Unsatisfiable("no text can be derived from the grammar")
        return automaton
    leaves = [GrammarLeaf(encode(leaf, Spelling.UTF8)) for leaf in flat.leaves]
    try:
        return lower(_form(flat, leaves, _without_left_recursion(flat.bodies)), following)
    except (LookaheadConflict, ConstraintTooLarge) as problem:
        return NondeterministicGrammar(_form(flat, leaves, flat.bodies), str(problem))


def _form(
    flat: FlatGrammar, leaves: list[GrammarLeaf], bodies: Mapping[str, NondeterministicBody]
) -> ByteGrammar:
    found: dict[str, Body] = {
        name: determinised(without_self_recursion(name, body)) for name, body in bodies.items()
    }
    return ByteGrammar(flat.start, flat.least[flat.start] == 0, leaves, found)


def _without_left_recursion(
    given: Mapping[str, NondeterministicBody],
) -> dict[str, NondeterministicBody]:
    """The bodies without left recursion, direct or indirect."""
    bodies = dict(given)
    begins = {
        name: [label for label, _ in sorted(body.arcs[0], key=str) if isinstance(label, str)]
        for name, body in bodies.items()
    }
    for members in components(begins):
        if len(members) > 1 or members[0] in begins[members[0]]:
            without_left_recursion(bodies, members)
    return bodies
