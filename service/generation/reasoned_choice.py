"""A choice with reasoning before its answer: two requests to the engine, of which the second continues the first.

Does: generate reasoning up to its end mark or its budget, then the answer, under the constraint of the request. Does
not: decide whether a model reasons (`openai.chat_prompt`), or merge choices (`generate`).

The prefix cache has the first request's keys and values, so that the second one computes a few tokens only.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from .generation_events import ChoiceDelta, ChoiceEnd, GenerationEvent, ReasoningDelta
from .generation_spec import GenerationSpec, ReasoningSpec

RunChoice = Callable[[GenerationSpec], AsyncGenerator[GenerationEvent, None]]
"""Runs the only choice of a specification."""

Encode = Callable[[bytes], tuple[int, ...]]
"""The tokens of text in the middle of an output."""


async def reasoned_choice(
    spec: GenerationSpec, reasoning: ReasoningSpec, choice: int, encode: Encode, run: RunChoice
) -> AsyncGenerator[GenerationEvent, None]:
    """The events of choice `choice` of `spec`: reasoning, then the answer, then one end that counts both.

    If the budget of the whole answer ends within the reasoning, the choice ends there with `length`.
    """
    one = replace(spec.single(choice), reasoning=None)
    most = one.sampling.max_tokens
    sampling = replace(
        one.sampling,
        max_tokens=min(reasoning.budget, most),
        stop=(reasoning.end,) if reasoning.end else (),
        logprobs=None,
        stop_token_ids=() if reasoning.end_token is None else (reasoning.end_token,),
    )
    thinking = replace(
        one,
        id=f"{one.id}-r",
        sampling=sampling,
        constraint=None,
        limits=None,
        check=None,
        keep_stop=False,
        free_tokens=None,
    )
    pieces: list[str] = []
    end: ChoiceEnd | None = None
    async with aclosing(run(thinking)) as events:
        async for event in events:
            if isinstance(event, ChoiceDelta):
                pieces.append(event.text)
                yield ReasoningDelta(choice, event.text, event.count)
            elif isinstance(event, ChoiceEnd):
                end = event
    assert end is not None  # `run` raises otherwise
    # The tokenizer's own spelling, in which the prefix cache finds the reasoning that has been computed.
    text = f"{''.join(pieces)}{reasoning.end}{reasoning.after}"
    thought = (*encode(text.encode()), *reasoning.closing)
    used = max(end.output_tokens, len(thought))
    if used >= most:
        cut_off = replace(end, choice=choice, finish="length", stopped=None)
        yield replace(cut_off, reasoning_tokens=end.output_tokens)
        return
    answer = replace(
        one,
        prompts=((*one.prompts[0], *thought),),
        sampling=replace(one.sampling, max_tokens=most - used),
    )
    async with aclosing(run(answer)) as events:
        async for event in events:
            if isinstance(event, ChoiceEnd):
                yield replace(
                    event,
                    choice=choice,
                    prompt_tokens=end.prompt_tokens,
                    cached_tokens=end.cached_tokens,
                    output_tokens=used + event.output_tokens,
                    reasoning_tokens=end.output_tokens,
                )
            elif isinstance(event, ChoiceDelta):
                yield replace(event, choice=choice, count=used + event.count)
