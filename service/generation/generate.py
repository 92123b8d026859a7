"""Runs the choices of a generation and merges their output into one stream of events.

Does: submit one request for each choice, turn deltas into text, end a choice at a stop string, check finished answers,
raise for every other end. Does not: admit requests, examine constraints, or know a protocol.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, Protocol

from intaglio.engine.api import Delta, EngineStopped, Finish, Request
from intaglio.engine.api import Usage as EngineUsage

from ..errors import RequestDeadlineExceeded
from ..extraction.failures import request_error
from ..extraction.text_model import TextModel
from .choice_text import ChoiceText
from .drafted_choice import drafted_choice, numbered
from .generation_events import ChoiceDelta, ChoiceEnd, GenerationEvent
from .generation_spec import GenerationSpec
from .reasoned_choice import reasoned_choice

_AHEAD: Final = 4  # events of each choice that may wait for the reader

Offload = Callable[[Callable[[], None]], Awaitable[None]]
"""Runs work of the processor in a thread."""


class Generator(Protocol):
    """The part of an engine that generates: `Backend` in a server."""

    def generate(self, request: Request, *, whole: bool = False) -> AsyncGenerator[Delta, None]:
        """Stream the deltas of one request, or with `whole` its answer as one. Closing the generator aborts it."""
        ...


def generate(
    backend: Generator, model: TextModel, spec: GenerationSpec, offload: Offload
) -> AsyncGenerator[GenerationEvent, None]:
    """Stream the events of all choices; one `ChoiceEnd` ends each. Closing the iterator early aborts them all.

    The events of one choice come in order; those of several choices are interleaved. A reader that is slow holds the
    choices back. The texts do not depend on whether or how fast they are read.

    Raises:
        RequestDeadlineExceeded, EngineStopped: a choice did not end by itself.
        GrammarError, EngineError, GenerationFailed: the engine reported a failure.
        InvalidOutput: a finished answer failed `spec.check`.
    """
    if spec.choices == 1:
        return _choice(backend, model, spec, 0, offload)
    return _merged(backend, model, spec, offload)


async def _merged(
    backend: Generator, model: TextModel, spec: GenerationSpec, offload: Offload
) -> AsyncGenerator[GenerationEvent, None]:
    waiting: asyncio.Queue[GenerationEvent | None] = asyncio.Queue(_AHEAD * spec.choices)

    async def run(choice: int) -> None:
        try:
            async with aclosing(_choice(backend, model, spec, choice, offload)) as events:
                async for event in events:
                    await waiting.put(event)
        finally:
            # A full queue has the reader awake already.
            if not waiting.full():
                waiting.put_nowait(None)

    tasks = [asyncio.create_task(run(choice)) for choice in range(spec.choices)]
    left = spec.choices
    try:
        while left:
            event = await waiting.get()
            if isinstance(event, ChoiceEnd):
                left -= 1
            if event is not None:
                yield event
            _raise_failure(tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def _raise_failure(tasks: list[asyncio.Task[None]]) -> None:
    """Raise the error of the first task that failed."""
    for task in tasks:
        if task.done() and not task.cancelled() and (error := task.exception()) is not None:
            raise error


def _choice(
    backend: Generator, model: TextModel, spec: GenerationSpec, choice: int, offload: Offload
) -> AsyncGenerator[GenerationEvent, None]:
    encode = model.tokenizer.canonical

    def answer(one: GenerationSpec) -> AsyncGenerator[GenerationEvent, None]:
        return _answer(backend, model, one, 0, offload)

    def run(one: GenerationSpec) -> AsyncGenerator[GenerationEvent, None]:
        if one.free_tokens is None:
            return answer(one)
        return drafted_choice(one, one.free_tokens, encode, answer)

    if spec.reasoning is not None:
        return reasoned_choice(spec, spec.reasoning, choice, encode, run)
    if spec.free_tokens is not None:
        return numbered(run(spec.single(choice)), choice)
    return _answer(backend, model, spec, choice, offload)


async def _answer(
    backend: Generator, model: TextModel, spec: GenerationSpec, choice: int, offload: Offload
) -> AsyncGenerator[GenerationEvent, None]:
    scored = spec.sampling.logprobs is not None
    text = ChoiceText(model, spec.sampling.stop, scored=scored, keep_stop=spec.keep_stop)
    pieces: list[str] = []
    last: Delta | None = None
    # A stop string ends the request while deltas come.
    whole_answer = spec.whole and not spec.sampling.stop
    async with aclosing(backend.generate(spec.request(choice), whole=whole_answer)) as deltas:
        async for delta in deltas:
            last = delta
            piece, tokens = text.push(delta.tokens, delta.logprobs)
            if piece or tokens:
                pieces.append(piece)
                yield ChoiceDelta(choice, piece, tokens, text.consumed)
            if text.stopped is not None or delta.finish is not None:
                break
    if text.stopped is None:
        _require_end(last, spec)
    piece, tokens = text.finish()
    if piece or tokens:
        pieces.append(piece)
        yield ChoiceDelta(choice, piece, tokens, text.consumed)
    end = _end(spec, choice, text, last)
    if end.budget_forced and spec.is_cut_off is not None and spec.is_cut_off("".join(pieces)):
        end = replace(end, finish="length", budget_forced=False)
    # A stop token may end an answer anywhere, as a stop string may.
    is_whole = end.stopped is None and not spec.sampling.stop_token_ids
    if spec.check is not None and is_whole and end.finish == "stop":
        await offload(_bound(spec.check, "".join(pieces)))
    yield end


def _bound(check: Callable[[str], None], text: str) -> Callable[[], None]:
    return lambda: check(text)


def _require_end(last: Delta | None, spec: GenerationSpec) -> None:
    """Return if the engine ended the request by itself or by its budget; raise for any other end."""
    if last is not None and last.finish in (Finish.STOP, Finish.LENGTH):
        return
    if last is not None and last.finish is Finish.ERROR and last.error is not None:
        raise request_error(last.error, spec.budget_field)
    if last is not None and last.finish is Finish.DEADLINE:
        late = last.error
        if late is not None:  # the engine saw that it cannot be met
            raise RequestDeadlineExceeded(late.message, hint=late.hint)
        raise RequestDeadlineExceeded(
            f"the answer was not complete after {spec.deadline_s or 0:g} s",
            hint="allow more time, or try again when the service has less load",
        )
    raise EngineStopped("the engine aborted the request", hint="try again")


def _end(spec: GenerationSpec, choice: int, text: ChoiceText, last: Delta | None) -> ChoiceEnd:
    counts: dict[str, Any] = {}
    length = False
    usage: EngineUsage | None = None if last is None else last.usage
    if usage is not None:
        counts = {
            "cached_tokens": usage.cached_tokens,
            "forced_tokens": usage.forced_tokens,
            "accepted_tokens": usage.accepted_tokens,
            "decode_s": usage.decode_s,
        }
    if usage is not None and last is not None and text.stopped is None:
        counts["budget_forced"] = usage.budget_forced
        length = last.finish is Finish.LENGTH
    return ChoiceEnd(
        choice=choice,
        finish="length" if length else "stop",
        prompt_tokens=len(spec.prompts[choice // spec.n]),
        output_tokens=text.consumed,
        stopped=text.stopped,
        **counts,
    )
