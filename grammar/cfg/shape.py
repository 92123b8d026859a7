"""The subset of JSON Schema that tables and elements can represent: objects with named members, homogeneous arrays.

Does: follow references inside the document, distinguish objects, arrays and scalars, refuse other keywords by pointer.
Does not: read scalars (`scalars`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

from ..contract.errors import InvalidConstraint
from ..jsonschema.read.uri import step, steps
from ..jsonschema.read.values import Json, read
from .scalars import refuse

_SILENT: Final = frozenset({
    "$schema", "$id", "$defs", "definitions", "$comment", "title", "description", "default", "examples", "deprecated",
    "readOnly", "writeOnly",
})  # fmt: skip
_OBJECT: Final = frozenset({"type", "properties", "required", "additionalProperties"})
_ARRAY: Final = frozenset({"type", "items", "minItems", "maxItems"})
_MOST_REFERENCES: Final = 64


@dataclass(frozen=True, slots=True)
class Object:
    """Members in order, each as (name, pointer of its schema, required)."""

    members: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True)
class Array:
    """`low` to `high` items (None: unbounded) of the schema at `items`."""

    items: str
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Scalar:
    """Any other schema; `scalars` checks it."""


class Document:
    """One schema document."""

    def __init__(self, source: str) -> None:
        """Raises InvalidConstraint: not JSON, or not an object."""
        self.root: Json = read(source)
        if not isinstance(self.root, dict):
            raise InvalidConstraint("the schema is not an object")

    def at(self, pointer: str) -> Json:
        """The value at a JSON Pointer.

        Raises:
            InvalidConstraint: there is none.
        """
        value = self.root
        for name in steps(pointer):
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
                value = value[int(name)]
            else:
                raise InvalidConstraint(f"there is no schema at {pointer}")
        return value

    def resolved(self, pointer: str) -> tuple[str, bool]:
        """(pointer of the schema that a pointer refers to, whether null is allowed in addition).

        Follows `$ref` without siblings, and `anyOf` of one schema and null.
        """
        null = False
        for taken in count():
            if taken > _MOST_REFERENCES:
                refuse(pointer, "$ref", "the references are circular", "break the circle")
            schema = self.at(pointer)
            if not isinstance(schema, dict):
                return pointer, null
            keys = schema.keys() - _SILENT
            target = schema.get("$ref")
            if keys == {"$ref"} and isinstance(target, str) and target[:1] == "#":
                pointer = target[1:]
                continue
            branch = _other_than_null(schema, keys)
            if branch is None:
                return pointer, null
            pointer, null = f"{pointer}/{branch}", True
        raise AssertionError("never reached")

    def shape(self, pointer: str) -> Object | Array | Scalar:
        """The shape of the schema at a resolved pointer.

        Raises:
            UnsupportedConstraint: a keyword that tables and elements cannot represent.
        """
        schema = self.at(pointer)
        if not isinstance(schema, dict):
            return Scalar()
        if schema.get("type") == "object" or "properties" in schema:
            _only(schema, _OBJECT, pointer, "object")
            return _object(schema, pointer)
        if schema.get("type") == "array" or "items" in schema:
            _only(schema, _ARRAY, pointer, "array")
            low, high = schema.get("minItems", 0), schema.get("maxItems")
            if not isinstance(low, int) or not isinstance(high, int | None):
                raise InvalidConstraint(f"{pointer}: minItems and maxItems must be whole numbers")
            if "items" not in schema:
                refuse(pointer, "items", "it is missing", "say what the items are")
            return Array(f"{pointer}/items", low, high)
        return Scalar()


def _other_than_null(schema: Mapping[str, Json], keys: set[str]) -> str | None:
    """The place of the non-null branch of an `anyOf` or `oneOf` of two branches; None for any other schema."""
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if keys != {keyword} or not isinstance(branches, list) or len(branches) != 2:
            continue
        nulls = [isinstance(b, dict) and b.get("type") == "null" for b in branches]
        if any(nulls) and not all(nulls):
            return f"{keyword}/{nulls.index(False)}"
    return None


def _only(schema: Mapping[str, Json], known: frozenset[str], pointer: str, kind: str) -> None:
    for keyword in schema.keys() - known - _SILENT:
        reason = f"it is not supported for an {kind} here"
        refuse(f"{pointer}/{keyword}", keyword, reason, f"use {', '.join(sorted(known))} only")
    if schema.get("type", kind) != kind:
        refuse(f"{pointer}/type", "type", f"it must be {kind!r} here", "split the schema")


def _object(schema: Mapping[str, Json], pointer: str) -> Object:
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict) or not properties:
        refuse(pointer, "properties", "there are none", "name the members")
    if not isinstance(required, list) or not all(name in properties for name in required):
        refuse(f"{pointer}/required", "required", "it names undeclared properties", "declare them")
    below = f"{pointer}/properties"
    return Object(tuple((name, step(below, name), name in required) for name in properties))
