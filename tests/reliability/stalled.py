"""A4: readers that stop hold little memory, are cut off, and leave the others alone."""

import asyncio
import time
from functools import partial
from typing import Any

from tests.reliability.figures import Figure
from tests.reliability.served import MostResident, Served
from tests.reliability.wire import chat, connect, events, exchange, post
from tests.support.live_service import until

TEXT = "0123456789" * 100
OTHER = post("/v1/chat/completions", chat("echo abc", stream=True))


def request(*, scored: bool) -> bytes:
    """A stream of 1,000 tokens, with 20 scored alternatives to each if `scored`."""
    more: dict[str, Any] = {"logprobs": True, "top_logprobs": 20} if scored else {}
    return post("/v1/chat/completions", chat(f"echo {TEXT}", stream=True, **more))


async def run(service: Served, readers: int, *, scored: bool) -> tuple[int, int, float]:
    """Streams that stop, and others beside them one after the other.

    How many others there were, how many were wrong, and the seconds until the server had cut all stopped ones off.
    """
    stopped, others, wrong = [], 0, 0
    for _ in range(readers):
        reader, writer = await connect(service.address, receive_buffer=4096)
        writer.write(request(scored=scored))
        await reader.read(64)
        stopped.append(writer)
    began = time.perf_counter()
    while await asyncio.to_thread(service.metric, "intaglio_requests_in_hand"):
        answer = await exchange(service.address, OTHER)
        others += 1
        wrong += answer.status != 200 or events(answer.body)[-1:] != ["[DONE]"]
        await asyncio.sleep(0.2)
    seconds = time.perf_counter() - began
    for writer in stopped:
        writer.transport.abort()
    return others, wrong, seconds


def idle(service: Served) -> bool:
    """Whether the engine has no open request."""
    return not service.metric("intaglio_num_requests_running")


SETTINGS = {"write_timeout_s": 30.0}


def measure(service: Served, readers: int = 64) -> list[Figure]:
    """So many readers that stop, without and with log-probabilities."""
    found = []
    for scored in (False, True):
        asyncio.run(exchange(service.address, request(scored=scored)))
        with MostResident(service) as memory:
            others, wrong, seconds = asyncio.run(run(service, readers, scored=scored))
        until(partial(idle, service))
        each = memory.more_mib * 1024 / readers
        found.append(
            Figure(
                id="A4",
                what="readers that stop" + (", with 20 scored tokens a token" if scored else ""),
                count=readers,
                bound="cut off, engine free, 256 KiB each, others unaffected",
                measured=f"cut off after {seconds:.0f} s, engine free, {each:.0f} KiB each, "
                f"{wrong} of {others} others wrong",
                met=not wrong and each <= 256,
            )
        )
    return found
