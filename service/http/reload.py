"""Handling of SIGHUP, the signal by which a service manager asks a server to reload.

Does: restart the engines. Does not: react where SIGHUP means that the terminal was closed.
"""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable


def listen_for_reload(restart: Callable[[], None]) -> None:
    """Call `restart` in the running event loop at every SIGHUP; no effect in a process that has a terminal."""
    with contextlib.suppress(ValueError, RuntimeError):  # not the main thread, or stdin is closed
        if not sys.stdin.isatty():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, restart)
