"""A disk that is full or fails, files that cannot be opened, at the n-th call of a job: a clean error, and recovery.

`python -m tests.property.full_disk --points 200`; `test_full_disk` runs some. A child process runs a job in which the
n-th commit, sync, rename or opening of a file fails; or in which no file may grow beyond so many KiB, which is a real
refusal by the system, also of what SQLite writes. The child must end by itself, with an error that it could tell; then
the same job runs undisturbed, and its outputs must be the bytes of a job that nothing ever disturbed.
"""

import argparse
import builtins
import errno
import io
import itertools
import multiprocessing
import os
import resource
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from intaglio.schemas.jobs import JobState
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.records.errors import JobError

from tests.service.jobs.test_kill import assert_same, begin, work

ROWS = 60
ERRORS = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.ENOMEM)
TOLD = 3
PATIENCE_S = 600.0
SMALLEST_KIB = 1


def _told(job: Callable[[], None]) -> None:
    """Run `job` in this process, and exit with a status for the job's outcome."""
    try:
        job()
    except (OSError, JobError):
        os._exit(TOLD)
    os._exit(0)


def _fail_at(number: int, code: int, folder: Path) -> None:
    """Run `work` so that only its `number`-th call that needs the disk fails."""
    counter = itertools.count(1)
    failure = OSError(code, os.strerror(code))

    def failing(real: Callable[..., Any], error: Exception = failure) -> Callable[..., Any]:
        def point(*args: Any, **more: Any) -> Any:
            if next(counter) == number:
                raise error
            return real(*args, **more)

        return point

    def opening(real: Callable[..., Any]) -> Callable[..., Any]:
        watched = failing(real)

        def point(file: Any, *args: Any, **more: Any) -> Any:
            return (watched if str(file).startswith(str(folder)) else real)(file, *args, **more)

        return point

    full = sqlite3.OperationalError("database or disk is full")
    dialect = sa.engine.default.DefaultDialect
    dialect.do_commit = failing(dialect.do_commit, full)  # type: ignore[method-assign]
    os.fsync = failing(os.fsync)
    Path.replace = failing(Path.replace)  # type: ignore[method-assign]
    io.open = builtins.open = opening(builtins.open)
    _told(lambda: work(folder))


def _limited(kib: int, folder: Path) -> None:
    """Run `work` so that no file can become longer than so many KiB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (kib << 10, kib << 10))
    _told(lambda: work(folder))


def _ended(job: Callable[..., None], *args: Any) -> int:
    """The status of a child that runs `job`. Raises `AssertionError` if it hangs."""
    process = multiprocessing.get_context("fork").Process(target=job, args=args)
    process.start()
    process.join(PATIENCE_S)
    hangs = process.exitcode is None
    if hangs:
        process.kill()
    assert not hangs, f"the job hangs after {args}"
    assert process.exitcode is not None
    return process.exitcode


def _begin_again(folder: Path) -> bool:
    """Run an interrupted job again, as the same command does; whether it had failed, which no fault of the ledger does.

    A source that could not be read fails its job: the command resumes it.
    """
    ledger = Ledger(str(folder / "jobs.db"))
    status = ledger.status("job")
    failed = status.state is JobState.FAILED
    assert not failed or "ledger" not in (status.error or ""), status
    ledger.resume("job")
    ledger.close()
    work(folder)
    return failed


def rounds(root: Path, points: range, sizes: range) -> Counter[str]:
    """Fail at each of these points, then with each of these sizes; return how many faults took effect.

    Raises:
        AssertionError: a job hung, ended otherwise than by a told error, or did not recover.
    """
    model, struck = begin(root / "model", ROWS), Counter[str]()
    work(model)
    asked: list[tuple[str, Callable[..., None], tuple[int, ...]]] = [
        (f"point {n}", _fail_at, (n, ERRORS[n % len(ERRORS)])) for n in points
    ]
    asked += [(f"size {kib}", _limited, (kib,)) for kib in sizes]
    for name, job, args in asked:
        folder = begin(root / name.replace(" ", "-"), ROWS)
        status = _ended(job, *args, folder)
        assert status in (0, TOLD), f"{name}: the job ended with {status}"
        struck[name.split()[0]] += status == TOLD
        struck["source"] += _begin_again(folder)
        assert_same(folder, model)
    return struck


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--kib", type=int, default=200)
    asked = parser.parse_args()
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        points, sizes = range(1, asked.points + 1), range(SMALLEST_KIB, asked.kib + 1, 4)
        struck = rounds(Path(folder), points, sizes)
    print(f"{asked.points} points, {len(sizes)} sizes: {dict(struck)} struck, all recovered")
    print(f"{time.process_time() - began:.0f} s of processor, without those of the children")


if __name__ == "__main__":
    main()
