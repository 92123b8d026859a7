"""Signals before a command has begun.

Ctrl-C while modules are loaded would otherwise show a traceback of the import system, and a reader that leaves while
help is printed would end in the library that prints it, with the exit code of a failure.

Does: end the process at once, with the exit codes of `cli_errors`. Does not: handle signals of a running command, which
may have something to release.
"""

import os
import signal

TYPE_CHECKING = False  # that of `typing`, which takes a while to load
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_PYTHONS: "dict[signal.Signals, Any]" = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGPIPE: signal.SIG_IGN,
}


def end_on_signals() -> None:
    """End the process on Ctrl-C and on a closed pipe, from now on. What the caller had ignored stays ignored."""
    for number, handler in _PYTHONS.items():
        if signal.getsignal(number) == handler:
            signal.signal(number, _end)


def restore_signals() -> None:
    """Raise `KeyboardInterrupt` and `BrokenPipeError` again, which a command handles."""
    for number, handler in _PYTHONS.items():
        if signal.getsignal(number) is _end:
            signal.signal(number, handler)


def _end(number: int, _frame: "FrameType | None") -> None:
    os._exit(128 + number)
