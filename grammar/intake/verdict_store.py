"""The store of verdicts on disk, shared by all processes and kept across restarts.

Does: keep an LRU of rows with checksums in one SQLite file that is bounded in bytes; include a digest of the compiler's
code in each key, so that no verdict outlives a change of the code. Does not: store code, pickles or masks. So a forged
file can contain wrong verdicts but cannot run code; a file that other users may write is refused.

It is only a cache. A damaged row is dropped, a damaged file is replaced, and on a full or slow disk rows are lost; none
of these is an error.
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
_ROW_BYTES: Final = 256  # size of a row without its texts
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
    """The store cannot use its file; the message says why."""


@cache
def code_digest() -> str:
    """The digest of the code of this package: hex SHA-256 of its sources."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(str(_FORMAT).encode())
    for path in sorted(root.rglob("*.py")):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()


class Store:
    """Verdicts by constraint, in a file of about `limit_bytes` (plus SQLite's own log). Thread-safe.

    Raises:
        StoreUnusable: the folder cannot be created, or other users can write to it.
    """

    def __init__(self, path: Path, *, limit_bytes: int, code: str | None = None) -> None:
        """`code` identifies the version of the compiler; None: the running one. Verdicts of others are not found."""
        self._code = code or code_digest()
        self._path = path
        self._limit = limit_bytes
        self._lock = threading.Lock()
        _make_private(path)
        self._rows: sqlite3.Connection | None = None
        with self._lock:
            self._open()

    def get(self, constraint: Constraint) -> Verdict | None:
        """The stored verdict on a constraint, or None."""
        name = self._name(constraint)
        found = self._query("SELECT source, verdict, checksum FROM verdicts WHERE key = ?", (name,))
        if not found:
            return None
        source, verdict, checksum = found[0]
        if source == encode_constraint(constraint) and checksum == _checksum(source, verdict):
            try:
                return decode_verdict(verdict)
            except (ValueError, TypeError, KeyError):
                pass
        self._query("DELETE FROM verdicts WHERE key = ?", (name,))
        return None

    def put(self, constraint: Constraint, verdict: Verdict) -> None:
        """Store a final verdict, replacing an older one."""
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
        """Add to the use counts of constraints, and mark them as used now."""
        now = time.time()
        update = "UPDATE verdicts SET used = ?, uses = uses + ? WHERE key = ?"
        self._change([(update, (now, count, self._name(c))) for c, count in uses.items()])

    def most_used(self, count: int) -> list[Constraint]:
        """The accepted constraints that have been used most."""
        found = self._query(
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
        return [c for c in constraints if self.get(c) is not None][:count]  # drops other versions

    @property
    def held_bytes(self) -> int:
        """The size of all rows in bytes."""
        found = self._query("SELECT bytes FROM held")
        return int(found[0][0]) if found else 0

    def close(self) -> None:
        """Close the file; safe to call twice. Afterwards the store finds and keeps nothing."""
        with self._lock:
            if self._rows is not None:
                self._rows.close()
                self._rows = None

    def _name(self, constraint: Constraint) -> str:
        return hashlib.sha256(f"{self._code}{constraint.key}".encode()).hexdigest()

    def _shrink(self) -> None:
        """Evict the least recently used rows down to nine tenths of the limit, so that it is rarely needed."""
        over = self.held_bytes - self._limit
        if over <= 0:
            return
        over += self._limit // 10
        gone = []
        for key, size in self._query("SELECT key, size FROM verdicts ORDER BY used"):
            gone.append(("DELETE FROM verdicts WHERE key = ?", (key,)))
            over -= size
            if over <= 0:
                break
        self._change(gone)

    def _change(self, statements: Sequence[tuple[str, tuple[object, ...]]]) -> None:
        """Run statements in one transaction."""
        if statements:
            self._run([("BEGIN IMMEDIATE", ()), *statements, ("COMMIT", ())])

    def _query(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query; none if the disk fails."""
        return self._run([(statement, values)])

    def _run(self, statements: Sequence[tuple[str, tuple[object, ...]]]) -> list[tuple[Any, ...]]:
        """Run statements and return the rows of the last one. A damaged file is replaced by an empty one."""
        with self._lock:
            if self._rows is None:
                return []
            try:
                for statement, values in statements:
                    rows = self._rows.execute(statement, values).fetchall()
            except sqlite3.OperationalError:  # full, busy or missing: the verdict can be made again
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
                    raise StoreUnusable(f"cannot use the store {self._path}: {error}") from error
                _remove(self._path)


def _connect(path: Path) -> sqlite3.Connection:
    rows = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        rows.execute("PRAGMA journal_mode = WAL")
        # In this mode a power cut may lose rows, which can be made again, but cannot damage the file.
        rows.execute("PRAGMA synchronous = NORMAL")
        rows.execute("PRAGMA trusted_schema = OFF")
        if rows.execute("PRAGMA user_version").fetchone() != (_FORMAT,):
            rows.executescript("DROP TABLE IF EXISTS verdicts; DROP TABLE IF EXISTS held;")
        rows.executescript(f"{_SCHEMA} PRAGMA user_version = {_FORMAT};")
    except sqlite3.DatabaseError:
        rows.close()
        raise
    return rows


def _make_private(path: Path) -> None:
    """Create the folder and the file, writable by this user only. Raises `StoreUnusable` if other users can write."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600))
        for place in (path.parent, path):
            found = place.stat()
            if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise StoreUnusable(
                    f"{place} belongs to another user, or another user may write to it"
                )
        path.chmod(0o600)
    except OSError as error:
        raise StoreUnusable(f"cannot use the store {path}: {error.strerror}") from error


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _checksum(source: bytes, verdict: bytes) -> bytes:
    return hashlib.blake2b(
        len(source).to_bytes(8, "big") + source + verdict, digest_size=16
    ).digest()
