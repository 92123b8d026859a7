"""Examination of untrusted constraints in processes that can be killed.

Does: manage a zygote process (`worker`) and its children, give each constraint to an idle child to be examined or
explained, kill a child that is late, and report a constraint as too large if its child exceeded a limit or died. Does
not: cache verdicts or bound the number of waiting constraints (`gate`).
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import Final

from ..contract.constraint import Constraint
from ..contract.errors import CompilerBusy
from ..contract.vocabulary import Vocabulary
from .channel import ChannelClosed, ChildLimits, encode_start, receive, send
from .explain import Explanation
from .explanation_codec import decode_explanation
from .time_to_run import Starved, ran, wait_for_answer
from .verdict import Verdict, cut_off, decode_verdict, encode_constraint
from .worker import ANSWER, END, EXAMINE, EXIT_MEMORY, EXPLAIN, FORK, MORE, ORDER

WORKER: Final = "from intaglio.grammar.intake.worker import main; raise SystemExit(main())"
_START_S: Final = 180.0  # long, because the first start on a machine compiles the inner loops
_ANSWER_S: Final = 10.0
_CLOSING_S: Final = 1.0
_STARTS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLimits:
    """The limits of one examination.

    `cpu_s`: processor time, well above what the most work takes (`trial.MOST_WORK`). `memory`: bytes above those of a
    fresh worker. `wall_s`: time from its start to the answer, in which the process could run (`time_to_run`). A process
    that exceeds one of these two times says nothing about its constraint.
    """

    wall_s: float = 7.0
    cpu_s: float = 6.0
    memory: int = 1 << 30


class WorkerFailure(Exception):
    """Constraints cannot be examined, because of a defect of the installation or of this package."""


class _Zygote:
    """The process with a loaded compiler that forks children. Commands to it are serialised."""

    def __init__(self, entry: str) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  this interpreter and our own entry
                (sys.executable, "-P", "-c", entry),
                stdin=theirs.fileno(),
                stdout=2,  # output of libraries belongs in the log
                start_new_session=True,  # Ctrl-C must reach the parent only
            )
        self._control = ours
        self._turn = threading.Lock()

    def load(self, start: bytes) -> None:
        """Wait until it is ready to fork. Raises `ChannelClosed` if it has died."""
        send(self._control, start)
        receive(self._control, time.monotonic() + _START_S)
        self._control.settimeout(_ANSWER_S)

    def fork(self) -> "_Child":
        """Fork a new child. Raises `ChannelClosed` if the zygote has died."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                return _Child(self, self._answer(FORK, 0, [theirs.fileno()]), ours)
            except ChannelClosed:
                ours.close()
                raise

    def end(self, child: int) -> int:
        """Kill a child and return its wait status. Raises `ChannelClosed` if the zygote has died."""
        return self._answer(END, child, [])

    def _answer(self, verb: bytes, process: int, sockets: list[int]) -> int:
        with self._turn:
            try:
                socket.send_fds(self._control, [ORDER.pack(verb, process)], sockets)
                data = self._control.recv(ANSWER.size)
            except OSError as error:
                # A late answer would be taken for that to the next command.
                with contextlib.suppress(OSError):
                    self._control.shutdown(socket.SHUT_RDWR)
                raise ChannelClosed(str(error)) from error
        if len(data) < ANSWER.size:
            raise ChannelClosed("closed")
        return int(ANSWER.unpack(data)[0])

    def close(self) -> None:
        """End the process with its children. Callers that wait for it get `ChannelClosed`."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_CLOSING_S)
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()
        self._control.close()


@dataclass(frozen=True, slots=True)
class _Child:
    """A forked process that examines one constraint after another. `process` is its id, `zygote` its parent."""

    zygote: _Zygote
    process: int
    channel: socket.socket

    @property
    def alive(self) -> bool:
        """Whether an idle child is alive. An idle child sends nothing, so its channel is only readable once closed."""
        try:
            self.channel.settimeout(0)
            return bool(self.channel.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def ask(self, question: bytes, limits: WorkerLimits) -> tuple[bool, bytes] | None:
        """(whether the child accepts another question, its answer); None if there is none in time.

        Raises:
            ChannelClosed: the child has died.
            Starved: the child is late, and has used little processor time.
        """
        self.channel.settimeout(limits.wall_s)
        send(self.channel, question)
        counters = partial(ran, self.process)
        if not wait_for_answer(self.channel, counters, limits.wall_s, limits.cpu_s):
            return None
        data = receive(self.channel, time.monotonic() + _ANSWER_S)
        return data[:1] == MORE, data[1:]

    def end(self) -> int:
        """Kill it; returns its wait status, or that of a killed process if the zygote has died."""
        alive = self.alive
        self.channel.close()
        try:
            return self.zygote.end(self.process)
        except ChannelClosed:
            if alive:  # it has outlived the zygote, and its id is its own while its channel is open
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.process, signal.SIGKILL)
            return int(signal.SIGKILL)


class ExaminationPool:
    """Examines constraints in child processes. Thread-safe: each call has a child for itself."""

    def __init__(
        self, vocabulary: Vocabulary, limits: WorkerLimits | None = None, *, entry: str = WORKER
    ) -> None:
        """`entry`: the Python program of the zygote."""
        self._limits = limits or WorkerLimits()
        self._entry = entry
        self._start = encode_start(ChildLimits(self._limits.memory, self._limits.cpu_s), vocabulary)
        self._lock = threading.Lock()  # held while a zygote starts
        self._zygote: _Zygote | None = None
        self._idle: list[_Child] = []
        self._closed = False

    def start(self) -> None:
        """Start a child in advance; otherwise the first constraint waits for it.

        Raises:
            WorkerFailure: a child cannot be started.
        """
        self._keep(self._take())

    def examine(self, constraint: Constraint) -> Verdict:
        """The verdict on a constraint. A constraint that exceeds a limit, or ends its process, is too large.

        Raises:
            WorkerFailure: a process cannot be started, or the examination has a bug.
            CompilerBusy: the examination took too long on this machine, which says nothing about the constraint:
                its work is counted (`contract.work`).
        """
        answer = self._ask(EXAMINE, constraint)
        return decode_verdict(answer) if isinstance(answer, bytes) else answer

    def explain(self, constraint: Constraint) -> Explanation:
        """The explanation of a constraint, with token counts as if each byte were a token. Raises like `examine`."""
        answer = self._ask(EXPLAIN, constraint)
        if isinstance(answer, bytes):
            return decode_explanation(constraint, answer)
        return Explanation(constraint, answer.error)

    def _ask(self, verb: bytes, constraint: Constraint) -> bytes | Verdict:
        """The answer of a child, or the verdict on a constraint for which a child gave none."""
        question = verb + encode_constraint(constraint)
        child = self._take()
        try:
            answered = child.ask(question, self._limits)
        except ChannelClosed:
            return self._cause(child.end())
        except Starved:
            child.end()
            raise _busy() from None
        if answered is None:
            child.end()
            raise _busy()
        more, answer = answered
        if more:
            self._keep(child)
        else:
            child.end()
        return answer

    def close(self) -> None:
        """End all processes; safe to call twice. Constraints under examination are reported as too large."""
        self._closed = True
        zygote = self._zygote  # without the lock, so that a starting zygote is ended as well
        if zygote is not None:
            zygote.close()
        self._end_idle()

    def _take(self) -> _Child:
        """An idle child, or a new one."""
        while self._idle:
            with contextlib.suppress(IndexError):  # another thread took the last one
                child = self._idle.pop()
                if child.alive:
                    return child
                child.end()
        for _ in range(_STARTS):
            zygote = self._loaded()
            try:
                return zygote.fork()
            except ChannelClosed:
                self._forget(zygote)
        raise WorkerFailure("the compiler process dies as soon as it is started; its log says why")

    def _loaded(self) -> _Zygote:
        with self._lock:
            if self._closed:
                raise WorkerFailure("closed")
            if self._zygote is None:
                self._zygote = _Zygote(self._entry)
                try:
                    if self._closed:  # meanwhile, by `close`, which did not see this process
                        raise ChannelClosed("closed")
                    self._zygote.load(self._start)
                except ChannelClosed as error:
                    self._zygote.close()
                    self._zygote = None
                    reason = "the compiler process does not start; its log says why"
                    raise WorkerFailure("closed" if self._closed else reason) from error
            return self._zygote

    def _forget(self, zygote: _Zygote) -> None:
        zygote.close()
        with self._lock:
            if self._zygote is zygote:
                self._zygote = None

    def _keep(self, child: _Child) -> None:
        """Keep a child for the next constraint, unless all are ended."""
        self._idle.append(child)
        if self._closed:
            self._end_idle()

    def _end_idle(self) -> None:
        """Let go of the idle children; the end of the zygote ends them."""
        while self._idle:
            with contextlib.suppress(IndexError):  # another thread took the last one
                self._idle.pop().channel.close()

    @staticmethod
    def _cause(status: int) -> Verdict:
        """The verdict on a constraint from the wait status of its child.

        Raises:
            CompilerBusy: the child has used up its processor time.
            WorkerFailure: the child failed for a reason other than a limit.
        """
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
            raise _busy()
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) != EXIT_MEMORY:
            raise WorkerFailure("the compiler process failed; its log says why")
        return cut_off("compiling the constraint takes more memory or depth than allowed")


def _busy() -> CompilerBusy:
    return CompilerBusy("this machine is too busy to examine a new schema; try again later")
