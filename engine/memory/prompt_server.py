"""Computes prompts for engines of other servers, and sends them the blocks over TCP.

Does: listen, have callers prove the shared key, refuse engines with another model or layout, answer one prompt after
the other on each connection. Does not: compute (`Prompts` does), keep contents (`exported_blocks`), or ask
(`tcp_carrier`).
"""

import select
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

from ..errors import ConfigError
from ..peer_settings import TcpAddress
from . import prompt_messages as messages
from .block_exchange import ExchangeError
from .keyed_frames import KeyedFrames, WrongKey, accept
from .layer_feed import LayerFeed, LayerStream, Slice
from .listener import Listener
from .page_key import Chain
from .prompt_messages import TIMING, Kind, PromptDone, PromptOrder, Timing

SLICE_BYTES: Final = 1 << 20
REPORT_S: Final = 10.0  # between two lines about refused callers


class Computation(Protocol):
    """A prompt that is being computed."""

    @property
    def cached(self) -> int:
        """The tokens of it that were not computed for it."""
        ...


class Prompts(Protocol):
    """An engine that computes prompts, for any thread."""

    def compute(
        self, order: PromptOrder, over: Callable[[], None]
    ) -> AbstractContextManager[Computation]:
        """Start to compute a prompt; at the end of the context it is given up if it is not computed yet.

        `over` is called once, when it is computed or has failed; its blocks are kept by then.
        """
        ...


class PromptServer:
    """Answers the engines that connect to `address`.

    `first` gives the contents of the first of some chains, `feed` their layers while they are computed.

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
        feed: LayerFeed,
        timing: Timing = TIMING,
    ) -> None:
        self._key = key
        self._facts = facts
        self._prompts = prompts
        self._first = first
        self._feed = feed
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
        """Send layers of a prompt while it is computed, and then what is missing."""
        with self._feed.open(order.chains) as stream:
            with self._prompts.compute(order, stream.end) as computation:
                while not stream.is_over:
                    part = stream.take(self._timing.busy_s)
                    if part is not None:
                        self._send(frames, part)
                    elif not stream.is_over:
                        if _has_left(frames):
                            raise ExchangeError("the other engine has left")
                        frames.send(Kind.BUSY, timeout_s=self._timing.silence_s)
            count = self._send_rest(frames, order.chains, stream)
        end = messages.encode(PromptDone(count, computation.cached))
        frames.send(Kind.DONE, end, timeout_s=self._timing.silence_s)

    def _send_rest(self, frames: KeyedFrames, chains: Sequence[Chain], stream: LayerStream) -> int:
        """Send the contents of the first chains as far as they were not; the number of those that are complete."""
        layers = self._feed.layers
        for number, chain in enumerate(chains):
            missing = stream.missing(chain, layers)
            if not missing:
                continue
            held = self._first((chain,))
            if not held:
                return number
            size = len(held[0]) // layers
            for first, last in _runs(missing):
                data = held[0][first * size : last * size]
                for begin in range(0, len(data), SLICE_BYTES):
                    offset = first * size + begin
                    self._send(frames, Slice(offset, (number,), data[begin : begin + SLICE_BYTES]))
        return len(chains)

    def _send(self, frames: KeyedFrames, part: Slice) -> None:
        head = messages.slice_head(part.offset, part.numbers)
        frames.send(Kind.SLICE, head, part.data, timeout_s=self._timing.silence_s)

    def _report(self, connection: socket.socket, reason: str) -> None:
        """Write why a caller was refused, not too often."""
        now = time.monotonic()
        if now - self._reported >= REPORT_S:
            self._reported = now
            sys.stderr.write(f"refused {connection.getpeername()[0]}: {reason}\n")


def _runs(layers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first layer of each run of ascending layers without a gap, and the one after its last."""
    begin = 0
    for at in range(1, len(layers) + 1):
        if at == len(layers) or layers[at] != layers[at - 1] + 1:
            yield layers[begin], layers[at - 1] + 1
            begin = at


def _has_left(frames: KeyedFrames) -> bool:
    watch = select.poll()
    watch.register(frames.fileno(), select.POLLRDHUP)
    return bool(watch.poll(0))
