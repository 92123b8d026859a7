"""Runs the plan of one process: an open or a closed loop of requests.

Does: decide when each request is sent. Does not: time requests (`sending`) or start processes (`processes`).
"""

import asyncio
import time
from collections.abc import Callable

import httpx2

from .load_plan import LoadPlan
from .sending import Sender
from .timed_request import TimedRequest
from .workload import LoadTask

Report = Callable[[TimedRequest], None]


async def run(
    plan: LoadPlan,
    tasks: tuple[LoadTask, ...],
    report: Report,
    *,
    key: str | None = None,
    begin: Callable[[], None] = lambda: None,
) -> None:
    """Run the plan; `report` gets each outcome as it ends, `begin` is called after the warm-up."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(
        base_url=plan.url,
        headers=headers,
        timeout=plan.timeout_s,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        trust_env=False,
    ) as http:
        documents = plan.documents()
        warming = Sender(http, plan, tasks, time.perf_counter())
        await asyncio.gather(
            *(warming.send(next(documents), time.perf_counter()) for _ in range(plan.warmup))
        )
        begin()
        sender = Sender(http, plan, tasks, time.perf_counter())
        numbers = [next(documents) for _ in range(plan.requests)]
        if plan.rate is None:
            await _closed(plan, sender, numbers, report)
        else:
            await _open(plan, sender, numbers, report)


async def _closed(plan: LoadPlan, sender: Sender, numbers: list[int], report: Report) -> None:
    """Each client sends its next request when its last one was answered."""
    waiting = iter(numbers)

    async def client() -> None:
        for number in waiting:
            report(await sender.send(number, time.perf_counter()))

    await asyncio.gather(*(client() for _ in range(min(plan.clients, plan.requests))))


async def _open(plan: LoadPlan, sender: Sender, numbers: list[int], report: Report) -> None:
    """Requests are sent at their arrivals. Time that this process is late counts as latency."""
    began = time.perf_counter()

    async def one(number: int, at: float) -> None:
        report(await sender.send(number, began + at))

    async with asyncio.TaskGroup() as group:
        for number, at in zip(numbers, plan.arrivals(), strict=True):
            late = began + at - time.perf_counter()
            if late > 0:
                await asyncio.sleep(late)
            group.create_task(one(number, at))
