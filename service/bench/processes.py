"""Runs a plan in processes of its own, so that the load generator does not share a core with anything else of ours.

Does: start one process for each share of the plan, begin all at once, and collect their outcomes. Does not: send
requests itself.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass

from .load_plan import LoadPlan
from .timed_request import TimedRequest
from .workload import LoadTask


class LoadFailed(RuntimeError):
    """A process of the load generator ended early; the message has what it wrote."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """All outcomes of a run, and the seconds from its start to its last outcome."""

    outcomes: tuple[TimedRequest, ...]
    seconds: float


def run_load(
    plan: LoadPlan,
    tasks: tuple[LoadTask, ...],
    *,
    key: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> LoadResult:
    """Run the plan; `progress` gets the number of outcomes so far.

    Raises:
        LoadFailed: a process ended early.
    """
    outcomes: list[TimedRequest] = []
    lock = threading.Lock()

    def collect(outcome: TimedRequest) -> None:
        with lock:
            outcomes.append(outcome)
            progress(len(outcomes))

    with ExitStack() as stack:
        workers = [_Worker(share, tasks, key) for share in plan.shares()]
        for worker in workers:
            stack.callback(worker.stop)
        for worker in workers:
            worker.wait_until_ready()
        began = time.perf_counter()
        readers = [threading.Thread(target=worker.read, args=(collect,)) for worker in workers]
        for worker, reader in zip(workers, readers, strict=True):
            worker.begin()
            reader.start()
        for reader in readers:
            reader.join()
        seconds = time.perf_counter() - began
        for worker in workers:
            worker.finish()
    return LoadResult(tuple(sorted(outcomes, key=lambda outcome: outcome.at)), seconds)


class _Worker:
    """One process of the load generator."""

    def __init__(self, plan: LoadPlan, tasks: tuple[LoadTask, ...], key: str | None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "intaglio.service.bench"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        order = {"plan": plan.as_dict(), "tasks": [asdict(task) for task in tasks], "key": key}
        self._write(json.dumps(order))

    def wait_until_ready(self) -> None:
        """Wait for the end of the warm-up."""
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            raise self._failure()

    def begin(self) -> None:
        """Let the process begin."""
        self._write("begin")

    def read(self, collect: Callable[[TimedRequest], None]) -> None:
        """Collect all outcomes."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = json.loads(line)
            collect(TimedRequest(**{**found, "gaps": tuple(found["gaps"])}))

    def finish(self) -> None:
        """Wait for the end of the process. Raises `LoadFailed` if that was not in order."""
        if self._process.wait() != 0:
            raise self._failure()

    def stop(self) -> None:
        """End the process if it still runs."""
        self._process.kill()
        self._process.communicate()

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failure() from None

    def _failure(self) -> LoadFailed:
        self._process.kill()
        assert self._process.stderr is not None
        wrote = self._process.stderr.read().strip().splitlines()
        return LoadFailed(f"a process of the load generator ended: {wrote[-1] if wrote else '?'}")
