"""Bounded concurrency of both clients: tasks for the asynchronous one, threads for the synchronous one.

Does: run one function over items, a few at a time. Does not: retry. The generated client calls `map_bounded` where the
asynchronous one calls `gather_bounded`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")


async def gather_bounded(
    work: Callable[[T], Awaitable[None]], items: Iterable[T], at_once: int
) -> None:
    """Call `work` for every item, with at most `at_once` running. The first error ends the rest and is raised."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    workers = [asyncio.create_task(worker()) for _ in range(at_once)]
    try:
        await asyncio.gather(*workers)
    finally:
        for one in workers:
            one.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def map_bounded(work: Callable[[T], None], items: Iterable[T], at_once: int) -> None:
    """As `gather_bounded`, in threads. Items that have not begun when an error is raised do not begin."""
    with ThreadPoolExecutor(at_once) as pool:
        running = [pool.submit(work, item) for item in items]
        done, _ = wait(running, return_when=FIRST_EXCEPTION)
        for one in running:
            one.cancel()
        for one in done:
            one.result()
