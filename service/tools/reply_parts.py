"""The parts of a chat reply: content, reasoning and calls of tools, read from the text of the model.

Does: define the parts and the interface of readers; read a text that is content only. Does not: know the wire format of
any model.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ContentText:
    """Text for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningText:
    """The model's reasoning before its answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """The start of a call, before its arguments. Calls are numbered from 0."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallArguments:
    """The next piece of a call's arguments, which are JSON text."""

    index: int
    text: str


ReplyPart = ContentText | ReasoningText | ToolCallStart | ToolCallArguments


class ReplyReader(Protocol):
    """Divides the text of one choice into parts."""

    def read(self, text: str) -> Iterable[ReplyPart]:
        """Add text; the parts that are certain now."""
        ...

    def finish(self) -> Iterable[ReplyPart]:
        """The rest, after the last text."""
        ...


class ContentReader:
    """Reads everything as content."""

    def read(self, text: str) -> Iterable[ReplyPart]:
        """The text itself."""
        return (ContentText(text),) if text else ()

    def finish(self) -> Iterable[ReplyPart]:
        """Nothing: all text has been returned."""
        return ()
