"""The types and properties that a JSON Schema declares, with references resolved.

Does: read the parts that determine the columns of tables. Does not: judge or enforce schemas.
"""

from collections.abc import Mapping
from typing import Any, Final

from intaglio.schemas.json_pointer import local_target
from pydantic import JsonValue

Schema = Mapping[str, Any]

_DEEPEST: Final = 16
_WITH_CHOICES: Final = frozenset({"anyOf", "oneOf", "title", "description", "default"})


def properties(schema: Schema, root: Schema) -> dict[str, Schema] | None:
    """The properties of an object that allows no others, with references resolved; None for any other schema."""
    named = schema.get("properties")
    if not isinstance(named, dict) or not named or declared_types(schema) - {"object"}:
        return None
    opens = schema.get("additionalProperties", False)
    if opens is not False or any(word in schema for word in _OPEN_KEYWORDS):
        return None
    return {name: resolved(part, root) for name, part in named.items()}


_OPEN_KEYWORDS: Final = (
    "patternProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "unevaluatedProperties",
)


def resolved(schema: Any, root: Schema) -> Schema:
    """A sub-schema with references resolved and without null as an alternative. Any cell may be empty."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#") and len(schema) == 1:
            schema = local_target(root, reference)
            continue
        choices = schema.get("anyOf", schema.get("oneOf"))
        if isinstance(choices, list) and set(schema) <= _WITH_CHOICES:
            rest = [part for part in choices if part not in ({"type": "null"}, {"const": None})]
            if len(rest) == 1 and len(rest) < len(choices):
                schema = rest[0]
                continue
        return schema
    return {}


def declared_types(schema: Schema) -> set[str]:
    """The types that a schema declares, without null; empty if it declares none."""
    given = schema.get("type")
    if isinstance(given, str | list):
        return {given} if isinstance(given, str) else set(given) - {"null"}
    values = schema["enum"] if isinstance(schema.get("enum"), list) else []
    values = [schema["const"]] if "const" in schema else values
    return {_type(value) for value in values} - {"null"}


def _type(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
