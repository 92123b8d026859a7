"""Work in a child process with limits, so that a hang, a crash or an explosion of memory is an answer.

Does: ask children one question after the other, each with a deadline; say how each ended. Does not: judge.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")
_FORK = multiprocessing.get_context("fork")


class Ended(StrEnum):
    """What became of a question that has no answer."""

    TIME = "time-out"
    MEMORY = "memory"
    CRASH = "crash"


@dataclass(frozen=True)
class Limits:
    """Of one question: processor seconds, wall seconds (for a child that waits), bytes above the child's start."""

    cpu_s: float
    wall_s: float
    more_bytes: int


@dataclass(frozen=True)
class Reply(Generic[A]):
    """`cpu_s`: processor seconds of the child; `grown`: bytes its resident memory grew by at its highest."""

    answer: A | Ended
    cpu_s: float
    grown: int


class Child(Generic[Q, A]):
    """A forked process that answers with `function`; it is replaced when it ends."""

    def __init__(self, function: Callable[[Q], A], limits: Limits) -> None:
        self._function = function
        self._limits = limits
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def ask(self, question: Q) -> Reply[A]:
        """The answer, or how the child ended over it. What `function` raises is raised here."""
        if self._process is None:
            self._start()
        assert self._pipe is not None
        assert self._process is not None
        self._pipe.send(question)
        begun, deadline = _cpu(self._process.pid), time.monotonic() + self._limits.wall_s
        while not self._pipe.poll(0.05):
            spent = _cpu(self._process.pid) - begun
            if spent > self._limits.cpu_s or time.monotonic() > deadline:
                self.close()
                return Reply(Ended.TIME, spent, 0)
        try:
            answer, cpu_s, grown = self._pipe.recv()
        except EOFError:
            self.close()
            return Reply(Ended.CRASH, 0.0, 0)
        if answer is Ended.MEMORY:
            self.close()
        elif isinstance(answer, Exception):
            raise answer
        return Reply(answer, cpu_s, grown)

    def close(self) -> None:
        """End the child."""
        if self._process is not None and self._pipe is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
        self._process = self._pipe = None

    def __enter__(self) -> "Child[Q, A]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        self._pipe, theirs = _FORK.Pipe()
        self._process = _FORK.Process(
            target=_serve, args=(theirs, self._function, self._limits), daemon=True
        )
        self._process.start()
        theirs.close()


def spread(
    function: Callable[[Q], A], questions: Iterable[Q], limits: Limits, jobs: int, renew: int = 200
) -> Iterator[tuple[Q, Reply[A]]]:
    """Every question with its reply, in order, from `jobs` children; one that has answered `renew` is replaced."""

    def work(share: list[Q]) -> list[Reply[A]]:
        replies = []
        with Child(function, limits) as child:
            for number, question in enumerate(share, 1):
                replies.append(child.ask(question))
                if number % renew == 0:
                    child.close()
        return replies

    every = list(questions)
    with ThreadPoolExecutor(jobs) as pool:
        shares = list(pool.map(work, (every[start::jobs] for start in range(jobs))))
    for number, question in enumerate(every):
        yield question, shares[number % jobs][number // jobs]


def _serve(pipe: Connection, function: Callable[[Q], A], limits: Limits) -> None:
    top = _status("VmSize") + limits.more_bytes
    resource.setrlimit(resource.RLIMIT_AS, (top, top))
    while True:
        try:
            question = pipe.recv()
        except EOFError:
            return
        Path("/proc/self/clear_refs").write_text("5")  # begin the highest resident size anew
        before, begun = _status("VmRSS"), time.process_time()
        try:
            answer: object = function(question)
        except MemoryError:
            answer = Ended.MEMORY
        except Exception as error:  # noqa: BLE001 - handed on to whoever asked
            answer = error
        pipe.send((answer, time.process_time() - begun, max(_status("VmHWM") - before, 0)))


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _cpu(pid: int | None) -> float:
    """Processor seconds a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
