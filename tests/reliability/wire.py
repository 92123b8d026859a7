"""A client without a library: requests as bytes, over connections that a test may slow down, stall or cut.

Does: write requests, read replies, take event streams apart. Does not: keep connections or follow redirects.
"""

import asyncio
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Address = tuple[str, int]
PATIENCE_S = 300.0


@dataclass(frozen=True, slots=True)
class Reply:
    """A response, and the seconds from the start of the connection to its last byte."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float

    def json(self) -> Any:
        return json.loads(self.body)


def head(method: str, path: str, headers: Mapping[str, str]) -> bytes:
    """The beginning of a request, with the blank line."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{lines}\r\n".encode()


def post(path: str, body: Any, key: str = "") -> bytes:
    """A whole request with JSON; the connection is closed after the response."""
    data = json.dumps(body).encode()
    headers = {"connection": "close", "content-length": str(len(data))}
    if key:
        headers["authorization"] = f"Bearer {key}"
    return head("POST", path, headers) + data


def get(path: str) -> bytes:
    """A whole request without a body."""
    return head("GET", path, {"connection": "close"})


def chat(order: str, **more: Any) -> dict[str, Any]:
    """The body of a chat completion whose prompt has an order for the scripted engine."""
    return {"messages": [{"role": "user", "content": f"<<{order}>>"}], **more}


async def connect(
    address: Address, receive_buffer: int | None = None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection, with a receive buffer of that size."""
    sock = socket.socket()
    sock.settimeout(0)
    if receive_buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    await asyncio.get_running_loop().sock_connect(sock, address)
    if receive_buffer is None:
        return await asyncio.open_connection(sock=sock)
    return await asyncio.open_connection(sock=sock, limit=receive_buffer)


async def exchange(address: Address, request: bytes) -> Reply:
    """Send a request and read its response.

    Raises:
        OSError: the connection was refused or reset.
        ValueError: what came is no response.
    """
    began = time.perf_counter()
    reader, writer = await connect(address)
    try:
        writer.write(request)
        async with asyncio.timeout(PATIENCE_S):
            data = await reader.read()
    finally:
        writer.close()
    return reply(data, time.perf_counter() - began)


def reply(data: bytes, seconds: float = 0.0) -> Reply:
    """The response in `data`. Raises `ValueError` if it is none."""
    top, blank, body = data.partition(b"\r\n\r\n")
    if not blank:
        raise ValueError(f"no response: {data[:200]!r}")
    lines = top.decode().split("\r\n")
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines[1:])
    }
    if headers.get("transfer-encoding") == "chunked":
        body = dechunked(body)
    return Reply(int(lines[0].split()[1]), headers, body, seconds)


def dechunked(body: bytes) -> bytes:
    """A body without its transfer coding, as far as it came."""
    parts, at = [], 0
    while (end := body.find(b"\r\n", at)) > at:
        size = int(body[at:end], 16)
        parts.append(body[end + 2 : end + 2 + size])
        at = end + 4 + size
    return b"".join(parts)


def events(body: bytes) -> list[str]:
    """The data of the events of a stream, without comments."""
    found = (event for event in body.decode().split("\n\n") if event and not event.startswith(":"))
    return [event.rpartition("data: ")[2] for event in found]


def percentile(values: list[float], share: float) -> float:
    """The value below which so large a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
