"""Documents and schemas as the command line names them: files, pipes, standard input.

Does: read them, bounded and in UTF-8; say of what is no text what it is. Does not: extract (`cli_extract`).
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

from ..schemas import catalogue
from ..schemas.wire import MAX_TEXT_CHARACTERS
from .cli_trouble import Exit, Trouble
from .file_kind import HEAD, kind_of, why_not_utf8

_MOST_BYTES: Final = 4 * MAX_TEXT_CHARACTERS + 3  # as UTF-8, with a byte order mark
_WAIT_S: Final = 10  # for a pipe that nothing has open for writing


@dataclass(frozen=True, slots=True)
class Document:
    """A text, and what to call it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A document that could not be read, and why."""

    name: str
    trouble: Trouble


def read_schema(given: str) -> Any:
    """The schema in a file, or the name of one in the catalogue. Raises `Trouble` where it is neither."""
    path = Path(given)
    if given in catalogue.names():
        return given
    if not path.is_file():
        hint = "give a file with a JSON Schema, or a name that `intaglio schema list` shows"
        try:
            catalogue.get(given)
        except catalogue.UnknownSchema as unknown:
            raise Trouble(f"no such file, and {unknown}", Exit.USAGE, hint=hint) from None
    try:
        return json.loads(text_of(path))
    except ValueError as error:
        raise Trouble(f"{given} is not JSON: {error}", Exit.REFUSED) from None


def read_documents(names: Sequence[str]) -> tuple[Document | Unreadable, ...]:
    """All documents. Of several, one that cannot be read stands in its place with the reason.

    Raises:
        Trouble: the only document cannot be read, or standard input is named twice.
    """
    if names.count("-") > 1:
        raise Trouble("standard input (-) can be read only once", Exit.USAGE)
    found: list[Document | Unreadable] = []
    for name in names:
        try:
            found.append(_document(name))
        except Trouble as trouble:
            if len(names) == 1:
                raise
            found.append(Unreadable(name, trouble))
    return tuple(found)


def text_of(path: Path, wait_s: float = _WAIT_S) -> str:
    """The text of a file. A pipe may take `wait_s` until something has written to it.

    Raises:
        Trouble: it cannot be read, or nothing was written to the pipe.
    """
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            _wait_for_writer(number, path, wait_s)
            os.set_blocking(number, True)
            return decoded(str(path), _bounded(file, str(path)))
    except OSError as error:
        raise Trouble(f"cannot read {path}: {error.strerror}", Exit.USAGE) from None


def decoded(name: str, content: bytes) -> str:
    """UTF-8 as text. Raises `Trouble` where it is something else."""
    found = kind_of(content[:HEAD])
    if found is None:
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            found = why_not_utf8(content[:HEAD], name)
            what = f"{name} is not UTF-8 text but {found.name} (byte {error.start})"
    else:
        what = f"{name} is {found.name}, not text"
    raise Trouble(what, Exit.USAGE, hint=found.hint)


def _document(name: str) -> Document:
    if name == "-":
        name = "standard input"
        text = decoded(name, _bounded(sys.stdin.buffer, name))
    else:
        text = text_of(Path(name))
    if not text.strip():
        raise Trouble(f"{name} is empty", Exit.USAGE)
    return Document(name, text)


def _bounded(file: BinaryIO, name: str) -> bytes:
    """All of a file that a document may have; what never ends is refused as well."""
    content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        found = kind_of(content[:HEAD])
        raise Trouble(
            f"{name} is {found.name}, not text" if found else f"{name} is too long",
            Exit.USAGE,
            hint=found.hint
            if found
            else f"a document has {MAX_TEXT_CHARACTERS:,} characters at most: split it; "
            "for a file of many documents there is `intaglio job run`",
        )
    return content


def _wait_for_writer(number: int, path: Path, wait_s: float) -> None:
    """Wait a while for a pipe to be written to; opening it did not."""
    if not stat.S_ISFIFO(os.fstat(number).st_mode):
        return
    waiting = select.poll()
    waiting.register(number, select.POLLIN | select.POLLHUP)
    if not waiting.poll(wait_s * 1000):
        raise Trouble(
            f"nothing was written to the pipe {path} for {wait_s:g} seconds",
            Exit.USAGE,
            hint="start what writes to it first, or give a file",
        )
