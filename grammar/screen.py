"""The first look at a constraint: is it one, can all of it be enforced, can anything meet it.

Does: bound and parse the source, and turn it into what a back end compiles, independent of any vocabulary. Does not:
compile. What it lets through is enforced in full; what cannot be is refused by place, keyword, reason and hint.

Native compilers cannot be interrupted, so the bounds here are also what keeps them from running away.
"""

import re
from dataclasses import dataclass

from .backends.reader import read
from .backends.schema_ebnf import write
from .backends.shortest import LONGEST as LONGEST_TEXT
from .backends.shortest import shortest
from .backends.walk import ByteAutomaton, automaton
from .errors import (
    ConstraintTooLarge,
    InvalidConstraint,
    Refusal,
    Unsatisfiable,
    UnsupportedConstraint,
)
from .jsontext import InvalidJson, parse_json
from .spec import Constraint, Kind

LONGEST = {Kind.JSON_SCHEMA: 512 * 1024, Kind.REGEX: 16 * 1024, Kind.EBNF: 128 * 1024}  # characters
_DEEPEST_SCHEMA = 200
_LONGEST_GRAMMAR = 4 * 1024 * 1024
_TOKEN_LEVEL = re.compile(
    r"\b(Token|ExcludeToken|AnyTokens|TagDispatch|TokenTagDispatch|Capture)\s*\("
)


@dataclass(frozen=True, slots=True)
class Screened:
    """A constraint that can be enforced in full: a grammar or an automaton over bytes, whichever is not None.

    `shortest` is a short compact text of the language, where one is known.
    """

    ebnf: str | None = None
    automaton: ByteAutomaton | None = None
    shortest: str | None = None


def screen(constraint: Constraint) -> Screened:
    """Judge a constraint.

    Raises:
        InvalidConstraint: the source is not a schema, pattern or grammar.
        UnsupportedConstraint: something in it cannot be enforced; `refusals` names each such place.
        ConstraintTooLarge: it is over a bound of size, depth or states.
        Unsatisfiable: nothing can meet it.
    """
    limit = LONGEST[constraint.kind]
    if len(constraint.source) > limit:
        raise ConstraintTooLarge(f"the source is longer than {limit} characters")
    try:
        match constraint.kind:
            case Kind.JSON_SCHEMA:
                return _schema(constraint)
            case Kind.REGEX:
                return Screened(automaton=automaton(constraint.source))
            case Kind.EBNF:
                return _grammar(constraint.source)
    except RecursionError as error:
        raise ConstraintTooLarge("the source is nested too deeply") from error


def _schema(constraint: Constraint) -> Screened:
    try:
        document = parse_json(constraint.source, depth=_DEEPEST_SCHEMA)
    except InvalidJson as error:
        raise InvalidConstraint(f"the schema is not JSON: {error}") from error
    if not isinstance(document, dict | bool):
        refusal = Refusal("", "", "a schema is an object or a Boolean", "give a JSON Schema")
        raise InvalidConstraint("a schema is an object or a Boolean", (refusal,))
    shapes = read(document, extra_properties=constraint.extra_properties)
    texts = shortest(shapes)
    if shapes.root not in texts:
        raise Unsatisfiable("no JSON value meets the schema")
    ebnf = write(shapes, frozenset(texts), constraint.whitespace)
    if len(ebnf) > _LONGEST_GRAMMAR:
        raise ConstraintTooLarge(
            "the schema makes too large a grammar; make it smaller, or its bounds"
        )
    text = texts[shapes.root]
    return Screened(ebnf=ebnf, shortest=text if len(text) < LONGEST_TEXT else None)


def _grammar(source: str) -> Screened:
    found = _TOKEN_LEVEL.search(source)
    if found is not None:
        name = found.group(1)
        reason = "a grammar speaks of characters, not of tokens"
        refusal = Refusal(f"char {found.start()}", name, reason, "write out the characters")
        raise UnsupportedConstraint(f"{name} at char {found.start()}: {reason}", (refusal,))
    return Screened(ebnf=source)
