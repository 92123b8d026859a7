"""The tables of the ledger, and its database connection.

Does: define the columns, connect, upgrade older versions, and configure SQLite for several processes. Does not: change
rows (`ledger`).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from ..sqlite import configure_sqlite
from .records.errors import LedgerMissing, LedgerRefused, LedgerUnknown

VERSION: Final = 4
# Columns that older versions lack. Opening such a ledger adds them and leaves its rows unchanged.
_ADDED: Final[Mapping[int, Mapping[str, tuple[str, ...]]]] = {
    1: {"jobs": ("kept",), "rows": ("warnings", "fields", "files")},
    2: {"rows": ("fields", "files")},
    3: {"rows": ("files",)},
}
_MAKING: Final = 0x494E5441474C494F  # id of the lock for creating and upgrading tables
NEEDS_ACCESS: Final = (
    "a ledger, its folder and the files beside it must be writable; choose another path"
)
_CONNECT_S: Final = 10  # PostgreSQL; its default is to wait forever

PENDING, RUNNING, DONE, DEAD = range(4)
NEEDS_REVIEW, ACCEPTED, CORRECTED = range(3)

_meta = sa.MetaData()

about = sa.Table("intaglio_ledger", _meta, sa.Column("version", sa.Integer, primary_key=True))

jobs = sa.Table(
    "jobs",
    _meta,
    sa.Column("id", sa.String(200), primary_key=True),
    sa.Column("spec", sa.Text, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),  # of everything that determines the results
    sa.Column("state", sa.String(32), nullable=False),
    sa.Column("wanted", sa.String(16)),  # "pause" or "cancel", until a runner handles it
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("changed", sa.Float, nullable=False),
    sa.Column("read", sa.Integer, nullable=False),  # number of source records with rows
    sa.Column("whole", sa.Boolean, nullable=False),
    sa.Column("mark", sa.Text, nullable=False),  # fingerprint of the source
    sa.Column("model", sa.Text),
    sa.Column("error", sa.Text),
    # Encoded types of the kept columns (`kept_values`); null before the source was read.
    sa.Column("kept", sa.Text),
)

rows = sa.Table(
    "rows",
    _meta,
    sa.Column("job", sa.String(200), primary_key=True),
    sa.Column("row", sa.Integer, primary_key=True),  # from 1, in the order of the source
    sa.Column("id", sa.Text, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),  # of the text
    sa.Column("keep", sa.Text, nullable=False),
    sa.Column("text", sa.Text),  # removed when the row is done; a dead row keeps it for a retry
    # JSON (`row_files`), null if there are none; removed when the row is done, unless it is to be reviewed.
    sa.Column("files", sa.Text),
    sa.Column("given", sa.Text),  # fixed values, in a job that extends another
    sa.Column("state", sa.SmallInteger, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, default=0),
    sa.Column("due", sa.Float, nullable=False, default=0.0),
    sa.Column("holder", sa.String(64)),
    sa.Column("lease", sa.Float, nullable=False, default=0.0),
    sa.Column("fence", sa.Integer, nullable=False, default=0),
    sa.Column("result", sa.Text),
    sa.Column("warnings", sa.Text),  # a JSON array; null if there are none
    sa.Column("fields", sa.Text),  # a JSON object, by pointer; null if there are none
    sa.Column("failure", sa.Text),
    sa.Column("prompt_tokens", sa.Integer, nullable=False, default=0),
    sa.Column("output_tokens", sa.Integer, nullable=False, default=0),
    sa.Column("seconds", sa.Float, nullable=False, default=0.0),
    sa.Index("rows_by_state", "job", "state", "row"),
    sa.Index("rows_by_id", "job", "id"),
)

# Rows with values to be reviewed by a person. Ledgers of older programs get the table when they are opened.
reviews = sa.Table(
    "reviews",
    _meta,
    sa.Column("job", sa.String(200), primary_key=True),
    sa.Column("row", sa.Integer, primary_key=True),
    sa.Column("state", sa.SmallInteger, nullable=False),
    sa.Column("unsure", sa.Text, nullable=False),  # JSON: probability, or null, by pointer
    sa.Column("correction", sa.Text),  # the JSON text of corrected data
    sa.Index("reviews_by_state", "job", "state", "row"),
)

# Files that a job has written or is about to rename into place, with the digests of their content.
published = sa.Table(
    "published",
    _meta,
    sa.Column("job", sa.String(200), primary_key=True),
    sa.Column("path", sa.Text, primary_key=True),
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Index("published_by_path", "path"),
)


def connect(url: str, *, create: bool = True) -> sa.Engine:
    """Connect to a database and create missing tables. A bare path is a SQLite file; its folder is created, readable
    only by its owner. Without `create`, a file that is not there or is empty is refused, and left as it is.

    Raises:
        LedgerUnknown: the URL names no supported database.
        LedgerRefused: the ledger cannot be opened, or has another version.
    """
    if not create and (absent := _absent_file(url)) is not None:
        raise LedgerMissing(
            f"there is no ledger {absent}",
            hint="`intaglio job run` makes one; is the name in --ledger right?",
        )
    if "://" not in url:
        path = Path(url).expanduser()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
        except OSError as error:
            raise LedgerRefused(
                f"cannot write the ledger {path}: {error.strerror}", hint="choose another path"
            ) from None
        url = f"sqlite:///{path}"
    engine = _engine(url)
    try:
        with engine.begin() as connection:
            # One process at a time; SQLite locks the whole file.
            if engine.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MAKING)))
            _meta.create_all(connection)
            version = connection.scalar(sa.select(about.c.version))
            if version is None:
                connection.execute(about.insert().values(version=VERSION))
            elif version in _ADDED:
                _upgrade(connection, version)
            elif version != VERSION:
                raise LedgerRefused(
                    f"the ledger has version {version}, this program reads {VERSION}",
                    hint="finish its jobs with the program that created it, or use another ledger",
                )
    except sa.exc.SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        reachable = "is the database running and reachable, and is the name in --ledger right?"
        raise LedgerRefused(
            f"cannot open the ledger: {reason}",
            hint=NEEDS_ACCESS if _lacks_access(reason) else reachable,
        ) from None
    return engine


def _absent_file(url: str) -> Path | None:
    """The file of a SQLite ledger that has yet to be made; None for any other ledger."""
    if "://" in url:
        name = _engine(url).url
        if name.get_backend_name() != "sqlite" or not name.database:
            return None
        path = Path(name.database)
    else:
        path = Path(url).expanduser()
    try:
        return None if path.stat().st_size else path
    except FileNotFoundError:
        return path
    except OSError:
        return None  # opening it says why


def _engine(url: str) -> sa.Engine:
    """A SQLAlchemy engine for a supported database."""
    supported = "a file, sqlite:///PATH or postgresql+psycopg://USER@HOST/DATABASE"
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise LedgerUnknown(
            "cannot open the ledger: the URL cannot be read", hint=f"give {supported}"
        ) from None
    name = parsed.get_backend_name()
    if name == "postgresql" and "+" not in parsed.drivername:
        parsed = parsed.set(drivername="postgresql+psycopg")  # the driver that the extra installs
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg"):
        raise LedgerUnknown(
            f"cannot open the ledger: {parsed.drivername!r} is not supported",
            hint=f"give {supported}",
        )
    wait = {"connect_timeout": _CONNECT_S} if name == "postgresql" else {}
    try:
        engine = sa.create_engine(parsed, pool_pre_ping=True, connect_args=wait)
    except ImportError as error:
        raise LedgerUnknown(
            f"cannot open the ledger: {error.name} is not installed",
            hint="pip install 'intaglio[server,bulk]'",
        ) from None
    if name == "sqlite":
        configure_sqlite(engine)
    return engine


def _upgrade(connection: sa.Connection, version: int) -> None:
    """Add the columns missing in a ledger of `version`; programs of that version refuse the ledger afterwards."""
    for table, columns in _ADDED[version].items():
        for column in columns:
            connection.execute(sa.text(f"ALTER TABLE {table} ADD COLUMN {column} TEXT"))
    connection.execute(about.update().values(version=VERSION))


@contextmanager
def transaction(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A database transaction.

    Raises:
        LedgerRefused: the database refuses, for example because its disk is full or it is unreachable.
    """
    try:
        with engine.begin() as connection:
            yield connection
    except (sa.exc.OperationalError, sa.exc.InterfaceError) as error:
        reason = str(error.orig).splitlines()[0]
        raise LedgerRefused(
            f"the ledger cannot be read or written: {reason}",
            hint=_way_out(reason),
        ) from error


def _lacks_access(reason: str) -> bool:
    """Whether SQLite refuses for lack of permission."""
    return "readonly database" in reason or "unable to open database file" in reason


def _way_out(reason: str) -> str:
    """What helps against a refusal, of a command and of a server alike."""
    if _lacks_access(reason):
        return NEEDS_ACCESS
    repair = "make room on its disk" if "disk is full" in reason else "fix the database"
    return (
        f"nothing is lost: {repair}; a server then goes on by itself, and a command with "
        "`intaglio job resume`"
    )


def reach_disk(engine: sa.Engine) -> None:
    """Make committed transactions survive a power failure. SQLite, as configured here, may otherwise lose the last."""
    if engine.dialect.name != "sqlite":
        return
    raw = engine.raw_connection()
    try:
        raw.cursor().execute("PRAGMA wal_checkpoint(FULL)")
    finally:
        raw.close()
