"""Translates the body of a completion into a generation, and its events into the answer.

Does: read prompts of text or tokens, refuse options of OpenAI that this service does not support, write bodies and
chunks in the shape of `schemas/openai/text_completions.py`. Does not: render chat templates, or run anything.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import msgspec
from intaglio.schemas.openai.options import MAX_CHOICES
from intaglio.schemas.openai.text_completions import MAX_PROMPTS, CompletionRequest

from ..dialects.every import stated_constraint
from ..dialects.stated import refused
from ..extraction.text_model import TextModel
from ..generation.generation_events import ChoiceDelta, ChoiceEnd, GenerationEvent, ScoredToken
from ..generation.prepared_call import LoadedModel, PreparedCall
from ..generation.token_room import answer_budget
from .chat_answer import DONE
from .logprob_entries import Texts, completion_logprobs
from .prepare_chat import require_model, specification
from .sampling_options import require_stream_options
from .usage_count import UsageCount

DEFAULT_MAX_TOKENS = 16  # OpenAI's


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionForm:
    """Writes one completion. `echoes` are the texts before the answers, by prompt; `n` choices belong to each prompt.

    All other fields as in `ChatForm`.
    """

    id: str
    created: int
    model: str
    fingerprint: str
    prompt_tokens: int
    texts: Texts
    n: int
    echoes: tuple[str, ...]
    scored: bool = False
    usage_at_end: bool = False
    usage_always: bool = False

    async def stream(
        self, events: AsyncGenerator[GenerationEvent, None]
    ) -> AsyncGenerator[bytes, None]:
        """Chunks with text, one with the end of each choice, usage on request, `[DONE]`."""
        usage, begun = UsageCount(self.prompt_tokens), set[int]()
        async with aclosing(events):
            async for event in events:
                usage.add(event)
                text = "" if event.choice in begun else self._echo(event.choice)
                begun.add(event.choice)
                if isinstance(event, ChoiceDelta):
                    choice = self._choice(event.choice, text + event.text, event.tokens, None)
                else:
                    end = event if isinstance(event, ChoiceEnd) else None
                    choice = self._choice(event.choice, text, (), end)
                yield self._chunk([choice], usage)
        if self.usage_at_end:
            yield b"data: %s\n\n" % msgspec.json.encode(
                {**self._head(), "choices": [], "usage": usage.wire()}
            )
        yield DONE

    async def whole(self, events: AsyncGenerator[GenerationEvent, None]) -> bytes:
        """The body of the whole completion."""
        usage = UsageCount(self.prompt_tokens)
        texts: dict[int, list[str]] = {}
        scores: dict[int, list[ScoredToken]] = {}
        ends: dict[int, ChoiceEnd] = {}
        async with aclosing(events):
            async for event in events:
                usage.add(event)
                text = texts.setdefault(event.choice, [self._echo(event.choice)])
                if isinstance(event, ChoiceDelta):
                    text.append(event.text)
                    scores.setdefault(event.choice, []).extend(event.tokens)
                elif isinstance(event, ChoiceEnd):
                    ends[event.choice] = event
        choices = [
            self._choice(index, "".join(texts[index]), tuple(scores.get(index, ())), ends[index])
            for index in sorted(ends)
        ]
        return msgspec.json.encode({**self._head(), "choices": choices, "usage": usage.wire()})

    def _echo(self, choice: int) -> str:
        return self.echoes[choice // self.n] if self.echoes else ""

    def _choice(
        self, index: int, text: str, tokens: tuple[ScoredToken, ...], end: ChoiceEnd | None
    ) -> dict[str, Any]:
        scored = self.scored and (bool(tokens) or end is not None)
        return {
            "index": index,
            "text": text,
            "logprobs": completion_logprobs(tokens, self.texts) if scored else None,
            "finish_reason": end.finish if end else None,
            "stop_reason": end.stopped if end else None,
            "budget_forced": bool(end and end.budget_forced),
        }

    def _chunk(self, choices: list[dict[str, Any]], usage: UsageCount) -> bytes:
        chunk: dict[str, Any] = {**self._head(), "choices": choices}
        if self.usage_always:
            chunk["usage"] = usage.wire()
        elif self.usage_at_end:
            chunk["usage"] = None
        return b"data: %s\n\n" % msgspec.json.encode(chunk)

    def _head(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "text_completion",
            "created": self.created,
            "model": self.model,
            "system_fingerprint": self.fingerprint,
        }


def prepare_completion(body: CompletionRequest, model: LoadedModel) -> PreparedCall:
    """The generation for a completion. Raises as `prepare_chat`."""
    adapter = require_model(body.model, model)
    require_stream_options(body)
    _require_supported(body)
    given = _prompts(body.prompt)
    count = body.n or 1
    if len(given) * count > MAX_CHOICES:
        raise refused("/n", f"{len(given)} prompts times n {count} is more than {MAX_CHOICES}")
    prompts = tuple(_tokens(model, prompt) for prompt in given)
    longest = max(map(len, prompts))
    stated = stated_constraint(body)
    requested = body.max_tokens
    if requested is None and stated is None:  # a constrained answer may need more
        requested = DEFAULT_MAX_TOKENS
    limit = answer_budget(model.info, longest, requested, "max_tokens", "prompt")
    call_id = f"cmpl-{uuid4().hex}"
    options = body.stream_options
    form = CompletionForm(
        id=call_id,
        created=int(time.time()),
        model=body.model or model.info.model,
        fingerprint=f"intaglio-{model.version}",
        prompt_tokens=sum(map(len, prompts)),
        texts=model.text.vocabulary.tokens,
        n=count,
        echoes=tuple(_text(model.text, prompt) for prompt in given) if body.echo else (),
        scored=body.logprobs is not None,
        usage_at_end=bool(options and options.include_usage),
        usage_always=bool(options and options.continuous_usage_stats),
    )
    spec = specification(call_id, prompts, body, stated, (limit, body.logprobs))
    return PreparedCall(replace(spec, adapter=adapter), form, bool(body.stream), stated)


def _require_supported(body: CompletionRequest) -> None:
    if body.suffix:
        raise refused("/suffix", "is not supported: models here cannot fill in the middle")
    if body.best_of is not None and body.best_of != (body.n or 1):
        raise refused("/best_of", "must equal n", "raise n, and choose among the answers")
    if body.echo and body.logprobs is not None:
        raise refused(
            "/echo",
            "cannot be combined with logprobs: tokens of the prompt are not scored",
            "omit one of them",
        )


def _prompts(given: str | list[str] | list[int] | list[list[int]]) -> list[str | list[int]]:
    """One entry for each prompt."""
    if isinstance(given, str):
        return [given]
    if not given:
        raise refused("/prompt", "must not be empty")
    tokens = [token for token in given if isinstance(token, int)]
    if tokens:
        return [tokens]
    if len(given) > MAX_PROMPTS:
        raise refused("/prompt", f"has more than {MAX_PROMPTS} prompts")
    return [prompt for prompt in given if isinstance(prompt, str | list)]


def _tokens(model: LoadedModel, prompt: str | list[int]) -> tuple[int, ...]:
    if not prompt:
        raise refused("/prompt", "has no token")
    if isinstance(prompt, str):
        return model.text.tokenizer.encode(prompt)
    require_tokens(prompt, model.info.vocabulary, "/prompt")
    return tuple(prompt)


def require_tokens(tokens: list[int], vocabulary: int, pointer: str) -> None:
    """Return if all of `tokens` exist.

    Raises:
        InvalidBody: one does not.
    """
    if tokens and not 0 <= min(tokens) <= max(tokens) < vocabulary:
        raise refused(pointer, f"a token is not a number from 0 to {vocabulary - 1}")


def _text(model: TextModel, prompt: str | list[int]) -> str:
    return prompt if isinstance(prompt, str) else model.text(prompt)
