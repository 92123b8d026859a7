"""Files as streams of bytes and of characters, whatever they are packed and written in.

Does: unpack gzip and zstd as it reads, within bounds; find an encoding, mark bytes that mean nothing in it; refuse what
is no regular file, and what is no text. Does not: know what is in the files (`readers`). Memory does not grow with the
file.
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

from ..config import ServiceConfig
from ..file_kind import HEAD, kind_of
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
_MOST_RATIO: Final = 200
_LARGE_RATIO: Final = 50


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bounds, in unpacked bytes, of how much a packed file may grow.

    Text packs by a factor of 3 to 20, tables of like rows by 50. Up to `harmless` any ratio is accepted, up to `large`
    a ratio of 200, beyond it a ratio of 50: a file above that is made to do harm.
    """

    harmless: int = 32 * 1024 * 1024
    large: int = 256 * 1024 * 1024


_SIZES: Final = Sizes()
_KINDS: Final = (
    (stat.S_ISDIR, "a folder", "name a file in it; a folder is a source of text files only"),
    (
        stat.S_ISFIFO,
        "a pipe",
        "write it to a file first: a job that goes on reads its source again",
    ),
    (stat.S_ISSOCK, "a socket", "name a file"),
    (stat.S_ISCHR, "a device", "name a file"),
    (stat.S_ISBLK, "a device", "name a file"),
)

MARK = "\udcff"  # stands for bytes that mean nothing in the encoding; no valid text holds it


def insist_file(path: Path) -> None:
    """Refuse what is no regular file: it could block for ever, or never end.

    Raises:
        InputRefused: it is none, or there is nothing of that name.
    """
    try:
        _insist_regular(path.stat().st_mode, path)
    except OSError as error:
        raise _unreadable(path, error) from None


@contextmanager
def regular(path: Path) -> Iterator[BinaryIO]:
    """A regular file as it is. Opening never waits: what was put in its place meanwhile may be a pipe.

    Raises:
        InputRefused: it is none, or it cannot be read.
    """
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            _insist_regular(os.fstat(number).st_mode, path)
            yield file
    except OSError as error:
        raise _unreadable(path, error) from None


@contextmanager
def opened(path: Path, sizes: Sizes = _SIZES) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked.

    Raises:
        InputRefused: there is no such file, it cannot be read, it is packed in another way, or it is known to hold no
            text (a PDF, an image).
    """
    try:
        with regular(path) as file:
            head = file.read(HEAD)
            file.seek(0)
            if head.startswith(_GZIP):
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield _metered(unpacked, file, path.name, sizes)
            elif head.startswith(_ZSTD):
                import pyarrow

                with pyarrow.CompressedInputStream(file, "zstd") as stream:
                    yield _metered(stream, file, path.name, sizes)
            else:
                _insist_text(head, path.name)
                yield file
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputRefused(f"{path.name} is damaged: {error}", param="source.path") from None


def insist_harmless(path: Path, sizes: Sizes = _SIZES) -> None:
    """Unpack the beginning of a packed file and refuse one that grows beyond all measure, before it has any rows.

    Raises:
        InputRefused: as `opened`.
    """
    with opened(path, sizes) as file:
        if isinstance(file, io.BufferedReader) and isinstance(file.raw, _Metered):
            while file.raw.is_in_doubt and file.read(1024 * 1024):
                pass


def _metered(unpacked: "_Readable", packed: BinaryIO, name: str, sizes: Sizes) -> BinaryIO:
    most = ServiceConfig.load().max_unpacked_bytes
    reader = io.BufferedReader(_Metered(unpacked, packed, name, most, sizes))
    _insist_text(reader.peek(HEAD)[:HEAD], name)
    return reader


def _insist_text(head: bytes, name: str) -> None:
    found = kind_of(head)
    if found is not None:
        hint = f"{found.hint}; gzip and zstd are read as they are"
        raise InputRefused(f"{name} is {found.name}", param="source.path", hint=hint)


def _insist_regular(mode: int, path: Path) -> None:
    for fits, name, hint in _KINDS:
        if fits(mode):
            raise InputRefused(f"{path} is {name}, not a file", param="source.path", hint=hint)


def _unreadable(path: Path, error: OSError) -> InputRefused:
    reason = error.strerror or str(error)
    return InputRefused(f"cannot read {path}: {reason}", param="source.path")


@contextmanager
def characters(path: Path, encoding: str | None = None) -> Iterator[TextIO]:
    """The text of a file, line ends as they are, with `MARK` where bytes mean nothing.

    Raises:
        InputRefused: as `opened`; or there is no such encoding.
    """
    with opened(path) as file:
        name = encoding or found_encoding(_peeked(file))
        try:
            codecs.lookup(name)
        except LookupError:
            raise InputRefused(
                f"there is no encoding {name!r}",
                param="source.encoding",
                hint="for instance utf-8, utf-16, cp1252 or shift_jis",
            ) from None
        with io.TextIOWrapper(file, encoding=name, errors=_marking(), newline="") as text:
            yield text


def found_encoding(head: bytes) -> str:
    """The encoding of a text that begins with `head`: by its mark, else UTF-8, or UTF-16 where half its bytes are zero.

    Raises:
        InputRefused: it is none of them. A wrong guess would give wrong characters without a word.
    """
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    even, odd = head[::2].count(0), head[1::2].count(0)
    if min(even, odd) * 5 > len(head):
        raise InputRefused(
            "the file is binary data, not text",
            param="source.path",
            hint="give a file of text, or name its format (--format) if it is one that jobs read",
        )
    if len(head) > 3 and max(even, odd) * 5 > len(head):
        return "utf-16-be" if even > odd else "utf-16-le"
    text = codecs.getincrementaldecoder("utf-8")(_marking()).decode(head)
    odd_bytes = text.count(MARK)
    if odd_bytes > sum(character > "\x7f" for character in text) - odd_bytes:
        from charset_normalizer import from_bytes

        best = from_bytes(head[:65_536]).best()
        guess = "" if best is None else f"; it looks like {best.encoding}"
        raise InputRefused(
            f"the text is not UTF-8 and does not say what it is{guess}",
            param="source.encoding",
            hint="name its encoding; with utf-8 the records with such bytes become dead rows",
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
def _marking() -> str:
    """The name of an error handler that puts one `MARK` for what cannot be decoded. Any codec works with it."""

    def mark(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        return MARK, error.end

    codecs.register_error("intaglio.mark", mark)
    return "intaglio.mark"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Metered(io.RawIOBase):
    """What a packed file holds, as long as it is not made to fill the machine."""

    def __init__(
        self, unpacked: "_Readable", packed: BinaryIO, name: str, most: int, sizes: Sizes
    ) -> None:
        self._sizes = sizes
        self._unpacked = unpacked
        self._packed = packed
        self._name = name
        self._most = most
        self._count = 0

    def readable(self) -> bool:
        return True

    @property
    def is_in_doubt(self) -> bool:
        """Whether more of it has to be seen to tell whether it is a file that does harm."""
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
        most = _LARGE_RATIO if self._count > self._sizes.large else _MOST_RATIO
        if self._count > self._sizes.harmless and self._ratio > most:
            raise InputRefused(
                f"{self._name} unpacks to more than {most} times its size",
                param="source.path",
                hint="unpack it yourself if it is meant to",
            )
        if self._count > self._most:
            raise InputRefused(
                f"{self._name} unpacks to more than {self._most} bytes",
                param="source.path",
                hint="split it, unpack it yourself, or raise INTAGLIO_SERVICE_MAX_UNPACKED_BYTES",
            )
        return len(data)
