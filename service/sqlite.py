"""SQLite files that several threads and processes use.

Does: configure connections for concurrent use, run transactions. Does not: define tables.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import sqlalchemy as sa

_WAIT_S: Final = 30.0
_PAUSE_S: Final = 0.01


class SharedDatabase:
    """A connection for all threads of a process: to a file that other processes use as well, or to memory.

    Every method raises `sqlite3.Error` if the file cannot be read or written.
    """

    def __init__(self, path: Path | None, *statements: str) -> None:
        """Open `path`, memory if it is None, and execute `statements`, which create what is missing."""
        self._lock = Lock()
        self._connection = sqlite3.connect(
            path or ":memory:", isolation_level=None, check_same_thread=False, timeout=10.0
        )
        if path is not None:
            write_ahead(self._connection)
        for statement in statements:
            self._connection.execute(statement)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write in one transaction, which an exception undoes. No other thread or process writes meanwhile."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers of a file go on while another connection writes, and syncs only at checkpoints.

    The first connection changes the file, for which SQLite does not wait: processes that open a new file at once refuse
    each other. They try again here.

    Raises:
        sqlite3.Error: the file cannot be changed, or is locked for longer than 30 seconds.
    """
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(_PAUSE_S)
    connection.execute("PRAGMA synchronous=NORMAL").close()


def configure_sqlite(engine: "sa.Engine") -> None:
    """Make the connections of `engine` write ahead and wait for each other, and its transactions begin as writers."""
    from sqlalchemy import event

    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)


def _prepare(connection: Any, _record: object) -> None:
    # Transactions begin explicitly below, not by the driver's heuristics.
    connection.isolation_level = None
    connection.execute("PRAGMA busy_timeout=60000").close()
    write_ahead(connection)


def _begin(connection: "sa.Connection") -> None:
    # A transaction that begins with a read cannot upgrade to a write while another process writes.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
