"""The output items of a response, put together from the parts of a reply, with the events that stream them.

Does: open and close items, number them, and collect their texts. Does not: write whole responses
(`response_answer`), or divide replies into parts (`reply_parts`).
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from ..tools.reply_parts import (
    ContentText,
    ReasoningText,
    ReplyPart,
    ToolCallArguments,
    ToolCallStart,
)

Event = dict[str, Any]
"""An event of a streamed response, still without its `sequence_number`."""

Item = dict[str, Any]
Status = Literal["completed", "incomplete"]


def random_id(prefix: str) -> str:
    """A new id, such as `msg_…`."""
    return f"{prefix}_{secrets.token_hex(24)}"


@dataclass(slots=True)
class _Open:
    """The item that is being written, with its text in pieces."""

    item: Item
    index: int
    kind: Literal["message", "reasoning", "function_call"]
    pieces: list[str] = field(default_factory=list)
    logprobs: list[Any] = field(default_factory=list)

    @property
    def place(self) -> dict[str, Any]:
        """The fields by which events refer to the item and its text."""
        found: dict[str, Any] = {"item_id": self.item["id"], "output_index": self.index}
        return found if self.kind == "function_call" else {**found, "content_index": 0}

    def part(self, text: str) -> dict[str, Any]:
        """Its text as a content part."""
        if self.kind == "reasoning":
            return {"type": "reasoning_text", "text": text}
        return {
            "type": "output_text",
            "text": text,
            "annotations": [],
            "logprobs": list(self.logprobs),
        }


class OutputItems:
    """The output items of one response. `new_id` makes an id from a prefix."""

    def __init__(self, new_id: Callable[[str], str] = random_id) -> None:
        self._new_id = new_id
        self._open: _Open | None = None
        self.output: list[Item] = []

    def add(self, part: ReplyPart, logprobs: list[Any] | None = None) -> Iterator[Event]:
        """The events of the next part; `logprobs`: those of its tokens."""
        match part:
            case ContentText(text):
                yield from self._text("message", text, logprobs or [])
            case ReasoningText(text):
                yield from self._text("reasoning", text, [])
            case ToolCallStart():
                yield from self.close()
                yield from self._begin_call(part)
            case ToolCallArguments(_, text):
                assert self._open is not None
                self._open.pieces.append(text)
                kind = "response.function_call_arguments.delta"
                yield {"type": kind, **self._open.place, "delta": text}

    def finish(self, status: Status) -> Iterator[Event]:
        """The last events. An answer without any item gets an empty message."""
        if not self.output:
            yield from self._begin_text("message")
        yield from self.close(status)

    def close(self, status: Status = "completed") -> Iterator[Event]:
        """The events that end the open item, if there is one."""
        if self._open is None:
            return
        last, self._open = self._open, None
        text = "".join(last.pieces)
        if last.kind == "function_call":
            last.item["arguments"] = text
            yield {
                "type": "response.function_call_arguments.done",
                **last.place,
                "name": last.item["name"],
                "arguments": text,
            }
        else:
            part = last.part(text)
            last.item["content"] = [part]
            done: Event = {"type": _TEXT_EVENTS[last.kind] + ".done", **last.place, "text": text}
            yield done if last.kind == "reasoning" else {**done, "logprobs": part["logprobs"]}
            yield {"type": "response.content_part.done", **last.place, "part": part}
        last.item["status"] = status
        yield {"type": "response.output_item.done", "output_index": last.index, "item": last.item}

    def _text(
        self, kind: Literal["message", "reasoning"], text: str, logprobs: list[Any]
    ) -> Iterator[Event]:
        if self._open is None or self._open.kind != kind:
            yield from self.close()
            yield from self._begin_text(kind)
        assert self._open is not None
        self._open.pieces.append(text)
        self._open.logprobs += logprobs
        delta: Event = {"type": _TEXT_EVENTS[kind] + ".delta", **self._open.place, "delta": text}
        yield delta if kind == "reasoning" else {**delta, "logprobs": logprobs}

    def _begin_text(self, kind: Literal["message", "reasoning"]) -> Iterator[Event]:
        if kind == "message":
            item: Item = {"type": kind, "id": self._new_id("msg"), "role": "assistant"}
        else:
            item = {"type": kind, "id": self._new_id("rs"), "summary": []}
        yield from self._begin(item | {"content": []}, kind)
        assert self._open is not None
        part = self._open.part("")
        yield {"type": "response.content_part.added", **self._open.place, "part": part}

    def _begin_call(self, start: ToolCallStart) -> Iterator[Event]:
        item = {
            "type": "function_call",
            "id": self._new_id("fc"),
            "call_id": start.id,
            "name": start.name,
            "arguments": "",
        }
        yield from self._begin(item, "function_call")

    def _begin(
        self, item: Item, kind: Literal["message", "reasoning", "function_call"]
    ) -> Iterator[Event]:
        item["status"] = "in_progress"
        self._open = _Open(item, len(self.output), kind)
        self.output.append(item)
        yield {
            "type": "response.output_item.added",
            "output_index": self._open.index,
            "item": dict(item),
        }


_TEXT_EVENTS = {"message": "response.output_text", "reasoning": "response.reasoning_text"}
