"""From a grammar to what enforces it: the machine where one byte of look-ahead decides, else a parser for any grammar.

Does: choose, and say why. Does not: read sources (`ebnf`, `lark`), follow outputs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..automata import Dfa, Spelling, encode
from ..contract.errors import ConstraintTooLarge, Unsatisfiable
from .body import Body, Loose, determined, unrolled, without_left_recursion
from .emit import written
from .flat import Flat, flatten
from .form import Form, GrammarLeaf
from .grammar_tree import Grammar
from .lower import Undecided, lower
from .order import components
from .table import GrammarRule
from .trim import trimmed


@dataclass(frozen=True, slots=True)
class Parsed:
    """A grammar that no machine runs: as EBNF, with the form that completions are found by, and the reason."""

    ebnf: str
    form: Form
    reason: str


def enforced(grammar: Grammar) -> GrammarRule | Dfa | Parsed:
    """What enforces a grammar.

    Raises:
        Unsatisfiable: it has no text.
        ConstraintTooLarge: it is over a limit.
    """
    grammar, least = trimmed(grammar)
    flat = flatten(grammar, least)
    if flat.whole is not None:
        automaton = encode(flat.whole, Spelling.UTF8)
        if automaton.empty:
            raise Unsatisfiable("no text can be derived from the grammar")
        return automaton
    leaves = [GrammarLeaf(encode(leaf, Spelling.UTF8)) for leaf in flat.leaves]
    try:
        return lower(_form(flat, leaves, _without_left_recursion(flat.bodies)))
    except (Undecided, ConstraintTooLarge) as problem:
        return Parsed(written(grammar), _form(flat, leaves, flat.bodies), str(problem))


def _form(flat: Flat, leaves: list[GrammarLeaf], bodies: Mapping[str, Loose]) -> Form:
    found: dict[str, Body] = {
        name: determined(unrolled(name, body)) for name, body in bodies.items()
    }
    return Form(flat.start, flat.least[flat.start] == 0, leaves, found)


def _without_left_recursion(given: Mapping[str, Loose]) -> dict[str, Loose]:
    """The bodies rewritten so that no rule begins with itself, by whatever way."""
    bodies = dict(given)
    begins = {
        name: [label for label, _ in sorted(body.arcs[0], key=str) if isinstance(label, str)]
        for name, body in bodies.items()
    }
    for members in components(begins):
        if len(members) > 1 or members[0] in begins[members[0]]:
            without_left_recursion(bodies, members)
    return bodies
