"""Reasoning before an answer: its end, its budget, and the request that continues it."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from intaglio.engine.api import Delta, Finish, Request, SamplingParams, Usage
from intaglio.grammar.api import Constraint, Kind
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.generation.generate import generate
from intaglio.service.generation.generation_events import (
    ChoiceDelta,
    ChoiceEnd,
    GenerationEvent,
    ReasoningDelta,
)
from intaglio.service.generation.generation_spec import GenerationSpec, ReasoningSpec

from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PROMPT = (1, 2, 3)
ANSWER = '{"a":1}'


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TextModel:
    folder: Path = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    return TextModel.load(folder)


@dataclass
class Thinker:
    """Says `thought` to a request without a constraint, and `answer` to one with it, token by token."""

    model: TextModel
    thought: str
    answer: str = ANSWER
    requests: list[Request] = field(default_factory=list)

    async def generate(self, request: Request, *, whole: bool = False) -> AsyncGenerator[Delta]:
        self.requests.append(request)
        said = self.thought if request.constraint is None else self.answer
        tokens = (*self.model.tokenizer.canonical(said.encode()), *request.sampling.stop_token_ids)
        for number, token in enumerate(tokens[: request.sampling.max_tokens]):
            last = number == len(tokens) - 1
            cut_off = number == request.sampling.max_tokens - 1
            finish = Finish.STOP if last else Finish.LENGTH if cut_off else None
            usage = Usage(len(request.prompt), number + 1, cached_tokens=2) if finish else None
            yield Delta(request_id=request.id, tokens=(token,), finish=finish, usage=usage)


TEXT_MARKS = ReasoningSpec(100, "</think>", "\n\n")


def run(
    thinker: Thinker,
    most: int = 200,
    budget: int = 100,
    n: int = 1,
    reasoning: ReasoningSpec = TEXT_MARKS,
) -> list[GenerationEvent]:
    spec = GenerationSpec(
        id="r",
        prompts=(PROMPT,),
        sampling=SamplingParams(max_tokens=most, seed=7),
        n=n,
        constraint=Constraint(Kind.JSON_SCHEMA, "{}"),
        reasoning=replace(reasoning, budget=budget),
    )

    async def offload(work: object) -> None:
        assert callable(work)
        work()

    async def collect() -> list[GenerationEvent]:
        return [e async for e in generate(thinker, thinker.model, spec, offload)]

    return asyncio.run(collect())


def texts(events: list[GenerationEvent], choice: int = 0) -> tuple[str, str]:
    """The reasoning and the answer of a choice."""
    mine = [event for event in events if event.choice == choice]
    thought = "".join(e.text for e in mine if isinstance(e, ReasoningDelta))
    return thought, "".join(e.text for e in mine if isinstance(e, ChoiceDelta))


def end_of(events: list[GenerationEvent]) -> ChoiceEnd:
    (end,) = [event for event in events if isinstance(event, ChoiceEnd)]
    assert event_order(events)
    return end


def event_order(events: list[GenerationEvent]) -> bool:
    kinds = [type(event).__name__ for event in events]
    return kinds == sorted(kinds, key=["ReasoningDelta", "ChoiceDelta", "ChoiceEnd"].index)


def test_the_answer_follows_the_end_of_the_reasoning(model: TextModel) -> None:
    thinker = Thinker(model, "Let me see.</think>ignored")
    events = run(thinker)
    assert texts(events) == ("Let me see.", ANSWER)
    first, second = thinker.requests
    assert first.constraint is None
    assert first.prompt == PROMPT
    assert second.constraint is not None
    written = model.tokenizer.canonical(b"Let me see.</think>\n\n")
    assert second.prompt == PROMPT + written
    assert first.sampling.seed == second.sampling.seed == 7
    assert first.id != second.id


def test_tokens_of_both_count(model: TextModel) -> None:
    end = end_of(run(Thinker(model, "Hm.</think>")))
    answer = len(model.tokenizer.canonical(ANSWER.encode()))
    reasoning = len(model.tokenizer.canonical(b"Hm.</think>"))
    after = len(model.tokenizer.canonical(b"Hm.</think>\n\n"))
    assert end.reasoning_tokens == reasoning
    assert end.output_tokens == after + answer
    assert (end.prompt_tokens, end.cached_tokens, end.finish) == (3, 2, "stop")


def test_a_budget_ends_the_reasoning(model: TextModel) -> None:
    thinker = Thinker(model, "on and on " * 20)
    events = run(thinker, budget=5)
    thought, answer = texts(events)
    assert answer == ANSWER
    assert "on and on ".startswith(thought[:10])
    assert thinker.requests[0].sampling.max_tokens == 5
    assert end_of(events).reasoning_tokens == 5
    assert thinker.requests[1].prompt[3:] == model.tokenizer.canonical(
        f"{thought}</think>\n\n".encode()
    )


def test_reasoning_that_ends_the_output_is_followed_by_the_answer(model: TextModel) -> None:
    assert texts(run(Thinker(model, "I know."))) == ("I know.", ANSWER)


def test_both_together_keep_the_budget(model: TextModel) -> None:
    thinker = Thinker(model, "on and on " * 20)
    run(thinker, most=60, budget=40)
    second = thinker.requests[1]
    assert len(second.prompt) - len(PROMPT) + second.sampling.max_tokens <= 60


def test_a_budget_without_room_for_an_answer_is_cut_off(model: TextModel) -> None:
    thinker = Thinker(model, "on and on " * 20)
    events = run(thinker, most=10, budget=10)
    assert end_of(events).finish == "length"
    assert texts(events)[1] == ""
    assert len(thinker.requests) == 1


def test_choices_reason_apart(model: TextModel) -> None:
    thinker = Thinker(model, "Hm.</think>")
    events = run(thinker, n=3)
    assert [texts(events, choice) for choice in range(3)] == [("Hm.", ANSWER)] * 3
    assert len({request.id for request in thinker.requests}) == 6
    assert len({request.sampling.seed for request in thinker.requests}) == 3


def test_reasoning_may_end_with_a_control_token(model: TextModel) -> None:
    end = model.tokenizer.id_of("<|pad|>")
    assert end is not None
    closing = (end, *model.tokenizer.canonical(b"final"))
    thinker = Thinker(model, "Hm.")
    events = run(thinker, reasoning=ReasoningSpec(100, end_token=end, closing=closing))
    assert texts(events) == ("Hm.", ANSWER)
    first, second = thinker.requests
    assert (first.sampling.stop, first.sampling.stop_token_ids) == ((), (end,))
    assert second.prompt == (*PROMPT, *model.tokenizer.canonical(b"Hm."), *closing)
    assert second.sampling.stop_token_ids == ()
