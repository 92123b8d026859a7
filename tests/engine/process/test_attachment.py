"""Several processes that share one engine: answers go to the sender, and a sender that vanishes leaves nothing."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from intaglio.engine.errors import EngineStopped
from intaglio.engine.host.attachment import Attachment
from intaglio.engine.host.engine_link import EngineLink
from intaglio.engine.host.engines import Engines
from intaglio.engine.host.status import EngineAddress, EngineState
from intaglio.engine.host.supervision import Supervision
from intaglio.engine.types import Finish

from tests.engine.process.test_client import QUICK, drive, eventually, request
from tests.support.scripted_engine import BLOCKS, Script, launch

ROOT = str(Path(__file__).parents[3])

OTHER = f"""
import asyncio, sys
import msgspec
sys.path.insert(0, {ROOT!r})
from intaglio.engine.api import Attachment, EngineAddress, EngineLink
from tests.engine.process.test_client import request

async def main():
    address = msgspec.json.decode(sys.argv[1], type=EngineAddress)
    link = EngineLink(address.engines)
    engine = Attachment(link)
    link.start(address)
    await engine.until_ready()
    held = [asyncio.ensure_future(anext(engine.generate(request(f"o{{i}}", sys.argv[2])))) for i in range(8)]
    await asyncio.gather(*held)
    print("over", flush=True)

asyncio.run(main())
"""


@asynccontextmanager
async def owned(script: Script | None = None) -> AsyncIterator[EngineAddress]:
    supervision = Supervision([launch(script)], QUICK)
    supervision.start()
    try:
        yield supervision.address
    finally:
        await supervision.close()


@asynccontextmanager
async def attached(address: EngineAddress, index: int = 0) -> AsyncIterator[Attachment]:
    link = EngineLink(address.engines)
    engine = Attachment(link, index)
    link.start(address)
    try:
        await engine.until_ready()
        yield engine
    finally:
        engine.close()
        link.close()


@asynccontextmanager
async def own(script: Script | None = None) -> AsyncIterator[tuple[Engines, Attachment]]:
    """Engines that this process owns, and the only one of them."""
    engines = Engines.owned([launch(script)], QUICK)
    (engine,) = engines.attachments
    await engines.start()
    try:
        await engine.until_ready()
        yield engines, engine
    finally:
        await engines.close()


async def said(engine: Attachment, name: str, order: str, *, whole: bool = False) -> bytes:
    tokens = [d.tokens async for d in engine.generate(request(name, order), whole=whole)]
    return bytes(token for part in tokens for token in part)


def test_every_client_gets_the_answers_to_its_own_requests() -> None:
    async def story() -> None:
        async with owned() as address, attached(address) as a, attached(address) as b:
            calls = [
                said(engine, f"{who}{i}", f"slow {who}{i:03}")
                for i in range(16)
                for who, engine in (("a", a), ("b", b))
            ]
            expected = [f"{who}{i:03}".encode() for i in range(16) for who in "ab"]
            assert await asyncio.gather(*calls) == expected
            assert (await b.check()).free == BLOCKS

    drive(story())


def test_an_id_that_another_client_uses_is_refused_and_its_request_goes_on() -> None:
    async def story() -> None:
        async with (
            owned() as address,
            attached(address) as a,
            attached(address) as b,
            aclosing(a.generate(request("same", "slow abcd"))) as first,
        ):
            await anext(first)
            (refusal,) = [d async for d in b.generate(request("same", "echo x"))]
            assert refusal.error is not None
            assert refusal.error.code == "invalid_request"
            assert [delta async for delta in first][-1].finish is Finish.STOP

    drive(story())


def test_a_client_cannot_abort_the_request_of_another() -> None:
    async def story() -> None:
        async with (
            owned() as address,
            attached(address) as a,
            attached(address) as b,
            aclosing(a.generate(request("same", "slow abcdef"))) as first,
        ):
            await anext(first)
            stream = b.generate(request("same", "hold"))
            refused = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0)
            refused.cancel()  # which sends an abort for that id
            assert [delta async for delta in first][-1].finish is Finish.STOP

    drive(story())


def test_the_requests_of_a_process_that_was_killed_are_aborted() -> None:
    async def story() -> None:
        async with owned() as address, attached(address) as engine:
            text = msgspec.json.encode(address).decode()
            other = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-c", OTHER, text, "hold", stdout=asyncio.subprocess.PIPE
            )
            while (await engine.check()).open_requests < 8:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            other.kill()
            await other.wait()
            while (report := await engine.check()).open_requests:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert report.clean
            assert await said(engine, "mine", "echo still here") == b"still here"

    drive(story())


def test_all_clients_hear_of_a_death_and_of_the_next_process() -> None:
    async def story() -> None:
        async with owned() as address, attached(address) as a, attached(address) as b:
            assert a.status.info is not None
            pid = a.status.info.pid
            waiting = asyncio.ensure_future(said(b, "w", "hold"))
            await eventually(lambda: b.status.metrics is not None and b.status.metrics.running == 1)
            killer = asyncio.ensure_future(said(a, "k", "die"))
            await asyncio.wait({waiting, killer})
            assert {type(task.exception()).__name__ for task in (waiting, killer)} == {"EngineLost"}
            for engine in (a, b):
                assert (await engine.until_ready()).pid != pid
                assert engine.lives.deaths == 1

    drive(story())


def test_a_whole_answer_is_one_delta() -> None:
    async def story() -> None:
        async with owned() as address, attached(address) as engine:
            (delta,) = [d async for d in engine.generate(request("w", "echo abc"), whole=True)]
            assert bytes(delta.tokens) == b"abc"
            assert delta.finish is Finish.STOP
            assert delta.usage is not None
            assert delta.usage.output_tokens == 3

    drive(story())


def test_a_restart_ends_no_request_and_serves_on() -> None:
    async def story() -> None:
        async with own(Script(pace_s=0.02)) as (engines, engine):
            assert engine.status.info is not None
            pid = engine.status.info.pid
            async with aclosing(engine.generate(request("s", "slow " + "x" * 50))) as stream:
                await anext(stream)
                restarting = asyncio.ensure_future(engines.restart())
                await eventually(lambda: engine.state is EngineState.DRAINING)
                deltas = [delta async for delta in stream]
                assert deltas[-1].finish is Finish.STOP
            await restarting
            assert (await engine.until_ready()).pid != pid
            assert (engine.lives.deaths, engine.lives.restarts) == (0, 1)
            assert await said(engine, "n", "echo new") == b"new"

    drive(story())


def test_a_request_that_must_run_alone_does_not_wait_beyond_its_deadline() -> None:
    async def story() -> None:
        async with own() as (_, engine):
            for turn in range(2):
                pid = (await engine.until_ready()).pid
                lost = [
                    asyncio.ensure_future(said(engine, f"{text}{turn}", f"hold {text}"))
                    for text in ("/a", "/b")
                ]
                while (await engine.check()).open_requests < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                os.kill(pid, signal.SIGABRT)
                await asyncio.gather(*lost, return_exceptions=True)
            await engine.until_ready()
            alone = asyncio.ensure_future(said(engine, "first", "hold /a"))
            while (await engine.check()).open_requests < 1:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            second = replace(request("second", "hold /b"), deadline=0.05)
            with pytest.raises(EngineStopped, match="alone"):
                await anext(engine.generate(second))
            assert (await engine.check()).open_requests == 1
            alone.cancel()
            await asyncio.wait({alone})

    drive(story())
