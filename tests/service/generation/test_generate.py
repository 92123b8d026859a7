"""Generation: choices, texts, stop strings, ends and errors."""

import asyncio
import random
from contextlib import aclosing

import pytest
from intaglio.engine.api import (
    BudgetTooSmall,
    EngineStopped,
    Failure,
    Finish,
    Request,
    SamplingParams,
)
from intaglio.service.errors import InvalidOutput, RequestDeadlineExceeded
from intaglio.service.generation.generate import generate
from intaglio.service.generation.generation_events import ChoiceDelta, ChoiceEnd, GenerationEvent
from intaglio.service.generation.generation_spec import GenerationSpec

from tests.support.deltas import WrittenBackend, answer, byte_model, collected, inline


def spec(n: int = 1, **sampling: object) -> GenerationSpec:
    params = SamplingParams(max_tokens=100, **sampling)  # type: ignore[arg-type]
    return GenerationSpec(id="g", prompts=((1, 2, 3),), sampling=params, n=n)


def texts(events: list[GenerationEvent]) -> dict[int, str]:
    found: dict[int, str] = {}
    for event in events:
        if isinstance(event, ChoiceDelta):
            found[event.choice] = found.get(event.choice, "") + event.text
    return found


def ends(events: list[GenerationEvent]) -> list[ChoiceEnd]:
    return [event for event in events if isinstance(event, ChoiceEnd)]


def run(backend: WrittenBackend, what: GenerationSpec) -> list[GenerationEvent]:
    return asyncio.run(collected(backend, what))


def test_one_choice_is_its_text_and_one_end() -> None:
    backend = WrittenBackend(lambda request: answer(request, "héllo", cuts=(2, 3)))
    events = run(backend, spec())
    assert texts(events) == {0: "héllo"}
    assert all("\ufffd" not in e.text for e in events if isinstance(e, ChoiceDelta))
    (end,) = ends(events)
    assert (end.finish, end.prompt_tokens, end.output_tokens) == ("stop", 3, 6)
    assert isinstance(events[-1], ChoiceEnd)


def test_choices_differ_by_seed_and_the_first_has_the_given_one() -> None:
    backend = WrittenBackend(lambda request: answer(request, str(request.sampling.seed)))
    events = run(backend, spec(n=4, seed=-(2**63)))
    seeds = [int(text) for text in texts(events).values()]
    assert sorted(texts(events)) == [0, 1, 2, 3]
    assert texts(events)[0] == str(-(2**63))
    assert len(set(seeds)) == 4
    assert all(-(2**63) <= seed < 2**63 for seed in seeds)


def test_prompts_have_consecutive_choices() -> None:
    backend = WrittenBackend(lambda request: answer(request, str(request.prompt[0])))
    what = GenerationSpec(id="g", prompts=((7,), (8, 8)), sampling=SamplingParams(), n=2)
    events = run(backend, what)
    assert texts(events) == {0: "7", 1: "7", 2: "8", 3: "8"}
    assert {end.choice: end.prompt_tokens for end in ends(events)} == {0: 1, 1: 1, 2: 2, 3: 2}


@pytest.mark.parametrize("keep", [False, True])
def test_a_stop_string_over_deltas_ends_the_choice_and_the_request(keep: bool) -> None:
    backend = WrittenBackend(lambda request: answer(request, "one ENDtwo", cuts=(5, 6, 8)))
    params = SamplingParams(max_tokens=100, stop=("END", "X"), logprobs=0)
    what = GenerationSpec(id="g", prompts=((1,),), sampling=params, keep_stop=keep)
    events = run(backend, what)
    assert texts(events) == {0: "one END" if keep else "one "}
    (end,) = ends(events)
    assert (end.finish, end.stopped, end.output_tokens) == ("stop", "END", 7)
    scored = [t.token for e in events if isinstance(e, ChoiceDelta) for t in e.tokens]
    assert bytes(scored) == (b"one END" if keep else b"one ")
    assert backend.closed == ["g-0"]
    assert backend.asked[0].sampling.stop == ()


def test_the_end_of_what_could_have_been_a_stop_string_is_text() -> None:
    backend = WrittenBackend(lambda request: answer(request, "one EN", cuts=(5,)))
    assert texts(run(backend, spec(stop=("END",)))) == {0: "one EN"}


def test_texts_and_scores_do_not_depend_on_deltas() -> None:
    rng = random.Random(5)
    for _ in range(300):
        letters = [rng.choice(["a", "b", "é", "💧", "\n"]) for _ in range(rng.randrange(12))]
        text = "".join(letters).encode()[: rng.randrange(30)]  # may end within a character
        stop = rng.choice([(), ("ab",), ("é", "éb"), ("💧a",)])
        results = []
        for _ in range(3):
            cuts = [rng.randrange(40) for _ in range(rng.randrange(5))]
            backend = WrittenBackend(lambda r, t=text, c=cuts: answer(r, t, c))  # type: ignore[misc]
            events = run(backend, spec(stop=stop, logprobs=1))
            scored = tuple(t for e in events if isinstance(e, ChoiceDelta) for t in e.tokens)
            (end,) = ends(events)
            results.append((texts(events), scored, end.stopped, end.output_tokens))
        assert results[0] == results[1] == results[2]
        whole = text.decode(errors="replace")
        found = [at for s in stop if (at := whole.find(s)) >= 0]
        assert texts([*run(backend, spec(stop=stop))]).get(0, "") == whole[: min(found, default=99)]


def test_an_offset_is_where_the_text_of_a_token_begins() -> None:
    backend = WrittenBackend(lambda request: answer(request, "aé💧b", cuts=(2, 4)))
    events = run(backend, spec(logprobs=2))
    scored = [t for e in events if isinstance(e, ChoiceDelta) for t in e.tokens]
    assert [t.offset for t in scored] == [0, 1, 1, 2, 2, 2, 2, 3]
    assert all(len(t.top) == 2 for t in scored)


def test_a_spent_budget_is_a_length() -> None:
    backend = WrittenBackend(lambda request: answer(request, "abc", finish=Finish.LENGTH))
    assert ends(run(backend, spec()))[0].finish == "length"


@pytest.mark.parametrize(
    ("finish", "failure", "error"),
    [
        (Finish.ERROR, Failure("budget_too_small", "no"), BudgetTooSmall),
        (Finish.DEADLINE, None, RequestDeadlineExceeded),
        (Finish.DEADLINE, Failure("deadline_exceeded", "hopeless"), RequestDeadlineExceeded),
        (Finish.ABORT, None, EngineStopped),
    ],
)
@pytest.mark.parametrize("n", [1, 3])
def test_every_other_end_is_an_error(
    finish: Finish, failure: Failure | None, error: type[Exception], n: int
) -> None:
    backend = WrittenBackend(lambda request: answer(request, "ab", (1,), finish, failure))
    with pytest.raises(error):
        run(backend, spec(n=n))
    assert sorted(backend.closed) == sorted(request.id for request in backend.asked)


@pytest.mark.parametrize("n", [1, 5])
def test_closing_early_aborts_every_choice(n: int) -> None:
    backend = WrittenBackend(lambda request: answer(request, "abcdefgh" * 99, range(700)))

    async def leave() -> None:
        async with aclosing(generate(backend, byte_model(), spec(n=n), inline)) as events:
            await anext(events)
            await asyncio.sleep(0)

    asyncio.run(leave())
    assert len(backend.closed) == len(backend.asked)


def test_a_reader_that_waits_holds_the_choices_back() -> None:
    backend = WrittenBackend(lambda request: answer(request, "abcdefgh" * 99, range(700)))

    async def wait() -> int:
        async with aclosing(generate(backend, byte_model(), spec(n=3), inline)) as events:
            await anext(events)
            for _ in range(500):
                await asyncio.sleep(0)
            return backend.delivered

    assert asyncio.run(wait()) < 40


def test_a_finished_answer_is_checked_and_a_cut_one_is_not() -> None:
    seen: list[str] = []

    def check(text: str) -> None:
        seen.append(text)
        if text == "bad":
            raise InvalidOutput("as told")

    def text_of(request: Request) -> str:
        return {1: "good", 2: "bad"}[request.prompt[0]]

    backend = WrittenBackend(lambda request: answer(request, text_of(request)))
    what = GenerationSpec(id="g", prompts=((1,),), sampling=SamplingParams(), check=check)
    run(backend, what)
    with pytest.raises(InvalidOutput):
        run(
            backend,
            GenerationSpec(id="g", prompts=((2,),), sampling=SamplingParams(), check=check),
        )
    stopped = SamplingParams(stop=("oo",))
    run(backend, GenerationSpec(id="g", prompts=((1,),), sampling=stopped, check=check))
    assert seen == ["good", "bad"]
