"""Silence is measured in time that a process could have used: a starved one is waited for, a hung one is not."""

import asyncio
import os
import subprocess
from collections.abc import Callable

from intaglio.engine.host.starvation import Waits, patiently, waits

PATIENCE_S = 0.2


class Process:
    """A process that waits `share` of its time for a processor, and speaks once its waits were read so many times."""

    def __init__(self, share: float, speaks_after: int) -> None:
        self._share = share
        self._speaks_after = speaks_after
        self._speaks = asyncio.Event()
        self.read = 0

    async def receive(self) -> str:
        await self._speaks.wait()
        return "here"

    def waits(self) -> Waits:
        self.read += 1
        if self.read == self._speaks_after:
            self._speaks.set()
        # Another thread slept all along.
        return {"1": 7.0, "2": 3.0 + self._share * PATIENCE_S * self.read}


def heard(process: Process, most_s: float = 60.0) -> str | None:
    return asyncio.run(patiently(process.receive, process.waits, PATIENCE_S, most_s))


def test_a_process_that_is_starved_is_waited_for() -> None:
    assert heard(Process(share=1.0, speaks_after=9)) == "here"


def test_a_process_that_hangs_is_given_up_at_once() -> None:
    process = Process(share=0.0, speaks_after=9)
    assert heard(process) is None
    assert process.read == 2


def test_a_process_that_never_speaks_is_given_up_however_starved_it_is() -> None:
    assert heard(Process(share=1.0, speaks_after=10**9), most_s=3 * PATIENCE_S) is None


def test_where_the_system_does_not_count_nothing_is_granted() -> None:
    process = Process(share=1.0, speaks_after=10**9)
    unknown: Callable[[], Waits] = dict
    assert asyncio.run(patiently(process.receive, unknown, PATIENCE_S, 60.0)) is None


def test_the_waits_of_a_real_process_only_grow() -> None:
    before = waits(os.getpid())
    after = waits(os.getpid())
    assert all(after[thread] >= seconds for thread, seconds in before.items() if thread in after)
    assert waits(2**30) == {}


def test_a_process_that_has_exited_has_no_waits() -> None:
    """It may exit while its last message is on its way."""
    exited = subprocess.Popen(["true"])
    exited.wait()
    assert waits(exited.pid) == {}
