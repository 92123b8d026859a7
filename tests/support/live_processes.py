"""The processes below one that run, while any of them may end.

Does: leave out those that have ended, also between two questions about them. Does not: start or end processes.
"""

import os
from contextlib import suppress

import psutil


def commands(pid: int | None = None, *, recursive: bool = False) -> dict[psutil.Process, list[str]]:
    """The processes that run below that of `pid`, or below this one, with their command lines."""
    found: dict[psutil.Process, list[str]] = {}
    with suppress(psutil.NoSuchProcess):  # of the one above
        for child in psutil.Process(os.getpid() if pid is None else pid).children(recursive):
            with suppress(psutil.NoSuchProcess):
                command = child.cmdline()
                if not has_ended(child):
                    found[child] = command
    return found


def has_ended(process: psutil.Process) -> bool:
    """Whether a process has ended, even if its parent has not collected its status."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
