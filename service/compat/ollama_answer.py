"""Answers of Ollama's interface: lines of JSON, or one body.

Does: translate the chunks and bodies of OpenAI answers. Arguments of calls are objects here, so that a call is sent
when it is complete. Does not: generate.
"""

import json
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from ..generation.generation_events import ChoiceEnd, GenerationEvent

_REASONS: Final[Mapping[str, str]] = {"length": "length"}


class _Lines:
    """The shared part of the lines of chat and generate."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._started = time.perf_counter_ns()
        self._first = 0
        self._decode_ns = 0
        self._reason = "stop"
        self._open: dict[str, str] | None = None

    def observe(self, event: GenerationEvent) -> None:
        """Note when the first token came, and at the end how long the engine decoded.

        An answer that is not streamed comes in one piece, when all of its tokens are done.
        """
        self._first = self._first or time.perf_counter_ns()
        if isinstance(event, ChoiceEnd):
            self._decode_ns = round(event.decode_s * 1e9)

    def chunk(self, chunk: dict[str, Any]) -> Iterable[bytes]:
        """The line for a chunk; none if it has nothing for Ollama."""
        if not chunk["choices"]:
            yield self._line(self._part("", "", []) | self._ending(chunk["usage"]))
            return
        choice = chunk["choices"][0]
        delta = choice.get("delta") or {"content": choice.get("text")}
        content = delta.get("content") or ""
        thinking = delta.get("reasoning_content") or ""
        calls = self._complete_calls(delta.get("tool_calls") or (), choice.get("finish_reason"))
        if choice.get("finish_reason"):
            self._reason = _REASONS.get(choice["finish_reason"], "stop")
        if content or thinking or calls:
            yield self._line(self._part(content, thinking, calls) | {"done": False})

    def whole(self, body: dict[str, Any]) -> bytes:
        """The body for an OpenAI answer."""
        choice = body["choices"][0]
        message = choice.get("message") or {"content": choice.get("text")}
        self._reason = _REASONS.get(choice["finish_reason"], "stop")
        calls = [_call(call["function"]) for call in message.get("tool_calls") or ()]
        part = self._part(
            message.get("content") or "", message.get("reasoning_content") or "", calls
        )
        return self._line(part | self._ending(body["usage"])).rstrip(b"\n")

    def _complete_calls(
        self, deltas: Iterable[dict[str, Any]], finished: str | None
    ) -> list[dict[str, Any]]:
        """Calls that are complete now."""
        complete = []
        for delta in deltas:
            function = delta.get("function") or {}
            if "id" in delta:
                complete += self._close()
                self._open = {"name": function["name"], "arguments": ""}
            if self._open is not None:
                self._open["arguments"] += function.get("arguments") or ""
        if finished:
            complete += self._close()
        return complete

    def _close(self) -> list[dict[str, Any]]:
        call, self._open = self._open, None
        return [] if call is None else [_call(call)]

    def _part(self, content: str, thinking: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
        raise NotImplementedError

    def _line(self, part: dict[str, Any]) -> bytes:
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        return msgspec.json.encode({"model": self._model, "created_at": now, **part}) + b"\n"

    def _ending(self, usage: dict[str, Any]) -> dict[str, Any]:
        now = time.perf_counter_ns()
        total = now - self._started
        decode = min(self._decode_ns, total) or now - (self._first or now)
        return {
            "done": True,
            "done_reason": self._reason,
            "total_duration": total,
            "load_duration": 0,
            "prompt_eval_count": usage["prompt_tokens"],
            "prompt_eval_duration": total - decode,
            "eval_count": usage["completion_tokens"],
            "eval_duration": decode,
        }


class ChatLines(_Lines):
    """Lines of `/api/chat`."""

    def _part(self, content: str, thinking: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if thinking:
            message["thinking"] = thinking
        if calls:
            message["tool_calls"] = calls
        return {"message": message}


class GenerateLines(_Lines):
    """Lines of `/api/generate`."""

    def _part(self, content: str, thinking: str, _calls: list[dict[str, Any]]) -> dict[str, Any]:
        return {"response": content, **({"thinking": thinking} if thinking else {})}


def _call(function: Mapping[str, str]) -> dict[str, Any]:
    """A call with its arguments as an object; without arguments if the budget cut the call off."""
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except ValueError:
        arguments = {}
    return {"function": {"name": function["name"], "arguments": arguments}}
