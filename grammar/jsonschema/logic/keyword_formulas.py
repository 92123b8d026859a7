"""The formula of each keyword of a schema.

Does: translate keywords into atoms and Boolean combinations of sub-schemas. Does not: follow references or remember
formulas (`schema_formulas`).
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from ...contract.errors import Refusal, UnsupportedConstraint
from ...leaves.formats import KNOWN
from ..read.dialects import DRAFT4, EXTENSION
from ..read.dynamic_scope import Place, Schema, item_parts
from ..read.uri import step
from ..read.values import Json, canonical, number
from .atoms import (
    PLAIN_INTEGER,
    AtLeast,
    AtMost,
    Contains,
    Format,
    ItemCount,
    Items,
    Length,
    MemberCount,
    MultipleOf,
    OneOf,
    Pattern,
    Properties,
    PropertyNames,
    Required,
    SubSchema,
    Types,
    UnevaluatedItems,
    UnevaluatedMembers,
    Unique,
    Verbatim,
)
from .covers import OBJECTS, item_covers, member_covers
from .formula import Atom, Formula, Pool
from .sub_schemas import SubSchemas

# Upper bounds on string length from this size on are dropped: no output contains such a string.
UNREACHED = 200_000


class Keyword(NamedTuple):
    """One keyword of a schema, with everything that its meaning may depend on."""

    formulas: SubSchemas
    place: Place
    schema: Schema
    value: Json

    @property
    def in_force(self) -> frozenset[str]:
        """The keywords that the schema's dialect knows."""
        return self.place.site.dialect.keywords

    @property
    def pool(self) -> Pool:
        """The pool that makes the formulas."""
        return self.formulas.pool

    def sub(self, *keys: str | int) -> SubSchema:
        """The sub-schema below the schema at `keys`."""
        return self.formulas.below(self.place, *keys)

    def formula(self, *keys: str | int) -> Formula:
        """The formula of the schema below this one at `keys`, applied to the same value."""
        return self.formulas.formula(self.formulas.step(self.place, *keys))


Builder = Callable[[Keyword], Formula]


def _atom(make: Callable[[Json], Atom]) -> Builder:
    def build(at: Keyword) -> Formula:
        return at.pool.of(make(at.value))

    return build


def _number(value: Json) -> int | Fraction:
    return number(value)  # type: ignore[arg-type]


def _count(value: Json) -> int:
    return int(value)  # type: ignore[call-overload,no-any-return]


def _most_length(at: Keyword) -> Formula:
    most = _count(at.value)
    return at.pool.true if most >= UNREACHED else at.pool.of(Length(most=most))


def _types(at: Keyword) -> Formula:
    names = {str(name) for name in (at.value if isinstance(at.value, list) else [at.value])}
    if "integer" in names and at.place.site.dialect == DRAFT4:
        names = names - {"integer"} | {PLAIN_INTEGER}
    return at.pool.of(Types(frozenset(names)))


def _one_of_values(at: Keyword) -> Formula:
    values = at.value if isinstance(at.value, list) else []
    return at.pool.of(OneOf(frozenset(map(canonical, values)))) if values else at.pool.false


def _format(at: Keyword) -> Formula:
    dialect = at.place.site.dialect
    asserted = at.formulas.formats or dialect.asserts_formats
    if asserted and at.value in KNOWN:
        return at.pool.of(Format(str(at.value)))
    return at.pool.true


def _bound(at: Keyword) -> Formula:
    """All four bounds of numbers at once: draft 4 writes the strict ones as flags."""
    pool, found = at.pool, []
    flags = at.place.site.dialect.name == "draft4"
    keywords = at.in_force
    for keyword, strict, make in (
        ("minimum", "exclusiveMinimum", AtLeast),
        ("maximum", "exclusiveMaximum", AtMost),
    ):
        if keyword in at.schema and keyword in keywords:
            strictly = flags and at.schema.get(strict) is True
            found.append(pool.of(make(_number(at.schema[keyword]), strictly)))
        if not flags and strict in at.schema and strict in keywords:
            found.append(pool.of(make(_number(at.schema[strict]), True)))  # noqa: FBT003
    return pool.all(found)


def _required(at: Keyword) -> Formula:
    return _has(at.formulas, at.value if isinstance(at.value, list) else [])


def _has(formulas: SubSchemas, names: list[Json]) -> Formula:
    demanded = [str(name) for name in names]
    for name in demanded:
        formulas.demanded.setdefault(name, len(formulas.demanded))
    return formulas.pool.of(Required(frozenset(demanded))) if names else formulas.pool.true


def _props(at: Keyword) -> Formula:
    keywords = at.in_force

    def table(keyword: str) -> tuple[tuple[str, SubSchema], ...]:
        members = at.schema.get(keyword) if keyword in keywords else None
        names = members if isinstance(members, dict) else {}
        return tuple((name, at.sub(keyword, name)) for name in names)

    rest = None
    if "additionalProperties" in at.schema and "additionalProperties" in keywords:
        rest = at.sub("additionalProperties")
    return at.pool.of(Properties(table("properties"), table("patternProperties"), rest))


def _items(at: Keyword) -> Formula:
    prefix, rest = item_parts(at.place, at.schema)
    subs = tuple(at.sub(*keys) for keys in prefix)
    return at.pool.of(Items(subs, None if rest is None else at.sub(rest)))


def _contains(at: Keyword) -> Formula:
    least, most = 1, None
    keywords = at.in_force
    if "minContains" in at.schema and "minContains" in keywords:
        least = _count(at.schema["minContains"])
    if "maxContains" in at.schema and "maxContains" in keywords:
        most = _count(at.schema["maxContains"])
    if least == 0 and most is None:
        return at.pool.true
    return at.pool.of(Contains(at.sub("contains"), least, most))


def _unique(at: Keyword) -> Formula:
    return at.pool.of(Unique()) if at.value is True else at.pool.true


def _names(at: Keyword) -> Formula:
    return at.pool.of(PropertyNames(at.sub("propertyNames")))


def _list(join: Callable[[Pool, list[Formula]], Formula], keyword: str) -> Builder:
    def build(at: Keyword) -> Formula:
        count = len(at.value) if isinstance(at.value, list) else 0
        parts = [at.formula(keyword, i) for i in range(count)]
        return join(at.pool, parts)

    return build


def _not(at: Keyword) -> Formula:
    return at.pool.no(at.formula("not"))


def _if(at: Keyword) -> Formula:
    branches = [
        at.formula(name) if name in at.schema else at.pool.true for name in ("then", "else")
    ]
    if all(branch is at.pool.true for branch in branches):
        return at.pool.true
    return at.pool.choose(at.formula("if"), *branches)


def _dependent(keyword: str) -> Builder:
    def build(at: Keyword) -> Formula:
        pool, found = at.pool, []
        for name, needs in at.value.items() if isinstance(at.value, dict) else ():
            # `Required` holds for every other kind of value, so its negation alone would exclude those kinds.
            absent = [pool.no(pool.of(OBJECTS)), pool.no(_has(at.formulas, [name]))]
            listed = isinstance(needs, list)
            then = _has(at.formulas, needs) if listed else at.formula(keyword, name)
            found.append(pool.any([*absent, then]))
        return pool.all(found)

    return build


def reference(at: Keyword) -> Formula:
    """The formula of the schemas that the references at a place lead to."""
    targets = at.formulas.targets(at.place, at.schema)
    return at.pool.all([at.formulas.formula(target) for target in targets])


def _other_members(at: Keyword) -> Formula:
    covers = tuple(member_covers(at.formulas, at.place))
    return at.pool.of(UnevaluatedMembers(at.sub("unevaluatedProperties"), covers))


def _other_items(at: Keyword) -> Formula:
    covers = tuple(item_covers(at.formulas, at.place))
    return at.pool.of(UnevaluatedItems(at.sub("unevaluatedItems"), covers))


def _verbatim(at: Keyword) -> Formula:
    where = step(at.place.site.where, EXTENSION)
    if not (isinstance(at.value, dict) and at.value.get("verbatim")):
        return at.pool.true
    if at.formulas.document is None:
        reason = "a verbatim string is a substring of the document, and there is none here"
        hint = "remove x-intaglio, or send the document with the schema to /v1/extract"
        raise UnsupportedConstraint(
            f"{where}: {reason}", (Refusal(where, EXTENSION, reason, hint),)
        )
    return at.pool.of(Verbatim(at.formulas.document, where))


BUILDERS: Mapping[str, Builder] = {
    "type": _types,
    "enum": _one_of_values,
    "const": _atom(lambda value: OneOf(frozenset({canonical(value)}))),
    "format": _format,
    "pattern": _atom(lambda value: Pattern(str(value))),
    "minLength": _atom(lambda value: Length(least=_count(value))),
    "maxLength": _most_length,
    "multipleOf": _atom(lambda value: MultipleOf(_number(value))),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _bound),
    "minProperties": _atom(lambda value: MemberCount(least=_count(value))),
    "maxProperties": _atom(lambda value: MemberCount(most=_count(value))),
    "required": _required,
    **dict.fromkeys(("properties", "patternProperties", "additionalProperties"), _props),
    "propertyNames": _names,
    "dependentRequired": _dependent("dependentRequired"),
    "dependentSchemas": _dependent("dependentSchemas"),
    "dependencies": _dependent("dependencies"),
    "minItems": _atom(lambda value: ItemCount(least=_count(value))),
    "maxItems": _atom(lambda value: ItemCount(most=_count(value))),
    **dict.fromkeys(("items", "prefixItems", "additionalItems"), _items),
    "contains": _contains,
    "uniqueItems": _unique,
    "allOf": _list(Pool.all, "allOf"),
    "anyOf": _list(Pool.any, "anyOf"),
    "oneOf": _list(Pool.one, "oneOf"),
    "not": _not,
    "if": _if,
    **dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef"), reference),
    "unevaluatedProperties": _other_members,
    "unevaluatedItems": _other_items,
    EXTENSION: _verbatim,
}
