"""The messages by which one engine gets contents of KV blocks from another one, over a stream socket.

Does: write and read the messages, bound their time, verify every content. Does not: keep contents, or open sockets.

A reader starts with `MAGIC` and its version: a hash of the model and of the layout of its blocks. The other side
answers with one byte, `WELCOME`, or closes the connection if its own version differs. Then
the reader asks: the number of chains, and the chains. The answer is the number of contents, for the first chains
without a gap, and their size; each content follows its checksum. Numbers are unsigned, little-endian, of 32 bits.
"""

import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final

from .page_key import CHAIN_BYTES, Chain

MAGIC: Final = b"intaglio kv exchange 1\n"
WELCOME: Final = b"\x01"
VERSION_BYTES: Final = 16
MOST_CHAINS: Final = 1 << 16
REST_S: Final = 1.0
"""Seconds in which the rest of a message arrives, where its beginning is waited for without an end."""

_NUMBER: Final = struct.Struct("<I")
_HEAD: Final = struct.Struct("<II")
_CHECKSUM: Final = 16


class ExchangeError(Exception):
    """The other side timed out, closed the connection, or sent something unexpected."""


class PeerSilent(ExchangeError):
    """The other side timed out."""


class Channel:
    """A connected socket, used by one thread at a time. An exchange times out after `timeout_s` seconds."""

    def __init__(self, connection: socket.socket, timeout_s: float) -> None:
        self._connection = connection
        self._timeout_s = timeout_s

    def greet(self, version: bytes) -> None:
        """Send the version of this side, and wait for the welcome. Raises `ExchangeError`."""
        until = self.until()
        self.send(MAGIC + version, until)
        if self.receive(len(WELCOME), until) != WELCOME:
            raise ExchangeError("the greeting is not answered as expected")

    def welcome(self, version: bytes) -> None:
        """Wait for the greeting of a reader with this version, and answer it. Raises `ExchangeError`."""
        until = self.until()
        if self.receive(len(MAGIC) + VERSION_BYTES, until) != MAGIC + version:
            raise ExchangeError("the reader has another model, or another layout of blocks")
        self.send(WELCOME, until)

    def ask(self, chains: Sequence[Chain], size: int) -> Iterator[bytes]:
        """The contents of the first of these chains, each of `size` bytes, as they arrive.

        Raises:
            ExchangeError: one is damaged or of another size, or the other side timed out.
        """
        until = self.until()
        self.send(_NUMBER.pack(len(chains)) + b"".join(chains), until)
        count, given = _HEAD.unpack(self.receive(_HEAD.size, until))
        if count > len(chains) or (count and given != size):
            raise ExchangeError(f"{count} contents of {given} bytes, not of {size}")
        for chain in chains[:count]:
            checksum = self.receive(_CHECKSUM, until)
            content = self.receive(size, until)
            if _checksum(chain, content) != checksum:
                raise ExchangeError("a content is damaged")
            yield content

    def receive_question(self) -> list[Chain] | None:
        """Wait without a limit for the chains that the reader asks for; None if it closed the connection.

        Raises:
            ExchangeError: the question is malformed, or its rest does not arrive in time.
        """
        self._connection.settimeout(None)
        try:
            first = self._connection.recv(1)
        except OSError:
            return None
        if not first:
            return None
        until = self.until()
        (count,) = _NUMBER.unpack(first + self.receive(_NUMBER.size - 1, until))
        if count > MOST_CHAINS:
            raise ExchangeError(f"{count} chains at once; at most {MOST_CHAINS}")
        found = self.receive(count * CHAIN_BYTES, until)
        return [found[at : at + CHAIN_BYTES] for at in range(0, len(found), CHAIN_BYTES)]

    def answer(self, chains: Sequence[Chain], contents: Sequence[bytes]) -> None:
        """Send the contents of the first of these chains, all of one size. Raises `ExchangeError`."""
        until = self.until()
        self.send(_HEAD.pack(len(contents), len(contents[0]) if contents else 0), until)
        for chain, content in zip(chains, contents, strict=False):
            self.send(_checksum(chain, content), until)
            self.send(content, until)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def has_ended(self) -> bool:
        """See the function `has_ended`."""
        return has_ended(self._connection.fileno())

    def until(self) -> float:
        """The time by which an exchange that begins now must be over."""
        return time.monotonic() + self._timeout_s

    def send(self, data: bytes, until: float) -> None:
        """Send bytes. Raises `ExchangeError`."""
        try:
            self._connection.settimeout(_left(until))
            self._connection.sendall(data)
        except TimeoutError:
            raise PeerSilent("the other side timed out") from None
        except OSError as error:
            raise ExchangeError(str(error)) from error

    def receive(self, size: int, until: float) -> bytes:
        """See the function `receive`."""
        return receive(self._connection, size, until)


def has_ended(connection: int) -> bool:
    """Whether the other side of a connection, by its file number, has closed it or has ended. Does not wait."""
    watch = select.poll()
    watch.register(connection, select.POLLRDHUP)
    return bool(watch.poll(0))


def receive(connection: socket.socket, size: int, until: float | None) -> bytes:
    """Wait for this many bytes until a time of the monotonic clock.

    `until` None: wait for the first of them without an end, and `REST_S` seconds for the rest.

    Raises:
        PeerSilent: they do not arrive in time.
        ExchangeError: the connection was closed.
    """
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        try:
            connection.settimeout(None if until is None else _left(until))
            read = connection.recv_into(view[got:])
        except TimeoutError:
            raise PeerSilent("the other side timed out") from None
        except OSError as error:
            raise ExchangeError(str(error)) from error
        if not read:
            raise ExchangeError("the connection was closed")
        if until is None:
            until = time.monotonic() + REST_S
        got += read
    return bytes(data)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise PeerSilent("the other side timed out")
    return left


def _checksum(chain: Chain, content: bytes) -> bytes:
    """The checksum of a content, keyed by its chain."""
    return blake2b(content, digest_size=_CHECKSUM, key=chain).digest()
