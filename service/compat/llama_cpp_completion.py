"""llama.cpp's `/completion` as OpenAI's completions.

Does: translate requests, chunks and bodies. Does not: generate.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec
from intaglio.schemas.compat.native_completions import LlamaCppRequest
from intaglio.schemas.openai.text_completions import CompletionRequest

from ..dialects.stated import refused
from ..extraction.translate import validated
from ..generation.generation_events import GenerationEvent
from ..generation.prepared_call import LoadedModel, PreparedCall
from ..openai.text_completion import prepare_completion
from .translated import TranslatedForm, without_limit

_SAME = (
    *("prompt", "temperature", "top_k", "top_p", "min_p", "presence_penalty"),
    *("frequency_penalty", "ignore_eos", "grammar", "json_schema", "model"),
)


def prepare_llama_cpp(body: LlamaCppRequest, model: LoadedModel) -> PreparedCall:
    """The generation for `/completion`.

    Raises:
        InvalidBody: no token may be generated; otherwise as `prepare_completion`.
    """
    if body.n_predict == 0:
        raise refused(
            "/n_predict",
            "0 would generate nothing",
            "give the most tokens of the answer, or -1 for no limit; POST /tokenize counts those of a prompt",
        )
    given = body.model_dump()
    fields: dict[str, Any] = {name: given[name] for name in _SAME}
    fields |= {
        "repetition_penalty": body.repeat_penalty,
        "max_tokens": body.n_predict if (body.n_predict or 0) > 0 else None,
        "seed": body.seed if (body.seed or 0) >= 0 else None,
        "stop": body.stop or None,
        "stream": body.stream,
    }
    if body.stream:
        fields["stream_options"] = {"include_usage": True}
    call = prepare_completion(validated(CompletionRequest, fields), model)
    if fields["max_tokens"] is None:
        call = without_limit(call, model)
    return replace(call, form=TranslatedForm(call.form, LlamaCppEvents()))


class LlamaCppEvents:
    """Events of `/completion`: pieces of content, and a last one with the counts."""

    def __init__(self) -> None:
        self._ending: dict[str, Any] = {}

    def observe(self, _event: GenerationEvent) -> None:
        """Do nothing: OpenAI's chunks have all that is needed."""

    def chunk(self, chunk: dict[str, Any]) -> Iterable[bytes]:
        """The event for a chunk."""
        if not chunk["choices"]:
            yield _event({"content": "", **self._ending, **_counts(chunk)})
            return
        choice = chunk["choices"][0]
        if choice["finish_reason"]:
            self._ending = _ending(choice)
        if choice["text"]:
            yield _event({"index": 0, "content": choice["text"], "stop": False})

    def whole(self, body: dict[str, Any]) -> bytes:
        """The body for an OpenAI answer."""
        choice = body["choices"][0]
        return msgspec.json.encode({"content": choice["text"], **_ending(choice), **_counts(body)})


def _ending(choice: dict[str, Any]) -> dict[str, Any]:
    word = choice.get("stop_reason")
    kind = "limit" if choice["finish_reason"] == "length" else "word" if word else "eos"
    return {"index": 0, "stop": True, "stop_type": kind, "stopping_word": word or ""}


def _counts(body: dict[str, Any]) -> dict[str, Any]:
    usage = body["usage"]
    return {
        "model": body["model"],
        "tokens_predicted": usage["completion_tokens"],
        "tokens_evaluated": usage["prompt_tokens"],
        "tokens_cached": usage["prompt_tokens_details"]["cached_tokens"],
        "truncated": False,
    }


def _event(value: dict[str, Any]) -> bytes:
    return b"data: %s\n\n" % msgspec.json.encode(value)
