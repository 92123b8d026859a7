"""The schema of one window of a document: that of the whole, without requirements that a part may not meet.

Does: allow null for values outside arrays, and drop keywords that only the whole can meet: least numbers of items and
properties, and conditions on several properties. Does not: change upper bounds, or the items of arrays: each is in one
window.
"""

from collections.abc import Mapping
from typing import Any, Final

from .schema_places import Place, PlaceKind, place

# Keywords that a part of a document may violate although the whole meets them.
_OF_WHOLE_OBJECTS: Final = frozenset(
    {"minProperties", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies"}
)
_OF_WHOLE_ARRAYS: Final = frozenset({"minItems", "contains", "minContains", "maxContains"})
_ABOUT: Final = frozenset({"$schema", "$id", "$defs", "definitions"})

Schema = dict[str, Any] | bool

_NULL: Final = {"type": "null"}
_MAX_DEPTH: Final = 64


def window_schema(schema: Schema) -> Schema:
    """The schema of one window of a document under `schema`. It accepts all that `schema` does.

    Definitions stay as they are, for the items of arrays; references from other places are replaced by their targets.
    """
    if isinstance(schema, bool):
        return schema
    relaxed = _relaxed(schema, schema, 0)
    about = {key: part for key, part in schema.items() if key in _ABOUT}
    return {**about, **relaxed} if isinstance(relaxed, dict) else schema


def _relaxed(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    found = place(schema, root)
    if schema is False or depth > _MAX_DEPTH:
        return schema
    if found.kind is PlaceKind.OBJECT:
        return _object(schema, found, root, depth)
    if found.kind is PlaceKind.ARRAY:
        inner = {key: part for key, part in found.schema.items() if key not in _OF_WHOLE_ARRAYS}
        return _annotated(schema, _or_null(inner) if found.allows_null else inner)
    if found.allows_null or (isinstance(schema, Mapping) and "const" in schema):
        return schema
    return _annotated(schema, _nullable(found.schema))


def _object(schema: Any, found: Place, root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    inner = {key: part for key, part in found.schema.items() if key not in _OF_WHOLE_OBJECTS}
    properties = inner.get("properties")
    if isinstance(properties, Mapping):
        inner["properties"] = {
            name: _relaxed(part, root, depth + 1) for name, part in properties.items()
        }
    return dict(_annotated(schema, _or_null(inner) if found.allows_null else inner))


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    types = schema["type"]
    named = [types] if isinstance(types, str) else list(types)
    return {**schema, "type": named if "null" in named else [*named, "null"]}


def _nullable(schema: Any) -> Any:
    """A schema of values that are taken whole, with null allowed."""
    if not isinstance(schema, Mapping):
        return schema
    types, values = schema.get("type"), schema.get("enum")
    if not isinstance(types, str | list) or schema.keys() & {
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "$ref",
    }:
        if isinstance(values, list) and len(schema.keys() - {"title", "description"}) == 1:
            return {**schema, "enum": [*values, None]}
        return _alternative(schema)
    wider = _or_null(schema)
    return {**wider, "enum": [*values, None]} if isinstance(values, list) else wider


def _alternative(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` or null. Alternatives that the schema has already get one more."""
    parts = schema.get("anyOf")
    if isinstance(parts, list) and not schema.keys() - {"anyOf", "title", "description", "default"}:
        return {**schema, "anyOf": [*parts, _NULL]}
    return {"anyOf": [dict(schema), _NULL]}


def _annotated(schema: Any, relaxed: Any) -> Any:
    """`relaxed` with the title and description of `schema`, which the prompt shows."""
    if not isinstance(schema, Mapping) or not isinstance(relaxed, dict):
        return relaxed
    kept = {key: schema[key] for key in ("title", "description") if key in schema}
    return {**relaxed, **kept}
