"""A lock that admits one runner for each job, for ledgers in a file.

Does: hold a lock that the operating system releases when its process dies. Does not: guard ledgers on a database
server; there leases do, and several runners may share a job.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .ledger import Ledger
from .records.errors import JobBusy, LedgerRefused
from .tables import NEEDS_ACCESS


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a lock that the operating system releases with its process; False if another process has it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(file)


@contextmanager
def sole_runner(ledger: Ledger, job: str) -> Iterator[None]:
    """Hold the lock on a job.

    Raises:
        JobBusy: another process holds it.
        LedgerRefused: this user may not write the lock, which is beside the ledger.
    """
    if ledger.file is None:
        yield
        return
    digest = hashlib.sha256(job.encode()).hexdigest()[:16]
    path = ledger.file.with_name(f"{ledger.file.name}.{digest}.lock")
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise LedgerRefused(f"cannot lock {path}: {error.strerror}", hint=NEEDS_ACCESS) from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JobBusy(
                f"job {job!r} is already running", hint="`intaglio job status` shows its progress"
            ) from None
        yield
    finally:
        os.close(file)


def is_running(ledger: Ledger, job: str) -> bool:
    """Whether a process holds the lock on a job; False for a ledger on a database server, which has no locks."""
    try:
        with sole_runner(ledger, job):
            return False
    except JobBusy:
        return True
