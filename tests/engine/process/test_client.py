"""The engine in a process of its own: streams, aborts, deaths and restarts, over real sockets and real processes."""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from intaglio.engine.errors import (
    EngineError,
    EngineLost,
    EngineStopped,
    InvalidRequest,
    ModelError,
    RequestQuarantined,
)
from intaglio.engine.host.client import EngineClient
from intaglio.engine.host.messages import BlockReport
from intaglio.engine.host.outside_kill import memory_kills
from intaglio.engine.host.status import EngineState, Lives
from intaglio.engine.host.supervisor import Watch
from intaglio.engine.types import Delta, Finish, Request, SamplingParams

from tests.support import live_processes, scripted_engine
from tests.support.scripted_engine import BLOCKS, Script, launch

# Silence is borne for longer than a test may take: an engine's end is noticed by itself, or the test fails.
QUICK = Watch(standby_after_s=0.0, backoff_s=0.05, silence_s=600.0, stall_s=600.0, attempts=3)


def request(name: str, order: str, max_tokens: int = 4096) -> Request:
    sampling = SamplingParams(max_tokens=max_tokens)
    return Request(id=name, prompt=tuple(order.encode()), sampling=sampling)


@asynccontextmanager
async def running(
    script: Script | None = None, watch: Watch = QUICK, *, wait: bool = True
) -> AsyncIterator[EngineClient]:
    client = EngineClient(launch(script), watch)
    await client.start()
    try:
        if wait:
            await client.until_ready()
        yield client
    finally:
        await client.close()


async def whole(client: EngineClient, order: Request) -> list[Delta]:
    return [delta async for delta in client.generate(order)]


async def eventually(fact: Callable[[], bool]) -> None:
    while True:
        if fact():
            return
        await asyncio.sleep(0.01)


async def holding(client: EngineClient, count: int) -> BlockReport:
    """The report of an engine, once it holds so many requests."""
    while True:
        report = await client.check()
        if report.open_requests == count:
            return report
        await asyncio.sleep(0.01)


async def using_blocks(client: EngineClient) -> None:
    """Wait until a request has blocks: a report between two steps may count one that has none yet."""
    while True:
        if (await client.check()).used:
            return
        await asyncio.sleep(0.01)


def drive(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 120))


def folder_of(pid: int) -> Path:
    """The folder of an engine's sockets, which is within the folder of its owner's."""
    *_, shared, name = psutil.Process(pid).cmdline()
    return Path(str(shared)) / str(name)


def exists(path: Path) -> bool:
    return path.exists()


def test_many_requests_stream_at_once_and_each_ends_once() -> None:
    async def story() -> None:
        async with running() as client:
            answers = await asyncio.gather(
                *(whole(client, request(f"r{i}", f"slow {i:04}")) for i in range(32))
            )
            for i, deltas in enumerate(answers):
                assert bytes(t for d in deltas for t in d.tokens) == f"{i:04}".encode()
                assert [d.finish for d in deltas if d.finish] == [Finish.STOP]
                assert deltas[-1].usage is not None
                assert deltas[-1].usage.output_tokens == 4
            report = await client.check()
            assert report.clean
            assert report.free == BLOCKS
            await eventually(lambda: (client.metrics or _none()).most_sequences > 1)

    drive(story())


def _none() -> Any:
    raise AssertionError("no metrics yet")


def test_closing_an_iterator_aborts_its_request_and_frees_its_blocks() -> None:
    async def story() -> None:
        async with running() as client:
            async with aclosing(client.generate(request("a", "slow " + "x" * 4000))) as stream:
                async for _ in stream:
                    break
            await holding(client, 0)
            task = asyncio.create_task(whole(client, request("b", "hold")))
            await using_blocks(client)
            task.cancel()
            assert (await holding(client, 0)).clean

    drive(story())


def test_an_id_in_use_is_refused_and_its_request_goes_on() -> None:
    async def story() -> None:
        async with running() as client, aclosing(client.generate(request("same", "slow abc"))) as a:
            await anext(a)
            with pytest.raises(InvalidRequest, match="same"):
                await whole(client, request("same", "echo x"))
            assert [delta async for delta in a][-1].finish is Finish.STOP

    drive(story())


@pytest.mark.parametrize("order", ["die", "break"])
def test_a_dead_engine_ends_its_requests_and_comes_back(order: str) -> None:
    async def story() -> None:
        async with running() as client:
            pid = (await client.until_ready()).pid
            victims = [
                asyncio.create_task(whole(client, request(f"v{i}", "hold"))) for i in range(8)
            ]
            await holding(client, 8)
            killer = asyncio.create_task(whole(client, request("k", order)))
            for task in [*victims, killer]:
                with pytest.raises(EngineStopped) as caught:
                    await task
                assert caught.value.retryable
            assert client.state is not EngineState.READY
            with pytest.raises(EngineStopped):
                await whole(client, request("early", "echo no"))
            assert (await client.until_ready()).pid != pid
            assert (await whole(client, request("again", "echo ok")))[-1].finish is Finish.STOP
            assert (await client.check()).clean

    drive(story())


@pytest.mark.parametrize("order", ["die", "break"])
def test_a_request_that_saw_three_deaths_is_refused_and_its_company_is_not(order: str) -> None:
    async def story() -> None:
        seen: list[Lives] = []
        async with running() as client:
            client.on_lives_change(seen.append)

            async def tried(name: str, text: str) -> str:
                """One try as a job makes it: however it ends, by its code."""
                await client.until_ready()
                try:
                    return (await whole(client, request(name, text)))[-1].finish or ""
                except EngineError as error:
                    return error.code

            async def until_over(name: str, text: str) -> tuple[str, int]:
                tries = 1
                while (end := await tried(f"{name}{tries}", text)) in (
                    "engine_lost",
                    "engine_stopped",
                ):
                    tries += 1
                return end, tries

            company = [until_over(f"c{i}", f"slow {i:03}") for i in range(8)]
            poison, *others = await asyncio.gather(until_over("p", order), *company)
            assert poison[0] == "request_quarantined"
            assert {end for end, _ in others} == {Finish.STOP}
            assert await tried("later", order) == "request_quarantined"
            assert await tried("fine", "echo ok") == Finish.STOP
            assert (client.lives.deaths, client.lives.restarts) == (3, 3)
            assert client.lives.quarantined == 1
            assert [(one.deaths, one.restarts) for one in seen] == [
                (deaths, restarts) for deaths in (1, 2, 3) for restarts in (deaths - 1, deaths)
            ]
            assert (await client.check()).clean

    drive(story())


def test_a_request_whose_caller_left_still_counts_as_in_flight() -> None:
    async def story() -> None:
        async with running() as client:
            for turn in range(3):
                pid = (await client.until_ready()).pid
                task = asyncio.create_task(whole(client, request(f"s{turn}", "hold")))
                await holding(client, 1)
                os.kill(pid, signal.SIGSTOP)  # so that it does not hear of the abort
                task.cancel()
                await asyncio.wait({task})
                os.kill(pid, signal.SIGABRT)
                os.kill(pid, signal.SIGCONT)
                await eventually(lambda turns=turn + 1: client.lives.restarts == turns)  # type: ignore[misc]
            with pytest.raises(RequestQuarantined):
                await whole(client, request("again", "hold"))

    drive(story())


@pytest.mark.skipif(memory_kills() is None, reason="this system does not count kills for memory")
def test_kills_from_outside_refuse_no_request_and_those_of_faults_still_do() -> None:
    async def story() -> None:
        async with running() as client:

            async def ended(name: str, number: int) -> None:
                """Hold a request while the engine is ended by that signal."""
                restarts, pid = client.lives.restarts, (await client.until_ready()).pid
                task = asyncio.create_task(whole(client, request(name, "hold")))
                await holding(client, 1)
                os.kill(pid, number)
                with pytest.raises(EngineLost):
                    await task
                await eventually(lambda: client.lives.restarts > restarts)

            for turn in range(5):
                await ended(f"outside{turn}", signal.SIGKILL)
            assert client.lives.quarantined == 0
            for turn in range(3):
                await ended(f"fault{turn}", signal.SIGABRT)
            with pytest.raises(RequestQuarantined):
                await whole(client, request("again", "hold"))

    drive(story())


def test_a_request_that_no_message_can_hold_is_refused() -> None:
    async def story() -> None:
        async with running() as client:
            for name, sampling in (
                ("wide", SamplingParams(seed=2**70)),
                ("half", SamplingParams(stop=("\ud800",))),
                ("foreign", SamplingParams(logit_bias=object())),  # type: ignore[arg-type]
            ):
                bad = Request(id=name, prompt=(1,), sampling=sampling)
                with pytest.raises(InvalidRequest, match="cannot be sent"):
                    await whole(client, bad)
            assert (await whole(client, request("good", "echo ok")))[-1].finish is Finish.STOP

    drive(story())


def test_a_message_of_the_wrong_types_ends_its_own_request() -> None:
    """As a caller of another version might send it."""

    async def story() -> None:
        async with running() as client:
            bad = Request(id="bad", prompt=("a", None), sampling=SamplingParams(top_k="all"))  # type: ignore[arg-type]
            (end,) = await whole(client, bad)
            assert end.finish is Finish.ERROR
            assert end.error is not None
            assert end.error.code == "invalid_request"
            assert "prompt" in end.error.message
            assert (await whole(client, request("good", "echo ok")))[-1].finish is Finish.STOP

    drive(story())


def test_an_engine_killed_from_outside_is_replaced() -> None:
    async def story() -> None:
        async with running() as client:
            seen = {(await client.until_ready()).pid}
            for _ in range(3):
                assert client.info is not None
                pid = client.info.pid
                folder = folder_of(pid)
                os.kill(pid, signal.SIGKILL)
                await eventually(lambda: client.info is not None and client.info.pid not in seen)
                await client.until_ready()
                assert not exists(folder)
                seen.add(client.info.pid)

    drive(story())


@pytest.mark.parametrize("how", ["stopped", "stalled"])
def test_an_engine_that_hangs_is_killed_and_replaced(how: str) -> None:
    async def story() -> None:
        async with running(watch=Watch(backoff_s=0.05, silence_s=4.0, stall_s=3.0)) as client:
            pid = (await client.until_ready()).pid
            if how == "stopped":
                os.kill(pid, signal.SIGSTOP)
                hung = asyncio.create_task(whole(client, request("h", "echo x")))
            else:
                hung = asyncio.create_task(whole(client, request("h", "stall")))
            with pytest.raises(EngineStopped):
                await hung
            assert not psutil.pid_exists(pid)
            assert (await client.until_ready()).pid != pid

    drive(story())


def test_a_model_that_cannot_be_used_is_not_tried_again() -> None:
    async def story() -> None:
        async with running(Script(unusable="no such weights"), wait=False) as client:
            with pytest.raises(ModelError, match="no such weights") as caught:
                await client.until_ready()
            assert caught.value.hint == "use another"
            assert client.state is EngineState.UNUSABLE

    drive(story())


def test_a_start_that_crashes_is_tried_again_but_not_for_ever(tmp_path: Path) -> None:
    block = tmp_path / "block"
    block.touch()

    async def recovers() -> None:
        often = Watch(backoff_s=0.05, attempts=1000)
        async with running(Script(crash_while=str(block)), often, wait=False) as client:
            await eventually(lambda: client.state is EngineState.DOWN)
            block.unlink()
            await client.until_ready()

    async def gives_up() -> None:
        async with running(Script(crash_while=str(tmp_path)), wait=False) as client:
            with pytest.raises(ModelError, match="3 times"):
                await client.until_ready()

    drive(recovers())
    drive(gives_up())


def test_closing_ends_the_process_its_sockets_and_whoever_waits() -> None:
    async def story() -> None:
        async with running() as client:
            pid = (await client.until_ready()).pid
            folder = folder_of(pid).parent
            for private in (folder, folder_of(pid)):
                assert stat.S_IMODE(os.stat(private).st_mode) == 0o700  # noqa: PTH116
            waiting = asyncio.create_task(whole(client, request("w", "hold")))
            await holding(client, 1)
            await client.close()
            with pytest.raises(EngineStopped):
                await waiting
            await client.close()
            assert not psutil.pid_exists(pid)
            assert not exists(folder)
            with pytest.raises(EngineStopped):
                await client.until_ready()

    drive(story())


PARENT = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from intaglio.engine.host.client import EngineClient
from tests.support.scripted_engine import launch, Script

async def main():
    client = EngineClient(launch(Script()))
    await client.start()
    print((await client.until_ready()).pid, flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.mark.parametrize("busy", [False, True])
def test_no_engine_outlives_its_parent(busy: bool) -> None:
    root = str(Path(__file__).parents[3])
    source = PARENT.format(root=root)
    if busy:
        source = source.replace(
            "    await asyncio.sleep(3600)",
            "    from tests.engine.process.test_client import request\n"
            "    stalled = asyncio.ensure_future(anext(client.generate(request('a', 'stall'))))\n"
            "    while not client.metrics or not client.metrics.running: await asyncio.sleep(0.01)\n"
            "    print('stalled', flush=True)\n"
            "    await stalled",
        )

    async def story() -> None:
        parent = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-c", source, stdout=asyncio.subprocess.PIPE
        )
        assert parent.stdout is not None
        pid = int(await parent.stdout.readline())
        folder = folder_of(pid).parent
        engine = psutil.Process(pid)
        if busy:
            assert await parent.stdout.readline() == b"stalled\n"
        parent.kill()
        await parent.wait()
        await eventually(lambda: not engine.is_running())
        await eventually(lambda: not exists(folder))

    drive(story())


def running_engines() -> set[int]:
    """The engines below this process that run."""
    return {
        child.pid
        for child, command in live_processes.commands().items()
        if scripted_engine.is_run_by(command)
    }


@pytest.fixture
def engines() -> Callable[[], set[int]]:
    """Gives the engines of the test that run: not that of a service which other tests of this process share."""
    others = running_engines()
    return lambda: running_engines() - others


def test_a_process_stands_by_and_takes_over(engines: Callable[[], set[int]]) -> None:
    async def story() -> None:
        async with running(watch=replace(QUICK, standby="on")) as client:
            for _ in range(2):
                pid = (await client.until_ready()).pid
                await eventually(lambda: len(engines()) == 2)
                (spare,) = engines() - {pid}
                os.kill(pid, signal.SIGKILL)
                await eventually(lambda p=pid: client.info is not None and client.info.pid != p)  # type: ignore[misc]
                assert (await client.until_ready()).pid == spare
                assert (await whole(client, request("r", "echo ok")))[-1].finish is Finish.STOP
        assert not engines()

    drive(story())


@pytest.mark.parametrize("delay_s", [0.0, 0.02, 0.05, 0.1])
def test_an_engine_closed_while_another_starts_to_stand_by_leaves_none(
    engines: Callable[[], set[int]], delay_s: float
) -> None:
    async def story() -> None:
        watch = replace(QUICK, standby="on", standby_after_s=0.0)
        async with running(watch=watch) as client:
            pid = (await client.until_ready()).pid
            await eventually(lambda: len(engines()) == 2)
            os.kill(pid, signal.SIGKILL)
            await eventually(lambda: client.lives.restarts == 1)
            await asyncio.sleep(delay_s)
        assert not engines()

    drive(story())


def test_a_process_that_died_while_it_stood_by_is_not_used(
    engines: Callable[[], set[int]],
) -> None:
    async def story() -> None:
        async with running(watch=replace(QUICK, standby="on")) as client:
            pid = (await client.until_ready()).pid
            await eventually(lambda: len(engines()) == 2)
            (spare,) = engines() - {pid}
            os.kill(spare, signal.SIGKILL)
            await eventually(lambda: spare not in engines())
            os.kill(pid, signal.SIGKILL)
            await eventually(lambda: client.lives.restarts == 1)
            assert (await client.until_ready()).pid not in (pid, spare)

    drive(story())


def test_a_process_that_cannot_stand_by_leaves_the_engine_alone(tmp_path: Path) -> None:
    """Here because the program is gone after its first start, elsewhere for want of memory or processes."""
    program = tmp_path / "engine"
    program.write_text(f'#!/bin/sh\nrm "$0"\nexec {sys.executable} "$@"\n')
    program.chmod(0o700)
    once = replace(launch(), command=(str(program), *launch().command[1:]))

    async def story() -> None:
        client = EngineClient(once, replace(QUICK, standby="on"))
        await client.start()
        await client.until_ready()
        for number in range(3):
            before = client.metrics
            await eventually(lambda b=before: client.metrics is not b)  # type: ignore[misc]
            answer = await whole(client, request(f"r{number}", "echo ok"))
            assert answer[-1].finish is Finish.STOP
        await client.close()

    drive(story())


def test_an_engine_whose_program_cannot_be_started_is_unusable(tmp_path: Path) -> None:
    async def story() -> None:
        client = EngineClient(replace(launch(), command=(str(tmp_path / "none"),)), QUICK)
        await client.start()
        with pytest.raises(ModelError, match=r"could not be started: .*No such file"):
            await client.until_ready()
        await client.close()

    drive(story())


def test_a_restart_waits_for_the_engine_after_one_that_died_before_its_requests_had_ended() -> None:
    async def story() -> None:
        async with running() as client:
            pid = (await client.until_ready()).pid
            asking = asyncio.create_task(whole(client, request("a", "hold")))
            await holding(client, 1)
            restarting = asyncio.create_task(client.restart())
            await eventually(lambda: client.state is EngineState.DRAINING)
            os.kill(pid, signal.SIGKILL)
            await restarting
            assert client.info is not None
            assert client.info.pid != pid
            with pytest.raises(EngineLost):
                await asking

    drive(story())
