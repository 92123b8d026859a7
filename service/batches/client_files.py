"""The files of clients: those with an id and a purpose, and those that were uploaded under a name.

Does: list, find, add and delete files of one data folder, and delete expired ones. Does not: store bytes
(`jobs.folder`). A file that was uploaded under a name has that name as its id.
"""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import sqlalchemy as sa
from intaglio.schemas.openai.batches import FileObject

from ..jobs.folder import DataFolder
from ..jobs.owners import shown_name, stored_name
from ..jobs.records.errors import UnknownFile
from ..jobs.tables import transaction
from .batch_tables import client_files

NAMED_PURPOSE: Final = "user_data"


class ClientFiles:
    """The files in `folder`, of which the database `engine` knows owner and purpose. Safe to share between threads."""

    def __init__(
        self, engine: sa.Engine, folder: DataFolder, clock: Callable[[], float] = time.time
    ) -> None:
        self._engine = engine
        self._folder = folder
        self._clock = clock

    async def add(
        self,
        chunks: AsyncIterator[bytes],
        *,
        tenant: str,
        filename: str,
        purpose: str,
        expires_after_s: int | None = None,
        file_id: str | None = None,
    ) -> str:
        """Store a file and return its id, `file_id` if that is given; an earlier file of that id is replaced.

        Raises:
            InputRefused: the quota is exceeded. Nothing is stored.
        """
        file_id = file_id or f"file-{uuid4().hex}"
        # The bytes first: a row without a file would be a file that cannot be read.
        await self._folder.save(file_id, chunks)
        self.register(file_id, tenant, filename, purpose, expires_after_s)
        return file_id

    def register(
        self, file_id: str, tenant: str, filename: str, purpose: str, expires_after_s: int | None
    ) -> None:
        """Record owner and purpose of a stored file."""
        now = self._clock()
        with transaction(self._engine) as connection:
            connection.execute(client_files.delete().where(client_files.c.id == file_id))
            connection.execute(
                client_files.insert().values(
                    id=file_id,
                    tenant=tenant,
                    filename=filename,
                    purpose=purpose,
                    created=now,
                    expires=None if expires_after_s is None else now + expires_after_s,
                )
            )

    def files(self, tenant: str) -> list[FileObject]:
        """All files that a tenant can see, newest first."""
        known = {row.id: row for row in self._rows()}
        found = [
            described
            for name in self._folder.names()
            if (described := self._described(name, known.get(name), tenant)) is not None
        ]
        return sorted(found, key=lambda file: (-file.created_at, file.id))

    def file(self, file_id: str, tenant: str) -> FileObject:
        """One file. Raises `UnknownFile` if the tenant has none of that id, `InputRefused` if it cannot be an id."""
        row = next(self._rows_of(file_id), None)
        found = self._described(self._stored(file_id, row, tenant), row, tenant)
        if found is None:
            raise UnknownFile(f"there is no file {file_id!r}", hint="GET /v1/files lists them")
        return found

    def path(self, file_id: str, tenant: str) -> Path:
        """The path of a file's bytes. Raises as `file`."""
        self.file(file_id, tenant)
        row = next(self._rows_of(file_id), None)
        return self._folder.path(self._stored(file_id, row, tenant))

    def is_registered(self, file_id: str) -> bool:
        """Whether a file of that id was added with a purpose, by any tenant."""
        return next(self._rows_of(file_id), None) is not None

    def delete(self, file_id: str, tenant: str) -> None:
        """Delete a file. Raises as `file`."""
        self._folder.discard(self.path(file_id, tenant).name)
        self._forget([file_id])

    def delete_expired(self) -> int:
        """Delete the files that have expired; returns their number."""
        now = self._clock()
        expired = [row.id for row in self._rows() if row.expires is not None and row.expires <= now]
        for file_id in expired:
            self._folder.discard(file_id)
        self._forget(expired)
        return len(expired)

    def _stored(self, file_id: str, row: Any, tenant: str) -> str:
        """The name under which a file is stored. Raises `InputRefused` if it cannot be a name."""
        stored = file_id if row is not None else stored_name(tenant, file_id)
        self._folder.require_name(stored)
        return stored

    def _forget(self, ids: Sequence[str]) -> None:
        with transaction(self._engine) as connection:
            for file_id in ids:
                connection.execute(client_files.delete().where(client_files.c.id == file_id))

    def _rows(self) -> Sequence[Any]:
        with transaction(self._engine) as connection:
            return connection.execute(sa.select(client_files)).all()

    def _rows_of(self, file_id: str) -> Any:
        with transaction(self._engine) as connection:
            query = sa.select(client_files).where(client_files.c.id == file_id)
            return iter(connection.execute(query).all())

    def _described(self, name: str, row: Any, tenant: str) -> FileObject | None:
        """The description of a file; None if it is gone, expired or another tenant's."""
        status = self._folder.status(name)
        if status is None:
            return None
        size, changed = status
        if row is None:
            shown = shown_name(tenant, name)
            if shown is None:
                return None
            return FileObject(
                id=shown,
                bytes=size,
                created_at=int(changed),
                filename=shown,
                name=shown,
                purpose=NAMED_PURPOSE,
            )
        if row.tenant != tenant or (row.expires is not None and row.expires <= self._clock()):
            return None
        return FileObject(
            id=name,
            bytes=size,
            created_at=int(row.created),
            filename=row.filename,
            name=name,
            purpose=row.purpose,
            expires_at=None if row.expires is None else int(row.expires),
        )
