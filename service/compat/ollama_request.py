"""Requests of Ollama's interface as OpenAI's.

Does: translate fields. Does not: check rules across fields (`service/openai`), or run anything. Where a
request states no sampling, Ollama's defaults are used: temperature 0.8, `top_k` 40, `top_p` 0.9.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from intaglio.schemas.compat.ollama_calls import (
    OllamaChatRequest,
    OllamaGenerateRequest,
    OllamaMessage,
    OllamaRequest,
)
from intaglio.schemas.openai.chat_completions import ChatRequest
from intaglio.schemas.openai.text_completions import CompletionRequest

from ..extraction.translate import validated
from ..generation.prepared_call import LoadedModel, PreparedCall
from ..openai.prepare_chat import prepare_chat
from ..openai.text_completion import prepare_completion
from .ollama_answer import ChatLines, GenerateLines
from .translated import TranslatedForm, without_limit

_DEFAULTS: Final = {"temperature": 0.8, "top_k": 40, "top_p": 0.9}
_SAME: Final = (
    *("temperature", "top_k", "top_p", "min_p", "seed", "stop"),
    *("presence_penalty", "frequency_penalty"),
)
_LATEST: Final = ":latest"


def prepare_ollama_chat(body: OllamaChatRequest, model: LoadedModel) -> PreparedCall:
    """The generation for `/api/chat`. Raises as `prepare_chat`."""
    fields = _shared(body, model) | {"messages": _messages(body.messages)} | _thinking(body)
    if body.tools:
        fields["tools"] = body.tools
    call = prepare_chat(validated(ChatRequest, fields), model)
    return _translated(call, ChatLines(model.info.model))


def prepare_ollama_generate(body: OllamaGenerateRequest, model: LoadedModel) -> PreparedCall:
    """The generation for `/api/generate`. Raises as `prepare_chat` and `prepare_completion`."""
    fields = _shared(body, model)
    lines = GenerateLines(model.info.model)
    if body.raw:
        limit = fields.pop("max_completion_tokens", None)
        fields |= {"prompt": body.prompt, "max_tokens": limit}
        call = prepare_completion(validated(CompletionRequest, fields), model)
        return _translated(call if limit else without_limit(call, model), lines)
    system = [{"role": "system", "content": body.system}] if body.system else []
    fields |= {"messages": [*system, {"role": "user", "content": body.prompt}]} | _thinking(body)
    return _translated(prepare_chat(validated(ChatRequest, fields), model), lines)


def model_name(name: str, model: LoadedModel) -> str:
    """The name without the tag `latest`, which Ollama's clients add to names without a tag."""
    plain = name.removesuffix(_LATEST)
    return plain if plain == model.info.model else name


def _translated(call: PreparedCall, lines: ChatLines | GenerateLines) -> PreparedCall:
    stated = call.stated
    if stated is not None and stated.pointer.startswith("/response_format"):
        stated = replace(stated, pointer="/format")
    return replace(call, form=TranslatedForm(call.form, lines), stated=stated)


def _shared(body: OllamaRequest, model: LoadedModel) -> dict[str, Any]:
    """The fields that chat completions and completions have alike."""
    options = {} if body.options is None else body.options.model_dump(exclude_none=True)
    fields: dict[str, Any] = {
        **_DEFAULTS,
        **{name: options[name] for name in _SAME if name in options},
        "model": model_name(body.model, model),
        "stream": body.stream,
    }
    if body.stream:
        fields["stream_options"] = {"include_usage": True}
    if "repeat_penalty" in options:
        fields["repetition_penalty"] = options["repeat_penalty"]
    if options.get("num_predict", -1) > 0:
        fields["max_completion_tokens"] = options["num_predict"]
    if body.format == "json":
        fields["response_format"] = {"type": "json_object"}
    elif body.format not in (None, ""):
        schema = {"name": "format", "schema": body.format}
        fields["response_format"] = {"type": "json_schema", "json_schema": schema}
    return fields


def _thinking(body: OllamaRequest) -> dict[str, Any]:
    if body.think is None:
        return {}
    if isinstance(body.think, str):
        return {"reasoning_effort": body.think}
    return {"chat_template_kwargs": {"enable_thinking": body.think}}


def _messages(given: Sequence[OllamaMessage]) -> list[dict[str, Any]]:
    """Messages of OpenAI's form. Calls get ids, and each result the id of the last call of its function."""
    found = []
    ids: dict[str, str] = {}
    for number, message in enumerate(given):
        each: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.thinking:
            each["reasoning_content"] = message.thinking
        calls = []
        for index, call in enumerate(message.tool_calls or ()):
            name = call.function.name
            ids[name] = call.id or f"call_{number}_{index}"
            arguments = json.dumps(call.function.arguments, ensure_ascii=False)
            function = {"name": name, "arguments": arguments}
            calls.append({"id": ids[name], "type": "function", "function": function})
        if calls:
            each["tool_calls"] = calls
        if message.role == "tool":
            name = message.tool_name or next(reversed(ids), "")
            each["tool_call_id"] = message.tool_call_id or ids.get(name, f"call_{number}")
        found.append(each)
    return found
