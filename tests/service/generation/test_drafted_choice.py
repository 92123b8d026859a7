"""A free answer before the constrained one: two requests, of which the second has the first as its draft."""

import asyncio
from dataclasses import replace

import pytest
from intaglio.engine.api import EngineStopped, Finish, Request, SamplingParams
from intaglio.grammar.api import Constraint, Kind
from intaglio.service.generation.generation_events import ChoiceDelta, ChoiceEnd, ReasoningDelta
from intaglio.service.generation.generation_spec import GenerationSpec, ReasoningSpec

from tests.support.deltas import WrittenBackend, answer, collected

FREE, ANSWER = 'Well: {"a": 1}', '{"a":1}'
SPEC = GenerationSpec(
    id="d",
    prompts=((1, 2, 3),),
    sampling=SamplingParams(max_tokens=100, seed=7, logprobs=2),
    constraint=Constraint(Kind.JSON_SCHEMA, "{}"),
    free_tokens=40,
)


def backend(free: str = FREE, finish: Finish = Finish.STOP) -> WrittenBackend:
    def said(request: Request) -> object:
        if request.constraint is None:
            return answer(request, free, finish=finish)
        return answer(request, ANSWER)

    return WrittenBackend(said)  # type: ignore[arg-type]


def test_the_free_answer_drafts_the_constrained_one_and_is_not_shown() -> None:
    engine = backend()
    events = asyncio.run(collected(engine, SPEC))
    free, constrained = engine.asked
    assert (free.constraint, free.limits, free.draft) == (None, None, ())
    assert (free.sampling.max_tokens, free.sampling.seed, free.sampling.logprobs) == (40, 7, None)
    assert free.prompt == constrained.prompt
    assert bytes(constrained.draft) == b'{"a":1}'
    assert replace(constrained, id="d-0", draft=()) == SPEC.request(0)
    assert "".join(e.text for e in events if isinstance(e, ChoiceDelta)) == ANSWER
    (end,) = [e for e in events if isinstance(e, ChoiceEnd)]
    assert (end.draft_tokens, end.output_tokens, end.prompt_tokens) == (len(FREE), len(ANSWER), 3)


def test_each_choice_has_a_free_answer_of_its_own() -> None:
    engine = backend()
    events = asyncio.run(collected(engine, replace(SPEC, n=3)))
    assert sorted({e.choice for e in events}) == [0, 1, 2]
    seeds = [{r.sampling.seed for r in engine.asked if bool(r.draft) == d} for d in (False, True)]
    assert len(seeds[0]) == 3
    assert seeds[0] == seeds[1]


def test_reasoning_comes_first_and_is_part_of_both_prompts() -> None:
    engine = backend(free="hm</think>")
    spec = replace(SPEC, reasoning=ReasoningSpec(20, "</think>"))
    events = asyncio.run(collected(engine, spec))
    thinking, free, constrained = engine.asked
    assert free.constraint is None
    assert free.prompt == constrained.prompt == (1, 2, 3, *b"hm</think>")
    assert thinking.prompt == (1, 2, 3)
    assert any(isinstance(event, ReasoningDelta) for event in events)


def test_a_budget_ends_the_free_answer_only_and_a_failure_ends_all() -> None:
    events = asyncio.run(collected(backend(finish=Finish.LENGTH), SPEC))
    assert isinstance(events[-1], ChoiceEnd)
    engine = backend(finish=Finish.ABORT)
    with pytest.raises(EngineStopped):
        asyncio.run(collected(engine, SPEC))
    assert len(engine.asked) == 1
