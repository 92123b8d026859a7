"""Reads an answer that may call tools, piece by piece.

Does: split text into content and calls, as soon as each character is certain. The events do not depend on how the text
was divided into pieces, except for the division of content and arguments. Does not: check the answer; the structural
tag of the format (`tool_format`) has enforced it.
"""

from collections.abc import Callable, Iterator
from enum import Enum, auto

from .reply_parts import ContentText, ReplyPart, ToolCallArguments, ToolCallStart
from .tool_format import ToolFormat
from .tool_values import ToolCall


class _Part(Enum):
    """The part of an answer that comes next."""

    CONTENT = auto()
    BEFORE_NAME = auto()
    NAME = auto()
    BEFORE_ARGUMENTS = auto()
    ARGUMENTS = auto()


class ToolReader:
    """The reader of one answer. `new_id` gives the ids of its calls."""

    def __init__(self, form: ToolFormat, new_id: Callable[[], str] | None = None) -> None:
        self._form = form
        self._new_id = new_id or form.new_id
        self._name_end = form.after_name[:1] if form.after_name[0] == '"' else form.after_name
        self._part = _Part.CONTENT
        self._text = ""
        self._is_started = False
        self._depth = 0
        self._quoted = self._escaped = False
        self.calls = 0
        """Calls that have begun."""

    def read(self, text: str) -> Iterator[ReplyPart]:
        """The events that the next piece of the answer makes certain."""
        self._text += text
        step: ReplyPart | bool = True
        while step is not False:
            step = self._step(final=False)
            if not isinstance(step, bool):
                yield step

    def finish(self) -> Iterator[ReplyPart]:
        """The events after the last piece."""
        step: ReplyPart | bool = True
        while step is not False:
            step = self._step(final=True)
            if not isinstance(step, bool):
                yield step

    def _step(self, *, final: bool) -> ReplyPart | bool:
        """An event; True if only the state has changed; False if more text is needed."""
        match self._part:
            case _Part.CONTENT:
                return self._content(final=final)
            case _Part.BEFORE_NAME:
                return self._skip(self._form.before_name, _Part.NAME)
            case _Part.NAME:
                return self._name()
            case _Part.BEFORE_ARGUMENTS:
                at = self._text.find("{")
                if at >= 0:
                    self._text, self._part = self._text[at:], _Part.ARGUMENTS
                return at >= 0
            case _Part.ARGUMENTS:
                return self._arguments()

    def _content(self, *, final: bool) -> ReplyPart | bool:
        trigger = self._form.trigger
        only_here = self._form.only_at_start
        if only_here and self._is_started:
            return self._take_content(len(self._text))
        at = self._text.find(trigger)
        if at == 0 or (at > 0 and not only_here):
            if at == 0:
                self._part = _Part.BEFORE_NAME
                return True
            return self._take_content(at)
        if only_here:
            possible = not final and trigger.startswith(self._text)
            return False if possible else self._take_content(len(self._text))
        held = 0 if final else _overlap(self._text, trigger)
        return self._take_content(len(self._text) - held)

    def _take_content(self, count: int) -> ReplyPart | bool:
        if not count:
            return False
        self._is_started = True
        text, self._text = self._text[:count], self._text[count:]
        return ContentText(text)

    def _skip(self, mark: str, then: _Part) -> bool:
        at = self._text.find(mark)
        if at >= 0:
            self._text, self._part = self._text[at + len(mark) :], then
        return at >= 0

    def _name(self) -> ReplyPart | bool:
        at = self._text.find(self._name_end)
        if at < 0:
            return False
        name, self._text = self._text[:at], self._text[at + len(self._name_end) :]
        self._part = _Part.BEFORE_ARGUMENTS
        self.calls += 1
        return ToolCallStart(self.calls - 1, self._new_id(), name)

    def _arguments(self) -> ReplyPart | bool:
        """The arguments as far as they are there; they end with the brace that closes the first one."""
        if not self._text:
            return False
        for at, char in enumerate(self._text):
            if self._escaped:
                self._escaped = False
            elif self._quoted:
                self._escaped = char == "\\"
                self._quoted = char != '"'
            elif char == '"':
                self._quoted = True
            elif char in "{[":
                self._depth += 1
            elif char in "}]":
                self._depth -= 1
                if not self._depth:
                    piece, self._text = self._text[: at + 1], self._text[at + 1 :]
                    self._part = _Part.BEFORE_NAME
                    return ToolCallArguments(self.calls - 1, piece)
        piece, self._text = self._text, ""
        return ToolCallArguments(self.calls - 1, piece)


def read_whole(reader: ToolReader, text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """The content and the calls of a whole answer."""
    content: list[str] = []
    starts: list[ToolCallStart] = []
    arguments: list[list[str]] = []
    for event in (*reader.read(text), *reader.finish()):
        match event:
            case ContentText(piece):
                content.append(piece)
            case ToolCallStart():
                starts.append(event)
                arguments.append([])
            case ToolCallArguments(index, piece):
                arguments[index].append(piece)
    calls = (
        ToolCall(start.id, start.name, "".join(pieces))
        for start, pieces in zip(starts, arguments, strict=True)
    )
    return "".join(content), tuple(calls)


def _overlap(text: str, mark: str) -> int:
    """The length of the longest end of `text` that is a proper beginning of `mark`."""
    for size in range(min(len(text), len(mark) - 1), 0, -1):
        if text.endswith(mark[:size]):
            return size
    return 0
