"""Kept answers in SQLite: in the data folder, which all processes of a server share, or in memory.

Does: claim a key for one run of its request, keep the answer, give it to repeated requests, forget it in time. Does
not: run requests or wait.

A claim is a lease that its holder renews. The key of a process that died becomes free when its lease ends.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from ..errors import IdempotencyKeyReused, ServiceNotReady
from ..sqlite import SharedDatabase

KEPT_S: Final = 24 * 3600.0
LEASE_S: Final = 30.0
MAX_ANSWERS: Final = 10_000
MAX_BYTES: Final = 64 << 20
"""The size of all kept answers together; the oldest ones are forgotten first."""
MAX_ANSWER_BYTES: Final = 4 << 20
"""A larger answer is not kept."""

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS answers (
    tenant TEXT NOT NULL, key TEXT NOT NULL, digest BLOB NOT NULL, holder TEXT NOT NULL, until REAL NOT NULL,
    media TEXT, body BLOB, size INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID
"""
_INDEX: Final = "CREATE INDEX IF NOT EXISTS answers_by_age ON answers (until, size)"


@dataclass(frozen=True, slots=True)
class KeyName:
    """A key of a tenant, and the digest of the request that it is used for."""

    tenant: str
    key: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The body of a successful answer, and its media type."""

    media: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Claimed:
    """The caller runs the request. `holder` identifies the claim."""

    holder: str


class AnswerStore:
    """The kept answers of one server. Thread-safe.

    Every method raises `ServiceNotReady` if the file cannot be read or written.
    """

    def __init__(self, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        with _readable():
            self._file = SharedDatabase(path, _TABLE, _INDEX)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def claim(self, name: KeyName) -> Claimed | KeptAnswer | None:
        """Claim a key: its answer if one is kept, None if another run of the request has not ended yet.

        Raises:
            IdempotencyKeyReused: the key was used for another request.
        """
        now = self._clock()
        with self._transaction() as db:
            db.execute("DELETE FROM answers WHERE until <= ?", (now,))
            found = db.execute(
                "SELECT digest, media, body FROM answers WHERE tenant = ? AND key = ?",
                (name.tenant, name.key),
            ).fetchone()
            if found is None:
                claimed = Claimed(uuid4().hex)
                row = (name.tenant, name.key, name.digest, claimed.holder, now + LEASE_S)
                db.execute(
                    "INSERT INTO answers (tenant, key, digest, holder, until) VALUES (?, ?, ?, ?, ?)",
                    row,
                )
                return claimed
        digest, media, body = found
        if digest != name.digest:
            raise IdempotencyKeyReused(
                "this idempotency key was used for another request",
                param="Idempotency-Key",
                hint="use a new key for each request; to repeat a request, send the same bytes",
            )
        return None if body is None else KeptAnswer(media, body)

    def renew(self, name: KeyName, claimed: Claimed) -> None:
        """Extend a claim by another lease."""
        with self._transaction() as db:
            db.execute(
                "UPDATE answers SET until = ? WHERE tenant = ? AND key = ? AND holder = ? AND body IS NULL",
                (self._clock() + LEASE_S, name.tenant, name.key, claimed.holder),
            )

    def keep(self, name: KeyName, claimed: Claimed, answer: KeptAnswer) -> None:
        """Keep the answer of a claimed request. One that is too large is not kept, and its key is free again."""
        if len(answer.body) > MAX_ANSWER_BYTES:
            self.release(name, claimed)
            return
        with self._transaction() as db:
            db.execute(
                "UPDATE answers SET until = ?, media = ?, body = ?, size = ? "
                "WHERE tenant = ? AND key = ? AND holder = ?",
                (
                    self._clock() + KEPT_S,
                    answer.media,
                    answer.body,
                    len(answer.body),
                    name.tenant,
                    name.key,
                    claimed.holder,
                ),
            )
            self._forget_oldest(db)

    def release(self, name: KeyName, claimed: Claimed) -> None:
        """Free the key of a request that has no answer to keep."""
        with self._transaction() as db:
            db.execute(
                "DELETE FROM answers WHERE tenant = ? AND key = ? AND holder = ? AND body IS NULL",
                (name.tenant, name.key, claimed.holder),
            )

    def _forget_oldest(self, db: sqlite3.Connection) -> None:
        count, size = db.execute(
            "SELECT COUNT(*), SUM(size) FROM answers WHERE size > 0"
        ).fetchone()
        while count > MAX_ANSWERS or (size or 0) > MAX_BYTES:
            tenant, key, freed = db.execute(
                "SELECT tenant, key, size FROM answers WHERE size > 0 ORDER BY until LIMIT 1"
            ).fetchone()
            db.execute("DELETE FROM answers WHERE tenant = ? AND key = ?", (tenant, key))
            count, size = count - 1, size - freed

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with _readable(), self._file.transaction() as db:
            yield db


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise ServiceNotReady(
            f"kept answers cannot be read or written: {error}",
            hint="send the request without Idempotency-Key meanwhile",
        ) from error
