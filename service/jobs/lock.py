"""One runner a job, where the ledger is a file.

Does: a lock that the operating system lets go of when its holder dies, however it dies. Does not: guard ledgers on a
server; there leases do, and several runners share a job.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import JobBusy
from .ledger import Ledger


@contextmanager
def sole_runner(ledger: Ledger, job: str) -> Iterator[None]:
    """Be the only runner of a job.

    Raises:
        JobBusy: another process is.
    """
    if ledger.file is None:
        yield
        return
    digest = hashlib.sha256(job.encode()).hexdigest()[:16]
    path = ledger.file.with_name(f"{ledger.file.name}.{digest}.lock")
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JobBusy(
                f"job {job!r} is being run already", hint="intaglio job status tells how it stands"
            ) from None
        yield
    finally:
        os.close(file)
