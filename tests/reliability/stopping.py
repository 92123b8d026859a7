"""A7: SIGTERM under streams: new requests are refused, every stream ends whole or with an error event, exit 0."""

import asyncio
import json
import signal
from collections import Counter
from pathlib import Path

from tests.reliability.figures import Figure
from tests.reliability.served import Served, served
from tests.reliability.wire import PATIENCE_S, Reply, chat, events, exchange, get, post
from tests.support.live_service import until


async def in_hand(service: Served, count: int) -> None:
    """Wait until so many requests are in hand."""

    def are() -> bool:
        return service.metric("intaglio_requests_in_hand") == count

    await asyncio.to_thread(until, are)


async def stopped(service: Served, texts: list[str]) -> list[Reply]:
    """Streams of these texts, SIGTERM while they run, and two requests after it: the replies to all of them."""
    requests = [post("/v1/chat/completions", chat(f"slow {text}", stream=True)) for text in texts]
    running = [asyncio.create_task(exchange(service.address, one)) for one in requests]
    await in_hand(service, len(texts))
    service.popen.send_signal(signal.SIGTERM)
    ready = await exchange(service.address, get("/readyz"))
    while ready.status == 200:
        ready = await exchange(service.address, get("/readyz"))
    late = await exchange(service.address, post("/v1/chat/completions", chat("echo a")))
    return [*await asyncio.gather(*running), ready, late]


async def stopped_twice(service: Served) -> Reply:
    """The reply to a request that would never end, after two signals."""
    body = chat("hold", stream=True)
    held = asyncio.create_task(exchange(service.address, post("/v1/chat/completions", body)))
    await in_hand(service, 1)
    service.popen.send_signal(signal.SIGTERM)
    while (await exchange(service.address, get("/readyz"))).status == 200:
        pass
    service.popen.send_signal(signal.SIGTERM)
    return await held


def end_of(reply: Reply) -> str:
    """How a stream ended: whole, error or broken."""
    found = events(reply.body) if reply.status == 200 else []
    if not found:
        return "broken"
    if found[-1] == "[DONE]":
        return "whole"
    return "error" if "error" in json.loads(found[-1]) else "broken"


def measure(folder: Path, rounds: int = 20, streams: int = 64) -> list[Figure]:
    """So many servers, each stopped under so many streams, half of which outlast the grace."""
    ends, refused, statuses = Counter[str](), Counter[int](), Counter[int]()
    texts = ["0123456789" * (1 if number % 2 else 30) for number in range(streams)]
    for _ in range(rounds):
        with served(folder, {"pace_s": 0.05}, examines=False, grace_s=2.0) as service:
            *replies, ready, late = asyncio.run(stopped(service, texts))
            statuses[service.popen.wait(PATIENCE_S)] += 1
        ends.update(map(end_of, replies))
        refused.update((ready.status, late.status))
    with served(folder, {"pace_s": 0.05}, examines=False, grace_s=3600.0) as service:
        second = asyncio.run(stopped_twice(service)).status
        statuses[service.popen.wait(PATIENCE_S)] += 1
    return [
        Figure(
            id="A7",
            what=f"SIGTERM under {streams} streams, and once two signals",
            count=rounds + 1,
            bound="streams whole or ended by an error event, others 503, exit 0",
            measured=f"streams {dict(ends)}, others {dict(refused)}, exit {dict(statuses)}, "
            f"{second} after a second signal",
            met=not ends["broken"] and {*refused, second} == {503} and set(statuses) == {0},
        )
    ]
