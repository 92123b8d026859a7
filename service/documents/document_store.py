"""Documents that were uploaded, in SQLite: in the data folder, which all processes of a server share, or in memory.

Does: keep the parsed text and the file itself, for a time and within bounds of bytes, separately for each tenant. Does
not: read files.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import msgspec

from ..errors import DocumentTooLarge, ServiceNotReady, UnknownDocument
from ..sqlite import SharedDatabase
from .parsed_document import ParsedDocument

KEPT_S: Final = 24 * 3600.0
MAX_TENANT_BYTES: Final = 256 << 20
"""The size of one tenant's documents, texts and boxes included; its oldest ones are forgotten first."""
MAX_BYTES: Final = 1 << 30
"""The size of all documents; the oldest ones are forgotten first."""

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS documents (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, name TEXT, created REAL NOT NULL, until REAL NOT NULL,
    size INTEGER NOT NULL, parsed BLOB NOT NULL, content BLOB NOT NULL
) STRICT
"""
_INDEX: Final = "CREATE INDEX IF NOT EXISTS documents_by_age ON documents (tenant, until, size)"

_parsed: Final = msgspec.msgpack.Decoder[ParsedDocument](ParsedDocument)


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """A document of the store. `created` and `until` are Unix times."""

    id: str
    name: str | None
    created: float
    until: float
    parsed: ParsedDocument
    content: bytes


class DocumentStore:
    """The documents of one server. Thread-safe.

    Every method raises `ServiceNotReady` if the file cannot be read or written.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        clock: Callable[[], float] = time.time,
        tenant_bytes: int = MAX_TENANT_BYTES,
        total_bytes: int = MAX_BYTES,
    ) -> None:
        self._clock = clock
        self._tenant_bytes = tenant_bytes
        self._total_bytes = total_bytes
        with _readable():
            self._file = SharedDatabase(path, _TABLE, _INDEX)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def add(
        self, tenant: str, name: str | None, parsed: ParsedDocument, content: bytes
    ) -> KeptDocument:
        """Keep a document.

        Raises:
            DocumentTooLarge: it alone exceeds the bound of a tenant.
        """
        now, encoded = self._clock(), msgspec.msgpack.encode(parsed)
        size = len(encoded) + len(content)
        if size > self._tenant_bytes:
            raise DocumentTooLarge(
                f"the document takes {size} bytes with its boxes; at most {self._tenant_bytes} are kept",
                param="file",
                hint="split the document",
            )
        kept = KeptDocument(f"doc_{uuid4().hex}", name, now, now + KEPT_S, parsed, content)
        with self._transaction() as db:
            db.execute("DELETE FROM documents WHERE until <= ?", (now,))
            row = (kept.id, tenant, name, now, kept.until, size, encoded, content)
            db.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            self._forget(db, "WHERE tenant = ?", (tenant,), self._tenant_bytes)
            self._forget(db, "", (), self._total_bytes)
        return kept

    def get(self, tenant: str, document_id: str) -> KeptDocument:
        """A document of a tenant.

        Raises:
            UnknownDocument: there is none of that id.
        """
        with self._transaction() as db:
            found = db.execute(
                "SELECT name, created, until, parsed, content FROM documents "
                "WHERE id = ? AND tenant = ? AND until > ?",
                (document_id, tenant, self._clock()),
            ).fetchone()
        if found is None:
            raise _unknown()
        name, created, until, encoded, content = found
        return KeptDocument(document_id, name, created, until, _parsed.decode(encoded), content)

    def delete(self, tenant: str, document_id: str) -> None:
        """Forget a document. Raises as `get`."""
        with self._transaction() as db:
            gone = db.execute(
                "DELETE FROM documents WHERE id = ? AND tenant = ?", (document_id, tenant)
            )
            if not gone.rowcount:
                raise _unknown()

    @staticmethod
    def _forget(db: sqlite3.Connection, where: str, values: tuple[str, ...], most: int) -> None:
        """Delete the oldest of the documents in `where` until they take at most `most` bytes."""
        rows = db.execute(
            f"SELECT id, size FROM documents {where} ORDER BY until DESC, rowid DESC",  # noqa: S608  a constant
            values,
        ).fetchall()
        total = 0
        for document_id, size in rows:
            total += size
            if total > most:
                db.execute("DELETE FROM documents WHERE id = ?", (document_id,))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with _readable(), self._file.transaction() as db:
            yield db


def _unknown() -> UnknownDocument:
    return UnknownDocument(
        "there is no such document",
        param="id",
        hint="documents are kept for a day, or until space is needed: upload it again",
    )


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise ServiceNotReady(
            "documents cannot be kept or read now", hint="send the document with the request"
        ) from error
