"""A constraint of a request, and the field that states it.

Does: build constraints from schemas, patterns, grammars and choices; require that there is one at most. Does not:
know a dialect, or check what a constraint means (`SchemaGate`).
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from intaglio.grammar.api import Constraint, GrammarError, InvalidJson, Kind, parse_json
from intaglio.schemas.extraction.requests import FormOptions
from intaglio.schemas.problem import Detail

from ..errors import InvalidBody
from ..extraction.translate import schema_constraint

MAX_SCHEMA_DEPTH: Final = 64
OBJECT: Final = {"type": "object"}

# The head of a rule: `name ::=` in EBNF; `name:`, perhaps with parameters and a priority, in Lark.
_HEAD: Final = re.compile(
    r"^[ \t]*(?:(?P<ebnf>[A-Za-z_][A-Za-z0-9_.\-]{0,200}[ \t]*::=)"
    r"|(?P<lark>[?!]{0,2}_?[A-Za-z][A-Za-z0-9_]{0,200}(?:\{[^}\n]{0,200}\})?(?:\.[0-9]{1,9})?[ \t]*:))",
    re.MULTILINE,
)
_SYNTAX: Final = re.compile(r"[\\^$.*+?()\[\]{}|/]")


@dataclass(frozen=True, slots=True)
class Stated:
    """A constraint and the JSON Pointer of the field that states it. `schema` is set if the answer is JSON.

    `places`: where the constraint is made of several fields, pairs of a JSON Pointer into its source and the field.
    """

    pointer: str
    constraint: Constraint
    schema: dict[str, Any] | bool | None = None
    places: tuple[tuple[str, str], ...] = ()

    def about(self, document: str) -> "Stated":
        """This constraint, with the document that its verbatim strings must occur in."""
        return replace(self, constraint=self.constraint.about(document))

    def located(self, refusal: GrammarError) -> tuple[GrammarError, str]:
        """A refusal of the constraint with places in the field that caused it, and this field."""
        for inner, pointer in self.places:
            if refusal.refusals and refusal.refusals[0].where.startswith(inner):
                moved = tuple(
                    replace(each, where=each.where.removeprefix(inner)) for each in refusal.refusals
                )
                message = refusal.message.replace(inner, pointer)
                return type(refusal)(message, moved), pointer
        return refusal, self.pointer


def json_stated(pointer: str, given: dict[str, Any] | bool | str) -> Stated:
    """JSON under a schema, which may be given as JSON text.

    Raises:
        InvalidBody: the text is not a JSON Schema.
    """
    schema = _parsed(pointer, given) if isinstance(given, str) else given
    return Stated(pointer, schema_constraint(schema, FormOptions()), schema)


def object_stated(pointer: str) -> Stated:
    """Any JSON object."""
    return json_stated(pointer, dict(OBJECT))


def regex_stated(pointer: str, pattern: str) -> Stated:
    """Text that a pattern matches as a whole."""
    return Stated(pointer, Constraint(Kind.REGEX, pattern))


def choice_stated(pointer: str, choices: Sequence[str]) -> Stated:
    """One of some texts.

    Raises:
        InvalidBody: there are none.
    """
    if not choices:
        raise refused(pointer, "needs at least one choice")
    pattern = "|".join(_SYNTAX.sub(r"\\\g<0>", choice) for choice in dict.fromkeys(choices))
    return Stated(pointer, Constraint(Kind.REGEX, pattern))


def grammar_stated(pointer: str, source: str) -> Stated:
    """Text of a grammar: EBNF with the rule `root`, or Lark with the rule `start`, recognised by the first rule."""
    head = _HEAD.search(source)
    is_lark = head is not None and head["lark"] is not None
    return Stated(pointer, Constraint(Kind.LARK if is_lark else Kind.EBNF, source))


def ebnf_stated(pointer: str, source: str) -> Stated:
    """Text of a grammar in EBNF with the rule `root`."""
    return Stated(pointer, Constraint(Kind.EBNF, source))


def tag_stated(pointer: str, given: dict[str, Any] | str) -> Stated:
    """Free text with constrained segments, as XGrammar's structural tag or its text."""
    source = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return Stated(
        pointer,
        Constraint(Kind.STRUCTURAL_TAG, source, extra_properties=False, short_numbers=True),
    )


def only_one(found: Iterable[Stated]) -> Stated | None:
    """The constraint of a request; None if it states none.

    Raises:
        InvalidBody: it states several.
    """
    stated = tuple(found)
    if len(stated) > 1:
        reason = "a request may state one constraint only"
        raise InvalidBody(
            f"{len(stated)} constraints are stated: {', '.join(one.pointer for one in stated)}",
            param=dotted(stated[1].pointer),
            hint="keep one of them",
            details=tuple(Detail(pointer=one.pointer, reason=reason) for one in stated),
        )
    return stated[0] if stated else None


def refused(pointer: str, reason: str, hint: str = "") -> InvalidBody:
    """The error for a field that states no usable constraint."""
    return InvalidBody(
        f"{pointer}: {reason}",
        param=dotted(pointer),
        hint=hint,
        details=(Detail(pointer=pointer, reason=reason, hint=hint),),
    )


def dotted(pointer: str) -> str:
    """A JSON Pointer as a dotted path: `/structured_outputs/json` becomes `structured_outputs.json`."""
    return pointer.removeprefix("/").replace("/", ".")


def _parsed(pointer: str, text: str) -> dict[str, Any] | bool:
    try:
        schema = parse_json(text, depth=MAX_SCHEMA_DEPTH)
    except InvalidJson as error:
        raise refused(pointer, f"is not JSON: {error}") from None
    if not isinstance(schema, dict | bool):
        raise refused(pointer, "must be a JSON Schema: an object or a boolean")
    return schema
