"""The use of each API key and the enforcement of its limits, in an SQLite file that all processes of a server share.

Does: admit requests and tokens within the limits of a key, in one transaction each, so that no race admits too much;
correct estimates by what was used in the end; say when a refused request would be admitted. Does not: know requests or
HTTP. The figures outlive the server. A lock on a file of its own orders the processes: the kernel wakes the next one at
once, where SQLite would sleep and try again.

A limit per minute is a token bucket: it holds one minute's amount and refills steadily. A request that needs more
tokens than the bucket holds is admitted when the bucket is full, and its level is negative thereafter.
"""

import fcntl
import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import QuotaExceeded, RateLimited
from .key_limits import KeyLimits
from .key_store import private_database
from .store_errors import KeyStoreError

DAY_S = 86_400
MINUTE_S = 60.0
_TABLES = """
CREATE TABLE IF NOT EXISTS days (
    key TEXT, day INTEGER, requests INTEGER NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (key, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS levels (
    key TEXT PRIMARY KEY, at REAL NOT NULL, requests REAL NOT NULL, tokens REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS in_flight (
    key TEXT, process INTEGER, requests INTEGER NOT NULL, PRIMARY KEY (key, process)
) STRICT, WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Tokens that a key has been charged before they are used; `day` counts days since 1970."""

    key: str
    day: int
    tokens: int


@dataclass(slots=True)
class _Account:
    """The figures of one key, refilled up to now. `requests` and `tokens` are the levels of the buckets."""

    day: int
    day_requests: int
    day_tokens: int
    requests: float
    tokens: float


class UsageStore:
    """The use of all keys of one folder. One thread at a time of one process may use an object."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        """Open the figures, or begin them.

        Raises:
            KeyStoreError: they cannot be read or written.
        """
        self._clock = clock
        self._process = os.getpid()
        folder = folder.expanduser()
        try:
            self._lock = os.open(folder / "usage.lock", os.O_RDWR | os.O_CREAT, 0o600)
            self._db = private_database(folder / "usage.db")
            self._db.isolation_level = None
            with self._transaction():
                for statement in _TABLES.split(";"):
                    self._db.execute(statement)
                # An earlier process of the same number has ended.
                self._db.execute("DELETE FROM in_flight WHERE process = ?", (self._process,))
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise KeyStoreError(f"the use of keys in {folder} cannot be read: {reason}") from None

    def enter(self, key: str, limits: KeyLimits) -> None:
        """Charge one request and count it as in flight; `leave` ends it.

        Raises:
            RateLimited: a limit per minute or of requests in flight is reached. Nothing is charged.
            QuotaExceeded: a limit per day is reached. Nothing is charged.
        """
        with self._transaction():
            account = self._account(key, limits)
            _require_day(account.day_requests + 1, limits.requests_per_day, "requests", self._now())
            _require_day(account.day_tokens + 1, limits.tokens_per_day, "tokens", self._now())
            _require_level(account.requests, 1, limits.requests_per_minute, "requests")
            if limits.concurrent is not None:
                self._require_place(key, limits.concurrent)
                self._count(key, 1)
            account.requests -= 1
            account.day_requests += 1
            self._store(key, account)

    def leave(self, key: str, limits: KeyLimits) -> None:
        """End a request that `enter` admitted."""
        if limits.concurrent is not None:
            with self._transaction():
                self._count(key, -1)

    def reserve(self, key: str, limits: KeyLimits, tokens: int) -> Reservation:
        """Charge the tokens that a generation may use at most; `settle` corrects them.

        Raises:
            RateLimited: the limit of tokens per minute is reached. Nothing is charged.
            QuotaExceeded: the limit of tokens per day would be exceeded. Nothing is charged.
        """
        if limits.tokens_per_day is not None and tokens > limits.tokens_per_day:
            raise QuotaExceeded(
                f"the key may use {limits.tokens_per_day} tokens a day, and this request alone may use {tokens}, its "
                "answer included",
                hint="set max_tokens, or shorten the request: waiting is of no use",
                retry_after_s=math.ceil(DAY_S),
            )
        with self._transaction():
            account = self._account(key, limits)
            _require_day(account.day_tokens + tokens, limits.tokens_per_day, "tokens", self._now())
            _require_level(account.tokens, tokens, limits.tokens_per_minute, "tokens")
            account.tokens -= tokens
            account.day_tokens += tokens
            self._store(key, account)
        return Reservation(key, account.day, tokens)

    def settle(self, reserved: Reservation, limits: KeyLimits, used: int) -> None:
        """Replace the tokens of a reservation by those that were used."""
        excess = reserved.tokens - used
        with self._transaction():
            account = self._account(reserved.key, limits)
            if limits.tokens_per_minute is not None:
                account.tokens = min(limits.tokens_per_minute, account.tokens + excess)
            if reserved.day == account.day:
                account.day_tokens -= excess
            self._store(reserved.key, account)

    def today(self, key: str) -> tuple[int, int]:
        """Requests and tokens of a key since midnight, UTC; reservations included."""
        row = self._db.execute(
            "SELECT requests, tokens FROM days WHERE key = ? AND day = ?", (key, self._day())
        ).fetchone()
        return (0, 0) if row is None else (int(row[0]), int(row[1]))

    def close(self) -> None:
        """Close the files."""
        self._db.close()
        os.close(self._lock)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _now(self) -> float:
        return self._clock()

    def _day(self) -> int:
        return int(self._now() // DAY_S)

    def _account(self, key: str, limits: KeyLimits) -> _Account:
        day, now = self._day(), self._now()
        full = (limits.requests_per_minute or 0, limits.tokens_per_minute or 0)
        row = self._db.execute(
            "SELECT at, requests, tokens FROM levels WHERE key = ?", (key,)
        ).fetchone()
        at, *levels = (now, *full) if row is None else row
        past = max(0.0, now - at)
        refilled = [
            min(float(most), level + past * most / MINUTE_S)
            for level, most in zip(levels, full, strict=True)
        ]
        return _Account(day, *self.today(key), *refilled)

    def _store(self, key: str, account: _Account) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO days VALUES (?, ?, ?, ?)",
            (key, account.day, account.day_requests, account.day_tokens),
        )
        self._db.execute(
            "INSERT OR REPLACE INTO levels VALUES (?, ?, ?, ?)",
            (key, self._now(), account.requests, account.tokens),
        )

    def _count(self, key: str, change: int) -> None:
        self._db.execute(
            "INSERT INTO in_flight VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET requests = max(0, requests + excluded.requests)",
            (key, self._process, change),
        )

    def _require_place(self, key: str, most: int) -> None:
        if self._in_flight(key) < most:
            return
        for (process,) in self._db.execute("SELECT DISTINCT process FROM in_flight").fetchall():
            if not _is_alive(process):
                self._db.execute("DELETE FROM in_flight WHERE process = ?", (process,))
        if self._in_flight(key) >= most:
            raise RateLimited(
                f"the key has {most} requests in flight, its limit",
                hint="wait for one of them to be answered",
                retry_after_s=1,
            )

    def _in_flight(self, key: str) -> int:
        query = "SELECT coalesce(sum(requests), 0) FROM in_flight WHERE key = ?"
        return int(self._db.execute(query, (key,)).fetchone()[0])


def _require_day(after: int, most: int | None, what: str, now: float) -> None:
    if most is not None and after > most:
        raise QuotaExceeded(
            f"the key may use {most} {what} a day, and this request would exceed them",
            hint="the count restarts at midnight, UTC",
            retry_after_s=math.ceil(DAY_S - now % DAY_S),
        )


def _require_level(level: float, needed: int, most: int | None, what: str) -> None:
    if most is None:
        return
    missing = min(needed, most) - level
    if missing > 1e-9:  # not the error of a sum of fractions
        raise RateLimited(
            f"the key may use {most} {what} a minute",
            hint="send requests more slowly, or wait as Retry-After says",
            retry_after_s=math.ceil(missing * MINUTE_S / most),
        )


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
