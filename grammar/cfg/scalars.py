"""The scalar values that a JSON Schema allows, as texts over code points.

Does: find the schema of a column or element, refuse schemas that are not scalar, replace characters by their escapes.
Does not: know CSV or XML.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

import numpy as np

from ..automata import (
    CODE_POINTS,
    Dfa,
    Nfa,
    NfaFragment,
    canonical,
    difference,
    nothing,
    union_all,
    words,
)
from ..contract.errors import Refusal, UnsupportedConstraint
from ..jsonschema.logic.atoms import ValueKind
from ..jsonschema.logic.evaluate import holds
from ..jsonschema.read.values import FALSE, TRUE, Json
from ..jsonschema.read.writing_options import Options
from ..jsonschema.rules.language import Language
from ..jsonschema.scalars.number_formulas import NumberAutomata
from ..jsonschema.scalars.opaque import opaque
from ..regex import charset as cs
from ..regex import whole
from .regular import class_sets

_DOCUMENT: Final = "schema:/document"


@dataclass(frozen=True, slots=True)
class ScalarTexts:
    """The texts of a scalar: `strings` unquoted, `plain` numbers and booleans; `null`: whether null is allowed."""

    null: bool
    strings: Dfa
    plain: Dfa


def scalars(document: Json, pointer: str) -> ScalarTexts:
    """The texts of the schema at a JSON Pointer of a document.

    Raises:
        UnsupportedConstraint: it allows arrays or objects, or has an assertion that no automaton can check.
        InvalidConstraint, ConstraintTooLarge, Unsatisfiable: see `jsonschema`.
    """
    place = {"$ref": f"{_DOCUMENT}#{pointer}"}
    language = Language(place, Options(), {_DOCUMENT: document})
    formula, to = language.formulas.root.formula, language.shared.restriction.to
    false = language.formulas.pool.false
    if any(to(formula, kind) is not false for kind in (ValueKind.OBJECT, ValueKind.ARRAY)):
        refuse(pointer, "type", "a value here must be a scalar", "give it a scalar `type`")
    string, number = to(formula, ValueKind.STRING), to(formula, ValueKind.NUMBER)
    for part in (*string.atoms, *number.atoms):
        if opaque(part.atom):
            name = type(part.atom).__name__.lower()
            refuse(pointer, name, "no automaton can check this", "use a pattern or bounds instead")
    named = {text: 0 for text, value in (("true", TRUE), ("false", FALSE)) if holds(formula, value)}
    numbers = nothing() if number is false else NumberAutomata(exponents=False).of(number)
    # Integers are written without a point: the text carries no type that would mark 1.0 as an integer.
    plain = difference(_widened(numbers), whole(r"-?\d+\.0+"))
    strings = language.shared.strings.of(string)
    found = ScalarTexts(holds(formula, None), strings, union_all([words(named), plain]))
    language.release()
    return found


def refuse(pointer: str, keyword: str, reason: str, hint: str) -> NoReturn:
    """Refuse the schema at a pointer."""
    raise UnsupportedConstraint(
        f"{pointer or '/'}: {keyword}: {reason}; {hint}", (Refusal(pointer, keyword, reason, hint),)
    )


def _widened(dfa: Dfa) -> Dfa:
    """An automaton over ASCII bytes as an automaton over code points."""
    bounds = np.append(dfa.bounds, np.int32(256))
    classes = np.append(dfa.classes, np.int32(-1))
    return canonical(CODE_POINTS, bounds, classes, dfa.table, dfa.outcome)


def respelled(dfa: Dfa, spellings: Mapping[str, str]) -> Dfa:
    """The same texts with some characters replaced by other texts."""
    sets = class_sets(dfa)
    own = {ord(char) for char in spellings}
    singles = {ord(char) for text in spellings.values() for char in text} | own
    rest = [_without(charset, own) for charset in sets]
    alphabet = cs.alphabet([*rest, *(((point, point),) for point in singles)])
    nfa = Nfa(alphabet.width)
    whole = NfaFragment(nfa.state(), nfa.state())
    first = nfa.states
    for _ in range(dfa.states):
        nfa.state()
    nfa.jump(whole.start, first)
    for state, row in enumerate(dfa.table.tolist()):
        if dfa.outcome[state] >= 0:
            nfa.jump(first + state, whole.end)
        for column, target in enumerate(row):
            if target < 0:
                continue
            if rest[column]:
                nfa.arc(first + state, alphabet.sets[rest[column]], first + target)
            for char, text in spellings.items():
                if any(low <= ord(char) <= high for low, high in sets[column]):
                    at = first + state
                    for i, letter in enumerate(text):
                        to = first + target if i == len(text) - 1 else nfa.state()
                        nfa.arc(at, alphabet.sets[((ord(letter), ord(letter)),)], to)
                        at = to
    return nfa.determinise(whole, CODE_POINTS, alphabet.bounds, alphabet.classes)


def _without(charset: cs.Charset, points: set[int]) -> cs.Charset:
    return cs.complement(cs.of([*cs.complement(charset), *((p, p) for p in points)]))
