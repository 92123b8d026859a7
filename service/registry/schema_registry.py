"""Registered schemas in an SQLite file.

Does: register, find, list and delete the versions of named schemas, separately for each tenant. Does not: examine
schemas, or know the catalogue. Every call reads the file, so that all processes of a server see the same schemas.
"""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import sqlalchemy as sa
from intaglio.schemas.registry import NAME_PATTERN, RegisteredSchema, SchemaPage

from ..errors import InvalidBody, RegistryUnavailable, UnknownSchema
from ..sqlite import configure_sqlite

MAX_SCHEMAS: Final = 10_000
"""The most versions of one tenant."""

_ID: Final = re.compile(r"sch_[0-9a-f]{32}")
_REFERENCE: Final = re.compile(NAME_PATTERN.removesuffix("$") + r"(?:@([1-9][0-9]{0,8}))?$")

_meta = sa.MetaData()

_names = sa.Table(
    "names",
    _meta,
    sa.Column("tenant", sa.String(128), primary_key=True),
    sa.Column("name", sa.String(128), primary_key=True),
    sa.Column("latest", sa.Integer, nullable=False),  # also counts deleted versions
)

_schemas = sa.Table(
    "schemas",
    _meta,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("tenant", sa.String(128), nullable=False),
    sa.Column("name", sa.String(128), nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Index("schemas_by_name", "tenant", "name", "version", unique=True),
)


@dataclass(frozen=True, slots=True)
class _Reference:
    """The target of a reference: an id, or a name with a version; without a version the latest."""

    id: str | None = None
    name: str | None = None
    version: int | None = None


class SchemaRegistry:
    """The registered schemas in the folder of a server. Safe to share between threads and processes.

    Every method raises `RegistryUnavailable` if the file cannot be read or written.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._engine = sa.create_engine(f"sqlite:///{folder / 'schemas.db'}")
        configure_sqlite(self._engine)
        self._clock = clock
        with self._transaction() as connection:
            _meta.create_all(connection)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def register(
        self, tenant: str, name: str, schema: dict[str, Any] | bool
    ) -> tuple[RegisteredSchema, bool]:
        """Store a schema as the next version of `name`; returns it, and whether it is new.

        Not new is a schema that equals the latest version, with its properties in the same order.

        Raises:
            InvalidBody: the tenant has reached its limit of schemas.
        """
        source = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        digest = hashlib.sha256(source.encode()).hexdigest()
        with self._transaction() as connection:
            latest = _find(connection, tenant, _Reference(name=name))
            if latest is not None and latest.digest == digest:
                return _registered(latest), False
            self._require_room(connection, tenant)
            row: dict[str, Any] = {
                "id": f"sch_{uuid4().hex}",
                "tenant": tenant,
                "name": name,
                "version": _next_version(connection, tenant, name),
                "digest": digest,
                "source": source,
                "created": self._clock(),
            }
            connection.execute(_schemas.insert().values(row))
            found = _find(connection, tenant, _Reference(id=row["id"]))
        return _registered(found), True

    def get(self, tenant: str, reference: str) -> RegisteredSchema:
        """The schema of an id, a name with a version, or a name, which means its latest version.

        Raises:
            UnknownSchema: there is none.
        """
        found = self.find(tenant, reference)
        if found is None:
            raise self._unknown(tenant, reference)
        return found

    def find(self, tenant: str, reference: str) -> RegisteredSchema | None:
        """As `get`, but None for a schema that does not exist."""
        parsed = _parsed(reference)
        if parsed is None:
            return None
        with self._transaction() as connection:
            row = _find(connection, tenant, parsed)
        return None if row is None else _registered(row)

    def page(self, tenant: str, limit: int, after: str = "", name: str | None = None) -> SchemaPage:
        """At most `limit` versions after the reference `after`, by name and version; of `name` only, if given."""
        where = [_schemas.c.tenant == tenant]
        if name is not None:
            where.append(_schemas.c.name == name)
        if after:
            begin, version = after.partition("@")[0], _REFERENCE.fullmatch(after)
            past = sa.tuple_(_schemas.c.name, _schemas.c.version)
            where.append(past > sa.tuple_(begin, int(version[1] or 0) if version else 0))
        query = (
            sa.select(_schemas)
            .where(*where)
            .order_by(_schemas.c.name, _schemas.c.version)
            .limit(limit + 1)
        )
        with self._transaction() as connection:
            rows = connection.execute(query).all()
        shown = tuple(_registered(row).model_copy(update={"schema_": None}) for row in rows[:limit])
        return SchemaPage(data=shown, next=shown[-1].reference if len(rows) > limit else None)

    def delete(self, tenant: str, reference: str) -> int:
        """Delete a version, or all versions of a name; returns how many.

        Raises:
            UnknownSchema: there is none.
        """
        parsed = _parsed(reference)
        deleted = 0
        if parsed is not None:
            with self._transaction() as connection:
                where = _condition(tenant, parsed)
                deleted = connection.execute(_schemas.delete().where(*where)).rowcount
        if not deleted:
            raise self._unknown(tenant, reference)
        return deleted

    def newest(self, limit: int) -> list[dict[str, Any] | bool]:
        """The schemas that were registered last, by any tenant."""
        query = sa.select(_schemas.c.source).order_by(_schemas.c.created.desc()).limit(limit)
        with self._transaction() as connection:
            return [json.loads(source) for source in connection.scalars(query)]

    def names(self, tenant: str, limit: int) -> list[str]:
        """The first names of a tenant."""
        query = (
            sa.select(_schemas.c.name)
            .distinct()
            .where(_schemas.c.tenant == tenant)
            .order_by(_schemas.c.name)
            .limit(limit)
        )
        with self._transaction() as connection:
            return list(connection.scalars(query))

    def _unknown(self, tenant: str, reference: str) -> UnknownSchema:
        known = ", ".join(self.names(tenant, 20))
        return UnknownSchema(
            f"the registry has no schema {reference[:80]!r}",
            param="schema",
            hint=f"it has {known}" if known else "it is empty: POST /v1/schemas registers one",
        )

    def _require_room(self, connection: sa.Connection, tenant: str) -> None:
        count = sa.select(sa.func.count()).select_from(_schemas).where(_schemas.c.tenant == tenant)
        if (connection.scalar(count) or 0) >= MAX_SCHEMAS:
            raise InvalidBody(
                f"the registry holds {MAX_SCHEMAS} schemas of this tenant",
                param="name",
                hint="delete old versions: DELETE /v1/schemas/NAME@VERSION",
            )

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except sa.exc.OperationalError as error:
            reason = str(error.orig).splitlines()[0]
            raise RegistryUnavailable(
                f"the registry of schemas cannot be read or written: {reason}",
                hint="send the schema itself meanwhile",
            ) from error


def _parsed(reference: str) -> _Reference | None:
    if _ID.fullmatch(reference):
        return _Reference(id=reference)
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        return None
    version = found[1]
    name = reference.partition("@")[0]
    return _Reference(name=name, version=None if version is None else int(version))


def _condition(tenant: str, reference: _Reference) -> list[sa.ColumnElement[bool]]:
    where = [_schemas.c.tenant == tenant]
    if reference.id is not None:
        where.append(_schemas.c.id == reference.id)
    else:
        where.append(_schemas.c.name == reference.name)
    if reference.version is not None:
        where.append(_schemas.c.version == reference.version)
    return where


def _find(connection: sa.Connection, tenant: str, reference: _Reference) -> Any:
    """The row that a reference names; None if there is none."""
    query = sa.select(_schemas).where(*_condition(tenant, reference))
    return connection.execute(query.order_by(_schemas.c.version.desc()).limit(1)).first()


def _next_version(connection: sa.Connection, tenant: str, name: str) -> int:
    """The next version of a name: one that no version ever had."""
    where = (_names.c.tenant == tenant, _names.c.name == name)
    latest = connection.scalar(sa.select(_names.c.latest).where(*where))
    if latest is None:
        connection.execute(_names.insert().values(tenant=tenant, name=name, latest=1))
        return 1
    connection.execute(_names.update().where(*where).values(latest=latest + 1))
    return int(latest) + 1


def _registered(row: Any) -> RegisteredSchema:
    return RegisteredSchema(
        id=row.id,
        name=row.name,
        version=row.version,
        reference=f"{row.name}@{row.version}",
        created=row.created,
        schema=json.loads(row.source),
    )
