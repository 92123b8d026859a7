"""Requests survive their engines: sent again, held back, or ended with an error that says so."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

import pytest
from intaglio.engine.api import (
    Delta,
    EngineError,
    EngineLost,
    EngineState,
    EngineStopped,
    Finish,
    Request,
    RequestQuarantined,
    SamplingParams,
)
from intaglio.service.routing.router import EngineRouter, RoutingPolicy

from tests.support.engine_group import EngineDouble, GroupDouble, end


def request(name: str = "r", *, deadline: float | None = None, **sampling: Any) -> Request:
    return Request(
        id=name, prompt=(1, 2, 3), sampling=SamplingParams(**sampling), deadline=deadline
    )


async def answered(router: EngineRouter, one: Request) -> list[Delta]:
    return [delta async for delta in router.generate(one)]


def drive(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


class Dies:
    """Dies with so many requests, after so many tokens of each, and then answers."""

    def __init__(self, times: int, after: int = 0, error: type[EngineError] = EngineLost) -> None:
        self.left = times
        self._after = after
        self._error = error

    async def __call__(self, one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
        if self.left:
            self.left -= 1
            for token in range(self._after):
                yield Delta(request_id=one.id, tokens=(token,))
            raise self._error("as told")
        yield end(one, 7)


def dying(engine: EngineDouble, dies: Dies) -> Dies:
    engine.behaviour = dies
    return dies


@pytest.mark.parametrize("deaths", [0, 1, 2])
def test_a_request_is_sent_again_with_the_same_seed(deaths: int) -> None:
    async def story() -> None:
        group = GroupDouble(1)
        dying(group.attachments[0], Dies(deaths))
        (delta,) = await answered(EngineRouter(group), request(temperature=0.7))
        assert delta.tokens == (7,)
        sent = group.attachments[0].requests
        assert len(sent) == deaths + 1
        assert len({one.sampling.seed for one in sent}) == 1
        assert sent[0].sampling.seed is not None

    drive(story())


def test_a_request_is_sent_again_twice_at_most() -> None:
    async def story() -> None:
        group = GroupDouble(1)
        dying(group.attachments[0], Dies(3))
        with pytest.raises(EngineLost):
            await answered(EngineRouter(group), request())
        assert len(group.attachments[0].requests) == 3

    drive(story())


class Streams:
    """Answers token by token and dies before one of them, so many times; each attempt has an answer of its own."""

    def __init__(self, *answers: tuple[int, ...], dies_before: int) -> None:
        self._answers = iter(answers)
        self._dies_before = dies_before

    async def __call__(self, one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
        tokens, deaths = next(self._answers), self._dies_before
        self._dies_before = -1
        for position, token in enumerate(tokens):
            if position == deaths:
                raise EngineLost("as told")
            yield Delta(request_id=one.id, tokens=(token,))
        yield end(one)


def test_a_stream_goes_on_where_it_ended() -> None:
    async def story() -> None:
        group = GroupDouble(1)
        group.attachments[0].behaviour = Streams((1, 2, 3, 4), (1, 2, 3, 4), dies_before=2)
        deltas = await answered(EngineRouter(group), request())
        assert [token for delta in deltas for token in delta.tokens] == [1, 2, 3, 4]
        assert [delta.finish for delta in deltas if delta.finish] == [Finish.STOP]

    drive(story())


@pytest.mark.parametrize("second", [(1, 9, 3), (1,)])
def test_a_stream_that_cannot_be_continued_ends_with_a_retryable_error(
    second: tuple[int, ...],
) -> None:
    async def story() -> None:
        group = GroupDouble(1)
        group.attachments[0].behaviour = Streams((1, 2, 3), second, dies_before=2)
        seen: list[int] = []

        async def read() -> None:
            async for delta in EngineRouter(group).generate(request()):
                seen.extend(delta.tokens)

        with pytest.raises(EngineLost) as caught:
            await read()
        assert caught.value.retryable
        assert seen == [1, 2]

    drive(story())


def test_a_quarantined_request_says_so_at_the_death_that_convicts_it() -> None:
    async def story() -> None:
        group = GroupDouble(1)
        dying(group.attachments[0], Dies(9))
        group.attachments[0].quarantined.add("r")
        with pytest.raises(RequestQuarantined):
            await answered(EngineRouter(group), request())

    drive(story())


def test_a_dead_engine_takes_no_requests_of_the_other_with_it() -> None:
    async def story() -> None:
        group = GroupDouble(2)
        first, second = group.attachments
        router = EngineRouter(group)

        async def dies_and_stays_dead(_: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
            first.move(EngineState.DOWN)
            for error in (EngineLost("as told"),):
                raise error
            yield Delta(request_id="never")

        first.behaviour = dies_and_stays_dead
        for number in range(32):
            prompt = (number,) * 64
            one = Request(id=str(number), prompt=prompt, sampling=SamplingParams())
            (delta,) = await answered(router, one)
            assert delta.finish is Finish.STOP
        assert len(first.requests) == 1
        assert len(second.requests) == 32

    drive(story())


def test_requests_wait_for_an_engine_and_go_on_when_it_comes() -> None:
    async def story() -> None:
        group = GroupDouble(1, EngineState.DOWN)
        router = EngineRouter(group)
        waiting = [asyncio.ensure_future(answered(router, request(f"{n}"))) for n in range(64)]
        await asyncio.sleep(0.02)
        assert not any(task.done() for task in waiting)
        group.attachments[0].move(EngineState.READY)
        ends = await asyncio.gather(*waiting)
        assert [deltas[-1].finish for deltas in ends] == [Finish.STOP] * 64

    drive(story())


def test_waiting_is_bounded_by_the_setting_and_by_the_deadline() -> None:
    async def story() -> None:
        group = GroupDouble(1, EngineState.DOWN)
        router = EngineRouter(group, RoutingPolicy(wait_s=0.05))
        with pytest.raises(EngineStopped, match=r"0\.05 s"):
            await answered(router, request())
        patient = EngineRouter(group)
        (late,) = await answered(patient, request(deadline=0.05))
        assert late.finish is Finish.DEADLINE
        assert late.usage is not None
        assert late.usage.prompt_tokens == 3
        assert not group.attachments[0].requests

    drive(story())


def test_the_time_before_a_second_attempt_counts_against_the_deadline() -> None:
    async def story() -> None:
        group = GroupDouble(1)
        (engine,) = group.attachments

        async def dies_late(one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
            if len(engine.requests) == 1:
                await asyncio.sleep(0.05)
                raise EngineLost("as told")
            yield end(one)

        engine.behaviour = dies_late
        await answered(EngineRouter(group), request(deadline=600.0))
        first, second = (one.deadline for one in engine.requests)
        assert first is not None
        assert second is not None
        assert second <= first - 0.04

    drive(story())


@pytest.mark.parametrize("state", [EngineState.UNUSABLE, EngineState.CLOSED])
def test_nothing_waits_for_what_will_not_come(state: EngineState) -> None:
    async def story() -> None:
        group = GroupDouble(1, state)
        with pytest.raises(EngineStopped):
            await answered(EngineRouter(group), request())

    drive(story())


def test_an_engine_that_refuses_because_it_stops_costs_no_attempt() -> None:
    async def story() -> None:
        group = GroupDouble(1)
        dying(group.attachments[0], Dies(10, error=EngineStopped))
        (delta,) = await answered(EngineRouter(group), request())
        assert delta.tokens == (7,)

    drive(story())


def test_a_greedy_request_gets_no_seed_and_a_given_one_stays() -> None:
    async def story() -> None:
        group = GroupDouble(1)
        router = EngineRouter(group)
        await answered(router, request(temperature=0.0))
        await answered(router, request(temperature=1.0, seed=-5))
        assert [one.sampling.seed for one in group.attachments[0].requests] == [None, -5]

    drive(story())


def test_load_is_counted_while_a_request_runs_and_not_after() -> None:
    async def story() -> None:
        group = GroupDouble(2)
        router, go = EngineRouter(group), asyncio.Event()

        async def waits(one: Request, _whole: bool) -> AsyncGenerator[Delta, None]:
            await go.wait()
            yield end(one)

        for engine in group.attachments:
            engine.behaviour = waits
        same = [request(f"{n}", max_tokens=16_384) for n in range(16)]
        running = [asyncio.ensure_future(answered(router, one)) for one in same]
        await asyncio.sleep(0.02)
        spread = [len(engine.requests) for engine in group.attachments]
        assert min(spread) >= 5  # of one prefix: beyond the bound the other engine helps
        go.set()
        await asyncio.gather(*running)
        await answered(router, request("one more"))
        after = [len(engine.requests) for engine in group.attachments]
        assert sum(after) == 17
        favourite = spread.index(max(spread))
        assert after[favourite] == spread[favourite] + 1

    drive(story())


def test_the_state_is_that_of_the_best_engine() -> None:
    group = GroupDouble(2)
    router = EngineRouter(group)
    first, second = group.attachments
    seen: list[EngineState] = []
    for engine, state in (
        (first, EngineState.DOWN),
        (second, EngineState.DRAINING),
        (second, EngineState.UNUSABLE),
    ):
        engine.move(state)
        seen.append(router.state)
    assert seen == [EngineState.READY, EngineState.DRAINING, EngineState.DOWN]
    assert router.fault is None
    first.move(EngineState.UNUSABLE)
    assert router.fault is not None
