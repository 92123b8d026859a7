"""A5: clients that leave at random moments leave nothing behind: no request, no memory of the engine, no place."""

import asyncio
import random
import time
from functools import partial
from typing import Any

from tests.reliability.figures import Figure
from tests.reliability.served import Served
from tests.reliability.wire import Address, chat, connect, exchange, post
from tests.support.live_service import until

SETTINGS: dict[str, Any] = {}
AT_ONCE = 50
FORMS: tuple[tuple[str, Any], ...] = (
    ("/v1/chat/completions", chat("slow 0123456789", stream=True)),
    ("/v1/chat/completions", chat("slow 0123456789", n=2)),
    ("/v1/extract", {"schema": {}, "text": "<<slow 1234567>>", "stream": True}),
    ("/v1/extract", {"schema": {}, "text": "<<slow 1234567>>"}),
    ("/api/generate", {"model": "model", "prompt": "<<slow 0123456789>>"}),
)


async def leave(address: Address, dice: random.Random) -> None:
    """Send a request and leave before, while or after it is answered."""
    reader, writer = await connect(address)
    request = post(*dice.choice(FORMS))
    if dice.random() < 0.1:
        request = request[: dice.randrange(len(request))]
    writer.write(request)
    reading = asyncio.create_task(reader.read())
    await asyncio.wait({reading}, timeout=dice.random() * 1.5)
    reading.cancel()
    writer.transport.abort()


async def run(address: Address, count: int, seed: int) -> None:
    dice, places = random.Random(seed), asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with places:
            await leave(address, dice)

    await asyncio.gather(*(one() for _ in range(count)))


def idle(service: Served) -> bool:
    """Whether neither the service nor its engine has a request."""
    names = ("intaglio_requests_in_hand", "intaglio_num_requests_running")
    return not any(service.metric(name) for name in names)


def measure(service: Served, count: int = 500, seed: int = 17) -> list[Figure]:
    """So many requests whose clients leave."""
    asyncio.run(run(service.address, count, seed))
    began = time.perf_counter()
    until(partial(idle, service))
    seconds = time.perf_counter() - began
    used = service.metric("intaglio_kv_cache_usage_ratio")
    after = asyncio.run(exchange(service.address, post("/v1/chat/completions", chat("echo a"))))
    return [
        Figure(
            id="A5",
            what="clients that leave at random moments",
            count=count,
            bound="requests, blocks and places given back",
            measured=f"all given back {seconds:.1f} s after the last one left, "
            f"{used:.0%} of the blocks in use, the next request got {after.status}",
            met=not used and after.status == 200,
        )
    ]
