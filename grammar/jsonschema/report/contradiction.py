"""The place in a schema for which no value exists, and the keywords that exclude each other there.

Does: descend from a schema without values to the sub-schema that is the cause, and find a least set of its keywords
that contradict each other. Does not: find out whether a formula has values (`rules.costs`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...contract.errors import Refusal
from ..logic.formula import Formula
from ..logic.keyword_formulas import BUILDERS, Builder, Keyword
from ..logic.schema_formulas import SchemaFormulas
from ..read.dynamic_scope import Place, Schema, item_parts
from ..read.resolve import Scope

_MOST_PLACES: Final = 200  # on the way down
CONTRADICTORY: Final = "look for constraints that contradict each other"
_HINTS: Final = {
    "oneOf": "exactly one alternative must hold: where several do, use anyOf",
    "anyOf": "none of the alternatives has a value",
    "enum": "list a value",
}
# Keywords that are read with another one.
_TOGETHER: Final = {"if": ("then", "else"), "contains": ("minContains", "maxContains")}
_OWN_ONLY: Final = (
    "additionalProperties sees the properties of its own schema only: "
    "use unevaluatedProperties, or declare all properties in one schema"
)


@dataclass(frozen=True, slots=True)
class _Part:
    """Keywords of a schema with their common formula; or a member of `allOf`."""

    labels: list[str]
    formula: Formula


def contradiction(formulas: SchemaFormulas, is_empty: Callable[[Formula], bool]) -> Refusal:
    """Why the root of `formulas`, of which `is_empty` holds, has no value.

    Raises:
        GrammarError: a part of the schema cannot be examined by itself.
    """
    place, seen = Place(formulas.schemas.root, Scope()), set[Place]()
    while len(seen) < _MOST_PLACES:
        seen.add(place)
        if formulas.schemas.dynamic:
            place = Place(place.site, place.scope.entered(place.site.base))
        needed = _needed(formulas, place)
        below = next((at for at in needed if is_empty(formulas.formula(at))), None)
        if below is None:
            return _here(formulas, place, is_empty)
        if below in seen:
            reason = "no value ends: each one would have to contain another"
            hint = "do not require the property, allow null, or let the list be empty"
            return Refusal(below.site.where, "", reason, hint)
        place = below
    return Refusal(place.site.where, "", "no value is valid", CONTRADICTORY)


def _needed(formulas: SchemaFormulas, place: Place) -> Iterator[Place]:
    """The places of the sub-schemas that every value of the schema at a place must meet itself, or in a part of it."""
    schema = formulas.schemas.value(place.site)
    if not isinstance(schema, dict):
        return
    yield from formulas.targets(place, schema)
    if place.site.dialect.ref_alone and "$ref" in schema:
        return
    keywords = place.site.dialect.keywords & schema.keys()
    for keyword in ("allOf", "anyOf", "oneOf"):
        parts = schema[keyword] if keyword in keywords else ()
        if isinstance(parts, list) and (keyword == "allOf" or len(parts) == 1):
            yield from (formulas.step(place, keyword, number) for number in range(len(parts)))
    if schema.get("type") == "object" and {"properties", "required"} <= keywords:
        declared, demanded = schema["properties"], schema["required"]
        if isinstance(declared, dict) and isinstance(demanded, list):
            names = [name for name in demanded if isinstance(name, str) and name in declared]
            yield from (formulas.step(place, "properties", name) for name in names)
    if schema.get("type") == "array" and "minItems" in keywords:
        yield from _items(formulas, place, schema)


def _items(formulas: SchemaFormulas, place: Place, schema: Schema) -> Iterator[Place]:
    """The places of the schemas of the items that an array must have."""
    prefix, rest = item_parts(place, schema)
    count = int(schema["minItems"])  # type: ignore[call-overload]
    yield from (formulas.step(place, *keys) for keys in prefix[:count])
    if rest is not None and count > len(prefix):
        yield formulas.step(place, rest)


def _here(formulas: SchemaFormulas, place: Place, is_empty: Callable[[Formula], bool]) -> Refusal:
    """The keywords at a place of which every one is needed for the contradiction."""
    where, schema = place.site.where, formulas.schemas.value(place.site)
    if not isinstance(schema, dict):
        return Refusal(where, "", "the schema false allows no value", "allow a value, or omit it")
    kept = _parts(formulas, place, schema)
    for part in tuple(kept):
        others = [each for each in kept if each is not part]
        if is_empty(formulas.pool.all([each.formula for each in others])):
            kept = others
    labels = [label for part in kept for label in part.labels]
    if not labels:
        return Refusal(where, "", "no value is valid", CONTRADICTORY)
    if len(labels) == 1:
        hint = _HINTS.get(labels[0], CONTRADICTORY)
        return Refusal(where, labels[0].partition("/")[0], f"no value meets {labels[0]}", hint)
    told = f"{', '.join(labels[:-1])} and {labels[-1]}"
    hint = _OWN_ONLY if _sees_own_only(schema, labels) else CONTRADICTORY
    return Refusal(where, "", f"no value meets {told} together", hint)


def _sees_own_only(schema: Schema, labels: Sequence[str]) -> bool:
    """Whether schemas that apply to one object contradict each other, and one of them closes it."""
    joined = [label for label in labels if label.startswith(("allOf/", "$ref"))]
    members = schema.get("allOf")
    inner = members if isinstance(members, list) else []
    return bool(joined) and any(
        isinstance(each, dict) and each.get("additionalProperties") is False
        for each in (schema, *inner)
    )


def _parts(formulas: SchemaFormulas, place: Place, schema: Schema) -> list[_Part]:
    """The keywords of a schema, those with a common formula together."""
    found, of_builder = list[_Part](), dict[Builder, _Part]()
    for keyword, value in schema.items():
        builder = BUILDERS.get(keyword) if keyword in place.site.dialect.keywords else None
        if builder is None:
            continue
        if keyword == "allOf" and isinstance(value, list):
            for number in range(len(value)):
                at = formulas.step(place, keyword, number)
                found.append(_Part([f"{keyword}/{number}"], formulas.formula(at)))
        elif builder in of_builder:
            of_builder[builder].labels.append(keyword)
        else:
            own = [keyword, *(name for name in _TOGETHER.get(keyword, ()) if name in schema)]
            formula = builder(Keyword(formulas, place, schema, value))
            of_builder[builder] = _Part(own, formula)
            found.append(of_builder[builder])
    return found
