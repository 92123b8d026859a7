"""The messages between a process and the children that read documents for it.

Does: define questions and answers, and frame them on a socket within limits of size and time. Does not: manage
processes (`child_pool`).
"""

import socket
import struct
import time
from typing import Final

import msgspec

from .parsed_document import ParsedDocument
from .refused import RefusalCode

MOST_BYTES: Final = 1 << 28
_SIZE: Final = struct.Struct("<Q")


class ChildExited(Exception):
    """The other side has closed the socket, sent no valid message, or not answered in time."""


class ReadingLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of reading one document.

    `cpu_s` is processor time, plus `cpu_s_per_mib` for each MiB of the file. `wall_s` is the time until a child that
    does not answer is killed. `memory` bounds the address space of a child, in bytes. `content` is the largest file, in
    bytes.
    """

    cpu_s: float = 2.0
    cpu_s_per_mib: float = 1.0
    wall_s: float = 60.0
    memory: int = 256 << 20
    content: int = 32 << 20

    def seconds_for(self, size: int) -> float:
        """The processor time for a file of `size` bytes."""
        return self.cpu_s + self.cpu_s_per_mib * (size >> 20)


class ReadQuestion(msgspec.Struct, frozen=True, tag="read"):
    """Read a document within `cpu_s` of processor time. `silent`: also a PDF without any text."""

    content: bytes
    cpu_s: float
    silent: bool = False


class DrawQuestion(msgspec.Struct, frozen=True, tag="draw"):
    """Draw a page of a PDF as PNG, with `scale` pixels a point."""

    content: bytes
    cpu_s: float
    page: int
    scale: float


class ImageSize(msgspec.Struct, frozen=True, kw_only=True):
    """The size to which an image is resized: sides that are multiples of `factor`, `least` to `most` pixels."""

    factor: int
    least: int
    most: int


class ImageQuestion(msgspec.Struct, frozen=True, tag="see"):
    """Decode and resize an image."""

    content: bytes
    cpu_s: float
    size: ImageSize


class PageQuestion(msgspec.Struct, frozen=True, tag="see_page"):
    """Draw a page of a PDF and resize it."""

    content: bytes
    cpu_s: float
    page: int
    size: ImageSize


class ReadAnswer(msgspec.Struct, frozen=True, tag="document"):
    """The document. With `last` the child ends after this answer, because it has grown."""

    document: ParsedDocument
    last: bool


class DrawAnswer(msgspec.Struct, frozen=True, tag="image"):
    """The page as PNG; `last` as in `ReadAnswer`."""

    image: bytes
    last: bool


class ImageAnswer(msgspec.Struct, frozen=True, tag="pixels"):
    """A resized image of `rows` times `columns` cells, as RGB bytes row by row; `last` as in `ReadAnswer`."""

    rows: int
    columns: int
    pixels: bytes
    last: bool


class RefusedAnswer(msgspec.Struct, frozen=True, tag="refused"):
    """The file cannot be read, or drawn; `last` as in `ReadAnswer`."""

    code: RefusalCode
    message: str
    hint: str
    last: bool


Question = ReadQuestion | DrawQuestion | ImageQuestion | PageQuestion
Answer = ReadAnswer | DrawAnswer | ImageAnswer | RefusedAnswer

_questions: Final = msgspec.msgpack.Decoder[Question](Question)
_answers: Final = msgspec.msgpack.Decoder[Answer](Answer)


def encode(message: Question | Answer) -> bytes:
    """A message as bytes."""
    return msgspec.msgpack.encode(message)


def decode_question(data: bytes) -> Question:
    """The question in `data`. Raises `msgspec.MsgspecError` if there is none."""
    found: Question = _questions.decode(data)
    return found


def decode_answer(data: bytes) -> Answer:
    """The answer in `data`. Raises `ChildExited` if there is none."""
    try:
        found: Answer = _answers.decode(data)
    except msgspec.MsgspecError as error:
        raise ChildExited(str(error)) from error
    return found


def send(channel: socket.socket, data: bytes) -> None:
    """Send one message. Raises `ChildExited`."""
    try:
        channel.sendall(_SIZE.pack(len(data)))
        channel.sendall(data)
    except OSError as error:
        raise ChildExited(str(error)) from error


def receive(channel: socket.socket, until: float | None = None) -> bytes:
    """Receive one message, until the time `until` of `time.monotonic()`. Raises `ChildExited`."""
    (size,) = _SIZE.unpack(_exactly(channel, _SIZE.size, until))
    if size > MOST_BYTES:
        raise ChildExited(f"a message of {size} bytes")
    return _exactly(channel, size, until)


def _exactly(channel: socket.socket, size: int, until: float | None) -> bytes:
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        try:
            if until is not None:
                channel.settimeout(max(until - time.monotonic(), 1e-3))
            count = channel.recv_into(view[at:])
        except OSError as error:
            raise ChildExited(str(error)) from error
        if not count:
            raise ChildExited("closed")
        at += count
    return bytes(data)
