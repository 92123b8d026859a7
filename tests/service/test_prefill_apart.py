"""Engines for prompts and for outputs, as processes: their answers are those of one engine, also if they are killed."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from intaglio.engine.api import (
    EngineConfig,
    Engines,
    EngineState,
    Request,
    SamplingParams,
    launches,
)
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


async def answers(router: EngineRouter, prompts: Sequence[tuple[int, ...]]) -> list[list[int]]:
    """The tokens of requests that are sent together."""

    async def one(number: int, prompt: tuple[int, ...]) -> list[int]:
        sampling = SamplingParams(max_tokens=40, temperature=1.0, seed=number, ignore_eos=True)
        request = Request(id=f"r{number}", prompt=prompt, sampling=sampling)
        return [t async for delta in router.generate(request) for t in delta.tokens]

    return await asyncio.gather(*(one(*each) for each in enumerate(prompts)))


def process(router: EngineRouter, index: int) -> int:
    """The process of an engine that is ready."""
    info = router.engines[index].info
    assert info is not None
    return info.pid


def ready(router: EngineRouter) -> bool:
    """Whether all engines are."""
    return all(one.state is EngineState.READY for one in router.engines)


def test_answers_are_those_of_one_engine_whatever_is_killed(config: EngineConfig) -> None:
    async def story() -> None:
        async with running(config, 1, 0) as router:
            expected = await answers(router, PROMPTS)
        async with running(config, 2, 1) as router:
            assert await answers(router, PROMPTS) == expected
            for killed in (0, 1):  # the engine for prompts, and that for outputs
                asked = asyncio.create_task(answers(router, PROMPTS))
                await asyncio.sleep(0.1)
                os.kill(process(router, killed), signal.SIGKILL)
                assert await asked == expected
                await until(lambda: ready(router))
            report = await router.check()
            assert (report.fault, report.used) == (None, 0)

    asyncio.run(story())
