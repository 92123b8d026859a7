"""A3: connections that send their headers or bodies slowly are closed, and others are answered meanwhile."""

import asyncio
import time
from dataclasses import dataclass, field

from tests.reliability.figures import Figure
from tests.reliability.served import Served
from tests.reliability.wire import Address, connect, exchange, head, percentile, post

EXTRACTION = post("/v1/extract", {"schema": {"type": "integer"}, "text": "<<echo 7>>"})


@dataclass
class Seen:
    """Seconds until slow connections were closed, and latencies of the requests beside them."""

    headers: list[float] = field(default_factory=list)
    bodies: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    wrong: int = 0


async def dawdle(address: Address, beginning: bytes, pause_s: float) -> float:
    """Send a byte now and then until the server closes; the seconds that it took."""
    reader, writer = await connect(address)
    began = time.perf_counter()
    closed = asyncio.create_task(reader.read())
    try:
        writer.write(beginning)
        while not closed.done():
            await asyncio.wait({closed}, timeout=pause_s)
            writer.write(b"a")
    finally:
        writer.transport.abort()
    if not closed.cancelled():
        closed.exception()  # a reset is an end, too
    return time.perf_counter() - began


async def run(address: Address, headers: int, bodies: int, pause_s: float) -> Seen:
    seen = Seen()
    partial = b"POST /v1/extract HTTP/1.1\r\nhost: localhost\r\nx-slow: "
    whole = head("POST", "/v1/extract", {"content-length": "100000"})

    async def slow(beginning: bytes, into: list[float]) -> None:
        into.append(await dawdle(address, beginning, pause_s))

    async def beside() -> None:
        while True:
            answer = await exchange(address, EXTRACTION)
            seen.beside.append(answer.seconds)
            seen.wrong += answer.status != 200
            await asyncio.sleep(0.05)

    sending = asyncio.create_task(beside())
    await asyncio.gather(
        *(slow(partial, seen.headers) for _ in range(headers)),
        *(slow(whole, seen.bodies) for _ in range(bodies)),
    )
    sending.cancel()
    return seen


SETTINGS = {"header_timeout_s": 10.0, "body_timeout_s": 15.0, "max_requests": 512}


def measure(
    service: Served,
    headers: int = 1000,
    bodies: int = 200,
    limits_s: tuple[float, float] = (10.0, 15.0),
) -> list[Figure]:
    """So many slow connections of each kind at once. `limits_s`: the server's, for headers and for bodies."""
    alone = [asyncio.run(exchange(service.address, EXTRACTION)).seconds for _ in range(30)]
    seen = asyncio.run(run(service.address, headers, bodies, limits_s[0] / 10))
    longest = max(seen.headers, default=0.0), max(seen.bodies, default=0.0)
    return [
        Figure(
            id="A3",
            what="connections with slow headers, and with slow bodies",
            count=headers + bodies,
            bound=f"all closed, after {limits_s[0]:g} and {limits_s[1]:g} s",
            measured=f"all closed, after at most {longest[0]:.1f} and {longest[1]:.1f} s",
            met=(len(seen.headers), len(seen.bodies)) == (headers, bodies),
        ),
        Figure(
            id="A3",
            what="requests beside them",
            count=len(seen.beside),
            bound="answered, p99 +20%",
            measured=f"{seen.wrong} failed, p99 {1e3 * percentile(seen.beside, 0.99):.0f} ms, "
            f"{1e3 * percentile(alone, 0.99):.0f} ms alone",
            met=False if seen.wrong else None,
        ),
    ]
