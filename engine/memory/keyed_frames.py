"""Frames over a TCP connection between two sides that have the same key.

Does: prove on both sides that the other one has the key, which is never sent; write and read frames, each with a
checksum under a key of this connection, its direction and its number, so that a frame that is damaged, forged,
repeated or left out ends the connection; bound sizes and times. Does not: encrypt, or know what frames contain.

    caller                                         listener
    MAGIC, a random number                    -->
                                              <--  a random number, proof of the listener
    proof of the caller                       -->

A proof is HMAC-SHA-256 under the key, over the name of the side and both random numbers. A frame is its size (32 bits,
little-endian), its kind (8 bits), its checksum (16 bytes) and its content.
"""

import hmac
import secrets
import socket
import struct
import time
from hashlib import blake2b
from typing import Final, NamedTuple

from .block_exchange import REST_S, ExchangeError, PeerSilent, receive

MAGIC: Final = b"intaglio prompts 1\n"
MOST_BYTES: Final = 256 << 20  # of a frame

_NONCE: Final = 32
_PROOF: Final = 32
_HEAD: Final = struct.Struct("<IB16s")
_COUNT: Final = struct.Struct("<QIB")


class WrongKey(ExchangeError):
    """The other side does not have the key of this one, or is not one of these engines."""


class Frame(NamedTuple):
    """What the other side has sent."""

    kind: int
    content: bytes


class KeyedFrames:
    """A connection of which both sides have proved the key. For one thread at a time."""

    def __init__(self, connection: socket.socket, session: bytes, *, is_caller: bool) -> None:
        """Made by `call` and `accept`."""
        self._connection = connection
        sides = (b"caller", b"listener") if is_caller else (b"listener", b"caller")
        self._out, self._in = (_digest(session, side) for side in sides)
        self._sent = self._received = 0

    def send(self, kind: int, *content: bytes | memoryview, timeout_s: float) -> None:
        """Send a frame; its content may be given in parts. Raises `ExchangeError`."""
        size = sum(map(len, content))
        check = _checksum(self._out, self._sent, kind, size, content)
        self._sent += 1
        _send(self._connection, (_HEAD.pack(size, kind, check), *content), timeout_s)

    def receive(self, timeout_s: float | None) -> Frame:
        """Wait for a frame; None: without a limit until it begins, and then for a second at most between bytes.

        Raises:
            ExchangeError: the connection was closed, or the frame is damaged or forged.
            PeerSilent: it does not arrive in time.
        """
        head = _receive(self._connection, _HEAD.size, timeout_s)
        size, kind, check = _HEAD.unpack(head)
        if size > MOST_BYTES:
            raise ExchangeError(f"a frame of {size} bytes; at most {MOST_BYTES}")
        content = _receive(self._connection, size, timeout_s or REST_S)
        expected = _checksum(self._in, self._received, kind, size, (content,))
        if not hmac.compare_digest(check, expected):
            raise ExchangeError("a frame is damaged")
        self._received += 1
        return Frame(kind, content)

    def fileno(self) -> int:
        """The descriptor of the connection, to wait on."""
        return self._connection.fileno()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def call(connection: socket.socket, key: bytes, timeout_s: float) -> KeyedFrames:
    """Prove the key to the side that was called, after it has proved its own.

    Raises:
        WrongKey: it cannot.
        ExchangeError: it closes the connection or is silent.
    """
    own = secrets.token_bytes(_NONCE)
    _send(connection, (MAGIC, own), timeout_s)
    answer = _receive(connection, _NONCE + _PROOF, timeout_s)
    both = own + answer[:_NONCE]
    if not hmac.compare_digest(answer[_NONCE:], _proof(key, b"listener", both)):
        raise WrongKey("the other side does not have the key in kv_key_file")
    _send(connection, (_proof(key, b"caller", both),), timeout_s)
    return KeyedFrames(connection, _proof(key, b"session", both), is_caller=True)


def accept(connection: socket.socket, key: bytes, timeout_s: float) -> KeyedFrames:
    """Prove the key to a caller, and have it prove its own. Raises as `call` does."""
    greeting = _receive(connection, len(MAGIC) + _NONCE, timeout_s)
    if not greeting.startswith(MAGIC):
        raise WrongKey("the caller is no engine of this version")
    own = secrets.token_bytes(_NONCE)
    both = greeting[len(MAGIC) :] + own
    _send(connection, (own, _proof(key, b"listener", both)), timeout_s)
    if not hmac.compare_digest(
        _receive(connection, _PROOF, timeout_s), _proof(key, b"caller", both)
    ):
        raise WrongKey("the caller does not have the key in kv_key_file")
    return KeyedFrames(connection, _proof(key, b"session", both), is_caller=False)


def _proof(key: bytes, side: bytes, nonces: bytes) -> bytes:
    return hmac.digest(key, side + b"\n" + nonces, "sha256")


def _digest(session: bytes, side: bytes) -> bytes:
    return blake2b(side, key=session, digest_size=32).digest()


def _checksum(
    key: bytes, number: int, kind: int, size: int, parts: tuple[bytes | memoryview, ...]
) -> bytes:
    digest = blake2b(_COUNT.pack(number, size, kind), key=key, digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.digest()


def _send(
    connection: socket.socket, parts: tuple[bytes | memoryview, ...], timeout_s: float
) -> None:
    """Send bytes, at most `timeout_s` seconds for each part. Raises `ExchangeError`."""
    try:
        connection.settimeout(timeout_s)
        for part in parts:
            connection.sendall(part)
    except TimeoutError:
        raise PeerSilent("the other side does not read") from None
    except OSError as error:
        raise ExchangeError(str(error)) from error


def _receive(connection: socket.socket, size: int, timeout_s: float | None) -> bytes:
    """Wait for this many bytes, in all `timeout_s` seconds. Raises `ExchangeError`."""
    until = None if timeout_s is None else time.monotonic() + timeout_s
    return receive(connection, size, until)
