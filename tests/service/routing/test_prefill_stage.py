"""Prompts are computed by the engines for prompts, and outputs by the others, whatever happens to either."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

from intaglio.engine.api import (
    Delta,
    EngineLost,
    EngineState,
    EngineStopped,
    Failure,
    Finish,
    Request,
    SamplingParams,
    Usage,
)
from intaglio.grammar.api import Constraint, Kind
from intaglio.service.routing.prefill_stage import LEAST_TOKENS
from intaglio.service.routing.router import EngineRouter

from tests.support.engine_group import EngineDouble, GroupDouble, end

PROMPT = tuple(range(LEAST_TOKENS))
ADDRESS = "/run/p/blocks"


def group_of(prefill: int, decode: int) -> GroupDouble:
    group = GroupDouble(prefill + decode)
    for engine in group.attachments[:prefill]:
        engine.kv_address = f"{ADDRESS}{engine.index}"
    return group


def request(prompt: tuple[int, ...] = PROMPT, *, deadline: float | None = None) -> Request:
    return Request(
        id="r",
        prompt=prompt,
        sampling=SamplingParams(max_tokens=50, temperature=0.7, seed=3),
        constraint=Constraint(Kind.JSON_SCHEMA, "{}"),
        deadline=deadline,
    )


async def answered(router: EngineRouter, one: Request) -> list[Delta]:
    return [delta async for delta in router.generate(one)]


def drive(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def sent(engine: EngineDouble) -> list[Request]:
    return engine.requests


def test_a_prompt_goes_before_its_output() -> None:
    async def story() -> None:
        group = group_of(1, 1)
        first, second = group.attachments
        (delta,) = await answered(EngineRouter(group), request())
        assert delta.tokens == (1,)
        (prompt,), (output,) = sent(first), sent(second)
        assert prompt.exports
        assert (prompt.sampling.max_tokens, prompt.constraint) == (1, None)
        assert prompt.prompt == output.prompt == PROMPT
        assert output.kv_peer == f"{ADDRESS}0"
        assert not output.exports
        assert (output.sampling, output.constraint) == (request().sampling, request().constraint)

    drive(story())


def test_a_short_prompt_and_a_group_without_engines_for_prompts_take_one_hop() -> None:
    async def story() -> None:
        group = group_of(1, 1)
        await answered(EngineRouter(group), request(PROMPT[:-1]))
        assert sent(group.attachments[0]) == []
        assert sent(group.attachments[1])[0].kv_peer == ""
        plain = group_of(0, 1)
        await answered(EngineRouter(plain), request())
        assert sent(plain.attachments[0]) == [request()]

    drive(story())


def test_usage_tells_of_the_whole_prompt() -> None:
    async def story() -> None:
        group = group_of(1, 1)
        first, second = group.attachments

        def usage(**counts: Any) -> Usage:
            return Usage(prompt_tokens=LEAST_TOKENS, output_tokens=1, **counts)

        async def prompt(one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
            cost = usage(cached_tokens=32, queue_s=1.0, prefill_s=2.0)
            yield Delta(request_id=one.id, tokens=(9,), finish=Finish.LENGTH, usage=cost)

        async def output(one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
            yield Delta(request_id=one.id, tokens=(5,))
            cost = usage(cached_tokens=112, queue_s=0.25, prefill_s=0.5, decode_s=3.0)
            yield Delta(request_id=one.id, tokens=(6,), finish=Finish.STOP, usage=cost)

        first.behaviour, second.behaviour = prompt, output
        one, last = await answered(EngineRouter(group), request())
        assert (one.tokens, last.tokens) == ((5,), (6,))
        expected = usage(cached_tokens=32, queue_s=1.25, prefill_s=2.5, decode_s=3.0)
        assert last.usage == expected

    drive(story())


def test_a_prompt_that_is_not_computed_apart_is_computed_with_its_output() -> None:
    async def lost(one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
        if one.exports:
            raise EngineLost("as told")
        yield end(one)

    async def refused(one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
        if one.exports:
            raise EngineStopped("as told")
        yield end(one)

    async def failed(one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
        error = Failure("queue_full", "as told", retryable=True)
        yield Delta(request_id=one.id, finish=Finish.ERROR, error=error)

    async def story() -> None:
        for behaviour in (lost, refused, failed):
            group = group_of(1, 1)
            group.attachments[0].behaviour = behaviour
            (delta,) = await answered(EngineRouter(group), request())
            assert delta.tokens == (1,)
            assert sent(group.attachments[1])[0].kv_peer == ""

    drive(story())


def test_engines_stand_in_for_one_another() -> None:
    async def story() -> None:
        group = group_of(2, 1)
        router = EngineRouter(group)
        group.attachments[0].move(EngineState.DOWN)
        await answered(router, request())
        assert [len(sent(engine)) for engine in group.attachments] == [0, 1, 1]
        group.attachments[1].move(EngineState.DOWN)
        await answered(router, request())
        assert [len(sent(engine)) for engine in group.attachments] == [0, 1, 2]
        group.attachments[2].move(EngineState.DOWN)
        group.attachments[1].move(EngineState.READY)
        (delta,) = await answered(router, request())  # no engine for outputs is left
        assert delta.tokens == (1,)

    drive(story())


def test_the_loss_of_an_engine_for_outputs_costs_the_prompt_again() -> None:
    async def story() -> None:
        group = group_of(1, 1)
        deaths = iter([True])

        async def dies_once(one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
            if next(deaths, False):
                yield Delta(request_id=one.id, tokens=(4,))
                raise EngineLost("as told")
            yield end(one, 4, 5)

        group.attachments[1].behaviour = dies_once
        deltas = await answered(EngineRouter(group), request())
        assert [token for delta in deltas for token in delta.tokens] == [4, 5]
        assert [len(sent(engine)) for engine in group.attachments] == [2, 2]

    drive(story())


def test_a_deadline_is_that_of_both_parts() -> None:
    async def story() -> None:
        group = group_of(1, 1)

        async def slow(one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
            assert one.deadline is not None
            await asyncio.sleep(one.deadline)
            yield Delta(request_id=one.id, finish=Finish.DEADLINE)

        group.attachments[0].behaviour = slow
        (delta,) = await answered(EngineRouter(group), request(deadline=0.05))
        assert delta.finish is Finish.DEADLINE
        assert sent(group.attachments[1]) == []

    drive(story())


def test_a_caller_that_leaves_aborts_the_prompt() -> None:
    async def story() -> None:
        group = group_of(1, 1)
        begun, closed = asyncio.Event(), asyncio.Event()

        async def hangs(one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
            begun.set()
            try:
                await asyncio.Event().wait()
                yield end(one)
            finally:
                closed.set()

        group.attachments[0].behaviour = hangs
        task = asyncio.create_task(answered(EngineRouter(group), request()))
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await closed.wait()

    drive(story())
