"""An append-only record of the use of API keys, in which no line can be changed unnoticed.

Does: append one JSON object a line, each with a message authentication code over itself and the code of the line before
(HMAC-SHA256 under a secret of the key store); verify such a file. Several processes may append to one file. Does not:
record content: no text, schema, answer, key or file name. Lines cut off the end leave a valid file; `verified` returns
the last code, which an operator can note elsewhere.
"""

import fcntl
import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .store_errors import KeyStoreError

_TAIL_BYTES = 64 * 1024
_CODE = b',"code":"'
Plain = str | int | float | None


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The end of an audit: its number of lines and the code of the last one."""

    lines: int = 0
    code: str = ""


class BrokenAudit(KeyStoreError):
    """A line of an audit is missing, changed or incomplete."""


class AuditLog:
    """Appends to one audit. A line is written when `append` returns; a crash of the machine may lose the last ones."""

    def __init__(self, folder: Path, secret: bytes, clock: Callable[[], float] = time.time) -> None:
        """Open the audit of a key store, or begin it.

        Raises:
            KeyStoreError: it cannot be written.
        """
        self._key = audit_key(secret)
        self._clock = clock
        self._end = -1
        self._head = AuditHead()
        path = folder.expanduser() / "audit.jsonl"
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise KeyStoreError(f"the audit {path} cannot be written: {error.strerror}") from None

    def append(self, event: str, facts: Mapping[str, Plain]) -> None:
        """Record one event.

        Raises:
            OSError: the line cannot be written, for example because the disk is full. Nothing is recorded.
            BrokenAudit: the last line of the file is not one.
        """
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            end = os.fstat(self._file).st_size
            if end != self._end:  # another process has appended
                end = self._read_head(end)
            line = {"line": self._head.lines + 1, "at": round(self._clock(), 3), "event": event}
            content = json.dumps(line | dict(facts), separators=(",", ":")).encode()[:-1]
            code = _code(self._key, self._head.code, content)
            written = content + _CODE + code.encode() + b'"}\n'
            if os.write(self._file, written) != len(written):
                os.ftruncate(self._file, end)
                raise OSError("the audit was not written: is the disk full?")
            self._end = end + len(written)
            self._head = AuditHead(self._head.lines + 1, code)
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _read_head(self, end: int) -> int:
        """Read the last line, without one that a crash left incomplete; returns the end of the file."""
        tail = os.pread(self._file, _TAIL_BYTES, max(0, end - _TAIL_BYTES))
        torn = len(tail) - (tail.rfind(b"\n") + 1)
        if torn:
            os.ftruncate(self._file, end - torn)
            tail = tail[: len(tail) - torn]
        last = tail.rstrip(b"\n").rpartition(b"\n")[2]
        self._head = _head_of(last) if last else AuditHead()
        return end - torn


def verified(folder: Path, secret: bytes) -> AuditHead:
    """Check every line of an audit; returns its end.

    Raises:
        BrokenAudit: a line is missing, changed or incomplete; the message names the first one.
        KeyStoreError: the audit cannot be read.
    """
    head, key = AuditHead(), audit_key(secret)
    for number, line in enumerate(_lines(folder), start=1):
        content, _, rest = line.rpartition(_CODE)
        code = _code(key, head.code, content)
        if not hmac.compare_digest(rest, code.encode() + b'"}\n'):
            raise BrokenAudit(
                f"line {number} of the audit was changed, or lines before it are missing",
                "compare it with a copy of the file",
            )
        head = AuditHead(number, code)
    return head


def entries(folder: Path) -> Iterator[dict[str, Plain]]:
    """The lines of an audit as objects, unverified.

    Raises:
        KeyStoreError: the audit cannot be read.
    """
    for line in _lines(folder):
        yield json.loads(line)


def audit_key(secret: bytes) -> bytes:
    """The key of the codes, derived from the secret of the key store."""
    return hmac.new(secret, b"intaglio audit", hashlib.sha256).digest()


def _lines(folder: Path) -> Iterator[bytes]:
    try:
        with (folder.expanduser() / "audit.jsonl").open("rb") as file:
            yield from file
    except OSError as error:
        raise KeyStoreError(f"the audit of {folder} cannot be read: {error.strerror}") from None


def _head_of(line: bytes) -> AuditHead:
    try:
        found = json.loads(line)
        return AuditHead(found["line"], found["code"])
    except (ValueError, KeyError, TypeError):
        raise BrokenAudit(
            "the last line of the audit is not one", "`intaglio keys audit` finds the first fault"
        ) from None


def _code(key: bytes, before: str, content: bytes) -> str:
    return hmac.new(key, before.encode() + b"\n" + content, hashlib.sha256).hexdigest()
