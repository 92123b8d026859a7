"""Whether a process was killed from outside: by a signal that its own faults cannot cause.

Does: tell such a signal from a crash, and from a kill by the kernel for lack of memory. Does not: watch processes
(`engine/host/supervisor.py`), or judge the requests that they computed (`engine/host/quarantine.py`).

A process that ends by a fault of its own gets SIGSEGV, SIGABRT, SIGBUS, SIGFPE or SIGILL, or exits with a status. The
kernel kills by SIGKILL when memory is short, which a request may cause, and counts these kills for the whole machine:
if that count rose meanwhile, the cause of a kill is unknown.
"""

import signal
from pathlib import Path
from typing import Final

SIGNALS: Final = frozenset((signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
COUNTERS: Final = Path("/proc/vmstat")


def memory_kills(counters: Path = COUNTERS) -> int | None:
    """The number of processes that the kernel has killed for lack of memory; None where it does not count them."""
    try:
        lines = counters.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)


def was_killed_from_outside(status: int, before: int | None, after: int | None) -> bool:
    """Whether a process ended with `status` by such a signal; `before`, `after`: `memory_kills` around its run."""
    return -status in SIGNALS and before is not None and before == after
