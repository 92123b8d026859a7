"""Checks the shape of the values of keywords against the specification.

Does: report malformed values by JSON Pointer, keyword and reason. Does not: resolve references or judge instances.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from ...contract.errors import Refusal
from .dialects import EXTENSION, LISTS, MAPS, ONE, Dialect
from .uri import step
from .values import Json

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})

_Shape = tuple[str, Callable[[Json], bool]]


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_count(value: Json) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)  # type: ignore[operator,call-overload]  # a number


def _is_names(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_types(value: Json) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


def _is_name_lists(value: Json) -> bool:
    return isinstance(value, dict) and all(_is_names(names) for names in value.values())


_NUMBER: _Shape = ("a number", _is_number)
_POSITIVE: _Shape = ("a number above 0", lambda value: _is_number(value) and value > 0)  # type: ignore[operator]  # a number
_COUNT: _Shape = ("an integer of 0 or more", _is_count)
_STRING: _Shape = ("a string", lambda value: isinstance(value, str))
_BOOLEAN: _Shape = ("true or false", lambda value: isinstance(value, bool))
_NAMES: _Shape = ("a list of strings", _is_names)

_STRICT = frozenset({"exclusiveMaximum", "exclusiveMinimum"})  # flags in draft 4
_SCHEMA = dict, bool

_SHAPES: Mapping[str, _Shape] = {
    **dict.fromkeys(("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"), _NUMBER),
    **dict.fromkeys(
        (
            *("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"),
            *("maxContains", "minContains"),
        ),
        _COUNT,
    ),
    **dict.fromkeys(("pattern", "format", "$ref", "$dynamicRef", "$recursiveRef"), _STRING),
    "multipleOf": _POSITIVE,
    "uniqueItems": _BOOLEAN,
    "required": _NAMES,
    "type": (f"one of {', '.join(sorted(TYPES))}, or a list of these", _is_types),
    "enum": ("a list", lambda value: isinstance(value, list)),
    EXTENSION: ("an object", lambda value: isinstance(value, dict)),
    "dependentRequired": ("an object of lists of strings", _is_name_lists),
}


def malformed(schema: dict[str, Json], pointer: str, dialect: Dialect) -> list[Refusal]:
    """A refusal for each malformed keyword of one schema object (not of its sub-schemas)."""
    known = dialect.keywords
    found = [
        Refusal(step(pointer, keyword), keyword, f"must be {expected}", f"write {expected}")
        for keyword, value in schema.items()
        if keyword in known and (expected := _expected(keyword, value, dialect)) is not None
    ]
    if EXTENSION in schema:
        found += _malformed_extension(schema[EXTENSION], step(pointer, EXTENSION))
    return found


def _malformed_extension(value: Json, where: str) -> Iterator[Refusal]:
    """The refusals of the members of our own keyword: one that is not known must not be taken for an annotation."""
    for name, member in value.items() if isinstance(value, dict) else ():
        own = step(where, name)
        if name != "verbatim":
            hint = "its one member is verbatim"
            yield Refusal(own, EXTENSION, f"{EXTENSION} has no such member", hint)
        elif not isinstance(member, bool):
            yield Refusal(own, EXTENSION, "must be true or false", "write true or false")


def _expected(keyword: str, value: Json, dialect: Dialect) -> str | None:
    """A description of the expected value of a keyword; None if the value is as expected."""
    shape = _SHAPES.get(keyword)
    if shape is None:
        return _expected_schemas(keyword, value, dialect)
    if keyword in _STRICT and dialect.name == "draft4":
        shape = _BOOLEAN
    expected, holds = shape
    return None if holds(value) else expected


def _expected_schemas(keyword: str, value: Json, dialect: Dialect) -> str | None:
    if keyword in MAPS:
        if not isinstance(value, dict):
            return "an object of schemas"
        names_too = keyword == "dependencies"
        fits = all(is_schema(part) or (names_too and _is_names(part)) for part in value.values())
        return None if fits else "an object of schemas"
    if keyword in LISTS and isinstance(value, list):
        if keyword == "items" and "prefixItems" in dialect.keywords:
            return "a schema (a list of schemas is called prefixItems since 2020-12)"
        fits = bool(value) or keyword == "items"
        return None if fits and all(map(is_schema, value)) else "a list of at least one schema"
    if keyword in ONE:
        return None if is_schema(value) else "a schema"
    return "a list of at least one schema" if keyword in LISTS else None


def is_schema(value: Json) -> bool:
    """Whether the value is an object or a Boolean, as schemas are."""
    return isinstance(value, _SCHEMA)
