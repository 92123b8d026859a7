"""The messages between a process and the workers that examine constraints for it.

Does: frame messages on a socket, with limits on time and size; encode the start message of a worker. Does not: manage
processes (`isolation`).
"""

import socket
import struct
import time
from dataclasses import dataclass
from typing import Final

from ..contract.vocabulary import Vocabulary

MOST_BYTES: Final = 1 << 26
_SIZE: Final = struct.Struct("<Q")
_START: Final = struct.Struct("<QdQQQ")
_ABSENT: Final = 0xFFFFFFFF


class ChannelClosed(Exception):
    """The other side has closed the channel, sent an invalid message, or not answered in time."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """The part of `isolation.WorkerLimits` that a child enforces on itself.

    `memory`: bytes above the memory of a fresh child. `cpu_s`: seconds of processor time for one constraint.
    """

    memory: int
    cpu_s: float


def send(channel: socket.socket, data: bytes) -> None:
    """Send one message.

    Raises:
        ChannelClosed: the other side has closed the channel, or does not read.
    """
    try:
        channel.sendall(_SIZE.pack(len(data)) + data)
    except OSError as error:
        raise ChannelClosed(str(error)) from error


def receive(channel: socket.socket, until: float | None = None) -> bytes:
    """Receive one message, until the time `until` of `time.monotonic()`.

    Raises:
        ChannelClosed: there was none.
    """
    (size,) = _SIZE.unpack(_exactly(channel, _SIZE.size, until))
    if size > MOST_BYTES:
        raise ChannelClosed(f"a message of {size} bytes")
    return _exactly(channel, size, until)


def _exactly(channel: socket.socket, size: int, until: float | None) -> bytes:
    data = bytearray()
    while len(data) < size:
        try:
            if until is not None:
                channel.settimeout(max(until - time.monotonic(), 1e-3))
            part = channel.recv(min(size - len(data), 1 << 20))
        except OSError as error:
            raise ChannelClosed(str(error)) from error
        if not part:
            raise ChannelClosed("closed")
        data += part
    return bytes(data)


def encode_start(limits: ChildLimits, vocabulary: Vocabulary) -> bytes:
    """Encode the start message of a worker: its limits and its vocabulary."""
    tokens, ends = vocabulary.tokens, vocabulary.end_ids
    lengths = [_ABSENT if token is None else len(token) for token in tokens]
    head = _START.pack(limits.memory, limits.cpu_s, vocabulary.width, len(ends), len(tokens))
    numbers = struct.pack(f"<{len(ends)}Q{len(tokens)}I", *ends, *lengths)
    return head + numbers + b"".join(token or b"" for token in tokens)


def decode_start(data: bytes) -> tuple[ChildLimits, Vocabulary]:
    """The inverse of `encode_start`."""
    memory, cpu_s, width, ends, count = _START.unpack_from(data)
    numbers = struct.Struct(f"<{ends}Q{count}I")
    values = numbers.unpack_from(data, _START.size)
    at = _START.size + numbers.size
    tokens: list[bytes | None] = []
    for length in values[ends:]:
        present = length != _ABSENT
        tokens.append(data[at : at + length] if present else None)
        at += length if present else 0
    return ChildLimits(memory, cpu_s), Vocabulary(tuple(tokens), tuple(values[:ends]), width)
