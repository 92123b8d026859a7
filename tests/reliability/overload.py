"""A6: more requests than can be served: the excess is refused at once, and the others are served as if alone."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

from tests.reliability.figures import Figure
from tests.reliability.served import Served
from tests.reliability.wire import Address, Reply, exchange, percentile, post

BATCH, PACE_S, PLACES = 8, 0.02, 16
TEXT = "1" * 20
SETTINGS: dict[str, Any] = {"max_requests": PLACES}
SCRIPT: dict[str, Any] = {"batch": BATCH, "pace_s": PACE_S}
REQUEST = post("/v1/extract", {"schema": {}, "text": f"<<slow {TEXT}>>"})
CAPACITY_PER_S = BATCH / (PACE_S * len(TEXT))
"""Requests a second that the scripted engine answers on an idle machine."""


async def open_loop(address: Address, seconds: float, rate: float) -> list[Reply]:
    """Requests that arrive at a rate, whether or not others were answered."""
    began, count = time.perf_counter(), int(seconds * rate)

    async def one(number: int) -> Reply:
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        return await exchange(address, REQUEST)

    return list(await asyncio.gather(*(one(number) for number in range(count))))


def wrong(replies: list[Reply]) -> Iterator[Reply]:
    """Replies that are neither an answer nor a refusal that says when to come back."""
    for reply in replies:
        told = reply.status == 429 and int(reply.headers.get("retry-after", 0)) >= 1
        if reply.status != 200 and not told:
            yield reply


def measure(service: Served, seconds: float = 60.0, factor: float = 10.0) -> list[Figure]:
    """So many seconds at `factor` times the capacity."""
    alone = [asyncio.run(exchange(service.address, REQUEST)).seconds for _ in range(5)]
    replies = asyncio.run(open_loop(service.address, seconds, factor * CAPACITY_PER_S))
    served = [reply.seconds for reply in replies if reply.status == 200]
    refused = [reply.seconds for reply in replies if reply.status == 429]
    bad = list(wrong(replies))
    found = (("refusals, p99", refused), ("answers, p99", served), ("alone, p99", alone))
    times = ", ".join(
        f"{what} {1e3 * percentile(each or [0.0], 0.99):.0f} ms" for what, each in found
    )
    return [
        Figure(
            id="A6",
            what=f"an open loop at {factor:g} times the capacity, {seconds:g} s",
            count=len(replies),
            bound="answered, or 429 with Retry-After",
            measured=f"{len(served)} answered, {len(refused)} refused, {len(bad)} otherwise",
            met=not bad and bool(served) and bool(refused),
        ),
        Figure(
            id="A6",
            what="times meanwhile",
            count=len(replies),
            bound="refusals in 50 ms, answers twice the time alone",
            measured=times,
            met=None,
        ),
    ]
