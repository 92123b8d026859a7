"""Transport of KV blocks from engines of other servers, which also compute the prompts, over TCP.

Does: connect, prove the shared key, compare the facts of both engines, ask for a prompt, and put the contents together.
Does not: serve (`prompt_server`), choose the engine, or keep contents (`peer_tier`).
"""

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ..peer_settings import parse_address
from . import prompt_messages as messages
from .block_contents import Content
from .block_exchange import ExchangeError, PeerSilent, has_ended
from .keyed_frames import KeyedFrames, call
from .peer_tier import PeerLink, Question
from .prompt_messages import TIMING, Kind, PartedContents, Timing

CONNECT_S: Final = 1.0
READERS: Final = 16


class PeerRefused(ExchangeError):
    """The other engine has another model or layout of blocks; the message says which."""


class PromptLink:
    """A `PeerLink` to an engine that computes prompts. `hold` makes a content of bytes; see `BlockContents`."""

    def __init__(
        self,
        frames: KeyedFrames,
        block_bytes: int,
        hold: Callable[[bytes], Content | None],
        timing: Timing,
    ) -> None:
        self._frames = frames
        self._size = block_bytes
        self._hold = hold
        self._timing = timing
        self.cached: int | None = None

    def ask(self, question: Question) -> Iterator[Content]:
        """See `PeerLink`. The other engine computes the prompt first, where it has not yet."""
        self.cached = None
        until, has_room, count = time.monotonic() + self._timing.patience_s, True, 0
        parts = PartedContents(len(question.chains), self._size)
        order = messages.encode(messages.PromptOrder.of(question))
        self._frames.send(Kind.ASK, order, timeout_s=self._timing.silence_s)
        while True:
            frame = self._frames.receive(self._timing.silence_s)
            if question.dropped.is_set():
                raise ExchangeError("the prompt is not needed any more")
            if time.monotonic() > until:
                raise PeerSilent(
                    f"the prompt was not computed within {self._timing.patience_s:g} s"
                )
            if frame.kind == Kind.SLICE:
                parts.add(frame.content)
                for content in parts.take():
                    count += 1
                    held = self._hold(content) if has_room else None
                    if held is None:
                        has_room = False
                    else:
                        yield held
            elif frame.kind == Kind.DONE:
                end = messages.done(frame.content)
                if end.contents != count:
                    raise ExchangeError(f"{count} contents arrived, of {end.contents}")
                self.cached = end.cached
                return
            elif frame.kind != Kind.BUSY:
                raise ExchangeError(f"a frame of kind {frame.kind} is not expected")

    def has_ended(self) -> bool:
        """See `PeerLink`."""
        return has_ended(self._frames.fileno())

    def close(self) -> None:
        """See `PeerLink`."""
        self._frames.close()


class TcpCarrier:
    """A `Carrier` to the engines at `peers`, which have the same `key` and `facts`."""

    readers = READERS

    def __init__(
        self,
        peers: Sequence[str],
        key: bytes,
        facts: messages.Facts,
        block_bytes: int,
        most_bytes: int,
        hold: Callable[[bytes], Content | None],
        timing: Timing = TIMING,
    ) -> None:
        self.peers = tuple(peers)
        self.block_bytes = block_bytes
        self.most_bytes = max(most_bytes, block_bytes)
        self._key = key
        self._facts = facts
        self._hold = hold
        self._timing = timing

    def connect(self, address: str) -> PeerLink:
        """See `Carrier`.

        Raises:
            WrongKey: the other side has another key.
            PeerRefused: it has another model or layout of blocks.
        """
        try:
            connection = socket.create_connection(parse_address(address, "kv_peers"), CONNECT_S)
        except OSError as error:
            raise ExchangeError(f"{address}: {error}") from error
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            frames = call(connection, self._key, self._timing.silence_s)
            frames.send(Kind.FACTS, messages.encode(self._facts), timeout_s=self._timing.silence_s)
            kind, content = frames.receive(self._timing.silence_s)
            if kind != Kind.WELCOME:
                raise PeerRefused(content.decode("utf-8", "replace"))
        except ExchangeError:
            connection.close()
            raise
        return PromptLink(frames, self.block_bytes, self._hold, self._timing)
