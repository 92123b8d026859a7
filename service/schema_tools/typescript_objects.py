"""Objects of TypeScript with members that are known only after all declarations: joined types and records.

Does: keep their places, and complete them. Does not: read a source (`typescript`).
"""

from typing import Any, Final

from .source_text import SourceError

_DEEPEST: Final = 64


class LateObjects:
    """The objects of a source that are still to be completed."""

    def __init__(self) -> None:
        self.declared: dict[str, dict[str, Any]] = {}
        self.joins: list[tuple[dict[str, Any], list[dict[str, Any]], int]] = []
        self.records: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any], int]] = []

    def record(self, key: dict[str, Any], value: dict[str, Any], line: int) -> dict[str, Any]:
        """An object with a member for each key, where the type of the keys lists them; else with any members."""
        found: dict[str, Any] = {}
        self.records.append((found, key, value, line))
        return found

    def joined(self, parts: list[dict[str, Any]], line: int) -> dict[str, Any]:
        """An object with the members of all parts; it is completed once all declarations are known."""
        found: dict[str, Any] = {}
        self.joins.append((found, parts, line))
        return found

    def complete(self, declared: dict[str, dict[str, Any]]) -> None:
        """Complete the objects, joined ones after those that others are made of first."""
        self.declared = declared
        waiting = {id(found): (found, parts, line) for found, parts, line in self.joins}

        def members(part: dict[str, Any], line: int, depth: int) -> dict[str, Any]:
            if depth > _DEEPEST:
                raise SourceError(line, "a type is made of itself")
            part = self._declared(part, line)
            if id(part) in waiting:
                target, parts, at = waiting.pop(id(part))
                join(target, parts, at, depth + 1)
            if "properties" not in part or part.get("additionalProperties") is not False:
                hint = "only objects with named members can be joined"
                raise SourceError(line, "this type cannot be extended or joined", hint)
            return part

        def join(
            target: dict[str, Any], parts: list[dict[str, Any]], line: int, depth: int
        ) -> None:
            every = [members(part, line, depth) for part in parts]
            properties: dict[str, Any] = {}
            for name, value in (pair for each in every for pair in each["properties"].items()):
                properties[name] = _narrower(properties.get(name, value), value)
            required = dict.fromkeys(name for each in every for name in each["required"])
            target.update(
                type="object",
                properties=properties,
                required=list(required),
                additionalProperties=False,
            )

        for target, key, value, line in self.records:
            target.update(_record(self._declared(key, line), value))
        while waiting:
            target, parts, line = waiting.pop(next(iter(waiting)))
            join(target, parts, line, 0)

    def _declared(self, part: dict[str, Any], line: int) -> dict[str, Any]:
        """A type, or that which it is another name of."""
        for _ in range(_DEEPEST):
            if "$ref" not in part:
                return part
            part = self.declared[part["$ref"].rpartition("/")[2]]
        raise SourceError(line, "a type is made of itself")


def _narrower(earlier: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """Of two types of a member: the one of literals, else the later."""
    literals = {"const", "enum"}
    return earlier if literals & earlier.keys() and not literals & later.keys() else later


def _record(key: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """The members of a record: those that its keys list, else any."""
    listed = key.get("enum", [key["const"]] if "const" in key else [])
    if not listed:
        return {"type": "object", "additionalProperties": value}
    names = [str(each) for each in listed]
    properties = dict.fromkeys(names, value)
    return {
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": False,
    }
