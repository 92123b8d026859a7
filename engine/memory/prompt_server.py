"""Computes prompts for engines of other servers, and sends them the blocks over TCP.

Does: listen, have callers prove the shared key, refuse engines with another model or layout, answer one prompt after
the other on each connection. Does not: compute (`Prompts` does), keep contents (`exported_blocks`), or ask
(`tcp_carrier`).
"""

import select
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

from ..errors import ConfigError
from ..peer_settings import TcpAddress
from . import prompt_messages as messages
from .block_exchange import ExchangeError
from .keyed_frames import KeyedFrames, WrongKey, accept
from .listener import Listener
from .page_key import Chain
from .prompt_messages import TIMING, Kind, PromptDone, PromptOrder, Timing

PART_BYTES: Final = 1 << 20
REPORT_S: Final = 10.0  # between two lines about refused callers


class Computation(Protocol):
    """A prompt that is being computed."""

    def wait(self, timeout_s: float) -> bool:
        """Wait until it is computed or has failed; whether that is so."""
        ...

    @property
    def cached(self) -> int:
        """The tokens of it that were not computed for it."""
        ...


class Prompts(Protocol):
    """An engine that computes prompts, for any thread."""

    def compute(self, order: PromptOrder) -> AbstractContextManager[Computation]:
        """Start to compute a prompt; at the end of the context it is given up if it is not computed yet."""
        ...


class PromptServer:
    """Answers the engines that connect to `address`. `first` gives the contents of the first of some chains.

    Raises:
        ConfigError: the address cannot be listened on.
    """

    def __init__(
        self,
        address: TcpAddress,
        key: bytes,
        facts: messages.Facts,
        prompts: Prompts,
        first: Callable[[Sequence[Chain]], list[bytes]],
        timing: Timing = TIMING,
    ) -> None:
        self._key = key
        self._facts = facts
        self._prompts = prompts
        self._first = first
        self._timing = timing
        self._reported = -REPORT_S
        try:
            listening = socket.create_server(
                address, family=socket.AF_INET6 if ":" in address.host else socket.AF_INET
            )
        except OSError as error:
            raise ConfigError(
                f"{address.host} port {address.port} cannot be listened on: {error.strerror}",
                where="kv_listen",
                hint="choose an address of this host and a free port",
            ) from None
        self.port: int = listening.getsockname()[1]
        self._listener = Listener(listening, self._answer)

    def close(self) -> None:
        """End all connections and threads."""
        self._listener.close()

    def _answer(self, connection: socket.socket) -> None:
        """Answer one engine until it leaves or sends something else."""
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            frames = accept(connection, self._key, self._timing.silence_s)
            self._greet(frames)
            while True:
                kind, content = frames.receive(None)
                if kind != Kind.ASK:
                    raise ExchangeError(f"a frame of kind {kind} is not expected")
                self._compute(frames, messages.order(content))
        except WrongKey as error:
            self._report(connection, str(error))
        except (ExchangeError, OSError):
            pass  # the other engine computes what it did not get

    def _greet(self, frames: KeyedFrames) -> None:
        """Compare the facts of both engines. Raises `ExchangeError` if they differ."""
        kind, content = frames.receive(self._timing.silence_s)
        if kind != Kind.FACTS:
            raise ExchangeError(f"a frame of kind {kind} is not expected")
        difference = messages.difference(self._facts, messages.facts(content))
        if difference:
            frames.send(Kind.REFUSED, difference.encode(), timeout_s=self._timing.silence_s)
            raise ExchangeError(difference)
        frames.send(Kind.WELCOME, timeout_s=self._timing.silence_s)

    def _compute(self, frames: KeyedFrames, order: PromptOrder) -> None:
        with self._prompts.compute(order) as computation:
            while not computation.wait(self._timing.busy_s):
                if _has_left(frames):
                    raise ExchangeError("the other engine has left")
                frames.send(Kind.BUSY, timeout_s=self._timing.silence_s)
            cached = computation.cached
        contents = self._first(order.chains)
        for number, content in enumerate(contents):
            view = memoryview(content)
            for offset in range(0, len(view), PART_BYTES):
                part = view[offset : offset + PART_BYTES]
                head = messages.part_head(number, offset)
                frames.send(Kind.PART, head, part, timeout_s=self._timing.silence_s)
        end = PromptDone(len(contents), cached)
        frames.send(Kind.DONE, messages.encode(end), timeout_s=self._timing.silence_s)

    def _report(self, connection: socket.socket, reason: str) -> None:
        """Write why a caller was refused, not too often."""
        now = time.monotonic()
        if now - self._reported >= REPORT_S:
            self._reported = now
            sys.stderr.write(f"refused {connection.getpeername()[0]}: {reason}\n")


def _has_left(frames: KeyedFrames) -> bool:
    watch = select.poll()
    watch.register(frames.fileno(), select.POLLRDHUP)
    return bool(watch.poll(0))
