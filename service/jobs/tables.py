"""The ledger's tables, and how a database is opened.

Does: the columns, the connection, and what SQLite needs to be safe with several processes. Does not: change rows
(`ledger`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import event

from .errors import LedgerRefused

VERSION: Final = 1

PENDING, RUNNING, DONE, DEAD = range(4)

_meta = sa.MetaData()

about = sa.Table("intaglio_ledger", _meta, sa.Column("version", sa.Integer, primary_key=True))

jobs = sa.Table(
    "jobs",
    _meta,
    sa.Column("id", sa.String(200), primary_key=True),
    sa.Column("spec", sa.Text, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),  # of what decides the results
    sa.Column("state", sa.String(32), nullable=False),
    sa.Column("wanted", sa.String(16)),  # "pause" or "cancel", until a runner has seen it
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("changed", sa.Float, nullable=False),
    sa.Column("read", sa.Integer, nullable=False),  # records of the source that have rows
    sa.Column("whole", sa.Boolean, nullable=False),
    sa.Column("mark", sa.Text, nullable=False),  # tells whether the source is still the same file
    sa.Column("model", sa.Text),
    sa.Column("error", sa.Text),
)

rows = sa.Table(
    "rows",
    _meta,
    sa.Column("job", sa.String(200), primary_key=True),
    sa.Column("row", sa.Integer, primary_key=True),  # from 1, in the order of the source
    sa.Column("id", sa.Text, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),  # of the text
    sa.Column("keep", sa.Text, nullable=False),
    sa.Column("text", sa.Text),  # until the row is done; a dead one keeps it, to be tried again
    sa.Column("given", sa.Text),  # of a job that extends another: the values that stay
    sa.Column("state", sa.SmallInteger, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, default=0),
    sa.Column("due", sa.Float, nullable=False, default=0.0),
    sa.Column("holder", sa.String(64)),
    sa.Column("lease", sa.Float, nullable=False, default=0.0),
    sa.Column("fence", sa.Integer, nullable=False, default=0),
    sa.Column("result", sa.Text),
    sa.Column("failure", sa.Text),
    sa.Column("prompt_tokens", sa.Integer, nullable=False, default=0),
    sa.Column("output_tokens", sa.Integer, nullable=False, default=0),
    sa.Column("seconds", sa.Float, nullable=False, default=0.0),
    sa.Index("rows_by_state", "job", "state", "row"),
    sa.Index("rows_by_id", "job", "id"),
)


def connect(url: str) -> sa.Engine:
    """A database with the tables in it. A bare path is a SQLite file; its folder is made, readable by its owner only.

    Raises:
        LedgerRefused: it cannot be opened, or was made by another version.
    """
    if "://" not in url:
        path = Path(url).expanduser()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
        except OSError as error:
            raise LedgerRefused(
                f"cannot write the ledger {path}: {error.strerror}", hint="give another place"
            ) from None
        url = f"sqlite:///{path}"
    try:
        engine = sa.create_engine(url, pool_pre_ping=True)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
        _meta.create_all(engine)
        with engine.begin() as connection:
            version = connection.scalar(sa.select(about.c.version))
            if version is None:
                connection.execute(about.insert().values(version=VERSION))
            elif version != VERSION:
                raise LedgerRefused(
                    f"the ledger is of version {version}, this program reads {VERSION}",
                    hint="finish its jobs with the program that made it, or use another ledger",
                )
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise LedgerRefused(f"cannot open the ledger: {reason}") from None
    return engine


@contextmanager
def transaction(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction: all of it or nothing.

    Raises:
        LedgerRefused: the database refuses, because its disk is full or it is out of reach, say.
    """
    try:
        with engine.begin() as connection:
            yield connection
    except (sa.exc.OperationalError, sa.exc.InterfaceError) as error:
        reason = str(error.orig).splitlines()[0]
        raise LedgerRefused(
            f"the ledger cannot be read or written: {reason}",
            hint="nothing is lost: mend it, then resume the job",
        ) from error


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun below, not by the driver's guess
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=60000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    # A transaction that begins by reading could not become a writing one while another process writes.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
