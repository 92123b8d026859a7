"""API keys in an SQLite file of one folder, as digests.

Does: create, list, revoke and find keys; keep the secret from which salts are derived; notice changes that another
process makes. Does not: keep a key itself: it is shown once, when it is created. A key is 256 random bits, so one
SHA-256 protects it as well as a slow hash would protect a password.
"""

import hashlib
import json
import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ..sqlite import write_ahead
from . import DEFAULT_TENANT
from .key_limits import UNLIMITED, KeyLimits
from .scopes import ALL_SCOPES, KeyScope
from .store_errors import KeyStoreError, UnknownKey

PREFIX = "ik"
"""The first letters of every key, by which scanners for leaked secrets find it."""

_VERSION = 1
_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE keys (
    id TEXT PRIMARY KEY, digest BLOB NOT NULL UNIQUE, tenant TEXT NOT NULL, scopes TEXT NOT NULL,
    weight REAL NOT NULL, limits TEXT NOT NULL, created REAL NOT NULL, expires REAL, revoked REAL
) STRICT;
"""
_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MOST_WEIGHT = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyGrant:
    """The permissions of a key. `weight` is the share of its tenant under load; `lifetime_s` None = no end."""

    tenant: str = DEFAULT_TENANT
    scopes: frozenset[KeyScope] = ALL_SCOPES
    limits: KeyLimits = UNLIMITED
    weight: float = 1.0
    lifetime_s: float | None = None

    def __post_init__(self) -> None:
        if not _TENANT.fullmatch(self.tenant):
            raise ValueError(
                f"{self.tenant[:40]!r} is no name of a tenant: up to 64 letters, digits, dots, dashes and underscores"
            )
        if not self.scopes or not self.scopes <= ALL_SCOPES:
            raise ValueError(f"scopes are one or more of {', '.join(sorted(ALL_SCOPES))}")
        if not 1 / _MOST_WEIGHT <= self.weight <= _MOST_WEIGHT:
            raise ValueError(f"weight must be from {1 / _MOST_WEIGHT} to {_MOST_WEIGHT:g}")
        if self.lifetime_s is not None and not 0 < self.lifetime_s < 10**10:
            raise ValueError("lifetime must be a positive number of seconds below 10^10")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """One key of the store. Times are seconds since 1970 in UTC."""

    id: str
    tenant: str
    scopes: frozenset[KeyScope]
    limits: KeyLimits
    weight: float
    created: float
    expires: float | None
    revoked: float | None

    def is_valid(self, now: float) -> bool:
        """Whether the key is neither revoked nor expired."""
        return self.revoked is None and (self.expires is None or now < self.expires)


class KeyStore:
    """The keys in a folder. One thread at a time may use an object."""

    def __init__(
        self, folder: Path, *, create: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        """Open the store.

        Raises:
            KeyStoreError: the folder has no store and `create` is false, or it cannot be read.
        """
        self._clock = clock
        self._db = _opened(folder.expanduser(), create=create)
        self._known: dict[bytes, StoredKey] = {}
        self._seen = -1
        self.secret = _secret(self._db, folder)

    def create(self, grant: KeyGrant) -> tuple[str, StoredKey]:
        """Make a key; returns it and its record. The key cannot be read again."""
        name = secrets.token_hex(4)
        key = f"{PREFIX}_{name}_{secrets.token_urlsafe(32)}"
        now = self._clock()
        row = (
            name,
            digest_of(key.encode()),
            grant.tenant,
            " ".join(sorted(grant.scopes)),
            grant.weight,
            json.dumps(grant.limits.given()),
            now,
            None if grant.lifetime_s is None else now + grant.lifetime_s,
        )
        with self._db:
            self._db.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)", row)
        self._seen = -1
        return key, self.named(name)

    def revoke(self, name: str) -> StoredKey:
        """Make a key invalid from now on; every process that serves with this store notices at its next request.

        Raises:
            UnknownKey: there is no key of that id.
        """
        with self._db:
            self._db.execute(
                "UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", (self._clock(), name)
            )
        self._seen = -1
        return self.named(name)

    def named(self, name: str) -> StoredKey:
        """The key of an id.

        Raises:
            UnknownKey: there is none.
        """
        for key in self.all():
            if key.id == name:
                return key
        raise UnknownKey(f"there is no key {name[:40]!r}", "`intaglio keys list` names all keys")

    def all(self) -> tuple[StoredKey, ...]:
        """All keys, oldest first; also revoked and expired ones."""
        self._refresh()
        return tuple(self._known.values())

    def find(self, digest: bytes) -> StoredKey | None:
        """The valid key of a digest (`digest_of`), or None."""
        self._refresh()
        found = self._known.get(digest)
        return found if found is not None and found.is_valid(self._clock()) else None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _refresh(self) -> None:
        """Read the keys again if this or another process changed them."""
        version = self._db.execute("PRAGMA data_version").fetchone()[0]
        if version != self._seen:
            rows = self._db.execute("SELECT * FROM keys ORDER BY created, id")
            self._known = {row[1]: _key_of(row) for row in rows}
            self._seen = version


def digest_of(key: bytes) -> bytes:
    """The digest by which a key is found: SHA-256."""
    return hashlib.sha256(key).digest()


def _key_of(row: tuple[object, ...]) -> StoredKey:
    name, _, tenant, scopes, weight, limits, created, expires, revoked = row
    return StoredKey(
        id=str(name),
        tenant=str(tenant),
        scopes=frozenset(KeyScope(scope) for scope in str(scopes).split()),
        limits=KeyLimits.of(json.loads(str(limits))),
        weight=float(str(weight)),
        created=float(str(created)),
        expires=None if expires is None else float(str(expires)),
        revoked=None if revoked is None else float(str(revoked)),
    )


def _opened(folder: Path, *, create: bool) -> sqlite3.Connection:
    path = folder / "keys.db"
    try:
        if create:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write_new(path)
        elif not path.is_file():
            raise KeyStoreError(
                f"{folder} holds no key store",
                "`intaglio keys create` makes one with its first key",
            )
        return private_database(path)
    except (OSError, sqlite3.Error, ValueError) as error:
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError
        ):
            raise _damaged(folder, str(error)) from None
        reason = getattr(error, "strerror", None) or str(error)
        raise KeyStoreError(
            f"the key store {folder} cannot be used: {reason}",
            "name a folder that this user may write to",
        ) from None


def _secret(database: sqlite3.Connection, folder: Path) -> bytes:
    """The secret of the store, which its creation wrote. Raises KeyStoreError."""
    try:
        found = database.execute("SELECT value FROM facts WHERE name = 'secret'").fetchone()
    except sqlite3.DatabaseError as error:
        raise _damaged(folder, str(error)) from None
    if found is None:
        raise _damaged(folder, "it has no secret")
    return bytes(found[0])


def _damaged(folder: Path, reason: str) -> KeyStoreError:
    return KeyStoreError(
        f"the key store {folder} cannot be used: {reason}",
        f"restore {folder / 'keys.db'} from a copy, or make a new store in another folder",
    )


def private_database(path: Path) -> sqlite3.Connection:
    """Open a database of which only this user may read the files.

    Raises:
        OSError, sqlite3.Error: it cannot be opened.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    path.chmod(0o600)  # of which SQLite makes its other files, too
    database = sqlite3.connect(path, timeout=10.0, check_same_thread=False)
    write_ahead(database)
    return database


def _write_new(path: Path) -> None:
    """Make the tables and the secret, unless they are there."""
    with closing(private_database(path)) as database:
        database.execute("BEGIN EXCLUSIVE")
        if database.execute("PRAGMA user_version").fetchone()[0] == 0:
            _run(database, _TABLES.split(";"))
            database.execute("INSERT INTO facts VALUES ('secret', ?)", (secrets.token_bytes(32),))
            database.execute(f"PRAGMA user_version = {_VERSION}")
        database.commit()


def _run(database: sqlite3.Connection, statements: Iterable[str]) -> None:
    for statement in statements:
        database.execute(statement)
