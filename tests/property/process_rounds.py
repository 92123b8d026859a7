"""Processes killed, stopped and broken, round after round: the tests of single rounds, as often as asked.

`python -m tests.property.process_rounds --server 50 --engine 20 --workers 200`: `kill -9` of the server, after which no
engine and no socket is left; SIGSTOP of an engine, which is found, killed and replaced; examinations that end their
process by a signal, without harm to the next one. Every round ends with the assertions of its test.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from intaglio.grammar.intake.isolation import ExaminationPool

from tests.engine.process.test_client import test_an_engine_that_hangs_is_killed_and_replaced
from tests.grammar.test_isolation import LIMITS, test_many_kills_in_a_row_leave_nothing_behind
from tests.service.test_process import test_kill_9_of_the_server_leaves_no_engine_and_no_sockets
from tests.support.faulty_worker import ENTRY
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint
from tests.support.tokens import small

KILLS_OF_A_ROUND = 30


def repeated(name: str, count: int, once: Callable[[], None]) -> None:
    """Run a round so many times, and print the longest."""
    longest = 0.0
    for _ in range(count):
        began = time.monotonic()
        once()
        longest = max(longest, time.monotonic() - began)
    print(f"{name}: {count} rounds, the longest {longest:.1f} s", flush=True)


def broken_workers(count: int) -> None:
    """So many examinations that end their process."""
    pool = ExaminationPool(small().vocabulary(), LIMITS, entry=ENTRY)
    pool.start()
    try:
        for _ in range(-(-count // KILLS_OF_A_ROUND)):
            test_many_kills_in_a_row_leave_nothing_behind(pool)
    finally:
        pool.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", type=int, default=50)
    parser.add_argument("--engine", type=int, default=20)
    parser.add_argument("--workers", type=int, default=200)
    asked = parser.parse_args()
    repeated(f"{asked.workers} broken workers", 1, lambda: broken_workers(asked.workers))
    stop = test_an_engine_that_hangs_is_killed_and_replaced
    repeated("SIGSTOP of an engine", asked.engine, lambda: stop("stopped"))
    kill = test_kill_9_of_the_server_leaves_no_engine_and_no_sockets
    with tempfile.TemporaryDirectory() as root:
        folder = write_checkpoint(Path(root) / "model", LLAMA)
        repeated("kill -9 of the server", asked.server, lambda: kill(folder))


if __name__ == "__main__":
    main()
