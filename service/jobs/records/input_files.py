"""Source files as streams of bytes or characters, decompressed and decoded.

Does: decompress gzip and zstd within bounds; detect the encoding and mark invalid bytes; refuse files that are not
regular or not text. Does not: parse contents (`readers`). Memory does not grow with the file.
"""

import codecs
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol, TextIO

from ...config import ServiceConfig
from ...encoding_guess import guessed_encoding
from ...file_kind import HEAD, kind_of
from .errors import InputRefused

if TYPE_CHECKING:
    from typing_extensions import Buffer

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD = 256 * 1024
_MAX_RATIO: Final = 200
_LARGE_RATIO: Final = 50


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bounds on the expansion of a compressed file, in decompressed bytes.

    Text compresses by a factor of 3 to 20, tables of similar rows by 50. Up to `harmless` every ratio is accepted, up
    to `large` a ratio of 200, beyond it a ratio of 50. A file above these limits is malicious.
    """

    harmless: int = 32 * 1024 * 1024
    large: int = 256 * 1024 * 1024


_SIZES: Final = Sizes()
_FILE_KINDS: Final = (
    (stat.S_ISDIR, "a folder", "name a file in it; a folder is a source of text files only"),
    (
        stat.S_ISFIFO,
        "a pipe",
        "write it to a file first: a resumed job reads its source again",
    ),
    (stat.S_ISSOCK, "a socket", "name a file"),
    (stat.S_ISCHR, "a device", "name a file"),
    (stat.S_ISBLK, "a device", "name a file"),
)

INVALID = "\udcff"  # replaces bytes that are invalid in the encoding; no valid text holds it


def require_regular_file(path: Path) -> None:
    """Refuse a path that is not a regular file, which could block or never end.

    Raises:
        InputRefused: the path does not exist or is not a regular file.
    """
    try:
        _require_regular(path.stat().st_mode, path)
    except OSError as error:
        raise _unreadable(path, error) from None


@contextmanager
def open_regular(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file as it is. Opening never blocks, even if the path has become a pipe.

    Raises:
        InputRefused: the file is not regular or cannot be read.
    """
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            _require_regular(os.fstat(number).st_mode, path)
            yield file
    except OSError as error:
        raise _unreadable(path, error) from None


@contextmanager
def open_source(path: Path, sizes: Sizes = _SIZES) -> Iterator[BinaryIO]:
    """Open a file for reading its decompressed bytes.

    Raises:
        InputRefused: the file does not exist, cannot be read, is compressed in another format, or is known to be binary
            (a PDF, an image).
    """
    try:
        with open_regular(path) as file:
            head = file.read(HEAD)
            file.seek(0)
            if head.startswith(_GZIP):
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield _bounded(unpacked, file, path.name, sizes)
            elif head.startswith(_ZSTD):
                import pyarrow

                with pyarrow.CompressedInputStream(file, "zstd") as stream:
                    yield _bounded(stream, file, path.name, sizes)
            else:
                _require_text(head, path.name)
                yield file
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputRefused(f"{path.name} is damaged: {error}", param="source.path") from None


def check_expansion(path: Path, sizes: Sizes = _SIZES) -> None:
    """Decompress the beginning of a file and refuse a decompression bomb before any row is read.

    A file that is not compressed as a whole, such as a Parquet file, is left to its reader.

    Raises:
        InputRefused: as `open_source`.
    """
    with open_regular(path) as packed:
        if not packed.read(HEAD).startswith((_GZIP, _ZSTD)):
            return
    with open_source(path, sizes) as file:
        if isinstance(file, io.BufferedReader) and isinstance(file.raw, _BoundedReader):
            while file.raw.undecided and file.read(1024 * 1024):
                pass


def _bounded(unpacked: "_ReadableStream", packed: BinaryIO, name: str, sizes: Sizes) -> BinaryIO:
    most = ServiceConfig.load().max_unpacked_bytes
    reader = io.BufferedReader(_BoundedReader(unpacked, packed, name, most, sizes))
    _require_text(reader.peek(HEAD)[:HEAD], name)
    return reader


def _require_text(head: bytes, name: str) -> None:
    found = kind_of(head)
    if found is not None:
        hint = f"{found.hint}; gzip and zstd need no conversion"
        raise InputRefused(f"{name} is {found.name}", param="source.path", hint=hint)


def _require_regular(mode: int, path: Path) -> None:
    for fits, name, hint in _FILE_KINDS:
        if fits(mode):
            raise InputRefused(f"{path} is {name}, not a file", param="source.path", hint=hint)


def _unreadable(path: Path, error: OSError) -> InputRefused:
    reason = error.strerror or str(error)
    return InputRefused(f"cannot read {path}: {reason}", param="source.path")


@contextmanager
def characters(path: Path, encoding: str | None = None) -> Iterator[TextIO]:
    """The text of a file with its line ends, and with `INVALID` in place of invalid bytes.

    Raises:
        InputRefused: as `open_source`; or the encoding does not exist.
    """
    with open_source(path) as file:
        name = encoding or detect_encoding(_peeked(file))
        try:
            codecs.lookup(name)
        except LookupError:
            raise InputRefused(
                f"there is no encoding {name!r}",
                param="source.encoding",
                hint="for instance utf-8, utf-16, cp1252 or shift_jis",
            ) from None
        with io.TextIOWrapper(file, encoding=name, errors=_invalid_marker(), newline="") as text:
            yield text


def detect_encoding(head: bytes) -> str:
    """The encoding of a text that begins with `head`: by its byte order mark, else UTF-8, or UTF-16 if half the bytes
    are zero.

    Raises:
        InputRefused: it is none of them. A wrong guess would silently produce wrong characters.
    """
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    even, odd = head[::2].count(0), head[1::2].count(0)
    if min(even, odd) * 5 > len(head):
        raise InputRefused(
            "the file is binary data, not text",
            param="source.path",
            hint="give a text file, or name its format (--format) if jobs can read it",
        )
    if len(head) > 3 and max(even, odd) * 5 > len(head):
        return "utf-16-be" if even > odd else "utf-16-le"
    text = codecs.getincrementaldecoder("utf-8")(_invalid_marker()).decode(head)
    odd_bytes = text.count(INVALID)
    if odd_bytes > sum(character > "\x7f" for character in text) - odd_bytes:
        best = guessed_encoding(head)
        guess = "" if best is None else f"; it looks like {best}"
        raise InputRefused(
            f"the text is not UTF-8 and has no byte order mark{guess}",
            param="source.encoding",
            hint="name its encoding; with utf-8, records with invalid bytes become dead rows",
        )
    return "utf-8"


def _peeked(file: BinaryIO) -> bytes:
    assert isinstance(file, io.BufferedReader)
    if file.seekable():
        head = file.read(_HEAD)
        file.seek(0)
        return head
    return file.peek(_HEAD)[:_HEAD]


@cache
def _invalid_marker() -> str:
    """The name of a codec error handler that replaces undecodable bytes by one `INVALID`. Works with any codec."""

    def mark(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        return INVALID, error.end

    codecs.register_error("intaglio.mark", mark)
    return "intaglio.mark"


class _ReadableStream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _BoundedReader(io.RawIOBase):
    """The decompressed contents of a file, up to limits of size and compression ratio."""

    def __init__(
        self, unpacked: "_ReadableStream", packed: BinaryIO, name: str, most: int, sizes: Sizes
    ) -> None:
        self._sizes = sizes
        self._unpacked = unpacked
        self._packed = packed
        self._name = name
        self._max_bytes = most
        self._count = 0

    def readable(self) -> bool:
        return True

    @property
    def undecided(self) -> bool:
        """Whether more bytes are needed to decide that the file is harmless."""
        seen = self._count > self._sizes.harmless
        return self._count <= self._sizes.large and not (seen and self._ratio <= _LARGE_RATIO)

    @property
    def _ratio(self) -> float:
        return self._count / max(1, self._packed.tell())

    def readinto(self, buffer: "Buffer") -> int:
        room = memoryview(buffer)
        data = self._unpacked.read(len(room))
        room[: len(data)] = data
        self._count += len(data)
        most = _LARGE_RATIO if self._count > self._sizes.large else _MAX_RATIO
        if self._count > self._sizes.harmless and self._ratio > most:
            raise InputRefused(
                f"{self._name} unpacks to more than {most} times its size",
                param="source.path",
                hint="decompress it first if that is intended",
            )
        if self._count > self._max_bytes:
            raise InputRefused(
                f"{self._name} unpacks to more than {self._max_bytes} bytes",
                param="source.path",
                hint="split it, decompress it first, or raise INTAGLIO_SERVICE_MAX_UNPACKED_BYTES",
            )
        return len(data)
