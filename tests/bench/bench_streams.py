"""Many streams at once: some readers are slow, some hang up, and all others must get their answer, in bounded memory.

`python -m tests.bench.bench_streams --out FILE` starts the service over an engine that gives one token to every open
request each `--pace-s`, opens `--streams` chats and reads them. Every tenth reader takes little at a time, so that its
connection is full most of the time, and every tenth hangs up in the middle. `cpu_us_an_event` is the processor time of
the API process for each token of each stream, which other work on the machine changes little.
"""

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import psutil

from tests.support.answering_engine import Answers
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

ROOT: Final = Path(__file__).parents[2]
SLOW_BYTES: Final = 2048  # a slow reader takes this much …
SLOW_S: Final = 0.2  # … this often
BUFFER_BYTES: Final = 8192  # of the kernel, for a slow reader


@dataclass(frozen=True, slots=True)
class Load:
    """So many streams of so many tokens, one token each `pace_s`."""

    streams: int
    tokens: int
    pace_s: float


@dataclass(slots=True)
class Seen:
    """What the readers saw. Gaps are seconds between two pieces that a reader without delay received."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    hung_up: int = 0
    slow_right: int = 0
    gaps: list[float] = field(default_factory=list)
    most_mb: float = 0.0
    events: int = 0


class Reader:
    """One stream of one client."""

    def __init__(self, number: int, address: tuple[str, int], expected: str, seen: Seen) -> None:
        self._kind = {3: "slow", 7: "leaves"}.get(number % 10, "plain")
        self._address = address
        self._expected = expected
        self._seen = seen

    async def run(self) -> None:
        """Read the stream in the way of this reader, and note how it ended."""
        reader, writer = await self._open()
        try:
            data = await self._read(reader)
        except OSError as error:
            self._seen.wrong.append(f"{self._kind}: {error}")
            return
        finally:
            writer.close()
        if data is None:
            self._seen.hung_up += 1
        elif text_of(data) != self._expected:
            self._seen.wrong.append(f"{self._kind}: {data[-200:]!r}")
        elif self._kind == "slow":
            self._seen.slow_right += 1
        else:
            self._seen.right += 1

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        connection = socket.socket()
        connection.settimeout(0)
        if self._kind == "slow":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        await asyncio.get_running_loop().sock_connect(connection, self._address)
        reader, writer = await asyncio.open_connection(sock=connection, limit=BUFFER_BYTES)
        body = json.dumps(
            {"messages": [{"role": "user", "content": "go"}], "stream": True}, separators=(",", ":")
        ).encode()
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        return reader, writer

    async def _read(self, reader: asyncio.StreamReader) -> bytes | None:
        data, last = bytearray(), 0.0
        leaves_at = random.randrange(1000, 20_000) if self._kind == "leaves" else None
        while piece := await reader.read(SLOW_BYTES if self._kind == "slow" else 65536):
            data += piece
            self._seen.events += piece.count(b"data: {")
            now = time.perf_counter()
            if last and self._kind == "plain":
                self._seen.gaps.append(now - last)
            last = now
            if leaves_at is not None and len(data) > leaves_at:
                return None
            if self._kind == "slow":
                await asyncio.sleep(SLOW_S)
        return bytes(data)


def text_of(response: bytes) -> str | None:
    """The text of a whole streamed answer; None if it is not one."""
    head, _, body = response.partition(b"\r\n\r\n")
    events = dechunked(body).decode().split("\n\n")
    if not head.startswith(b"HTTP/1.1 200") or events[-2:] != ["data: [DONE]", ""]:
        return None
    chunks = [json.loads(e.removeprefix("data: ")) for e in events[:-2] if not e.startswith(":")]
    return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)


def dechunked(body: bytes) -> bytes:
    """A body without its transfer coding."""
    parts, at = [], 0
    while at < len(body):
        end = body.index(b"\r\n", at)
        size = int(body[at:end], 16)
        parts.append(body[end + 2 : end + 2 + size])
        at = end + 4 + size
    return b"".join(parts)


def megabytes(server: psutil.Process) -> float:
    """Resident memory of the API process, without the engine's."""
    return float(server.memory_info().rss) / 1e6


async def run(count: int, address: tuple[str, int], expected: str, server: psutil.Process) -> Seen:
    seen = Seen()

    async def watch() -> None:
        while True:
            seen.most_mb = max(seen.most_mb, megabytes(server))
            await asyncio.sleep(0.2)

    watching = asyncio.create_task(watch())
    readers = [Reader(number, address, expected, seen) for number in range(count)]
    await asyncio.gather(*(reader.run() for reader in readers))
    watching.cancel()
    return seen


def cpu_s(process: psutil.Process) -> float:
    """Processor time of a process so far, in seconds."""
    times = process.cpu_times()
    return float(times.user + times.system)


def measure(given: Load, folder: Path) -> dict[str, Any]:
    """What the readers of such a load saw, and what it took from the API process."""
    model = write_checkpoint(folder / "answering", LLAMA)
    text = ("0123456789" * given.tokens)[: given.tokens]
    answers = folder / "answers.json"
    prepared = Answers({}, tuple(text.encode()), given.pace_s)
    answers.write_bytes(msgspec.json.encode(prepared))
    settings = json.dumps({"port": 0, "max_requests": given.streams, "log_level": "error"})
    command = [sys.executable, "-m", "tests.support.serve_answering"]
    command += [str(model), str(answers), settings]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            host, _, port = url.removeprefix("http://").partition(":")
            address, server = (host, int(port)), psutil.Process(process.pid)
            asyncio.run(ready(address))
            asyncio.run(run(20, address, text, server))
            before = megabytes(server)
            started, began = time.perf_counter(), cpu_s(server)
            seen = asyncio.run(run(given.streams, address, text, server))
            seconds, took = time.perf_counter() - started, cpu_s(server) - began
        finally:
            process.terminate()
    gaps = sorted(seen.gaps)
    return {
        "streams": given.streams,
        "tokens": given.tokens,
        "pace_s": given.pace_s,
        "seconds": round(seconds, 1),
        "right": seen.right,
        "slow_right": seen.slow_right,
        "hung_up": seen.hung_up,
        "wrong": seen.wrong[:5],
        "cpu_us_an_event": round(took / seen.events * 1e6, 1),
        "gap_p50_ms": round(gaps[len(gaps) // 2] * 1e3, 1),
        "gap_p99_ms": round(gaps[len(gaps) * 99 // 100] * 1e3, 1),
        "memory_before_mb": round(before),
        "memory_most_mb": round(seen.most_mb),
        "memory_a_stream_kb": round((seen.most_mb - before) * 1e3 / given.streams),
    }


async def ready(address: tuple[str, int]) -> None:
    """Wait until the server accepts requests."""
    for _ in range(600):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET /ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        if answer.startswith(b"HTTP/1.1 200"):
            return
        await asyncio.sleep(0.2)
    raise TimeoutError("the server did not become ready")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--tokens", type=int, default=400)
    parser.add_argument("--pace-s", type=float, default=0.1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load = Load(given.streams, given.tokens, given.pace_s)
        result = measure(load, Path(folder))
    text = json.dumps(result, indent=2) + "\n"
    print(text)
    if given.out is not None:
        given.out.write_text(text)
    return int(bool(result["wrong"]))


if __name__ == "__main__":
    raise SystemExit(main())
