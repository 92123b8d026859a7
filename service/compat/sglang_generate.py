"""SGLang's `/generate` as OpenAI's completions.

Does: translate requests, chunks and bodies. Does not: generate.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec
from intaglio.schemas.compat.native_completions import SglangRequest
from intaglio.schemas.openai.text_completions import CompletionRequest

from ..dialects.stated import refused
from ..extraction.translate import validated
from ..generation.generation_events import ChoiceEnd, GenerationEvent
from ..generation.prepared_call import LoadedModel, PreparedCall
from ..openai.text_completion import prepare_completion
from .translated import TranslatedForm, without_limit

_SAME = (
    *("temperature", "top_k", "top_p", "min_p", "stop", "stop_token_ids", "presence_penalty"),
    *("frequency_penalty", "repetition_penalty", "ignore_eos", "n", "regex", "ebnf", "json_schema"),
)


def prepare_sglang(body: SglangRequest, model: LoadedModel) -> PreparedCall:
    """The generation for `/generate`.

    Raises:
        InvalidBody: not exactly one of `text` and `input_ids` is given; otherwise as `prepare_completion`.
    """
    if (body.text is None) == (body.input_ids is None):
        raise refused("/text", "give either text or input_ids")
    params = body.sampling_params
    given = params.model_dump()
    fields: dict[str, Any] = {name: given[name] for name in _SAME}
    fields |= {
        "prompt": body.text if body.text is not None else body.input_ids,
        "max_tokens": params.max_new_tokens,
        "seed": params.sampling_seed,
        "stream": body.stream,
    }
    if params.structural_tag is not None:
        fields["structured_outputs"] = {"structural_tag": params.structural_tag}
    if body.stream:
        fields["stream_options"] = {"include_usage": True, "continuous_usage_stats": True}
    call = prepare_completion(validated(CompletionRequest, fields), model)
    if params.max_new_tokens is None:
        call = without_limit(call, model)
    stated = call.stated
    if stated is not None:
        place = stated.pointer.removeprefix("/structured_outputs")
        stated = replace(stated, pointer=f"/sampling_params{place}")
    return replace(call, form=TranslatedForm(call.form, SglangEvents()), stated=stated)


class SglangEvents:
    """Events of `/generate`, each with the whole text so far."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._counts: dict[int, int] = {}

    def observe(self, event: GenerationEvent) -> None:
        """Count the tokens of each answer: OpenAI's `usage` has those of all together."""
        self._counts[event.choice] = (
            event.output_tokens if isinstance(event, ChoiceEnd) else event.count
        )

    def chunk(self, chunk: dict[str, Any]) -> Iterable[bytes]:
        """The event for a chunk; the end of the stream for the last one."""
        if not chunk["choices"]:
            yield b"data: [DONE]\n\n"
            return
        choice = chunk["choices"][0]
        index = choice["index"]
        self._texts[index] = self._texts.get(index, "") + choice["text"]
        answer = self._answer(chunk, choice, self._texts[index])
        yield b"data: %s\n\n" % msgspec.json.encode(answer)

    def whole(self, body: dict[str, Any]) -> bytes:
        """The body for an OpenAI answer: an object, or a list of them for several answers."""
        answers = [self._answer(body, choice, choice["text"]) for choice in body["choices"]]
        return msgspec.json.encode(answers[0] if len(answers) == 1 else answers)

    def _answer(self, body: dict[str, Any], choice: dict[str, Any], text: str) -> dict[str, Any]:
        usage, reason = body["usage"], choice["finish_reason"]
        count = self._counts.get(choice["index"], 0)
        finish: dict[str, Any] | None = None
        if reason == "length":
            finish = {"type": "length", "length": count}
        elif reason is not None:
            finish = {"type": "stop", "matched": choice.get("stop_reason")}
        return {
            "text": text,
            "index": choice["index"],
            "meta_info": {
                "id": body["id"],
                "finish_reason": finish,
                "prompt_tokens": usage["prompt_tokens"],
                "completion_tokens": count,
                "cached_tokens": usage["prompt_tokens_details"]["cached_tokens"],
            },
        }
