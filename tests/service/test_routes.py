"""Work that a client waits for ends with the client's connection."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from intaglio.service.errors import ClientDisconnected
from intaglio.service.http.routes import while_connected


class Client:
    """One ASGI connection of a client, which leaves when `leave` is called."""

    def __init__(self) -> None:
        self._gone = asyncio.Event()

    def leave(self) -> None:
        self._gone.set()

    async def receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}


async def forever(ended: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("ended")


async def left_alone() -> int:
    """The number of tasks that run beside the present one."""
    for _ in range(3):
        await asyncio.sleep(0)
    return len(asyncio.all_tasks()) - 1


def test_the_result_comes_and_nothing_goes_on_watching() -> None:
    async def run() -> tuple[int, int]:
        client = Client()
        found = await while_connected(client.receive, asyncio.sleep(0, 5))
        left = await left_alone()
        client.leave()
        await asyncio.sleep(0.01)  # nothing cancels the task any more
        return found, left

    assert asyncio.run(run()) == (5, 0)


def test_work_is_cancelled_when_the_client_leaves_and_the_task_lives_on() -> None:
    async def run() -> list[str]:
        client, ended = Client(), list[str]()
        asyncio.get_running_loop().call_later(0.01, client.leave)
        with pytest.raises(ClientDisconnected):
            await while_connected(client.receive, forever(ended))
        await asyncio.sleep(0)  # the task may wait again
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        assert await left_alone() == 0
        return ended

    assert asyncio.run(run()) == ["ended"]


def test_an_error_of_the_work_is_told_as_it_is() -> None:
    async def failing() -> None:
        raise ZeroDivisionError

    async def run() -> None:
        with pytest.raises(ZeroDivisionError):
            await while_connected(Client().receive, failing())

    asyncio.run(run())


async def cancelled(during: Callable[[Client], Awaitable[None]]) -> BaseException | None:
    """What a task ends with that is cancelled from outside while it does some work for a client."""
    client = Client()
    task = asyncio.ensure_future(during(client))
    await asyncio.sleep(0.01)
    task.cancel()
    client.leave()
    done, _ = await asyncio.wait({task})
    (ended,) = done
    return asyncio.CancelledError() if ended.cancelled() else ended.exception()


def test_a_cancellation_from_outside_stays_one_even_if_the_client_leaves_too() -> None:
    async def serve(client: Client) -> None:
        await while_connected(client.receive, forever([]))

    assert isinstance(asyncio.run(cancelled(serve)), asyncio.CancelledError)


def test_a_client_that_left_before_is_noticed() -> None:
    async def run() -> None:
        client = Client()
        client.leave()
        with pytest.raises(ClientDisconnected):
            await while_connected(client.receive, forever([]))

    asyncio.run(run())
