"""How a document and a schema are sent in each protocol, and how its answer is read.

Does: build bodies; read the output, its tokens and its events from answers, streamed or not. Does not: send anything. A
protocol is one entry of `PROTOCOLS`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .load_plan import LoadPlan
from .workload import LoadTask

_ASK = "Extract the data that the schema describes from this document. Answer in JSON.\n\n"


@dataclass(slots=True)
class Answer:
    """What an answer said so far. `output` is JSON text."""

    output: str = ""
    prompt_tokens: int = 0
    output_tokens: int = 0
    error: str = ""
    is_complete: bool = False


@dataclass(frozen=True, slots=True)
class Protocol:
    """One way to ask.

    `body` builds the request. `read` reads an unstreamed answer. `read_event` reads one event of a stream, and returns
    whether it carried a part of the output.
    """

    path: str
    body: Callable[[LoadPlan, LoadTask], dict[str, Any]]
    read: Callable[[dict[str, Any], Answer], None]
    read_event: Callable[[dict[str, Any], Answer], bool]


def _extract_body(plan: LoadPlan, task: LoadTask) -> dict[str, Any]:
    options: dict[str, Any] = {"temperature": plan.temperature}
    if plan.max_tokens is not None:
        options["max_tokens"] = plan.max_tokens
    if plan.temperature:
        options["seed"] = plan.seed
    body: dict[str, Any] = {"schema": task.schema, "text": task.text, "options": options}
    if plan.model:
        body["model"] = plan.model
    return body | ({"stream": True} if plan.stream else {})


def _extract_read(document: dict[str, Any], answer: Answer) -> None:
    answer.output = json.dumps(document["data"], ensure_ascii=False)
    _extract_usage(document["usage"], answer)
    answer.is_complete = True


def _extract_usage(usage: Mapping[str, Any], answer: Answer) -> None:
    answer.prompt_tokens = int(usage["prompt_tokens"])
    answer.output_tokens = int(usage["output_tokens"])


def _extract_event(event: dict[str, Any], answer: Answer) -> bool:
    match event.get("type"):
        case "object.completed":
            _extract_read(event["result"], answer)
        case "error":
            answer.error = str(event["error"]["code"])
    return str(event.get("type")).startswith("field.")


def _chat_body(plan: LoadPlan, task: LoadTask) -> dict[str, Any]:
    return _openai_options(plan) | {
        "messages": [{"role": "user", "content": _ASK + task.text}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": task.schema, "strict": True},
        },
    }


def _completion_body(plan: LoadPlan, task: LoadTask) -> dict[str, Any]:
    return _openai_options(plan) | {
        "prompt": _ASK + task.text,
        "structured_outputs": {"json": task.schema},
    }


def _openai_options(plan: LoadPlan) -> dict[str, Any]:
    body: dict[str, Any] = {"model": plan.model, "temperature": plan.temperature, "seed": plan.seed}
    if plan.max_tokens is not None:
        body["max_tokens"] = plan.max_tokens
    if plan.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def _openai_read(document: dict[str, Any], answer: Answer) -> None:
    (choice,) = document["choices"]
    answer.output = str(choice["message"]["content"] if "message" in choice else choice["text"])
    _openai_usage(document, answer)
    answer.is_complete = choice["finish_reason"] == "stop"


def _openai_usage(document: dict[str, Any], answer: Answer) -> None:
    usage = document.get("usage")
    if usage:
        answer.prompt_tokens = int(usage["prompt_tokens"])
        answer.output_tokens = int(usage["completion_tokens"])


def _openai_event(event: dict[str, Any], answer: Answer) -> bool:
    if "error" in event:
        answer.error = str(event["error"].get("code") or "stream_error")
        return False
    _openai_usage(event, answer)
    if not event["choices"]:
        return False
    (choice,) = event["choices"]
    part = choice["delta"].get("content") if "delta" in choice else choice["text"]
    answer.output += part or ""
    if choice.get("finish_reason") is not None:
        answer.is_complete = choice["finish_reason"] == "stop"
    return bool(part)


PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        "extract": Protocol("/v1/extract", _extract_body, _extract_read, _extract_event),
        "chat": Protocol("/v1/chat/completions", _chat_body, _openai_read, _openai_event),
        "completions": Protocol("/v1/completions", _completion_body, _openai_read, _openai_event),
    }
)
