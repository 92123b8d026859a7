"""Null for values that the document does not state, where the request allows it.

Does: add null to every scalar of a schema, and warn of each null that the original schema would refuse. Does not:
change constants, property names, or sub-schemas under `if`, `not` and `contains`, where a wider schema would change the
meaning.
"""

from collections.abc import Mapping
from typing import Any, Final

from intaglio.schemas.extraction.results import AnswerWarning
from intaglio.schemas.json_pointer import pointer_of

from .subschemas import SCHEMA_MAPS, SUBSCHEMAS
from .validate import faults

_SCALARS: Final = frozenset({"string", "number", "integer", "boolean"})
_SCHEMA_LISTS: Final = ("prefixItems", "allOf", "anyOf")
_NULL: Final = {"type": "null"}


def nullable(schema: Any) -> Any:
    """`schema` with null allowed for every scalar, also in definitions."""
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = dict(schema)
    for keyword in SCHEMA_MAPS:
        if isinstance(found.get(keyword), Mapping):
            found[keyword] = {name: nullable(part) for name, part in found[keyword].items()}
    for keyword in SUBSCHEMAS:
        part = found.get(keyword)
        if isinstance(part, list):
            found[keyword] = [*map(nullable, part)]
        elif isinstance(part, Mapping) and not _is_optional_item(keyword, part, schema):
            found[keyword] = nullable(part)
    for keyword in _SCHEMA_LISTS:
        if isinstance(found.get(keyword), list):
            found[keyword] = [*map(nullable, found[keyword])]
    if isinstance(found.get("oneOf"), list):
        found["oneOf"] = _nullable_one_of(found["oneOf"])
    return _with_null(found)


def _is_optional_item(keyword: str, part: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether `part` describes scalar items of an array that may be empty: an item that is not stated is omitted."""
    return keyword == "items" and _is_scalar(part) and not schema.get("minItems")


def _nullable_one_of(parts: list[Any]) -> list[Any]:
    """`oneOf` with null allowed by exactly one branch: a branch of its own if some branch is scalar and none allows
    null.
    """
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
    """Whether a schema describes scalars that take their value from the document."""
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


def null_warnings(
    data: Any, schema: Mapping[str, Any] | bool, document: str | None = None
) -> tuple[AnswerWarning, ...]:
    """A warning for each null that `schema` does not allow and `nullable(schema)` does. `document`: see `check`."""
    found = faults(data, schema, document)
    places = dict.fromkeys(pointer_of(fault.absolute_path) for fault in found)
    return tuple(
        AnswerWarning(
            pointer=place,
            kind="not_stated",
            message="null in place of a value that the schema requires: the document does not state it",
        )
        for place in places
    )
