"""Engines for prompts and for outputs, as processes: their answers are those of one engine, also if they are killed."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress

import pytest
from intaglio.engine.api import (
    BlockReport,
    EngineConfig,
    Engines,
    EngineState,
    EngineStopped,
    Request,
    SamplingParams,
    launches,
)
from intaglio.engine.host.local import LocalEngine
from intaglio.service.routing.router import EngineRouter

from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

PROMPTS = [tuple(range(20 + number, 220 + number)) for number in range(12)]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> EngineConfig:
    model = write_checkpoint(tmp_path_factory.mktemp("model") / "tiny", QWEN3)
    given = {"model": str(model), "max_context": 300, "threads": 1, "deterministic": True}
    return EngineConfig.load(given, {})


@asynccontextmanager
async def running(config: EngineConfig, count: int, prefill: int) -> AsyncIterator[EngineRouter]:
    router = EngineRouter(Engines.owned(launches(config, count, prefill)))
    try:
        await router.start()
        await until(lambda: ready(router))
        yield router
    finally:
        await router.close()


async def until(holds: Callable[[], bool]) -> None:
    """Wait for a state of the engines that nothing announces."""
    async with asyncio.timeout(300):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def asked(number: int, prompt: tuple[int, ...]) -> Request:
    sampling = SamplingParams(max_tokens=40, temperature=1.0, seed=number, ignore_eos=True)
    return Request(id=f"r{number}", prompt=prompt, sampling=sampling)


async def answers(router: EngineRouter, prompts: Sequence[tuple[int, ...]]) -> list[list[int]]:
    """The tokens of requests that are sent together."""

    async def one(number: int, prompt: tuple[int, ...]) -> list[int]:
        request = asked(number, prompt)
        return [t async for delta in router.generate(request) for t in delta.tokens]

    return await asyncio.gather(*(one(*each) for each in enumerate(prompts)))


def kill(router: EngineRouter, index: int) -> int:
    """Kill the process of an engine; which it was."""
    info = router.engines[index].info
    assert info is not None
    os.kill(info.pid, signal.SIGKILL)
    return info.pid


async def replaced(router: EngineRouter, index: int, killed: int) -> None:
    """Wait until another process is ready in place of one that was killed."""

    def holds() -> bool:
        info = router.engines[index].info
        return ready(router) and info is not None and info.pid != killed

    await until(holds)


async def checked(router: EngineRouter) -> BlockReport:
    """The blocks of all engines, once this process is connected to them."""
    async with asyncio.timeout(300):
        while True:
            with suppress(EngineStopped):
                return await router.check()
            await asyncio.sleep(0.05)


def ready(router: EngineRouter) -> bool:
    """Whether all engines are."""
    return all(one.state is EngineState.READY for one in router.engines)


def test_answers_are_those_of_one_engine_whatever_is_killed(config: EngineConfig) -> None:
    with closing(LocalEngine.build(config)) as one:
        expected: list[list[int]] = [[] for _ in PROMPTS]
        for delta in one.generate([asked(*each) for each in enumerate(PROMPTS)]):
            expected[int(delta.request_id[1:])] += delta.tokens

    async def story() -> None:
        async with running(config, 2, 1) as router:
            assert await answers(router, PROMPTS) == expected
            for index in (0, 1):  # the engine for prompts, and that for outputs
                answered = asyncio.create_task(answers(router, PROMPTS))
                await asyncio.sleep(0.1)
                killed = kill(router, index)
                assert await answered == expected
                await replaced(router, index, killed)
            report = await checked(router)
            assert (report.fault, report.used) == (None, 0)

    asyncio.run(story())
