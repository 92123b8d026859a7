"""Heads of responses leave with the beginnings of their bodies, and no byte changes its place."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from typing import Any, cast

import uvicorn
from intaglio.service.http.joined_writes import JoinedWrites
from intaglio.service.http.limits import BoundedHeaderProtocol
from starlette.types import Receive, Scope, Send

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


class Wire:
    """Records what is written to a transport."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        assert not self.is_closed
        self.writes.append(data)

    def close(self) -> None:
        self.is_closed = True

    def get_write_buffer_size(self) -> int:
        return 7


def joined(wire: Wire) -> JoinedWrites:
    return JoinedWrites(cast("asyncio.Transport", wire), asyncio.get_running_loop())


def test_a_head_leaves_with_the_next_write() -> None:
    async def run() -> list[bytes]:
        wire = Wire()
        transport = joined(wire)
        for data in (HEAD, b"body", b"", b"more"):
            transport.write(data)
        await asyncio.sleep(0)
        return wire.writes

    assert asyncio.run(run()) == [HEAD + b"body", b"more"]


def test_a_head_without_a_body_leaves_in_the_next_turn() -> None:
    async def run() -> list[bytes]:
        wire = Wire()
        joined(wire).write(HEAD)
        assert wire.writes == []
        await asyncio.sleep(0)
        return wire.writes

    assert asyncio.run(run()) == [HEAD]


def test_closing_writes_a_held_head_first_and_other_calls_reach_the_transport() -> None:
    async def run() -> tuple[Wire, int]:
        wire = Wire()
        transport = joined(wire)
        transport.write(HEAD)
        transport.close()
        await asyncio.sleep(0)
        return wire, transport.get_write_buffer_size()

    wire, size = asyncio.run(run())
    assert wire.writes == [HEAD]
    assert wire.is_closed
    assert size == 7


def test_no_byte_changes_its_place() -> None:
    dice = random.Random(1)
    choices = (HEAD, b"HTTP/1.1 is a protocol", b"event", b"")

    async def run() -> tuple[bytes, bytes]:
        wire = Wire()
        transport, given = joined(wire), b""
        for _ in range(500):
            data = dice.choice(choices)
            given += data
            transport.write(data)
            if dice.random() < 0.3:
                await asyncio.sleep(0)
        transport.close()
        return given, b"".join(wire.writes)

    given, written = asyncio.run(run())
    assert given == written


class Tap:
    """A transport of which a wire records the writes."""

    def __init__(self, wire: Wire, transport: asyncio.Transport) -> None:
        self._wire = wire
        self._transport = transport

    def write(self, data: bytes) -> None:
        self._wire.write(data)
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
    headers = [(b"content-length", b"4")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"body", "more_body": False})


@contextlib.asynccontextmanager
async def served(wires: list[Wire]) -> AsyncIterator[int]:
    """The port of a server whose connections record their writes."""

    class Recorded(BoundedHeaderProtocol):
        def connection_made(self, transport: Any) -> None:
            wires.append(Wire())
            super().connection_made(Tap(wires[-1], transport))

    config = uvicorn.Config(answer, log_config=None, lifespan="off")
    config.load()
    state = uvicorn.Server(config).server_state
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Recorded(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    async with server:
        yield server.sockets[0].getsockname()[1]


def test_a_response_is_one_write() -> None:
    async def run() -> list[bytes]:
        wires: list[Wire] = []
        async with served(wires) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(2):
                writer.write(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
                assert (await reader.readuntil(b"body")).startswith(HEAD[:8])
            writer.close()
        return wires[0].writes

    writes = asyncio.run(run())
    assert len(writes) == 2
    assert all(write.startswith(b"HTTP/1.1 200") and write.endswith(b"body") for write in writes)
