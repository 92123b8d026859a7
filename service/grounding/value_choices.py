"""What the schema left to choose for each scalar of an answer: a value of a list (`enum`, `const`), or null.

Does: find it by walking schema and data together. Does not: validate: every alternative of the schema counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from intaglio.schemas.json_pointer import child_pointer, local_target

_EVERY: Final = ("allOf", "anyOf", "oneOf")
_CONDITIONAL: Final = ("then", "else")
_MOST_SCHEMAS: Final = 256
"""The most schemas of one value that are looked at; a circle of references ends there."""
_KINDS: Final = frozenset({"type", "enum", "const"})


@dataclass(frozen=True, slots=True)
class ValueChoices:
    """The JSON Pointers of the scalars of an answer that come from a list, and of those that may be null."""

    closed: frozenset[str] = frozenset()
    nullable: frozenset[str] = frozenset()


def value_choices(schema: Any, data: Any) -> ValueChoices:
    """What `schema` left to choose for the scalars of `data`."""
    closed, nullable = set[str](), set[str]()
    waiting: list[tuple[str, Any, list[Any]]] = [("", data, [schema])]
    while waiting:
        pointer, value, given = waiting.pop()
        schemas = [one for part in given for one in _applicable(part, schema)][:_MOST_SCHEMAS]
        if isinstance(value, dict):
            for name, member in value.items():
                below = child_pointer(pointer, name)
                waiting.append((below, member, [_member(one, name) for one in schemas]))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                below = child_pointer(pointer, index)
                waiting.append((below, item, [_item(one, index) for one in schemas]))
        else:
            if any(_lists(one, value) for one in schemas):
                closed.add(pointer)
            if _takes_null(schemas):
                nullable.add(pointer)
    return ValueChoices(frozenset(closed), frozenset(nullable))


def _applicable(schema: Any, root: Any) -> Iterator[Mapping[str, Any]]:
    """A schema and those that it applies to the same value, alternatives and references included."""
    waiting, seen = [schema], set[int]()
    while waiting and len(seen) < _MOST_SCHEMAS:
        one = waiting.pop()
        if not isinstance(one, Mapping) or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        for keyword in _EVERY:
            waiting.extend(one.get(keyword, ()))
        waiting.extend(one[keyword] for keyword in _CONDITIONAL if keyword in one)
        if isinstance(one.get("$ref"), str):
            waiting.append(local_target(root, one["$ref"]))


def _member(schema: Mapping[str, Any], name: str) -> Any:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        return properties[name]
    return schema.get("additionalProperties")


def _item(schema: Mapping[str, Any], index: int) -> Any:
    first = schema.get("prefixItems")
    if isinstance(first, list) and index < len(first):
        return first[index]
    return schema.get("items")


def _lists(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether a schema lists the value; 1 and true are different."""
    listed = schema.get("enum")
    values = [*(listed if isinstance(listed, list) else ())]
    if "const" in schema:
        values.append(schema["const"])
    return any(isinstance(one, bool) == isinstance(value, bool) and one == value for one in values)


def _takes_null(schemas: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one of the schemas names null, or none names any kind of value."""
    kinds = (one.get("type") for one in schemas)
    if any("null" in kind if isinstance(kind, list) else kind == "null" for kind in kinds):
        return True
    return any(_lists(one, None) for one in schemas) or not any(
        _KINDS & one.keys() for one in schemas
    )
