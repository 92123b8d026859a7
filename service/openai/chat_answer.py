"""The answer of a chat completion, streamed or whole, from the events of a generation.

Does: write chunks and bodies in the shape of `schemas/openai/chat_completions.py`, both from the same parts, so that
they agree. Does not: generate, or divide replies into parts (`reply_parts`).
"""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from ..generation.generation_events import (
    ChoiceDelta,
    ChoiceEnd,
    GenerationEvent,
    ReasoningDelta,
    ScoredToken,
)
from ..tools.reply_parts import (
    ContentReader,
    ContentText,
    ReasoningText,
    ReplyPart,
    ReplyReader,
    ToolCallArguments,
    ToolCallStart,
)
from .logprob_entries import Texts, chat_logprobs
from .usage_count import UsageCount

DONE: Final = b"data: [DONE]\n\n"

_encode = msgspec.json.encode


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatForm:
    """Writes one chat completion. `texts` are the vocabulary's; `reader` makes the reader of each choice.

    `alternatives`: how many of each token were asked for; None without `logprobs`. `usage_at_end` adds a last chunk
    with the usage, `usage_always` puts the counts so far in every chunk.
    """

    id: str
    created: int
    model: str
    fingerprint: str
    prompt_tokens: int
    texts: Texts
    image_tokens: int = 0
    alternatives: int | None = None
    usage_at_end: bool = False
    usage_always: bool = False
    reader: Callable[[], ReplyReader] = ContentReader

    async def stream(
        self, events: AsyncGenerator[GenerationEvent, None]
    ) -> AsyncGenerator[bytes, None]:
        """Chunks: for each choice one with the role, those with its parts, and one with its end; usage; `[DONE]`."""
        choices: dict[int, _Choice] = {}
        usage = UsageCount(self.prompt_tokens, self.image_tokens)
        async with aclosing(events):
            async for event in events:
                usage.add(event)
                if event.choice not in choices:
                    choices[event.choice] = _Choice(self.reader())
                    first = {"role": "assistant", "content": "", "refusal": None}
                    yield self._chunk(event.choice, first, usage)
                choice = choices[event.choice]
                for delta in choice.deltas(event):
                    yield self._chunk(event.choice, delta, usage, choice.take())
                if isinstance(event, ChoiceEnd):
                    yield self._chunk(event.choice, {}, usage, choice.take(), choice.ending(event))
        if self.usage_at_end:
            yield b"data: %s\n\n" % _encode(
                {**self._head("chat.completion.chunk"), "choices": [], "usage": usage.wire()}
            )
        yield DONE

    async def whole(self, events: AsyncGenerator[GenerationEvent, None]) -> bytes:
        """The body of the whole completion."""
        choices: dict[int, _Choice] = {}
        ends: dict[int, ChoiceEnd] = {}
        usage = UsageCount(self.prompt_tokens, self.image_tokens)
        async with aclosing(events):
            async for event in events:
                usage.add(event)
                if event.choice not in choices:
                    choices[event.choice] = _Choice(self.reader())
                for delta in choices[event.choice].deltas(event):
                    choices[event.choice].message.add(delta)
                if isinstance(event, ChoiceEnd):
                    ends[event.choice] = event
        return _encode(
            {
                **self._head("chat.completion"),
                "choices": [
                    {
                        "index": index,
                        "message": choices[index].message.wire(),
                        "logprobs": self._logprobs(choices[index].take()),
                        **choices[index].ending(ends[index]),
                    }
                    for index in sorted(ends)
                ],
                "usage": usage.wire(),
            }
        )

    def _chunk(
        self,
        index: int,
        delta: dict[str, Any],
        usage: UsageCount,
        tokens: tuple[ScoredToken, ...] = (),
        ending: dict[str, Any] | None = None,
    ) -> bytes:
        choice = {
            "index": index,
            "delta": delta,
            "logprobs": self._logprobs(tokens) if tokens or ending else None,
            **(ending or {"finish_reason": None}),
        }
        chunk: dict[str, Any] = {**self._head("chat.completion.chunk"), "choices": [choice]}
        if self.usage_always:
            chunk["usage"] = usage.wire()
        elif self.usage_at_end:
            chunk["usage"] = None
        return b"data: %s\n\n" % _encode(chunk)

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": self.fingerprint,
        }

    def _logprobs(self, tokens: tuple[ScoredToken, ...]) -> dict[str, Any] | None:
        if self.alternatives is None:
            return None
        return chat_logprobs(tokens, self.texts, self.alternatives)


@dataclass(slots=True)
class _Message:
    """A message assembled from its deltas."""

    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def add(self, delta: dict[str, Any]) -> None:
        if "content" in delta:
            self.content.append(delta["content"])
        if "reasoning_content" in delta:
            self.reasoning.append(delta["reasoning_content"])
        for call in delta.get("tool_calls", ()):
            if "id" in call:
                self.calls.append({**call, "function": dict(call["function"])})
            else:
                self.calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]

    def wire(self) -> dict[str, Any]:
        text = "".join(self.content)
        wire: dict[str, Any] = {
            "role": "assistant",
            "content": text if text or not self.calls else None,
            "refusal": None,
        }
        if self.reasoning:
            wire["reasoning_content"] = "".join(self.reasoning)
        if self.calls:
            wire["tool_calls"] = [
                {key: value for key, value in call.items() if key != "index"} for call in self.calls
            ]
        return wire


class _Choice:
    """One choice while it comes in."""

    def __init__(self, reader: ReplyReader) -> None:
        self.message = _Message()
        self._reader = reader
        self._called = False
        self._tokens: list[ScoredToken] = []

    def deltas(self, event: GenerationEvent) -> Iterable[dict[str, Any]]:
        """The new parts of the message; scored tokens are kept until they are taken."""
        parts: Iterable[ReplyPart]
        if isinstance(event, ReasoningDelta):
            parts = (ReasoningText(event.text),)
        elif isinstance(event, ChoiceDelta):
            self._tokens.extend(event.tokens)
            parts = self._reader.read(event.text)
        else:
            parts = self._reader.finish()
        for part in parts:
            self._called = self._called or isinstance(part, ToolCallStart)
            yield _delta(part)

    def take(self) -> tuple[ScoredToken, ...]:
        """The scored tokens since the last call."""
        tokens, self._tokens = tuple(self._tokens), []
        return tokens

    def ending(self, end: ChoiceEnd) -> dict[str, Any]:
        """The reason of the end."""
        # A call that a stop string or the budget cut off cannot be made.
        called = self._called and end.finish == "stop" and end.stopped is None
        return {
            "finish_reason": "tool_calls" if called else end.finish,
            "stop_reason": end.stopped,
            "budget_forced": end.budget_forced,
        }


def _delta(part: ReplyPart) -> dict[str, Any]:
    """A part as the delta of a chunk. Every entry of `tool_calls` has its index; id, type and name come once."""
    if isinstance(part, ContentText):
        return {"content": part.text}
    if isinstance(part, ReasoningText):
        return {"reasoning_content": part.text}
    if isinstance(part, ToolCallArguments):
        return {"tool_calls": [{"index": part.index, "function": {"arguments": part.text}}]}
    start = {"name": part.name, "arguments": ""}
    call = {"index": part.index, "id": part.id, "type": "function", "function": start}
    return {"tool_calls": [call]}
