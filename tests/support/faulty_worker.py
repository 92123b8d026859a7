"""The worker of `grammar.intake.isolation`, with faults: a pattern that begins with `!` names the failure."""

import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from intaglio.grammar.compiler.compile import Compiler
from intaglio.grammar.contract.constraint import Constraint
from intaglio.grammar.intake import verdict, worker
from intaglio.grammar.intake.verdict import Verdict

ENTRY = (
    f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
    "from intaglio.grammar.intake.worker import stay_single; stay_single()\n"
    "from tests.support.faulty_worker import main\nraise SystemExit(main())"
)


def eat() -> None:
    """Allocate without end. No page is touched: that may take longer than the processor time that a worker has."""
    held = []
    while True:
        held.append(bytearray(1 << 22))


def spin() -> None:
    while True:
        pass


def sleep() -> None:
    time.sleep(3600)


def deaf() -> None:
    """Block all signals that can be blocked, and loop for ever."""
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
    spin()


def bug() -> None:
    raise ZeroDivisionError("planted")


FAULTS = {
    "!segfault": lambda: ctypes.string_at(0),
    "!abort": os.abort,
    "!exit": lambda: os._exit(0),
    "!eat": eat,
    "!deaf": deaf,
    "!sleep": sleep,
    "!bug": bug,
}


def main() -> int:
    """As `intaglio.grammar.intake.worker.main`."""
    whole = verdict.examine

    def examine(
        compiler: Compiler, constraint: Constraint, clock: Callable[[], float] = time.thread_time
    ) -> Verdict:
        if constraint.source in FAULTS:
            FAULTS[constraint.source]()
        return whole(compiler, constraint, clock)

    verdict.examine = examine
    return worker.main()
