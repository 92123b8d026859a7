"""The places of a schema at which readings of several windows can be merged.

Does: follow local references, unwrap schemas that only add null, and distinguish objects and arrays that merge part by
part from values that are taken whole. Does not: change schemas or values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from intaglio.schemas.json_pointer import local_target

MAX_REFERENCES: Final = 64

# Which parts of a schema apply to an object is open under these: its readings are not merged property by property.
_BRANCHES: Final = frozenset(
    {"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "extends"}
    | {"unevaluatedProperties", "unevaluatedItems"}
)


class PlaceKind(Enum):
    """How the readings of a place are merged: property by property, by joining items, or by choosing one of them."""

    OBJECT = auto()
    ARRAY = auto()
    VALUE = auto()


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a document: its kind, the schema without the branch for null, and whether null is allowed."""

    kind: PlaceKind
    schema: Any
    allows_null: bool


def place(schema: Any, root: Any) -> Place:
    """The place that `schema`, a part of `root`, describes."""
    inner, null = unwrapped(schema, root)
    if not isinstance(inner, Mapping):
        return Place(PlaceKind.VALUE, inner, null or inner is not False)
    types = inner.get("type")
    named = {types} if isinstance(types, str) else set(types) if isinstance(types, list) else set()
    null = null or _allows_null(inner, named)
    only = named - {"null"}
    if _BRANCHES & inner.keys() or {"const", "enum", "not"} & inner.keys():
        return Place(PlaceKind.VALUE, inner, null)
    if only == {"object"}:
        return Place(PlaceKind.OBJECT, inner, null)
    if (
        only == {"array"}
        and "prefixItems" not in inner
        and not isinstance(inner.get("items"), list)
    ):
        return Place(PlaceKind.ARRAY, inner, null)
    return Place(PlaceKind.VALUE, inner, null)


def unwrapped(schema: Any, root: Any) -> tuple[Any, bool]:
    """A schema behind references and alternatives that only add null, and whether one of them did."""
    null = False
    for _ in range(MAX_REFERENCES):
        if not isinstance(schema, Mapping):
            break
        only = _only_other_than_null(schema)
        if only is not None:
            schema, null = only, True
            continue
        target = referenced(schema, root)
        if target is None:
            break
        schema = target
    return schema, null


def referenced(schema: Mapping[str, Any], root: Any) -> Any:
    """The target of a schema that is a reference and annotations; None for any other."""
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return None
    if schema.keys() - {"$ref", "title", "description", "default", "examples", "deprecated"}:
        return None
    return local_target(root, reference)


def member(schema: Mapping[str, Any], name: str) -> Any:
    """The schema of a property; True if the object's schema does not mention it."""
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        return properties[name]
    if schema.get("patternProperties"):
        return True
    return schema.get("additionalProperties", True)


def _only_other_than_null(schema: Mapping[str, Any]) -> Any:
    """The one alternative to null of a schema that has no others; None for any other schema."""
    for keyword in ("anyOf", "oneOf"):
        parts = schema.get(keyword)
        if not isinstance(parts, list) or len(parts) != 2:
            continue
        if schema.keys() - {keyword, "title", "description", "default", "examples", "deprecated"}:
            continue
        others = [part for part in parts if part != {"type": "null"}]
        if len(others) == 1:
            return others[0]
    return None


def _allows_null(schema: Mapping[str, Any], named: set[str]) -> bool:
    if "null" not in named and named:
        return False
    if "const" in schema:
        return schema["const"] is None
    if isinstance(schema.get("enum"), list):
        return None in schema["enum"]
    if isinstance(schema.get("anyOf"), list):
        return {"type": "null"} in schema["anyOf"]
    return "null" in named
