"""The messages by which one engine gets contents of KV blocks from another one, over a stream socket.

Does: write and read the messages, bound their time, verify every content. Does not: keep contents, or open sockets.

A reader starts with `MAGIC` and its version: a hash of the model and of the layout of its blocks. The other side
answers with one byte, `WELCOME`, or closes the connection, since contents of other versions mean nothing to it. Then
the reader asks: the number of chains, and the chains. The answer is the number of contents, for the first chains
without a gap, and their size; each content follows its checksum. Numbers are unsigned, little-endian, of 32 bits.
"""

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

_NUMBER: Final = struct.Struct("<I")
_HEAD: Final = struct.Struct("<II")
_CHECKSUM: Final = 16


class ExchangeError(Exception):
    """The other side is late, has closed the connection, or sends something else."""


class Channel:
    """A connected socket, used by one thread at a time. Each exchange takes `patience_s` seconds at most."""

    def __init__(self, connection: socket.socket, patience_s: float) -> None:
        self._connection = connection
        self._patience_s = patience_s

    def greet(self, version: bytes) -> None:
        """Send the version of this side, and wait for the welcome. Raises `ExchangeError`."""
        until = self._until()
        self._send(MAGIC + version, until)
        if self._receive(len(WELCOME), until) != WELCOME:
            raise ExchangeError("the greeting is not answered as expected")

    def welcome(self, version: bytes) -> None:
        """Wait for the greeting of a reader with this version, and answer it. Raises `ExchangeError`."""
        until = self._until()
        if self._receive(len(MAGIC) + VERSION_BYTES, until) != MAGIC + version:
            raise ExchangeError("the reader has another model, or another layout of blocks")
        self._send(WELCOME, until)

    def ask(self, chains: Sequence[Chain], size: int) -> Iterator[bytes]:
        """The contents of the first of these chains, each of `size` bytes, as they arrive.

        Raises:
            ExchangeError: one is damaged or of another size, or the other side is late.
        """
        until = self._until()
        self._send(_NUMBER.pack(len(chains)) + b"".join(chains), until)
        count, given = _HEAD.unpack(self._receive(_HEAD.size, until))
        if count > len(chains) or (count and given != size):
            raise ExchangeError(f"{count} contents of {given} bytes, not of {size}")
        for chain in chains[:count]:
            checksum = self._receive(_CHECKSUM, until)
            content = self._receive(size, until)
            if _checksum(chain, content) != checksum:
                raise ExchangeError("a content is damaged")
            yield content

    def question(self) -> list[Chain] | None:
        """The chains that a reader asks for, however long it thinks; None if it closed the connection.

        Raises:
            ExchangeError: the question is not one, or does not arrive whole in time.
        """
        self._connection.settimeout(None)
        try:
            first = self._connection.recv(1)
        except OSError:
            return None
        if not first:
            return None
        until = self._until()
        (count,) = _NUMBER.unpack(first + self._receive(_NUMBER.size - 1, until))
        if count > MOST_CHAINS:
            raise ExchangeError(f"{count} chains at once; at most {MOST_CHAINS}")
        found = self._receive(count * CHAIN_BYTES, until)
        return [found[at : at + CHAIN_BYTES] for at in range(0, len(found), CHAIN_BYTES)]

    def answer(self, chains: Sequence[Chain], contents: Sequence[bytes]) -> None:
        """Send the contents of the first of these chains, all of one size. Raises `ExchangeError`."""
        until = self._until()
        self._send(_HEAD.pack(len(contents), len(contents[0]) if contents else 0), until)
        for chain, content in zip(chains, contents, strict=False):
            self._send(_checksum(chain, content), until)
            self._send(content, until)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _until(self) -> float:
        return time.monotonic() + self._patience_s

    def _send(self, data: bytes, until: float) -> None:
        try:
            self._connection.settimeout(_left(until))
            self._connection.sendall(data)
        except OSError as error:
            raise ExchangeError(str(error)) from error

    def _receive(self, size: int, until: float) -> bytes:
        data = bytearray(size)
        view, got = memoryview(data), 0
        while got < size:
            try:
                self._connection.settimeout(_left(until))
                read = self._connection.recv_into(view[got:])
            except OSError as error:
                raise ExchangeError(str(error)) from error
            if not read:
                raise ExchangeError("the connection was closed")
            got += read
        return bytes(data)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise ExchangeError("the other side is late")
    return left


def _checksum(chain: Chain, content: bytes) -> bytes:
    """The checksum of a content, which also tells that it is the content of this chain."""
    return blake2b(content, digest_size=_CHECKSUM, key=chain).digest()
