"""The answer of OpenAI's responses, streamed or whole, from the events of a generation.

Does: write numbered events and response objects, both from the same items, so that they agree. Does not:
generate, or put items together (`response_items`).
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
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
from ..tools.reply_parts import ContentReader, ReasoningText, ReplyPart, ReplyReader
from .logprob_entries import Texts, chat_logprobs
from .response_items import Event, OutputItems
from .usage_count import UsageCount

DONE: Final = b"data: [DONE]\n\n"

_encode = msgspec.json.encode


@dataclass(slots=True, kw_only=True)
class ResponseForm:
    """Writes one response. `base` has its fields before there is output; `texts` are the vocabulary's.

    `alternatives`: how many of each token were asked for; None without log-probabilities. `keep` gets the complete
    response, before it is sent.
    """

    base: dict[str, Any]
    prompt_tokens: int
    texts: Texts
    alternatives: int | None = None
    reader: Callable[[], ReplyReader] = ContentReader
    keep: Callable[[dict[str, Any]], Awaitable[None]] | None = None
    _sent: int = field(default=0, init=False)

    async def stream(
        self, events: AsyncGenerator[GenerationEvent, None]
    ) -> AsyncGenerator[bytes, None]:
        """Created and in progress; for each item its events; completed or incomplete; `[DONE]`."""
        answer = _Answer(self)
        async with aclosing(events):
            first = True
            async for event in events:
                if first:
                    for kind in ("response.created", "response.in_progress"):
                        yield self._event({"type": kind, "response": self.base})
                    first = False
                for each in answer.add(event):
                    yield self._event(each)
        whole = answer.response()
        if self.keep is not None:
            await self.keep(whole)
        yield self._event({"type": f"response.{whole['status']}", "response": whole})
        yield DONE

    async def whole(self, events: AsyncGenerator[GenerationEvent, None]) -> bytes:
        """The complete response."""
        answer = _Answer(self)
        async with aclosing(events):
            async for event in events:
                for _ in answer.add(event):
                    pass
        whole = answer.response()
        if self.keep is not None:
            await self.keep(whole)
        return _encode(whole)

    def failed(self, code: str, message: str) -> bytes:
        """The event that ends a stream with an error."""
        return self._event({"type": "error", "code": code, "message": message, "param": None})

    def _event(self, event: Event) -> bytes:
        numbered = {**event, "sequence_number": self._sent}
        self._sent += 1
        return b"event: %s\ndata: %s\n\n" % (event["type"].encode(), _encode(numbered))


class _Answer:
    """One response while it comes in."""

    def __init__(self, form: ResponseForm) -> None:
        self._form = form
        self._reader = form.reader()
        self._items = OutputItems()
        self._usage = UsageCount(form.prompt_tokens)
        self._end: ChoiceEnd | None = None

    def add(self, event: GenerationEvent) -> Iterator[Event]:
        """The events of the response that the next event of the generation makes."""
        self._usage.add(event)
        match event:
            case ReasoningDelta():
                yield from self._items.add(ReasoningText(event.text))
            case ChoiceDelta():
                yield from self._parts(self._reader.read(event.text), event.tokens)
            case ChoiceEnd():
                self._end = event
                yield from self._parts(self._reader.finish(), ())
                incomplete = event.finish == "length"
                yield from self._items.finish("incomplete" if incomplete else "completed")

    def _parts(
        self, parts: Iterable[ReplyPart], tokens: tuple[ScoredToken, ...]
    ) -> Iterator[Event]:
        form = self._form
        scored = form.alternatives is not None
        logprobs = chat_logprobs(tokens, form.texts, form.alternatives or 0)["content"]
        for part in parts:
            yield from self._items.add(part, logprobs if scored else None)
            logprobs = []

    def response(self) -> dict[str, Any]:
        """The complete response."""
        end = self._end
        assert end is not None  # a generation ends with it
        cut_off = end.finish == "length"
        counts = self._usage.wire()
        cached = counts["prompt_tokens_details"]["cached_tokens"]
        return {
            **self._form.base,
            "status": "incomplete" if cut_off else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if cut_off else None,
            "completed_at": None if cut_off else int(time.time()),
            "output": self._items.output,
            "budget_forced": end.budget_forced,
            "usage": {
                "input_tokens": counts["prompt_tokens"],
                "input_tokens_details": {
                    "cached_tokens": cached,
                    "cache_write_tokens": counts["prompt_tokens"] - cached,
                },
                "output_tokens": counts["completion_tokens"],
                "output_tokens_details": {"reasoning_tokens": end.reasoning_tokens},
                "total_tokens": counts["total_tokens"],
            },
        }
