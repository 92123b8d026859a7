"""Child processes that read documents: started when needed, used again, killed when they exceed a limit.

Does: give each question to a child of its own, a bounded number at a time; name the cause of a child's death. Does not:
know errors of the service (`document_reader`).
"""

import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Final

from .child_messages import (
    Answer,
    ChildExited,
    Question,
    ReadingLimits,
    RefusedAnswer,
    decode_answer,
    encode,
    receive,
    send,
)
from .refused import too_large, unreadable

PROGRAM: Final = (
    "import sys; from intaglio.service.documents.child_process import main; "
    "raise SystemExit(main(int(sys.argv[1])))"
)
_START_S: Final = 120.0
_STARTS: Final = 3


class ReaderFailure(Exception):
    """No child can be started, because of a defect of the installation; or the pool is closed."""


class ReadingChild:
    """One child process. One thread uses it at a time."""

    def __init__(self, program: str, memory: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  this interpreter and our own entry
                (sys.executable, "-P", "-c", program, str(memory)),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C must reach the parent only
            )
        self._channel = ours

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Wait until all readers are loaded. Raises `ChildExited` if it has died."""
        receive(self._channel, time.monotonic() + _START_S)

    def ask(self, question: bytes, until: float) -> bytes:
        """The answer to a question. Raises `ChildExited` if it died, or gave none until `until` (monotonic seconds)."""
        self._channel.settimeout(max(until - time.monotonic(), 1e-3))
        send(self._channel, question)
        return receive(self._channel, until)

    def end(self) -> int:
        """Kill the process and return its exit status: negative if a signal ended it."""
        self._channel.close()
        self._process.kill()
        return self._process.wait()

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None


class ChildPool:
    """At most `most` children, for any thread; a call waits while all are busy."""

    def __init__(self, limits: ReadingLimits, most: int, program: str = PROGRAM) -> None:
        self._limits = limits
        self._program = program
        self._slots = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()
        self._idle: list[ReadingChild] = []
        self._busy: set[ReadingChild] = set()
        self._closed = False

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of all children."""
        with self._lock:
            return tuple(child.pid for child in (*self._idle, *self._busy))

    def ask(self, question: Question) -> Answer:
        """The answer to a question. The death of a child, or its timeout, is an answer as well.

        Raises:
            ReaderFailure: no child can be started, or the pool is closed.
        """
        with self._slots:
            child = self._acquire()
            until = time.monotonic() + self._limits.wall_s
            try:
                answer = decode_answer(child.ask(encode(question), until))
            except ChildExited:
                timed_out = time.monotonic() >= until
                return self._cause(self._drop(child), question.cpu_s, timed_out)
            if answer.last:
                self._drop(child)
            else:
                self._release(child)
            return answer

    def close(self) -> None:
        """End all children; safe to call twice. Documents that are being read are refused."""
        with self._lock:
            self._closed = True
            children = [*self._idle, *self._busy]
            self._idle.clear()
            for child in children:
                child.end()

    def _acquire(self) -> ReadingChild:
        for _ in range(_STARTS):
            with self._lock:
                if self._closed:
                    raise ReaderFailure("the reader of documents is closed")
                child = self._idle.pop() if self._idle else None
                is_new = child is None
                if child is None:
                    child = ReadingChild(self._program, self._limits.memory)
                self._busy.add(child)
            if is_new:
                try:
                    child.wait_until_ready()
                except ChildExited:
                    self._drop(child)
                    continue
            if child.is_alive:
                return child
            self._drop(child)
        raise ReaderFailure("the process that reads documents does not start; its log says why")

    def _release(self, child: ReadingChild) -> None:
        with self._lock:
            self._busy.discard(child)
            if not self._closed:
                self._idle.append(child)

    def _drop(self, child: ReadingChild) -> int:
        with self._lock:
            self._busy.discard(child)
            return child.end()

    def _cause(self, status: int, cpu_s: float, timed_out: bool) -> RefusedAnswer:
        """The answer in place of a child that gave none."""
        if self._closed:
            raise ReaderFailure("the reader of documents is closed")
        if status == -signal.SIGPROF:
            refused = too_large(
                f"reading the document takes more than {cpu_s:g} s of processor time"
            )
        elif timed_out:
            refused = too_large(f"reading the document takes longer than {self._limits.wall_s:g} s")
        else:
            refused = unreadable(
                "the document ended its reader: it is damaged, or needs more memory than allowed"
            )
        return RefusedAnswer(refused.code, refused.message, refused.hint, last=True)
