"""Conjunctions: all that the schemas in one place ask of a value, keyword by keyword.

Does: read the keywords of one schema object into a `Flat`, and merge two of them. Does not: follow `$ref`, `allOf`,
`anyOf` and `oneOf`, which spread over several (`reader`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ..errors import Refusal
from .chardfa import CharDfa, determinise
from .dialect import Dialect, Refused, Sub, refuse
from .ecma import ANY, Node, Repeat, parse, whole
from .formats import PATTERNS, REFUSED
from .numerals import Bound
from .positions import Positions, lengths
from .shapes import Language

TYPES = frozenset({"null", "boolean", "object", "array", "number", "integer", "string"})
_NUMERIC = frozenset({"number", "integer"})
Subs = tuple[Sub, ...]  # all of them hold; none is no demand


@dataclass(frozen=True, slots=True)
class Keys:
    """How one schema, or several, judge the properties of an object by name."""

    named: Mapping[str, Subs]
    patterns: tuple[tuple[Node, Sub], ...] = ()
    rest: Subs = ()

    def view(self, name: str) -> Subs:
        """All that is asked of the property `name`."""
        hits = tuple(sub for node, sub in self.patterns if Positions(node).matches(name))
        if name in self.named:
            return (*self.named[name], *hits)
        return hits or self.rest

    @property
    def plain(self) -> bool:
        """Whether nothing is asked of properties that are not named."""
        return not self.patterns and all(sub.schema in (True, {}) for sub in self.rest)

    def both(self, other: "Keys") -> "Keys":
        """What both ask.

        Raises:
            Refused: both judge unnamed properties, one of them by patterns.
        """
        if (self.patterns and not other.plain) or (other.patterns and not self.plain):
            sub = (*self.patterns, *other.patterns)[0][1]
            raise Refused(
                Refusal(
                    sub.where,
                    "patternProperties",
                    "patterns of names are not combined with another schema's rules for unnamed properties",
                    "put the rules into one schema",
                )
            )
        names = dict.fromkeys((*self.named, *other.named))
        return Keys(
            {name: _apart(self.view(name) + other.view(name)) for name in names},
            self.patterns + other.patterns,
            _apart(self.rest + other.rest),
        )


def _apart(subs: Subs) -> Subs:
    """Without repeats, and without schemas that ask nothing; one that nothing meets stands alone."""
    for sub in subs:
        if sub.schema is False:
            return (sub,)
    found = {sub.where: sub for sub in subs if sub.schema not in (True, {})}
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Flat:
    """What a conjunction of schemas asks, without references and alternatives. Bounds are the tightest ones."""

    types: frozenset[str] = TYPES
    values: tuple[Any, ...] | None = None  # from enum and const, not yet judged by the rest
    low: Bound | None = None
    high: Bound | None = None
    multiples: tuple[tuple[Fraction, Sub], ...] = ()
    least: Mapping[str, int] | None = None  # minLength, minItems, minProperties
    most: Mapping[str, int] | None = None
    texts: tuple[Language, ...] = ()  # patterns and formats, each of the whole string
    items: tuple[tuple[Subs, ...], Subs] = ((), ())  # prefix, rest
    unique: Sub | None = None
    keys: Keys = Keys({})
    required: tuple[str, ...] = ()
    names: Subs = ()  # propertyNames
    refusals: tuple[Refusal, ...] = ()  # keywords that only a list of values could meet

    def both(self, other: "Flat") -> "Flat":
        """What both ask. Raises Refused: see `Keys.both`."""
        types = self.types & other.types
        if "number" not in types and self.types & _NUMERIC and other.types & _NUMERIC:
            types |= {"integer"}
        values = self.values
        if other.values is not None:
            values = (
                other.values
                if values is None
                else tuple(v for v in values if is_in(v, other.values))
            )
        return Flat(
            types=types,
            values=values,
            low=max((b for b in (self.low, other.low) if b), default=None),
            high=min(
                (b for b in (self.high, other.high) if b),
                key=lambda b: (b[0], not b[1]),
                default=None,
            ),
            multiples=self.multiples + other.multiples,
            least=_tightest(self.least, other.least, max),
            most=_tightest(self.most, other.most, min),
            texts=self.texts + other.texts,
            items=_items(self.items, other.items),
            unique=self.unique or other.unique,
            keys=self.keys.both(other.keys),
            required=tuple(dict.fromkeys(self.required + other.required)),
            names=_apart(self.names + other.names),
            refusals=self.refusals + other.refusals,
        )


def _tightest(
    left: Mapping[str, int] | None, right: Mapping[str, int] | None, choose: Any
) -> Mapping[str, int]:
    left, right = left or {}, right or {}
    return {
        name: choose(bounds[name] for bounds in (left, right) if name in bounds)
        for name in dict.fromkeys((*left, *right))
    }


def _items(
    left: tuple[tuple[Subs, ...], Subs], right: tuple[tuple[Subs, ...], Subs]
) -> tuple[tuple[Subs, ...], Subs]:
    def at(items: tuple[tuple[Subs, ...], Subs], index: int) -> Subs:
        return items[0][index] if index < len(items[0]) else items[1]

    size = max(len(left[0]), len(right[0]))
    prefix = tuple(_apart(at(left, index) + at(right, index)) for index in range(size))
    return prefix, _apart(left[1] + right[1])


def same(left: Any, right: Any) -> bool:
    """Equality of JSON values: 1 is 1.0 and is not true."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    return (type(left) is type(right) and bool(left == right)) or _numbers(left, right)


def _numbers(left: Any, right: Any) -> bool:
    return isinstance(left, int | float) and isinstance(right, int | float) and left == right


def is_in(value: Any, values: tuple[Any, ...]) -> bool:
    """Whether a JSON value equals one of `values`."""
    return any(same(value, other) for other in values)


def flatten(dialect: Dialect, sub: Sub) -> Flat:
    """The keywords of an object schema, references and alternatives left aside.

    Raises:
        Refused, InvalidConstraint, UnsupportedConstraint: see `Dialect.keywords` and `ecma.parse`.
    """
    schema = dialect.keywords(sub)
    flat = Flat(refusals=tuple(_beyond(sub, schema)))
    if "type" in schema:
        types = schema["type"]
        flat = replace(flat, types=frozenset([types] if isinstance(types, str) else types))
    if "enum" in schema:
        flat = flat.both(Flat(values=tuple(schema["enum"])))
    if "const" in schema:
        flat = flat.both(Flat(values=(schema["const"],)))
    bounds = ("Length", "Items", "Properties")
    return replace(
        _strings(sub, schema, _numbers_of(sub, schema, flat)),
        least={name: int(schema["min" + name]) for name in bounds if "min" + name in schema},
        most={name: int(schema["max" + name]) for name in bounds if "max" + name in schema},
        items=_array(dialect, sub, schema),
        unique=sub if schema.get("uniqueItems") else None,
        keys=_keys(sub, schema),
        required=tuple(schema.get("required", ())),
        names=(sub.at("propertyNames"),) if "propertyNames" in schema else (),
    )


def _numbers_of(sub: Sub, schema: Mapping[str, Any], flat: Flat) -> Flat:
    low = high = None
    for side in ("minimum", "maximum"):
        found = []
        exclusive = schema.get("exclusive" + side.capitalize())
        if side in schema:
            found.append((Fraction(str(schema[side])), exclusive is True))
        if exclusive is not None and not isinstance(exclusive, bool):
            found.append((Fraction(str(exclusive)), True))
        if side == "minimum":
            low = max(found, default=None)
        else:
            high = min(found, key=lambda bound: (bound[0], not bound[1]), default=None)
    multiples = ((Fraction(str(schema["multipleOf"])), sub),) if "multipleOf" in schema else ()
    return replace(flat, low=low, high=high, multiples=multiples)


def _strings(sub: Sub, schema: Mapping[str, Any], flat: Flat) -> Flat:
    texts: list[Language] = []
    if "pattern" in schema:
        texts.append(whole(parse(schema["pattern"]), search=True))
    name = schema.get("format")
    if name in REFUSED:
        raise refuse(
            sub, "format", f"the format {name} cannot be enforced", "drop it, or give a pattern"
        )
    formats = PATTERNS.get(name, ()) if isinstance(name, str) else ()
    texts += [whole(parse(pattern), search=False) for pattern in formats]
    return replace(flat, texts=tuple(texts))


def _array(dialect: Dialect, sub: Sub, schema: Mapping[str, Any]) -> tuple[tuple[Subs, ...], Subs]:
    listed = "prefixItems" if dialect.draft == 2020 else "items"
    rest = "items" if dialect.draft == 2020 else "additionalItems"
    if isinstance(schema.get(listed), list):
        prefix = tuple((sub.at(listed, index),) for index in range(len(schema[listed])))
        closing = rest if rest in schema else _unevaluated(sub, schema, "unevaluatedItems")
        return prefix, (sub.at(closing),) if closing else ()
    if "items" in schema:
        return (), (sub.at("items"),)
    closing = _unevaluated(sub, schema, "unevaluatedItems")
    return (), (sub.at(closing),) if closing else ()


def _keys(sub: Sub, schema: Mapping[str, Any]) -> Keys:
    named = {name: (sub.at("properties", name),) for name in schema.get("properties", {})}
    patterns = tuple(
        (whole(parse(pattern), search=True), sub.at("patternProperties", pattern))
        for pattern in schema.get("patternProperties", {})
    )
    rest = (
        "additionalProperties"
        if "additionalProperties" in schema
        else _unevaluated(sub, schema, "unevaluatedProperties")
    )
    return Keys(named, patterns, (sub.at(rest),) if rest else ())


def _unevaluated(sub: Sub, schema: Mapping[str, Any], keyword: str) -> str | None:
    """`unevaluated*` where it says the same as `additional*`: with nothing beside it that could evaluate more."""
    if keyword not in schema or schema[keyword] is True:
        return None
    if {"allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas", "contains"} & schema.keys():
        raise refuse(
            sub,
            keyword,
            "it depends on which other schemas a value meets",
            "list all properties in one schema and close it with additionalProperties",
        )
    return keyword


_REASONS = {
    "not": (
        "what a value must not be is not enforced",
        "say what it must be, with enum, anyOf or a pattern",
    ),
    "if": ("conditions are not enforced", "use anyOf with one closed schema a case"),
    "contains": (
        "counting items of a kind is not enforced",
        "use prefixItems, or items for all of them",
    ),
    "dependentRequired": ("dependencies are not enforced", "require the properties, or use anyOf"),
    "dependentSchemas": ("dependencies are not enforced", "use anyOf with one schema a case"),
    "dependencies": ("dependencies are not enforced", "require the properties, or use anyOf"),
    "$dynamicRef": ("dynamic references are not followed", "use $ref"),
    "$recursiveRef": ("recursive references are not followed", "use $ref"),
}


def _beyond(sub: Sub, schema: Mapping[str, Any]) -> list[Refusal]:
    """Refusals for the assertions that no `Flat` can hold, where they ask for anything."""
    found = []
    for keyword, (reason, hint) in _REASONS.items():
        if keyword not in schema or (schema[keyword] == {} and keyword.startswith("depend")):
            continue
        if keyword == "if" and not {"then", "else"} & schema.keys():
            continue
        if keyword == "contains" and schema.get("minContains") == 0 and "maxContains" not in schema:
            continue
        found.append(refuse(sub, keyword, reason, hint).refusal)
    return found


def language(texts: tuple[Language, ...], least: int, most: int | None) -> Language | None:
    """One language for all patterns of a string and its bounds; None where there is no pattern.

    Raises:
        ConstraintTooLarge: their intersection has too many states.
    """
    if not texts:
        return None
    parts = list(dict.fromkeys(texts))
    if (least or most is not None) and not (
        len(parts) == 1
        and not isinstance(parts[0], CharDfa)
        and _within(lengths(parts[0]), least, most)
    ):
        parts.append(Repeat(ANY, least, most))
    if len(parts) == 1:
        return parts[0]
    found = [part if isinstance(part, CharDfa) else determinise(part) for part in parts]
    result = found[0]
    for part in found[1:]:
        result = result.both(part)
    return result


def _within(found: tuple[int, int | None], least: int, most: int | None) -> bool:
    return found[0] >= least and (most is None or (found[1] is not None and found[1] <= most))
