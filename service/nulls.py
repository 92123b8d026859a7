"""Schemas in which a value that the document does not state may be null, where the caller agrees to that.

Does: let null in beside every scalar that a schema describes, and tell afterwards which nulls the schema alone would
not have taken. Does not: touch constants, names of properties, or what is said under `if`, `not` and `contains`, where
a wider schema would mean something else.
"""

from collections.abc import Mapping
from typing import Any, Final

from ..schemas.wire import AnswerWarning
from .translate import pointer
from .validate import faults

_SCALARS: Final = frozenset({"string", "number", "integer", "boolean"})
_MAPS: Final = (
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
)
_ONE: Final = (
    "additionalProperties",
    "unevaluatedProperties",
    "additionalItems",
    "unevaluatedItems",
    "items",
    "then",
    "else",
)
_LISTS: Final = ("prefixItems", "allOf", "anyOf")
_NULL: Final = {"type": "null"}


def nullable(schema: Any) -> Any:
    """`schema`, with null beside every scalar. Definitions are changed as well, since they stand for values."""
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = dict(schema)
    for word in _MAPS:
        if isinstance(found.get(word), Mapping):
            found[word] = {name: nullable(part) for name, part in found[word].items()}
    for word in _ONE:
        part = found.get(word)
        if isinstance(part, list):
            found[word] = [*map(nullable, part)]
        elif isinstance(part, Mapping) and not _may_be_left_out(word, part, schema):
            found[word] = nullable(part)
    for word in _LISTS:
        if isinstance(found.get(word), list):
            found[word] = [*map(nullable, found[word])]
    if isinstance(found.get("oneOf"), list):
        found["oneOf"] = _one_of(found["oneOf"])
    return _with_null(found)


def _may_be_left_out(word: str, part: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether scalars are items of an array that may be empty: one that is not stated is then no item at all."""
    return word == "items" and _is_scalar(part) and not schema.get("minItems")


def _one_of(parts: list[Any]) -> list[Any]:
    """Of these exactly one may take null: a part of its own, where some are scalars and none takes it yet."""
    inner = [nullable(part) if not _is_scalar(part) else part for part in parts]
    if any(map(_is_scalar, parts)) and not any(map(_takes_null, parts)):
        inner.append(_NULL)
    return inner


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    if not _is_scalar(schema):
        return schema
    types, values = schema.get("type"), schema.get("enum")
    if types is not None:
        named = [types] if isinstance(types, str) else list(types)
        schema["type"] = named if "null" in named else [*named, "null"]
    if isinstance(values, list) and None not in values:
        schema["enum"] = [*values, None]
    return schema


def _is_scalar(schema: Any) -> bool:
    """Whether a schema speaks of scalars that the document decides."""
    if not isinstance(schema, Mapping) or "const" in schema:
        return False
    values = schema.get("enum")
    if isinstance(values, list):
        return len(values) > 1
    types = schema.get("type")
    return bool(_SCALARS & ({types} if isinstance(types, str) else {*(types or ())}))


def _takes_null(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return schema is True
    types = schema.get("type", "null")
    return "null" in ([types] if isinstance(types, str) else types) and not (
        isinstance(schema.get("enum"), list) and None not in schema["enum"]
    )


def null_warnings(data: Any, schema: Mapping[str, Any] | bool) -> tuple[AnswerWarning, ...]:
    """A warning for each place of `data` where it is valid under `nullable(schema)` alone."""
    places = dict.fromkeys(pointer(fault.absolute_path) for fault in faults(data, schema))
    return tuple(
        AnswerWarning(
            pointer=place,
            kind="not_stated",
            message="null in place of a value that the schema requires: the document does not state it",
        )
        for place in places
    )
