"""Streams of server-sent events over a bare ASGI connection."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from intaglio.service.errors import InvalidOutput
from intaglio.service.http.sse import EventStream, StartedEvents, encode_event


class Connection:
    """One ASGI connection. The client leaves when `leave` is set; it takes nothing while `blocked` is set."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.leave = asyncio.Event()
        self.free = asyncio.Event()
        self.free.set()
        self._news = asyncio.Event()
        self.scope: dict[str, Any] = {"type": "http", "state": {}}

    async def receive(self) -> dict[str, Any]:
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        await self.free.wait()
        self.sent.append(message)
        self._news.set()

    async def sent_more_than(self, count: int) -> None:
        while len(self.sent) <= count:
            self._news.clear()
            await self._news.wait()

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    async def serve(self, stream: EventStream) -> None:
        await stream(self.scope, self.receive, self.send)


class Source:
    """Events that a test controls; knows how many were asked for, and whether it was closed."""

    def __init__(self, count: int, error: Exception | None = None, pause: bool = False) -> None:
        self.made = 0
        self.closed = False
        self.count = count
        self.error = error
        self.pause = pause

    async def events(self) -> AsyncGenerator[bytes, None]:
        try:
            for number in range(self.count):
                await asyncio.sleep(0)
                self.made += 1
                yield encode_event(str(number))
            if self.pause:
                await asyncio.sleep(3600)
            if self.error is not None:
                raise self.error
        finally:
            self.closed = True


def failed(error: Exception) -> bytes:
    return encode_event(type(error).__name__, "error")


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def stream_of(source: Source, **options: Any) -> EventStream:
    return EventStream(await StartedEvents.start(source.events(), 0.01), failed, **options)


def test_events_come_in_order_and_the_body_ends() -> None:
    async def run() -> None:
        connection, source = Connection(), Source(3)
        await connection.serve(await stream_of(source))
        assert connection.body == b"data: 0\n\ndata: 1\n\ndata: 2\n\n"
        start = connection.sent[0]
        headers = dict(start["headers"])
        assert start["status"] == 200
        assert headers[b"content-type"].startswith(b"text/event-stream")
        assert headers[b"cache-control"] == b"no-cache"
        assert b"content-length" not in headers
        assert connection.sent[-1] == {
            "type": "http.response.body",
            "body": b"",
            "more_body": False,
        }
        assert source.closed
        assert "outcome" not in connection.scope["state"]

    asyncio.run(run())


def test_an_empty_stream_is_an_empty_body() -> None:
    async def run() -> None:
        connection = Connection()
        await connection.serve(await stream_of(Source(0)))
        assert connection.body == b""

    asyncio.run(run())


def test_a_slow_reader_holds_the_source_back() -> None:
    async def run() -> None:
        connection, source = Connection(), Source(1000)
        stream = await stream_of(source)
        connection.free.clear()
        serving = asyncio.create_task(connection.serve(stream))
        await settle()
        assert source.made <= 2
        connection.free.set()
        await serving
        assert source.made == 1000

    asyncio.run(run())


@pytest.mark.parametrize("blocked", [False, True])
def test_a_client_that_leaves_ends_the_source(blocked: bool) -> None:
    async def run() -> None:
        connection, source = Connection(), Source(10_000 if blocked else 3, pause=True)
        held = AsyncExitStack()
        released: list[str] = []
        held.callback(released.append, "yes")
        stream = await stream_of(source, held=held)
        if blocked:
            connection.free.clear()
        serving = asyncio.create_task(connection.serve(stream))
        await settle()
        assert not released
        connection.leave.set()
        await serving
        assert source.closed
        assert released == ["yes"]
        assert connection.scope["state"]["outcome"] == "cancelled"

    asyncio.run(run())


def test_a_client_that_left_before_the_response_ends_the_source() -> None:
    async def run() -> None:
        connection, source = Connection(), Source(3, pause=True)
        started = await StartedEvents.start(source.events(), 0.01)
        connection.leave.set()
        await connection.serve(EventStream(started, failed))
        assert source.closed
        other = Source(0, pause=True)
        started = await StartedEvents.start(other.events(), 0.01)
        await started.aclose()
        assert other.closed

    asyncio.run(run())


def test_an_error_after_the_start_is_an_event() -> None:
    async def run() -> None:
        connection = Connection()
        await connection.serve(await stream_of(Source(1, InvalidOutput("no"))))
        assert connection.body == b"data: 0\n\nevent: error\ndata: InvalidOutput\n\n"
        assert connection.sent[-1]["more_body"] is False
        assert connection.scope["state"]["outcome"] == "invalid_output"

    asyncio.run(run())


def test_an_unknown_error_is_an_event_and_reaches_the_log() -> None:
    async def run() -> None:
        connection = Connection()
        with pytest.raises(ZeroDivisionError):
            await connection.serve(await stream_of(Source(1, ZeroDivisionError())))
        assert connection.body.endswith(b"event: error\ndata: ZeroDivisionError\n\n")
        assert connection.scope["state"]["outcome"] == "internal_error"

    asyncio.run(run())


def test_an_error_before_the_first_event_is_raised() -> None:
    async def run() -> None:
        source = Source(0, InvalidOutput("no"))
        with pytest.raises(InvalidOutput):
            await StartedEvents.start(source.events(), 3600)
        assert source.closed

    asyncio.run(run())


def test_comments_are_sent_in_silence_and_never_after_the_end() -> None:
    async def run() -> None:
        connection, source = Connection(), Source(1, pause=True)
        stream = await stream_of(source, keep_alive_s=0.001)
        serving = asyncio.create_task(connection.serve(stream))
        await asyncio.wait_for(connection.sent_more_than(4), 60)
        assert connection.body.count(b": keep-alive\n\n") > 2
        connection.leave.set()
        await serving

    asyncio.run(run())
