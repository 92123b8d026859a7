"""Lines of a log, written by a thread of their own.

Does: take lines without waiting for the stream, write them in order and in batches, drop lines when too many wait and
say how many, write the rest when it is closed or the interpreter exits. Does not: format lines (`log`).

An event loop that wrote its log itself would block whenever the reader of the stream does.
"""

import atexit
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TextIO

MOST_LINES: Final = 10_000
CLOSE_S: Final = 2.0
PAUSE_S: Final = 0.02


class LineWriter:
    """Writes lines to `stream`; at most `most` wait. `dropped_line` formats the number of dropped ones."""

    def __init__(
        self, stream: TextIO, dropped_line: Callable[[int], str], most: int = MOST_LINES
    ) -> None:
        self._stream = stream
        self._dropped_line = dropped_line
        self._most = most
        self._changed = threading.Condition()
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._closed = False
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def write(self, line: str) -> None:
        """Take a line; returns at once. After `close`, the line is written before this returns."""
        with self._changed:
            if not self._closed:
                if len(self._lines) < self._most:
                    self._lines.append(line)
                else:
                    self._dropped += 1
                self._start()
                self._changed.notify()
                return
        self._write([line])

    def close(self) -> None:
        """Write the waiting lines, for at most `CLOSE_S` seconds; safe to call twice."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._closing.set()
        if self._thread is not None:
            self._thread.join(CLOSE_S)

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="log", daemon=True)
            self._thread.start()
            atexit.register(self.close)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._lines) or self._closed)
            self._closing.wait(PAUSE_S)  # more lines come, and wake no thread
            with self._changed:
                lines, dropped = list(self._lines), self._dropped
                self._lines.clear()
                self._dropped = 0
                if not lines:
                    return
            self._write([*lines, self._dropped_line(dropped)] if dropped else lines)

    def _write(self, lines: list[str]) -> None:
        try:
            self._stream.write("".join(f"{line}\n" for line in lines))
            self._stream.flush()
        except (OSError, ValueError):  # the reader has gone, or the stream is closed
            return


class QueuedLogger:
    """A logger for structlog over a `LineWriter`."""

    def __init__(self, writer: LineWriter) -> None:
        self._writer = writer

    def msg(self, message: str) -> None:
        """Take a formatted line."""
        self._writer.write(message)

    debug = info = warning = error = msg
