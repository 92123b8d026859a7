"""The default token budget of an answer, from its schema and the length of the document.

Does: walk a schema once and count. The engine adds the tokens of the shortest legal answer, which it knows exactly, and
completes an answer that needs more in the shortest legal way (`engine.grammars.budgeted_matcher`). Does not: truncate
anything, or know the context length.

    room = 128 + 2 D + sum over values + sum over arrays of D / (2 v) rows, each with its names and punctuation

D is the number of tokens of the document, v the number of values of a row. A free string has 96 tokens of its own, any
other value 32: a legitimate answer copies at most the document, with names and punctuation around the copied parts.
Values that may be absent have 192 + 6 D together at most: one that the document does not state is left out. A value of
which the schema says nothing has 64 tokens, and one more for each of the document. The figures and the alternatives are
in docs/decisions/answers-end.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from intaglio.schemas.json_pointer import local_target

_ALWAYS: Final = 128
_STRING: Final = 96
_OTHER: Final = 32

# A value of which the schema says nothing, or only that it is an object or array; and the tokens of names and
# punctuation in it for each document token.
_ANYTHING: Final = 64
_ANYTHING_RATE: Final = 1.0

# The bound on the room of all values that may be absent, and its growth with each document token: a value that is
# stated takes one or more of those.
_OPTIONAL: Final = 192
_OPTIONAL_RATE: Final = 12

# Tokens of quotes, colon and comma around a value in a row, and of a value that is not copied.
_PUNCTUATION: Final = 5
_OPEN_ROW_NAMES: Final = 12  # tokens of property names in a row if its schema declares none
_MAX_SUBSCHEMAS: Final = 20_000  # sub-schemas visited
_SCHEMA_LISTS: Final = ("anyOf", "oneOf", "allOf")
_BOUNDING_KEYWORDS: Final = frozenset({"enum", "const", "format", "pattern"})


@dataclass(slots=True)
class _TokenCount:
    """Token counts of a sub-schema: `room` for its values once, `optional` for those that may be absent; for a row, the
    number of `values`, of which `anything` are not described, and the tokens of `names`.
    """

    room: int = 0
    optional: int = 0
    values: int = 0
    anything: int = 0
    names: int = 0
    rows: float = 0.0  # answer tokens for each document token, from nested arrays

    def add(self, other: "_TokenCount") -> None:
        self.room += other.room
        self.optional += other.optional
        self.values += other.values
        self.anything += other.anything
        self.names += other.names
        self.rows += other.rows


@dataclass(frozen=True, slots=True)
class AnswerRoom:
    """The room of answers under one schema: `fixed` tokens, and `rate` for each token of the document.

    `optional`: tokens of the values that may be absent, which the length of the document bounds.
    """

    fixed: int
    rate: float
    optional: int = 0

    @classmethod
    def of(cls, schema: Mapping[str, Any] | bool) -> "AnswerRoom":
        """Walk a schema."""
        found = _SchemaWalk(schema).count(schema, ())
        return cls(_ALWAYS + found.room, 2 + found.rows, found.optional)

    def tokens(self, document_tokens: int) -> int:
        """Tokens that an answer may take beyond the shortest legal one."""
        stated = min(self.optional, _OPTIONAL + _OPTIONAL_RATE * document_tokens)
        return self.fixed + stated + round(self.rate * document_tokens)


def room(schema: Mapping[str, Any] | bool, document_tokens: int) -> int:
    """Tokens that an answer may take beyond the shortest legal one."""
    return AnswerRoom.of(schema).tokens(document_tokens)


class _SchemaWalk:
    """One walk through a schema; follows references where they are used."""

    def __init__(self, root: Mapping[str, Any] | bool) -> None:
        self._root = root
        self._subschemas_left = _MAX_SUBSCHEMAS

    def count(self, schema: Any, references: tuple[str, ...]) -> _TokenCount:
        """The counts of a sub-schema. `references`: the references on the way here."""
        self._subschemas_left -= 1
        if self._subschemas_left < 0 or schema is False:
            return _TokenCount()
        if not isinstance(schema, Mapping) or not schema:
            return _anything()
        found = _TokenCount()
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in references:  # recursive: nests as deep as the document does
                rows = _row(1, _OPEN_ROW_NAMES)
                return _TokenCount(_STRING, values=1, names=_OPEN_ROW_NAMES, rows=rows)
            target = local_target(self._root, reference)
            if target is not None:
                found.add(self.count(target, (*references, reference)))
        for name, value, is_required in _members(schema):
            member = self.count(value, references)
            if not is_required:
                member.room, member.optional = 0, member.room + member.optional
            found.add(member)
            found.names += len(name) // 3 + 1
        for value in _alternatives(schema):
            found.add(self.count(value, references))
        for value in _items(schema):
            item = self.count(value, references)
            if item.values > item.anything:
                item.rows += _row(item.values, item.names)
            found.add(item)
        if not (found.values or found.rows):
            found.add(_leaf(schema))
        return found


def _leaf(schema: Mapping[str, Any]) -> _TokenCount:
    """The counts of a value without parts."""
    types = schema.get("type")
    named = {types} if isinstance(types, str) else set(types) if isinstance(types, list) else set()
    if named & {"object", "array"} or not (named or _BOUNDING_KEYWORDS & schema.keys()):
        return _anything()
    free = "string" in named and not _BOUNDING_KEYWORDS & schema.keys()
    return _TokenCount(_STRING if free else _OTHER, values=1)


def _anything() -> _TokenCount:
    """The counts of a value that is not described: more than the document would be invented."""
    return _TokenCount(_ANYTHING, values=1, anything=1, rows=_ANYTHING_RATE)


def _row(values: int, names: int) -> float:
    """Answer tokens around the values of rows for each document token: a row of v values takes at least 2 v document
    tokens.
    """
    return (names + _PUNCTUATION * values) / (2 * max(1, values))


def _members(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """(name or pattern, sub-schema, whether it is required) of the declared properties."""
    required = schema.get("required")
    names = set(filter(_is_text, required)) if isinstance(required, list) else set()
    for keyword in ("properties", "patternProperties"):
        members = schema.get(keyword)
        if isinstance(members, Mapping):
            for name, value in members.items():
                yield name, value, keyword == "properties" and name in names


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _alternatives(schema: Mapping[str, Any]) -> Iterator[Any]:
    for keyword in _SCHEMA_LISTS:
        parts = schema.get(keyword)
        if isinstance(parts, list):
            yield from parts
    for keyword in ("then", "else"):
        if keyword in schema:
            yield schema[keyword]
    dependent = schema.get("dependentSchemas")
    if isinstance(dependent, Mapping):
        yield from dependent.values()


def _items(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The sub-schemas that apply to any number of values."""
    for keyword in ("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items"):
        value = schema.get(keyword)
        if isinstance(value, Mapping) or (value is True and keyword == "items"):
            yield value
        elif isinstance(value, list):
            yield from value
    for value in (
        schema.get("prefixItems", ()) if isinstance(schema.get("prefixItems"), list) else ()
    ):
        yield value
