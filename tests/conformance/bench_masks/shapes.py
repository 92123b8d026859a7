"""JSON Schemas as plain trees of shapes.

Does: translate the part of JSON Schema whose texts can be told byte by byte without any search: types, listed values,
properties, items, lengths, bounds, alternatives, references. Does not: read texts (`texts`).

What lies outside that part is treated in two ways. The *upper* tree ignores such a keyword, so it allows too much: what
it refuses is wrong for certain. The *lower* tree has an opaque shape in that place, about which it says nothing: what
it allows elsewhere is right for certain.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

Json = Any
_ANNOTATIONS: Final = frozenset(
    ("title", "description", "default", "examples", "example", "$schema", "$id", "id", "$comment", "definitions",
     "$defs", "deprecated", "readOnly", "writeOnly", "$anchor", "contentMediaType", "contentEncoding")
)  # fmt: skip
_TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")
_OF_TYPE: Final = {
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "string": ("minLength", "maxLength"),
    "array": ("items", "prefixItems", "additionalItems", "minItems", "maxItems"),
    "object": ("properties", "required", "additionalProperties"),
}
_READ: Final = frozenset(name for names in _OF_TYPE.values() for name in names) | {
    "type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref",
}  # fmt: skip
_DEEPEST: Final = 200


@dataclass(frozen=True, eq=False)
class Literal:
    """One JSON value; in the upper tree only a string, a truth value or null."""

    value: Json


@dataclass(frozen=True, eq=False)
class Number:
    """Numbers between two bounds; `open`: whether (the lower, the upper) bound itself is excluded."""

    integer: bool
    low: Fraction | None = None
    high: Fraction | None = None
    open: tuple[bool, bool] = (False, False)


@dataclass(frozen=True, eq=False)
class String:
    """Strings of `least` to `most` characters."""

    least: int = 0
    most: int | None = None


@dataclass(eq=False)
class Array:
    """`first`: the shapes of the first items; `rest`: the shape of all others."""

    first: "list[Shape]" = field(default_factory=list)
    rest: "Shape | None" = None
    least: int = 0
    most: int | None = None

    def at(self, place: int) -> "Shape | None":
        """The shape of an item; None if there can be none."""
        if self.most is not None and place >= self.most:
            return None
        return self.first[place] if place < len(self.first) else self.rest


@dataclass(eq=False)
class Object:
    """`named`: the shapes of the members that the schema names, in its order; `rest`: the shape of all others."""

    named: "dict[str, Shape]" = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    rest: "Shape | None" = None


@dataclass(eq=False)
class Choice:
    """Alternatives; none: no value."""

    parts: "list[Shape]" = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Opaque:
    """Any value, about which nothing is said."""


Shape = Literal | Number | String | Array | Object | Choice | Opaque


class Unreadable(Exception):
    """A schema that this benchmark does not read at all."""


class Reader:
    """The shapes of one schema document. `upper`: which of the two trees is made."""

    def __init__(self, document: Json, *, upper: bool) -> None:
        self._document, self._upper = document, upper
        self._known: dict[int, Choice] = {}
        every = Choice()
        every.parts = [
            *(Literal(value) for value in (None, True, False)),
            Number(integer=False), String(), Array(rest=every), Object(rest=every),
        ]  # fmt: skip
        self.every = every

    def shape(self, schema: Json, depth: int = 0) -> Shape:
        """The shape of a schema."""
        if schema is True or schema == {}:
            return self.every
        if schema is False:
            return Choice()
        if not isinstance(schema, dict) or depth > _DEEPEST:
            raise Unreadable(f"not a schema: {schema!r}"[:80])
        made = self._known.get(id(schema))
        if made is None:
            made = self._known[id(schema)] = Choice()  # before its parts: they may refer to it
            made.parts = [self._made(schema, depth + 1)]
        return made

    def _unknown(self, schema: Json, depth: int) -> Shape:
        """The shape where the schema says what this tree cannot."""
        return self._typed(schema, depth) if self._upper else Opaque()

    def _made(self, schema: Json, depth: int) -> Shape:
        said = {name for name in schema if name not in _ANNOTATIONS and not name.startswith("x-")}
        if "$ref" in said:
            if said == {"$ref"} or self._upper:
                return self.shape(self._target(schema["$ref"]), depth)
            return Opaque()
        if said - _READ and not self._upper:
            return Opaque()
        for word in ("anyOf", "oneOf"):
            if word in said:
                if said == {word} and (self._upper or word == "anyOf" or _apart(schema[word])):
                    return Choice([self.shape(each, depth) for each in schema[word]])
                return self._unknown(schema, depth)
        if "allOf" in said:
            if said == {"allOf"} and len(schema["allOf"]) == 1:
                return self.shape(schema["allOf"][0], depth)
            return self._unknown(schema, depth)
        listed = [schema["const"]] if "const" in said else schema.get("enum")
        if listed is not None:
            if said <= {"const", "enum", "type"} and not ("const" in said and "enum" in said):
                types = _types(schema)
                return Choice([self._one(v) for v in listed if any(_is(v, t) for t in types)])
            return self._unknown(schema, depth)
        return self._typed(schema, depth)

    def _one(self, value: Json) -> Shape:
        """A listed value; in the upper tree with all its spellings."""
        if self._upper and isinstance(value, list):
            return Array(rest=self.every)
        if self._upper and isinstance(value, dict):
            return Object(rest=self.every)
        if self._upper and isinstance(value, int | float) and not isinstance(value, bool):
            bound = Fraction(str(value))
            return Number(integer=False, low=bound, high=bound)
        return Literal(value)

    def _typed(self, schema: Json, depth: int) -> Shape:
        return Choice([part for kind in _types(schema) for part in self._of(kind, schema, depth)])

    def _of(self, kind: str, schema: Json, depth: int) -> Iterable[Shape]:
        match kind:
            case "null":
                yield Literal(None)
            case "boolean":
                yield from map(Literal, (True, False))
            case "integer" | "number":
                yield _number(schema, integer=kind == "integer")
            case "string":
                yield String(_count(schema, "minLength") or 0, _count(schema, "maxLength"))
            case "array":
                yield self._array(schema, depth)
            case _:
                yield self._object(schema, depth)

    def _array(self, schema: Json, depth: int) -> Shape:
        items = schema.get("items", True)
        first = schema.get("prefixItems", [])
        if isinstance(items, list):
            first, items = items, schema.get("additionalItems", True)
        return Array(
            [self.shape(each, depth) for each in first],
            self.shape(items, depth),
            _count(schema, "minItems") or 0,
            _count(schema, "maxItems"),
        )

    def _object(self, schema: Json, depth: int) -> Shape:
        properties = schema.get("properties", {})
        if not isinstance(properties, dict):
            raise Unreadable("properties is not an object")
        named = {name: self.shape(each, depth) for name, each in properties.items()}
        others = schema.get("additionalProperties", True)
        if "patternProperties" in schema:  # only the upper tree comes here
            others = True
        required = schema.get("required", [])
        if not isinstance(required, list):
            raise Unreadable("required is not a list")
        rest = self.shape(others, depth)
        for name in required:
            named.setdefault(name, rest)
        return Object(named, frozenset(required), None if others is False else rest)

    def _target(self, reference: Json) -> Json:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise Unreadable(f"reference {reference!r}")
        at = self._document
        for part in reference[1:].split("/")[1:]:
            step = part.replace("~1", "/").replace("~0", "~")
            try:
                at = at[int(step)] if isinstance(at, list) else at[step]
            except (KeyError, ValueError, IndexError, TypeError) as error:
                raise Unreadable(f"reference {reference!r}") from error
        if reference != "#" and not reference.startswith("#/"):
            raise Unreadable(f"reference {reference!r}")
        return at


def _types(schema: Json) -> list[str]:
    kinds = schema.get("type", list(_TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(kinds, list) or not all(kind in _TYPES for kind in kinds):
        raise Unreadable(f"type {kinds!r}"[:80])
    return [kind for kind in kinds if kind != "integer" or "number" not in kinds]


def _is(value: Json, kind: str) -> bool:
    match value:
        case None:
            return kind == "null"
        case bool():
            return kind == "boolean"
        case int() | float():
            return kind == "number" or (kind == "integer" and value == int(value))
        case str():
            return kind == "string"
        case list():
            return kind == "array"
        case _:
            return kind == "object"


def _count(schema: Json, name: str) -> int | None:
    value = schema.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise Unreadable(f"{name} is not a number")
    return int(value)


def _number(schema: Json, *, integer: bool) -> Number:
    bounds: list[Fraction | None] = []
    excluded = []
    for word, choose in (("inimum", max), ("aximum", min)):
        plain, strict = schema.get("m" + word), schema.get("exclusiveM" + word)
        if isinstance(strict, bool):  # draft 4
            plain, strict = (None, plain) if strict else (plain, None)
        for value in (plain, strict):
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float)
            ):
                raise Unreadable(f"m{word} is not a number")
        known = [Fraction(str(value)) for value in (plain, strict) if value is not None]
        bound = choose(known) if known else None
        is_open = strict is not None and Fraction(str(strict)) == bound
        bounds.append(bound)
        excluded.append(is_open)
    return Number(integer, bounds[0], bounds[1], (excluded[0], excluded[1]))


def _apart(parts: Json) -> bool:
    """Whether no value satisfies two of these schemas, by a look at types and listed values alone."""
    if not all(isinstance(part, dict) and "$ref" not in part for part in parts):
        return False
    return all(_differ(one, other) for place, one in enumerate(parts) for other in parts[:place])


def _differ(one: Json, other: Json) -> bool:
    kinds = [{"number" if k == "integer" else k for k in _types(each)} for each in (one, other)]
    if kinds[0].isdisjoint(kinds[1]):
        return True
    first, second = _listed(one), _listed(other)
    if first is not None and second is not None:
        return not any(value in second for value in first)
    if kinds != [{"object"}, {"object"}]:
        return False
    shared = set(one.get("required", ())) & set(other.get("required", ()))
    return any(
        name in each.get("properties", {}) and isinstance(each["properties"][name], dict)
        and _tagged(one["properties"][name], other.get("properties", {}).get(name))
        for name in shared
        for each in (one,)
    )  # fmt: skip


def _tagged(one: Json, other: Json) -> bool:
    """Whether both schemas list their values, and none twice."""
    first, second = _listed(one), _listed(other)
    return first is not None and second is not None and not any(v in second for v in first)


def _listed(schema: Json) -> list[Json] | None:
    if not isinstance(schema, dict):
        return None
    values: list[Json] | None = [schema["const"]] if "const" in schema else schema.get("enum")
    return values
