"""From schemas to formulas over atoms.

Does: give each sub-schema its formula, follow references in place, find what `unevaluated*` leaves over, share equal
sub-schemas. Does not: judge values (`evaluate`) or build automata (`rules`).
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from ...contract.errors import ConstraintTooLarge, Refusal, UnsupportedConstraint
from ...leaves.formats import KNOWN
from ..read.dialects import DRAFT4
from ..read.dynamic_scope import Place, Schema, item_parts
from ..read.resolve import Schemas, Scope
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
    Members,
    MultipleOf,
    Names,
    OneOf,
    OtherItems,
    OtherMembers,
    Pattern,
    Props,
    Required,
    Sub,
    Types,
    Unique,
)
from .evaluated import OBJECTS, item_covers, member_covers
from .formula import Atom, Formula, Pool

# In-place applicators nested deeper than this are refused: they are followed by recursion.
DEEPEST = 120
# No output is a string of so many characters: an upper bound of this size is none.
UNREACHED = 200_000


class Keyword(NamedTuple):
    """One keyword of a schema, with all that its meaning may depend on."""

    normal: "Normal"
    place: Place
    schema: Schema
    value: Json

    @property
    def in_force(self) -> frozenset[str]:
        """The keywords that the schema's dialect knows."""
        return self.place.site.dialect.keywords

    @property
    def pool(self) -> Pool:
        """Where formulas are made."""
        return self.normal.pool

    def sub(self, *keys: str | int) -> Sub:
        """The sub-schema below the schema at `keys`."""
        return self.normal.below(self.place, *keys)

    def formula(self, *keys: str | int) -> Formula:
        """The formula of the schema below this one at `keys`, which is applied to the same value."""
        return self.normal.formula(self.normal.step(self.place, *keys))


Builder = Callable[[Keyword], Formula]


class Normal:
    """The formulas of one compilation. Owns the pool and the sub-schemas."""

    def __init__(self, schemas: Schemas, formats: bool) -> None:
        """`formats`: whether `format` is asserted wherever the dialect has the format."""
        self.pool = Pool()
        self.schemas = schemas
        self.formats = formats
        self.demanded: dict[str, int] = {}  # names in the order in which schemas first demand them
        self._formulas: dict[Place, Formula] = {}
        self._by_key: dict[object, Formula] = {}
        self._open: dict[Place, None] = {}
        self._places: dict[object, Place] = {}
        self.root = self.sub(Place(schemas.root, Scope()))

    @property
    def built(self) -> tuple[Place, ...]:
        """The places whose formulas have been made."""
        return tuple(self._formulas)

    @property
    def reached(self) -> tuple[Formula, ...]:
        """The formulas of sub-schemas that have been asked for, in that order."""
        return tuple(self._by_key.values())

    def sub(self, place: Place) -> Sub:
        """The sub-schema at a place; equal ones have equal keys."""
        key = self._key(place)
        self._places.setdefault(key, place)
        return Sub(key, place.site.where, self._of_sub)

    def below(self, place: Place, *keys: str | int) -> Sub:
        """The sub-schema below a place at `keys`."""
        return self.sub(self.step(place, *keys))

    def step(self, place: Place, *keys: str | int) -> Place:
        """The place below a place at `keys`."""
        return Place(self.schemas.below(place.site, *keys), place.scope)

    def _of_sub(self, sub: Sub) -> Formula:
        formula = self._by_key.get(sub.key)
        if formula is None:
            formula = self._by_key[sub.key] = self.formula(self._places[sub.key])
        return formula

    def _key(self, place: Place) -> object:
        """Schemas with the same text mean the same where nothing in them depends on where they stand."""
        site = place.site
        value = self.schemas.value(site)
        if isinstance(value, bool):
            return value
        try:
            text = repr(value)  # names stand in single quotes there, if they hold none
        except RecursionError:
            return place
        if site.dialect.id_keyword == "id" and "'id'" in text:
            return place
        if "'$" not in text:
            return (text, site.dialect.uri)
        if any(name in text for name in ("'$id'", "'$anchor'", "'$dynamicAnchor'")):
            return place
        if any(name in text for name in ("'$ref'", "'$dynamicRef'", "'$recursiveRef'")):
            return (text, site.dialect.uri, site.document, site.base, place.scope)
        return (text, site.dialect.uri)

    def formula(self, place: Place) -> Formula:
        """The formula of the schema at a place.

        Raises:
            UnsupportedConstraint: the schema refers to itself in place, or something in it is refused.
            InvalidConstraint: a reference leads nowhere.
            ConstraintTooLarge: in-place applicators are nested too deeply.
        """
        known = self._formulas.get(place)
        if known is not None:
            return known
        where = place.site.where
        if place in self._open:
            refusal = Refusal(
                where, "$ref", "the schema refers to itself in place", "remove the circle"
            )
            raise UnsupportedConstraint(f"{where or '/'}: {refusal.reason}", (refusal,))
        if len(self._open) > DEEPEST:
            raise ConstraintTooLarge(f"{where}: schemas are nested too deeply in place")
        self._open[place] = None
        try:
            formula = self._build(place)
        finally:
            self._open.pop(place)
        self._formulas[place] = formula
        return formula

    def _build(self, place: Place) -> Formula:
        schema = self.schemas.value(place.site)
        if not isinstance(schema, dict):
            return self.pool.constant(bool(schema))
        dialect = place.site.dialect
        if self.schemas.dynamic:
            place = Place(place.site, place.scope.entered(place.site.base))
        if dialect.ref_alone and "$ref" in schema:
            return _ref(Keyword(self, place, schema, schema["$ref"]))
        builders: dict[Builder, Json] = {}
        for keyword, value in schema.items():
            builder = BUILDERS.get(keyword) if keyword in dialect.keywords else None
            if builder is not None:
                builders.setdefault(builder, value)
        return self.pool.all(
            [builder(Keyword(self, place, schema, value)) for builder, value in builders.items()]
        )

    def targets(self, place: Place, schema: Schema) -> list[Place]:
        """The places that references at this one lead to."""
        site, found = place.site, []
        in_force = site.dialect.keywords
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = schema.get(keyword)
            if keyword not in in_force or not isinstance(reference, str):
                continue
            if keyword == "$ref":
                target = self.schemas.resolve(site, reference)
            elif keyword == "$dynamicRef":
                target = self.schemas.resolve_dynamic(site, reference, place.scope)
            else:
                target = self.schemas.resolve_recursive(site, place.scope)
            found.append(Place(target, place.scope))
        return found


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
    if at.place.site.dialect == DRAFT4 and "integer" in names:
        names = names - {"integer"} | {PLAIN_INTEGER}
    return at.pool.of(Types(frozenset(names)))


def _one_of_values(at: Keyword) -> Formula:
    values = at.value if isinstance(at.value, list) else []
    return at.pool.of(OneOf(frozenset(map(canonical, values)))) if values else at.pool.false


def _format(at: Keyword) -> Formula:
    dialect = at.place.site.dialect
    asserted = at.normal.formats or dialect.asserts_formats
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
    return _has(at.normal, at.value if isinstance(at.value, list) else [])


def _has(normal: Normal, names: list[Json]) -> Formula:
    demanded = [str(name) for name in names]
    for name in demanded:
        normal.demanded.setdefault(name, len(normal.demanded))
    return normal.pool.of(Required(frozenset(demanded))) if names else normal.pool.true


def _props(at: Keyword) -> Formula:
    keywords = at.in_force

    def table(keyword: str) -> tuple[tuple[str, Sub], ...]:
        members = at.schema.get(keyword) if keyword in keywords else None
        names = members if isinstance(members, dict) else {}
        return tuple((name, at.sub(keyword, name)) for name in names)

    rest = None
    if "additionalProperties" in at.schema and "additionalProperties" in keywords:
        rest = at.sub("additionalProperties")
    return at.pool.of(Props(table("properties"), table("patternProperties"), rest))


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
    return at.pool.of(Names(at.sub("propertyNames")))


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
            # `Required` holds of everything that is no object, so its absence alone would hold of nothing else.
            absent = [pool.no(pool.of(OBJECTS)), pool.no(_has(at.normal, [name]))]
            listed = isinstance(needs, list)
            then = _has(at.normal, needs) if listed else at.formula(keyword, name)
            found.append(pool.any([*absent, then]))
        return pool.all(found)

    return build


def _ref(at: Keyword) -> Formula:
    targets = at.normal.targets(at.place, at.schema)
    return at.pool.all([at.normal.formula(target) for target in targets])


def _other_members(at: Keyword) -> Formula:
    covers = tuple(member_covers(at.normal, at.place))
    return at.pool.of(OtherMembers(at.sub("unevaluatedProperties"), covers))


def _other_items(at: Keyword) -> Formula:
    covers = tuple(item_covers(at.normal, at.place))
    return at.pool.of(OtherItems(at.sub("unevaluatedItems"), covers))


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
    "minProperties": _atom(lambda value: Members(least=_count(value))),
    "maxProperties": _atom(lambda value: Members(most=_count(value))),
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
    **dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef"), _ref),
    "unevaluatedProperties": _other_members,
    "unevaluatedItems": _other_items,
}
