"""Limits on the time that a child process could run.

Does: read from Linux's scheduler how long a process ran and how long it waited for a processor; wait for an answer
within a limit that excludes the waiting. Does not: end processes (`isolation`).

On a machine with too few processors a child may wait for most of its time. A limit by the clock alone would refuse
constraints for the load of the machine. On systems without these counters waiting counts as running.
"""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

_MOST_TIMES: Final = 10  # the limit by the clock, as a multiple of the limit on the time to run
_LEAST_S: Final = 0.05  # shorter extensions are not granted


class Ran(NamedTuple):
    """Seconds that a process has run, and that it was ready to run without a processor, since its start."""

    running: float
    waiting: float


def ran(process: int) -> Ran:
    """The counters of a process with one thread; zero where the system has none, or the process has ended."""
    try:
        running, waiting, _ = Path(f"/proc/{process}/schedstat").read_text().split()
    except (OSError, ValueError):
        return Ran(0.0, 0.0)
    return Ran(int(running) / 1e9, int(waiting) / 1e9)


class Starved(Exception):
    """A process had no answer in time and has used little processor time: it waited for something else."""


def wait_for_answer(
    channel: socket.socket, counters: Callable[[], Ran], wall_s: float, cpu_s: float
) -> bool:
    """Wait until there is something to read, or the channel is closed; false once the process has run for `cpu_s`.

    Raises:
        Starved: nothing came while the process could run for `wall_s`, or in many times `wall_s` altogether, and it
            has run for less than `cpu_s`. A process that waits for a disk, for memory or for a processor does so.
    """
    begun, before = time.monotonic(), counters()
    until = begun + wall_s
    while not _is_readable(channel, until - time.monotonic()):
        now = counters()
        extended = begun + wall_s + now.waiting - before.waiting
        if now.running - before.running > cpu_s:
            return False
        if extended < until + _LEAST_S or until >= begun + _MOST_TIMES * wall_s:
            raise Starved
        until = min(extended, begun + _MOST_TIMES * wall_s)
    return True


def _is_readable(channel: socket.socket, seconds: float) -> bool:
    channel.settimeout(max(seconds, 1e-3))
    try:
        channel.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return False
    except OSError:  # closed: the next read says so
        return True
    return True
