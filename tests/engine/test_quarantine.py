"""Requests that saw an engine die: watched one at a time, refused after the second death."""

import asyncio
from dataclasses import replace

import pytest
from intaglio.engine.errors import RequestQuarantined
from intaglio.engine.host.quarantine import Quarantine
from intaglio.engine.types import Request, SamplingParams


def request(content: int, name: str = "a") -> Request:
    return Request(id=name, prompt=(content,), sampling=SamplingParams())


async def let_through(quarantine: Quarantine, one: Request) -> bool:
    try:
        async with quarantine.watch(one):
            return True
    except RequestQuarantined as error:
        return not error.hint


def test_a_request_in_flight_at_two_deaths_is_refused_whatever_its_id() -> None:
    async def story() -> None:
        quarantine = Quarantine()
        quarantine.lost(request(1, "first"), 1)
        assert await let_through(quarantine, request(1, "second"))
        quarantine.lost(request(1, "second"), 2)
        again = replace(request(1, "third"), priority=7, deadline=3.0)
        assert not await let_through(quarantine, again)
        assert await let_through(quarantine, request(2))

    asyncio.run(story())


def test_copies_that_see_one_death_count_once() -> None:
    async def story() -> None:
        quarantine = Quarantine()
        for name in "abc":
            quarantine.lost(request(1, name), 5)
        assert await let_through(quarantine, request(1))

    asyncio.run(story())


def test_a_suspect_that_ends_well_is_none_any_more() -> None:
    async def story() -> None:
        quarantine = Quarantine()
        quarantine.lost(request(1), 1)
        quarantine.survived(request(1))
        assert quarantine.suspects == 0
        quarantine.lost(request(1), 2)
        assert await let_through(quarantine, request(1))

    asyncio.run(story())


def test_suspects_run_one_at_a_time_and_others_beside_them() -> None:
    async def story() -> None:
        quarantine = Quarantine()
        for content in range(4):
            quarantine.lost(request(content), 1)
        running: set[int] = set()
        most = 0

        async def run(content: int) -> None:
            nonlocal most
            async with quarantine.watch(request(content)):
                running.add(content)
                most = max(most, len(running))
                for _ in range(5):
                    await asyncio.sleep(0)
                assert await let_through(quarantine, request(100))
                running.discard(content)

        await asyncio.gather(*(run(content) for content in range(4)))
        assert most == 1

    asyncio.run(story())


def test_what_is_remembered_is_bounded() -> None:
    async def story() -> None:
        quarantine = Quarantine(most=10)
        for content in range(100):
            quarantine.lost(request(content), 1)
            quarantine.lost(request(content), 2)
            quarantine.lost(request(1000 + content), 1)
        assert (quarantine.suspects, quarantine.refused) == (10, 10)
        assert not await let_through(quarantine, request(99))
        with pytest.raises(RequestQuarantined):
            async with quarantine.watch(request(95)):
                pass

    asyncio.run(story())
