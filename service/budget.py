"""How long an answer may become where its caller does not say: room for what the schema asks and the document holds.

Does: walk a schema once and count. The engine adds the tokens of the shortest legal answer, which it knows exactly, and
completes by the shortest way whatever needs more (`engine.closing`). Does not: cut anything, or know the context.

    room = 128 + 2 D + sum over values + sum over arrays of D / (2 v) rows, each with its names and marks

D is the number of tokens of the document, v the number of values of a row. A free string has 96 tokens of its own, any
other value 32: a legitimate answer copies the document at most, with names and marks around its parts. The figures and
the alternatives are in docs/decisions/answers-end.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_ALWAYS: Final = 128
_STRING: Final = 96
_OTHER: Final = 32
_MARKS: Final = 5  # tokens of quotes, colon and comma around a value in a row, and of a value that is not copied
_OPEN_ROW: Final = 12  # tokens of names in a row whose schema names none
_MOST_PARTS: Final = 20_000  # sub-schemas looked at
_LISTS: Final = ("anyOf", "oneOf", "allOf")
_SHORT: Final = frozenset({"enum", "const", "format", "pattern"})


@dataclass(slots=True)
class _Count:
    """What a part of a schema asks: `room` for its values once; in a row, how many `values` and tokens of `names`."""

    room: int = 0
    values: int = 0
    names: int = 0
    rows: float = 0.0  # tokens for each token of the document, by arrays within

    def add(self, other: "_Count") -> None:
        self.room += other.room
        self.values += other.values
        self.names += other.names
        self.rows += other.rows


def room(schema: Mapping[str, Any] | bool, document_tokens: int) -> int:
    """Tokens that an answer may take beyond the shortest legal one."""
    found = _Walk(schema).count(schema, ())
    return _ALWAYS + found.room + round((2 + found.rows) * document_tokens)


class _Walk:
    """One walk through a schema; definitions are followed where they are used."""

    def __init__(self, root: Mapping[str, Any] | bool) -> None:
        self._root = root
        self._left = _MOST_PARTS

    def count(self, schema: Any, inside: tuple[str, ...]) -> _Count:
        """Of a sub-schema. `inside`: the references that lead here."""
        self._left -= 1
        if self._left < 0 or schema is False:
            return _Count()
        if not isinstance(schema, Mapping) or not schema:
            return _Count(_STRING, 1, 0, _row(1, _OPEN_ROW))  # any value at all
        found = _Count()
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in inside:  # it nests as deep as the document goes
                return _Count(_STRING, 1, _OPEN_ROW, _row(1, _OPEN_ROW))
            target = self._target(reference)
            if target is not None:
                found.add(self.count(target, (*inside, reference)))
        for name, value in _members(schema):
            found.add(self.count(value, inside))
            found.names += len(name) // 3 + 1
        for value in _alternatives(schema):
            found.add(self.count(value, inside))
        for value in _items(schema):
            item = self.count(value, inside)
            item.rows += _row(item.values, item.names)
            found.add(item)
        if not (found.values or found.rows):
            found.add(_leaf(schema))
        return found

    def _target(self, reference: str) -> Any:
        """What a local reference names; None where it cannot be told here."""
        here: Any = self._root
        if not reference.startswith("#"):
            return None
        for part in reference[1:].split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(here, Mapping) or part not in here:
                return None
            here = here[part]
        return here


def _leaf(schema: Mapping[str, Any]) -> _Count:
    """A value without parts."""
    types = schema.get("type")
    named = {types} if isinstance(types, str) else set(types) if isinstance(types, list) else set()
    if named & {"object", "array"} or not (named or _SHORT & schema.keys()):
        return _Count(_STRING, 1, 0, _row(1, _OPEN_ROW))
    free = "string" in named and not _SHORT & schema.keys()
    return _Count(_STRING if free else _OTHER, 1)


def _row(values: int, names: int) -> float:
    """Tokens around the values of rows, for each token of the document: a row of v values takes 2 v of them or more."""
    return (names + _MARKS * values) / (2 * max(1, values))


def _members(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for word in ("properties", "patternProperties"):
        members = schema.get(word)
        if isinstance(members, Mapping):
            yield from members.items()


def _alternatives(schema: Mapping[str, Any]) -> Iterator[Any]:
    for word in _LISTS:
        parts = schema.get(word)
        if isinstance(parts, list):
            yield from parts
    for word in ("then", "else"):
        if word in schema:
            yield schema[word]
    dependent = schema.get("dependentSchemas")
    if isinstance(dependent, Mapping):
        yield from dependent.values()


def _items(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Schemas that any number of values may have."""
    for word in ("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items"):
        value = schema.get(word)
        if isinstance(value, Mapping) or (value is True and word == "items"):
            yield value
        elif isinstance(value, list):
            yield from value
    for value in (
        schema.get("prefixItems", ()) if isinstance(schema.get("prefixItems"), list) else ()
    ):
        yield value
