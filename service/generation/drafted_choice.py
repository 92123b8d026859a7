"""A choice that is answered freely first: two requests to the engine, of which the first drafts the second's answer.

Does: generate a free answer within its budget, keep its text back, then generate the answer under the constraint.
Does not: write drafts (`extraction.draft_text`), or choose tokens by them: the answer is the same with any draft.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from ..extraction.draft_text import Encode, draft_tokens
from .generation_events import ChoiceDelta, ChoiceEnd, GenerationEvent
from .generation_spec import GenerationSpec

RunChoice = Callable[[GenerationSpec], AsyncGenerator[GenerationEvent, None]]
"""Runs the only choice of a specification."""


async def drafted_choice(
    spec: GenerationSpec, free_tokens: int, encode: Encode, run: RunChoice
) -> AsyncGenerator[GenerationEvent, None]:
    """The events of the only choice of `spec`, a constrained one: its answer, then an end that counts both readings.

    The free answer has at most `free_tokens` tokens, and no more than the answer may have.
    """
    assert spec.constraint is not None  # `draft` needs a constraint
    sampling = replace(
        spec.sampling, max_tokens=min(free_tokens, spec.sampling.max_tokens), logprobs=None
    )
    free = replace(
        spec,
        id=f"{spec.id}-d",
        sampling=sampling,
        constraint=None,
        limits=None,
        check=None,
        is_cut_off=None,
        keep_stop=False,
        whole=True,
        free_tokens=None,
    )
    pieces: list[str] = []
    drafted = 0
    async with aclosing(run(free)) as events:
        async for event in events:
            if isinstance(event, ChoiceDelta):
                pieces.append(event.text)
            elif isinstance(event, ChoiceEnd):
                drafted = event.output_tokens
    draft = draft_tokens("".join(pieces), spec.constraint, encode)
    async with aclosing(run(replace(spec, draft=draft, free_tokens=None))) as events:
        async for event in events:
            if isinstance(event, ChoiceEnd):
                event = replace(event, draft_tokens=drafted)
            yield event


async def numbered(
    events: AsyncGenerator[GenerationEvent, None], choice: int
) -> AsyncGenerator[GenerationEvent, None]:
    """The events of a choice that was run alone, with its number among others."""
    async with aclosing(events):
        async for event in events:
            yield replace(event, choice=choice)
