"""The schema of a request that asks for verbatim strings: every free string becomes a substring of the document.

Does: add `x-intaglio: {"verbatim": true}` to strings that no pattern, format, constant or enumeration determines. Does
not: change schemas without a `type`, property names, sub-schemas under `if`, `not` and `contains`, a string with an
alternative that cannot be verbatim, or one that says `{"verbatim": false}`.
"""

from collections.abc import Mapping
from typing import Any, Final

from .subschemas import SCHEMA_MAPS, SUBSCHEMAS

_KEYWORD: Final = "x-intaglio"
_ALTERNATIVES: Final = ("anyOf", "oneOf")
# With one of these keywords, more than its length constrains a string.
_DETERMINED: Final = frozenset(
    [
        *("pattern", "format", "enum", "const", "$ref", "$dynamicRef", "$recursiveRef"),
        *("allOf", "anyOf", "oneOf", "not", "if", "contentEncoding", "contentMediaType"),
    ]
)


def verbatim_schema(schema: Any) -> Any:
    """`schema` with every free string verbatim, also in definitions."""
    if not isinstance(schema, Mapping):
        return schema
    found = _inside(schema)
    if not _is_free_string(schema):
        return found
    extension = schema.get(_KEYWORD)
    told = extension if isinstance(extension, Mapping) else {}
    return found if "verbatim" in told else found | {_KEYWORD: {**told, "verbatim": True}}


def _inside(schema: Any) -> Any:
    """`schema` with the strings within its objects and arrays verbatim, but not the value itself."""
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = dict(schema)
    for keyword in SCHEMA_MAPS:
        if isinstance(found.get(keyword), Mapping):
            found[keyword] = {name: verbatim_schema(part) for name, part in found[keyword].items()}
    for keyword in SUBSCHEMAS:
        part = found.get(keyword)
        found |= {keyword: [*map(verbatim_schema, part)]} if isinstance(part, list) else {}
        found |= {keyword: verbatim_schema(part)} if isinstance(part, Mapping) else {}
    if isinstance(found.get("prefixItems"), list):
        found["prefixItems"] = [*map(verbatim_schema, found["prefixItems"])]
    if isinstance(found.get("allOf"), list):
        found["allOf"] = [*map(_inside, found["allOf"])]
    for keyword in _ALTERNATIVES:
        parts = found.get(keyword)
        if isinstance(parts, list):
            is_free = all(_is_free_string(part) or not _may_be_string(part) for part in parts)
            found[keyword] = [*map(verbatim_schema if is_free else _inside, parts)]
    return found


def _is_free_string(schema: Any) -> bool:
    """Whether a schema describes strings that only their length constrains."""
    return (
        isinstance(schema, Mapping)
        and "string" in _types(schema)
        and not _DETERMINED & schema.keys()
    )


def _may_be_string(schema: Any) -> bool:
    return not isinstance(schema, Mapping) or "string" in _types(schema) or "type" not in schema


def _types(schema: Mapping[str, Any]) -> list[Any]:
    types = schema.get("type", ())
    return [types] if isinstance(types, str) else [*types]
