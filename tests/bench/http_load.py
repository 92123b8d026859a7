"""A load generator: `python -m tests.bench.http_load FILE HOST PORT PART PARTS CLIENTS OUT`, one process of several.

FILE has one request body a line; this process sends every PARTS-th, from PART on, over CLIENTS connections, each of
which sends its next request when it has the answer to the last. It opens the connections, prints `ready`, waits for a
line on standard input, runs, and writes OUT: seconds of the monotonic clock, and status, latency and body of each
answer. It imports nothing but the standard library, so that a hundred connections cost what they must.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class Connection(asyncio.Protocol):
    """One client: sends the next request of `work` when the last is answered."""

    def __init__(self, work: Iterator[tuple[int, bytes]], found: list[dict[str, Any]]) -> None:
        self._work = work
        self._found = found
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._length: int | None = None
        self._sent: tuple[int, float] | None = None
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def begin(self) -> None:
        """Send the next request, or end."""
        assert self._transport is not None
        following = next(self._work, None)
        if following is None or self._transport.is_closing():
            self._sent = None
            self._end()
            return
        self._buffer, self._length = b"", None
        self._sent = following[0], time.monotonic()
        self._transport.write(following[1])

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._length is None:
            head = self._buffer.find(b"\r\n\r\n")
            if head < 0:
                return
            declared = _LENGTH.search(self._buffer, 0, head)
            self._length = head + 4 + (int(declared[1]) if declared else 0)
        if len(self._buffer) >= self._length:
            self._record(int(self._buffer[9:12]))
            self.begin()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._sent is not None:
            self._record(0)
        self._end()

    def _record(self, status: int) -> None:
        assert self._sent is not None
        number, sent = self._sent
        body = self._buffer.partition(b"\r\n\r\n")[2].decode()
        latency = time.monotonic() - sent
        self._found.append({"n": number, "status": status, "latency": latency, "body": body})
        self._sent = None

    def _end(self) -> None:
        if not self.done.done():
            self.done.set_result(None)


def requests(file: Path, host: str, part: int, parts: int) -> Iterator[tuple[int, bytes]]:
    """The number and the bytes of each request of this process."""
    for number, line in enumerate(file.read_bytes().splitlines()):
        if number % parts == part:
            head = (
                f"POST /v1/extract HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(line)}\r\n\r\n"
            )
            yield number, head.encode() + line


async def run(file: Path, host: str, port: int, part: int, parts: int, clients: int) -> Any:
    """All requests of this process; when they began and ended, and what was answered."""
    found: list[dict[str, Any]] = []
    work = iter(list(requests(file, host, part, parts)))
    loop = asyncio.get_running_loop()
    connections = [
        (await loop.create_connection(lambda: Connection(work, found), host, port))[1]
        for _ in range(clients)
    ]
    print("ready", flush=True)
    await loop.run_in_executor(None, sys.stdin.readline)
    began = time.monotonic()
    for connection in connections:
        connection.begin()
    await asyncio.gather(*(connection.done for connection in connections))
    return {"began": began, "ended": time.monotonic(), "answers": found}


if __name__ == "__main__":
    _, file, host, port, part, parts, clients, out = sys.argv
    figures = asyncio.run(run(Path(file), host, int(port), int(part), int(parts), int(clients)))
    Path(out).write_text(json.dumps(figures))
