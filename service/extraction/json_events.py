"""Incremental reading of a JSON text: events for each member and item, while the text is still being written.

Does: turn text deltas into started and completed values by JSON Pointer, in work proportional to the text. Does not:
validate a whole document. `extract` parses and validates the whole text once it is complete; a text that turns out not
to be JSON gives no further events here and is refused there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final, Literal

from intaglio.grammar.api import InvalidJson, parse_json
from intaglio.schemas.json_pointer import child_pointer
from pydantic import JsonValue

MAX_EVENT_DEPTH: Final = 16
"""The deepest level with events of its own. The values below it come with the value that contains them, so that the
events of a text are at most this many times as long as the text.
"""
MAX_DEPTH: Final = 512

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*')
_SCALAR: Final = re.compile(r"[-+.0-9A-Za-z]*")
_CLOSING: Final = {"{": "}", "[": "]"}

Kind = Literal["object", "array", "string", "number", "boolean", "null"]
_KINDS: Final[Mapping[str, Kind]] = {
    "{": "object",
    "[": "array",
    '"': "string",
    "t": "boolean",
    "f": "boolean",
    "n": "null",
}


@dataclass(frozen=True, slots=True)
class FieldStarted:
    """The first character of a value has been written. `pointer` is a JSON Pointer (RFC 6901) into the document."""

    pointer: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class FieldCompleted:
    """A value is complete."""

    pointer: str
    value: JsonValue


JsonEvent = FieldStarted | FieldCompleted


class _Expects(Enum):
    """The kind of text that the next non-white-space character must begin."""

    VALUE = auto()
    VALUE_OR_END = auto()
    NAME = auto()
    NAME_OR_END = auto()
    COLON = auto()
    COMMA_OR_END = auto()
    STRING = auto()  # inside a string
    SCALAR = auto()  # inside a number or a literal
    NOTHING = auto()  # the document is complete
    BROKEN = auto()


@dataclass(slots=True)
class _Open:
    """An open object or array; `pointer` is None below the levels with events."""

    pointer: str | None
    value: dict[str, Any] | list[Any]
    bracket: str
    name: str = ""

    def child(self) -> str | None:
        """The pointer of the member or item that comes next."""
        if self.pointer is None:
            return None
        key = len(self.value) if isinstance(self.value, list) else self.name
        return child_pointer(self.pointer, key)


@dataclass(slots=True)
class _Text:
    """A string, number or literal that is being written."""

    parts: list[str] = field(default_factory=list)
    is_name: bool = False
    escaped: bool = False  # the last character was a backslash
    has_escapes: bool = False


class JsonReader:
    """Reads one JSON text. The events of a text do not depend on its division into deltas.

    The root value starts like any other, with the pointer "". Its end has no event: `value` is the root then.
    """

    def __init__(self, max_event_depth: int = MAX_EVENT_DEPTH) -> None:
        self._max_event_depth = max_event_depth
        self._expects = _Expects.VALUE
        self._open: list[_Open] = []
        self._text = _Text()
        self._events: list[JsonEvent] = []
        self.value: JsonValue = None

    @property
    def is_complete(self) -> bool:
        """Whether the root value is complete. A number at the root is complete only after `finish`."""
        return self._expects is _Expects.NOTHING

    @property
    def is_broken(self) -> bool:
        """Whether the text cannot become JSON. There are no further events then."""
        return self._expects is _Expects.BROKEN

    def push(self, text: str) -> list[JsonEvent]:
        """Read more text; the events that it completes."""
        at = 0
        while at < len(text) and self._expects is not _Expects.BROKEN:
            if self._expects is _Expects.STRING:
                at = self._in_string(text, at)
            elif self._expects is _Expects.SCALAR:
                at = self._in_scalar(text, at)
            else:
                at = self._between(text, at)
        events, self._events = self._events, []
        return events

    def finish(self) -> list[JsonEvent]:
        """The events that the end of the text completes: only a number or literal at the root ends there."""
        if self._expects is _Expects.SCALAR:
            self._end_scalar()
        events, self._events = self._events, []
        return events

    def _between(self, text: str, at: int) -> int:
        """Read the white space and the one character from `at` on; returns the next position."""
        space = _SPACE.match(text, at)
        assert space is not None  # it matches the empty string
        at = space.end()
        if at == len(text):
            return at
        character, expects = text[at], self._expects
        ends = expects in (_Expects.VALUE_OR_END, _Expects.NAME_OR_END, _Expects.COMMA_OR_END)
        if ends and self._open and character == _CLOSING[self._open[-1].bracket]:
            self._end_container()
        elif expects in (_Expects.VALUE, _Expects.VALUE_OR_END):
            return self._begin_value(text, at)
        elif expects in (_Expects.NAME, _Expects.NAME_OR_END) and character == '"':
            self._text, self._expects = _Text(is_name=True), _Expects.STRING
        elif expects is _Expects.COLON and character == ":":
            self._expects = _Expects.VALUE
        elif expects is _Expects.COMMA_OR_END and character == ",":
            is_object = self._open[-1].bracket == "{"
            self._expects = _Expects.NAME if is_object else _Expects.VALUE
        else:
            self._expects = _Expects.BROKEN
        return at + 1

    def _begin_value(self, text: str, at: int) -> int:
        character = text[at]
        pointer = self._pointer()
        if pointer is not None and (character in _KINDS or character in "-0123456789"):
            self._events.append(FieldStarted(pointer, _KINDS.get(character, "number")))
        if character in "{[":
            is_object = character == "{"
            within = pointer if len(self._open) < self._max_event_depth else None
            self._open.append(_Open(within, {} if is_object else [], character))
            self._expects = _Expects.NAME_OR_END if is_object else _Expects.VALUE_OR_END
            if len(self._open) > MAX_DEPTH:
                self._expects = _Expects.BROKEN
            return at + 1
        self._text = _Text()
        if character == '"':
            self._expects = _Expects.STRING
            return at + 1
        self._expects = _Expects.SCALAR
        found = _SCALAR.match(text, at)
        if found is None or not found.group():
            self._expects = _Expects.BROKEN
        return at

    def _in_string(self, text: str, at: int) -> int:
        current = self._text
        if current.escaped:
            current.parts.append(text[at])
            current.escaped = False
            return at + 1
        plain = _PLAIN.match(text, at)
        assert plain is not None  # it matches the empty string
        current.parts.append(plain.group())
        at = plain.end()
        if at == len(text):
            return at
        if text[at] == '"':
            self._end_string()
        elif text[at] == "\\":
            current.parts.append("\\")
            current.escaped = current.has_escapes = True
        else:
            self._expects = _Expects.BROKEN
        return at + 1

    def _end_string(self) -> None:
        current, value = self._text, "".join(self._text.parts)
        if current.has_escapes:
            try:
                value = parse_json(f'"{value}"')
            except InvalidJson:
                self._expects = _Expects.BROKEN
                return
        if not current.is_name:
            self._complete(value)
            return
        parent = self._open[-1]
        self._expects = _Expects.BROKEN if value in parent.value else _Expects.COLON
        parent.name = value

    def _in_scalar(self, text: str, at: int) -> int:
        found = _SCALAR.match(text, at)
        assert found is not None  # it matches the empty string
        self._text.parts.append(found.group())
        if found.end() < len(text):
            self._end_scalar()
        return found.end()

    def _end_scalar(self) -> None:
        try:
            self._complete(parse_json("".join(self._text.parts)))
        except InvalidJson:
            self._expects = _Expects.BROKEN

    def _end_container(self) -> None:
        self._complete(self._open.pop().value)

    def _complete(self, value: JsonValue) -> None:
        """Put a complete value into its parent."""
        if not self._open:
            self.value, self._expects = value, _Expects.NOTHING
            return
        parent, pointer = self._open[-1], self._pointer()
        if pointer is not None:
            self._events.append(FieldCompleted(pointer, value))
        if isinstance(parent.value, list):
            parent.value.append(value)
        else:
            parent.value[parent.name] = value
        self._expects = _Expects.COMMA_OR_END

    def _pointer(self) -> str | None:
        """The pointer of the value that comes next or has just ended; None if it has no events."""
        return self._open[-1].child() if self._open else ""
