"""Patience with a process that is silent because others have the processors.

Does: read what the scheduler of Linux counts for each thread, wait for messages by that measure. Does not: kill a
process, or know what it says. Systems without these counts are never found to starve a process.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

_LEAST_GRANT_S: Final = 0.1  # less starvation than that is no reason to wait on

Waits = dict[str, float]
"""Seconds by thread."""


def waits(process: int) -> Waits:
    """Time that each thread of a process was ready to run and had no processor, since it began.

    A thread that sleeps, that is stopped, or that waits for a lock or the interpreter, is not ready to run. Empty where
    the system does not tell, or the process is gone.
    """
    found: Waits = {}
    for path in Path(f"/proc/{process}/task").glob("*/schedstat"):
        try:
            _, waited, _ = path.read_text().split()
        except (OSError, ValueError):  # the thread has ended
            continue
        found[path.parent.name] = int(waited) / 1e9
    return found


async def patiently(
    receive: Callable[[], Awaitable[T]],
    waited: Callable[[], Waits],
    patience_s: float,
    most_s: float,
) -> T | None:
    """The next message of a process; None where there is none within `patience_s` in which the process could run.

    A process that is well may be silent for long on a machine with too few processors. What it `waited` for one is
    granted again, until `most_s` have passed. A process that hangs, or was stopped, waits for none.
    """
    until, left = time.monotonic() + most_s, patience_s
    while True:
        before = waited()
        try:
            return await asyncio.wait_for(receive(), left)
        except TimeoutError:
            left = min(left, _longest(before, waited()), until - time.monotonic())
        if left < _LEAST_GRANT_S:
            return None


def _longest(before: Waits, after: Waits) -> float:
    """What one thread has waited in between, at most: threads that wait at the same time count once."""
    return max((waited - before.get(thread, 0.0) for thread, waited in after.items()), default=0.0)
