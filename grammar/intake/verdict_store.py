"""Verdicts kept on disk: what one process found out, all of them know, also after a restart.

Does: one SQLite file, bounded in bytes, least recently used first; rows with checksums; keys that name the very code
that came to the verdict, so nothing outlives a change of it. Does not: hold code, pickles or masks: a file that
somebody else wrote can claim wrong things, but cannot do any, and a file that others may write is refused.

It is a cache. A row that is damaged is dropped, a file that is damaged is begun anew, and a disk that is full or too
slow makes it forget; none of that is an error.
"""

import hashlib
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from ..contract.constraint import Constraint
from .verdict import Verdict, decode_constraint, decode_verdict, encode_constraint, encode_verdict

_FORMAT: Final = 1
_ROW_BYTES: Final = 256  # what a row takes beside its texts
_BUSY_S: Final = 0.5
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS verdicts (
    key TEXT PRIMARY KEY, used REAL NOT NULL, uses INTEGER NOT NULL, size INTEGER NOT NULL,
    source BLOB NOT NULL, verdict BLOB NOT NULL, checksum BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_use ON verdicts (used);
CREATE TABLE IF NOT EXISTS held (one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL);
INSERT OR IGNORE INTO held VALUES (1, 0);
CREATE TRIGGER IF NOT EXISTS come AFTER INSERT ON verdicts BEGIN UPDATE held SET bytes = bytes + new.size; END;
CREATE TRIGGER IF NOT EXISTS gone AFTER DELETE ON verdicts BEGIN UPDATE held SET bytes = bytes - old.size; END;
"""


class StoreUnusable(Exception):
    """The file cannot be kept where it was asked for; the message says why."""


@cache
def code_digest() -> str:
    """A name for the code of this package: hex SHA-256 of its sources."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(str(_FORMAT).encode())
    for path in sorted(root.rglob("*.py")):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()


class Store:
    """Verdicts by constraint, in a file of `limit_bytes` (about: SQLite's own log comes on top). Threads take turns.

    Raises:
        StoreUnusable: the folder cannot be made or is not this user's alone.
    """

    def __init__(self, path: Path, *, limit_bytes: int, code: str | None = None) -> None:
        """`code` names the version of the compiler whose verdicts are known; None is the one that runs."""
        self._code = code or code_digest()
        self._path = path
        self._limit = limit_bytes
        self._lock = threading.Lock()
        _own(path)
        self._rows: sqlite3.Connection | None = None
        with self._lock:
            self._open()

    def get(self, constraint: Constraint) -> Verdict | None:
        """The verdict on a constraint, if it is known."""
        name = self._name(constraint)
        found = self._ask("SELECT source, verdict, checksum FROM verdicts WHERE key = ?", (name,))
        if not found:
            return None
        source, verdict, checksum = found[0]
        if source == encode_constraint(constraint) and checksum == _checksum(source, verdict):
            try:
                return decode_verdict(verdict)
            except (ValueError, TypeError, KeyError):
                pass
        self._ask("DELETE FROM verdicts WHERE key = ?", (name,))
        return None

    def put(self, constraint: Constraint, verdict: Verdict) -> None:
        """Keep a final verdict, in the place of an older one."""
        assert verdict.final
        name, source, data = (
            self._name(constraint),
            encode_constraint(constraint),
            encode_verdict(verdict),
        )
        size = len(source) + len(data) + _ROW_BYTES
        if size > self._limit // 8:
            return
        row = (name, time.time(), 1, size, source, data, _checksum(source, data))
        self._change(
            [
                ("DELETE FROM verdicts WHERE key = ?", (name,)),
                ("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)", row),
            ]
        )
        self._shrink()

    def touch(self, uses: Mapping[Constraint, int]) -> None:
        """Count uses."""
        now = time.time()
        update = "UPDATE verdicts SET used = ?, uses = uses + ? WHERE key = ?"
        self._change([(update, (now, count, self._name(c))) for c, count in uses.items()])

    def most_used(self, count: int) -> list[Constraint]:
        """Constraints that can be used, and have been most."""
        found = self._ask(
            "SELECT source, verdict, checksum FROM verdicts ORDER BY uses DESC, used DESC LIMIT ?",
            (2 * count,),
        )
        constraints = []
        for source, verdict, checksum in found:
            if checksum != _checksum(source, verdict):
                continue
            try:
                if decode_verdict(verdict).code is None:
                    constraints.append(decode_constraint(source))
            except (ValueError, TypeError, KeyError):
                continue
        return [c for c in constraints if self.get(c) is not None][:count]  # not of another version

    @property
    def held_bytes(self) -> int:
        """Bytes of all rows."""
        found = self._ask("SELECT bytes FROM held")
        return int(found[0][0]) if found else 0

    def close(self) -> None:
        """Let go of the file; safe to call twice. Nothing is known and nothing is kept any more."""
        with self._lock:
            if self._rows is not None:
                self._rows.close()
                self._rows = None

    def _name(self, constraint: Constraint) -> str:
        return hashlib.sha256(f"{self._code}{constraint.key}".encode()).hexdigest()

    def _shrink(self) -> None:
        """Drop what was used least recently, down to nine tenths, so that it is not done at each row."""
        over = self.held_bytes - self._limit
        if over <= 0:
            return
        over += self._limit // 10
        gone = []
        for key, size in self._ask("SELECT key, size FROM verdicts ORDER BY used"):
            gone.append(("DELETE FROM verdicts WHERE key = ?", (key,)))
            over -= size
            if over <= 0:
                break
        self._change(gone)

    def _change(self, statements: Sequence[tuple[str, tuple[object, ...]]]) -> None:
        """All of these or none."""
        if statements:
            self._run([("BEGIN IMMEDIATE", ()), *statements, ("COMMIT", ())])

    def _ask(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of an answer; none where the disk fails."""
        return self._run([(statement, values)])

    def _run(self, statements: Sequence[tuple[str, tuple[object, ...]]]) -> list[tuple[Any, ...]]:
        """The rows of the last statement. A file that is damaged is begun anew."""
        with self._lock:
            if self._rows is None:
                return []
            try:
                for statement, values in statements:
                    rows = self._rows.execute(statement, values).fetchall()
            except sqlite3.OperationalError:  # full, busy, gone: what it was to hold is made again
                if self._rows.in_transaction:
                    self._rows.rollback()
            except sqlite3.DatabaseError:
                self._rows.close()
                self._rows = None
                _remove(self._path)
                with suppress(StoreUnusable):
                    self._open()
            else:
                return rows
            return []

    def _open(self) -> None:
        for attempt in (1, 2):
            try:
                self._rows = _connect(self._path)
                return
            except sqlite3.DatabaseError as error:
                if attempt == 2:
                    raise StoreUnusable(f"{self._path} cannot be kept: {error}") from error
                _remove(self._path)


def _connect(path: Path) -> sqlite3.Connection:
    rows = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        rows.execute("PRAGMA journal_mode = WAL")
        # A row that is lost in a power cut is made again; damage cannot come of it in this mode.
        rows.execute("PRAGMA synchronous = NORMAL")
        rows.execute("PRAGMA trusted_schema = OFF")
        if rows.execute("PRAGMA user_version").fetchone() != (_FORMAT,):
            rows.executescript("DROP TABLE IF EXISTS verdicts; DROP TABLE IF EXISTS held;")
        rows.executescript(f"{_SCHEMA} PRAGMA user_version = {_FORMAT};")
    except sqlite3.DatabaseError:
        rows.close()
        raise
    return rows


def _own(path: Path) -> None:
    """Make folder and file this user's alone. Raises `StoreUnusable` where somebody else could write them."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600))
        for place in (path.parent, path):
            found = place.stat()
            if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise StoreUnusable(f"{place} belongs to, or may be written by, another user")
        path.chmod(0o600)
    except OSError as error:
        raise StoreUnusable(f"{path} cannot be kept: {error.strerror}") from error


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _checksum(source: bytes, verdict: bytes) -> bytes:
    return hashlib.blake2b(
        len(source).to_bytes(8, "big") + source + verdict, digest_size=16
    ).digest()
