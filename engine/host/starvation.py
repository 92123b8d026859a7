"""Timeouts that exclude the time in which a process was ready to run but had no processor.

Does: read the waiting time of each thread from the scheduler of Linux, and extend a timeout by it. Does not: kill a
process, or know its messages. On systems without these counters timeouts are never extended.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

_LEAST_GRANT_S: Final = 0.1  # shorter extensions are not granted

Waits = dict[str, float]
"""Seconds by thread."""


def waits(process: int) -> Waits:
    """The time that each thread of a process was ready to run without a processor, since its start.

    A thread that sleeps, that is stopped, or that waits for a lock or the interpreter, is not ready to run. Empty where
    the system has no such counters, or the process has exited.
    """
    found: Waits = {}
    with suppress(OSError):  # the process has exited
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError, ValueError):  # the thread has ended
                _, waited, _ = (task / "schedstat").read_text().split()
                found[task.name] = int(waited) / 1e9
    return found


async def patiently(
    receive: Callable[[], Awaitable[T]],
    waited: Callable[[], Waits],
    patience_s: float,
    most_s: float,
) -> T | None:
    """The next message of a process; None if there is none within `patience_s` of time in which the process could run.

    A healthy process may be silent for long on a machine with too few processors. The time that it `waited` for a
    processor is added to the timeout, until `most_s` have passed. A process that hangs or is stopped does not wait for
    a processor.
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
    """The longest wait of one thread between two samples: threads that wait at the same time count once."""
    return max((waited - before.get(thread, 0.0) for thread, waited in after.items()), default=0.0)
