"""From schemas to formulas over atoms.

Does: give each sub-schema its formula, follow references in place, find what `unevaluated*` leaves over, share equal
sub-schemas. Does not: judge values (`evaluate`) or build automata (`rules`).
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

from ..errors import ConstraintTooLarge, Refusal, UnsupportedConstraint
from ..leaves.formats import NAMES
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
from .covers import OBJECTS, item_covers, member_covers
from .dialects import DRAFT4
from .formula import Atom, Formula, Pool
from .places import Place, Schema, item_parts
from .resolve import Schemas, Scope
from .values import Json, canonical, number

# In-place applicators nested deeper than this are refused: they are followed by recursion.
DEEPEST = 120
# No output is a string of so many characters: an upper bound of this size is none.
UNREACHED = 200_000


Builder = Callable[["Normal", Place, Schema, Json], Formula]


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
            return _ref(self, place, schema, schema["$ref"])
        builders: dict[Builder, Json] = {}
        for keyword, value in schema.items():
            builder = BUILDERS.get(keyword) if keyword in dialect.keywords else None
            if builder is not None:
                builders.setdefault(builder, value)
        return self.pool.all(
            [builder(self, place, schema, value) for builder, value in builders.items()]
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
    def build(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
        return normal.pool.of(make(value))

    return build


def _number(value: Json) -> int | Fraction:
    return number(value)  # type: ignore[arg-type]


def _count(value: Json) -> int:
    return int(value)  # type: ignore[call-overload,no-any-return]


def _most_length(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    most = _count(value)
    return normal.pool.true if most >= UNREACHED else normal.pool.of(Length(most=most))


def _types(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    names = {str(name) for name in (value if isinstance(value, list) else [value])}
    if place.site.dialect == DRAFT4 and "integer" in names:
        names = names - {"integer"} | {PLAIN_INTEGER}
    return normal.pool.of(Types(frozenset(names)))


def _one_of_values(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    values = value if isinstance(value, list) else []
    return _members_of(normal, frozenset(canonical(member) for member in values))


def _const(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    return _members_of(normal, frozenset({canonical(value)}))


def _members_of(normal: Normal, values: frozenset[object]) -> Formula:
    return normal.pool.of(OneOf(values)) if values else normal.pool.false


def _format(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    dialect = place.site.dialect
    asserted = normal.formats or dialect.asserts_formats
    if asserted and value in NAMES:
        return normal.pool.of(Format(str(value)))
    return normal.pool.true


def _bound(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    """All four bounds of numbers at once: draft 4 writes the strict ones as flags."""
    pool, found = normal.pool, []
    flags = place.site.dialect.name == "draft4"
    keywords = place.site.dialect.keywords
    for keyword, strict, make in (
        ("minimum", "exclusiveMinimum", AtLeast),
        ("maximum", "exclusiveMaximum", AtMost),
    ):
        if keyword in schema and keyword in keywords:
            strictly = flags and schema.get(strict) is True
            found.append(pool.of(make(_number(schema[keyword]), strictly)))
        if not flags and strict in schema and strict in keywords:
            found.append(pool.of(make(_number(schema[strict]), True)))  # noqa: FBT003
    return pool.all(found)


def _required(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    names = value if isinstance(value, list) else []
    return _has(normal, names)


def _has(normal: Normal, names: list[Json]) -> Formula:
    demanded = [str(name) for name in names]
    for name in demanded:
        normal.demanded.setdefault(name, len(normal.demanded))
    return normal.pool.of(Required(frozenset(demanded))) if names else normal.pool.true


def _props(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    keywords = place.site.dialect.keywords

    def table(keyword: str) -> tuple[tuple[str, Sub], ...]:
        members = schema.get(keyword) if keyword in keywords else None
        names = members if isinstance(members, dict) else {}
        return tuple((name, normal.below(place, keyword, name)) for name in names)

    rest = None
    if "additionalProperties" in schema and "additionalProperties" in keywords:
        rest = normal.below(place, "additionalProperties")
    return normal.pool.of(Props(table("properties"), table("patternProperties"), rest))


def _items(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    prefix, rest = item_parts(place, schema)
    subs = tuple(normal.below(place, *keys) for keys in prefix)
    return normal.pool.of(Items(subs, None if rest is None else normal.below(place, rest)))


def _contains(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    least, most = 1, None
    keywords = place.site.dialect.keywords
    if "minContains" in schema and "minContains" in keywords:
        least = _count(schema["minContains"])
    if "maxContains" in schema and "maxContains" in keywords:
        most = _count(schema["maxContains"])
    if least == 0 and most is None:
        return normal.pool.true
    return normal.pool.of(Contains(normal.below(place, "contains"), least, most))


def _unique(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    return normal.pool.of(Unique()) if value is True else normal.pool.true


def _names(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    return normal.pool.of(Names(normal.below(place, "propertyNames")))


def _list(join: Callable[[Pool, list[Formula]], Formula], keyword: str) -> Builder:
    def build(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
        count = len(value) if isinstance(value, list) else 0
        parts = [normal.formula(normal.step(place, keyword, i)) for i in range(count)]
        return join(normal.pool, parts)

    return build


def _not(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    return normal.pool.no(normal.formula(normal.step(place, "not")))


def _if(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    branches = [
        normal.formula(normal.step(place, name)) if name in schema else normal.pool.true
        for name in ("then", "else")
    ]
    if all(branch is normal.pool.true for branch in branches):
        return normal.pool.true
    return normal.pool.choose(normal.formula(normal.step(place, "if")), *branches)


def _dependent(keyword: str) -> Builder:
    def build(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
        pool, found = normal.pool, []
        for name, needs in value.items() if isinstance(value, dict) else ():
            # `Required` holds of everything that is no object, so its absence alone would hold of nothing else.
            absent = [pool.no(pool.of(OBJECTS)), pool.no(_has(normal, [name]))]
            listed = isinstance(needs, list)
            below = None if listed else normal.step(place, keyword, name)
            then = _has(normal, needs) if below is None else normal.formula(below)
            found.append(pool.any([*absent, then]))
        return pool.all(found)

    return build


def _ref(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    return normal.pool.all([normal.formula(target) for target in normal.targets(place, schema)])


def _other_members(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    covers = tuple(member_covers(normal, place))
    return normal.pool.of(OtherMembers(normal.below(place, "unevaluatedProperties"), covers))


def _other_items(normal: Normal, place: Place, schema: Schema, value: Json) -> Formula:  # noqa: ARG001
    covers = tuple(item_covers(normal, place))
    return normal.pool.of(OtherItems(normal.below(place, "unevaluatedItems"), covers))


BUILDERS: Mapping[str, Builder] = {
    "type": _types,
    "enum": _one_of_values,
    "const": _const,
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
