"""Input of commands: documents and schemas from files, pipes and standard input.

Does: read bounded UTF-8 text, and the bytes of PDFs and other documents; name the kind of a file that is neither.
Does not: extract (`extract_command`), or read documents (`service/documents`).
"""

import json
import os
import select
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from intaglio.schemas import catalogue
from intaglio.schemas.base import MAX_TEXT_CHARACTERS
from intaglio.schemas.json_objects import no_constant, unrepeated

from ..file_kind import HEAD, image_type, is_document, kind_of, why_not_utf8
from .cli_errors import CliError, Exit

_MAX_BYTES: Final = 4 * MAX_TEXT_CHARACTERS + 3  # in UTF-8, with a byte order mark
MAX_FILE_BYTES: Final = 32 << 20
_WAIT_S: Final = 10  # for the writer of a pipe to start


@dataclass(frozen=True, slots=True)
class Document:
    """A document and its display name: a text, or the bytes of a file in the format of a document."""

    name: str
    text: str | None
    content: bytes | None = None

    @property
    def file(self) -> tuple[str, bytes] | None:
        """The file, as the SDK takes it; None for a text."""
        return None if self.content is None else (Path(self.name).name, self.content)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A document that could not be read, and the error."""

    name: str
    error: CliError


def read_schema(name_or_path: str, *, registered: bool = False) -> Any:
    """The schema in a file, or the name of a catalogue schema. Raises `CliError` if it is neither.

    With `registered`, a name without a file may be that of a schema in the registry, which the service looks up.
    """
    path = Path(name_or_path)
    if name_or_path in catalogue.names():
        return name_or_path
    try:
        path.exists()  # otherwise the questions below fail, each in its way
    except OSError as error:
        raise CliError(f"cannot read {path}: {error.strerror}", Exit.USAGE) from None
    if registered and not path.exists() and not {"/", "\\"} & set(name_or_path) and not path.suffix:
        return name_or_path
    if path.is_dir():
        raise CliError(
            f"{name_or_path} is a folder, not a file with a JSON Schema",
            Exit.USAGE,
            where="--schema",
        )
    if not path.is_file():
        hint = "give a file with a JSON Schema, or a name from `intaglio schema list`"
        try:
            catalogue.get(name_or_path)
        except catalogue.UnknownSchema as unknown:
            raise CliError(f"no such file, and {unknown}", Exit.USAGE, hint=hint) from None
    try:
        return json.loads(text_of(path), object_pairs_hook=unrepeated, parse_constant=no_constant)
    except RecursionError:
        raise CliError(f"{name_or_path} is nested too deeply", Exit.REFUSED) from None
    except ValueError as error:
        raise CliError(f"{name_or_path} is not JSON: {error}", Exit.REFUSED) from None


def read_documents(names: Sequence[str]) -> tuple[Document | Unreadable, ...]:
    """Read all documents. Of several, an unreadable one is returned as `Unreadable`.

    Raises:
        CliError: the only document is unreadable, or standard input is named twice.
    """
    if names.count("-") > 1:
        raise CliError("standard input (-) can be read only once", Exit.USAGE)
    found: list[Document | Unreadable] = []
    for name in names:
        try:
            found.append(_document(name))
        except CliError as error:
            if len(names) == 1:
                raise
            found.append(Unreadable(name, error))
    return tuple(found)


def text_of(path: Path, wait_s: float = _WAIT_S) -> str:
    """The text of a file, or of a pipe that is written to within `wait_s`. Raises `CliError` if it is unreadable."""
    return decoded(str(path), _content(path, _MAX_BYTES, wait_s))


def _content(path: Path, most: int, wait_s: float = _WAIT_S) -> bytes:
    """The bytes of a file or pipe, at most `most` of a text. Raises `CliError` as `text_of`."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            _wait_for_writer(number, path, wait_s)
            os.set_blocking(number, True)
            return _bounded(file, str(path), most)
    except OSError as error:
        raise CliError(f"cannot read {path}: {error.strerror}", Exit.USAGE) from None


def decoded(name: str, content: bytes) -> str:
    """Decode UTF-8 bytes. Raises `CliError` for anything else."""
    found = kind_of(content[:HEAD])
    if found is None:
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            found = why_not_utf8(content[:HEAD], name)
            what = f"{name} is not UTF-8 text but {found.name} (byte {error.start})"
    else:
        what = f"{name} is {found.name}, not text"
    raise CliError(what, Exit.USAGE, hint=found.hint)


def _document(name: str) -> Document:
    if name == "-":
        name = "standard input"
        content = _bounded(sys.stdin.buffer, name, MAX_FILE_BYTES)
    else:
        content = _content(Path(name), MAX_FILE_BYTES)
    if _has_own_format(content):
        return Document(name, None, content)
    text = decoded(name, content)
    if not text.strip():
        raise CliError(f"{name} is empty", Exit.USAGE)
    return Document(name, text)


def _has_own_format(content: bytes) -> bool:
    """Whether a file is a document or an image, rather than text in UTF-8."""
    return is_document(content) or image_type(content[:HEAD]) is not None


def _bounded(file: BinaryIO, name: str, most: int) -> bytes:
    """Read a whole file up to the size limit of a text, or up to `most` bytes if it is a document in a format of its
    own; refuses longer and endless ones.
    """
    content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES and _has_own_format(content):
        content += file.read(most + 1 - len(content))
        if len(content) <= most:
            return content
        raise CliError(
            f"{name} is larger than {most >> 20} MiB", Exit.USAGE, hint="split the document"
        )
    if len(content) > _MAX_BYTES:
        found = kind_of(content[:HEAD])
        raise CliError(
            f"{name} is {found.name}, not text" if found else f"{name} is too long",
            Exit.USAGE,
            hint=found.hint
            if found
            else f"a document has at most {MAX_TEXT_CHARACTERS:,} characters: split it; "
            "`intaglio job run` reads files of many documents",
        )
    return content


def _wait_for_writer(number: int, path: Path, wait_s: float) -> None:
    """Wait for data on a pipe, with a time limit; opening a pipe does not wait."""
    if not stat.S_ISFIFO(os.fstat(number).st_mode):
        return
    spinner = select.poll()
    spinner.register(number, select.POLLIN | select.POLLHUP)
    if not spinner.poll(wait_s * 1000):
        raise CliError(
            f"nothing was written to the pipe {path} for {wait_s:g} seconds",
            Exit.USAGE,
            hint="start the writing program first, or give a file",
        )
