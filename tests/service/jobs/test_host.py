"""Jobs of a server whose disk is full while it reads their rows: they wait, and go on when there is room."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import sqlalchemy as sa
from intaglio.schemas.jobs import JobSpec, JobState, Source
from intaglio.service.jobs.host import JobHost
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.records.errors import LedgerRefused
from intaglio.service.jobs.tables import DONE

from tests.service.jobs.test_kill import assert_same, begin, work
from tests.support.live_service import until
from tests.support.scripted_extracting import SCHEMA, Scripted, data_of

ROWS = 1200


@contextmanager
def disk(has_room: Event) -> Iterator[None]:
    """SQLite files that do not grow while `has_room` is not set: SQLite itself refuses, as on a full disk."""

    def limit(connection: Any, *_: Any) -> None:
        connection.execute(f"PRAGMA max_page_count = {1 << 30 if has_room.is_set() else 1}")

    sa.event.listen(sa.pool.Pool, "checkout", limit)
    try:
        yield
    finally:
        sa.event.remove(sa.pool.Pool, "checkout", limit)


def source(folder: Path) -> Path:
    path = folder / "in.csv"
    path.write_text("id,t\n" + "".join(f"r{n},text {n} {'x' * 200}\n" for n in range(ROWS)))
    return path


def test_a_job_of_a_server_goes_on_when_its_full_disk_has_room_again(tmp_path: Path) -> None:
    room, waiting, failures = Event(), Event(), []
    room.set()
    with disk(room):
        host = JobHost(
            tmp_path / "data",
            1 << 30,
            4,
            lambda job, error: failures.append((job, error)),
            lambda _job, _error: waiting.set(),
            refused_s=0.05,
        )
        spec = JobSpec(schema=SCHEMA, source=Source(path="in.csv", text="t", id="id"))
        job = host.submit(spec, source(tmp_path), "scripted").id
        room.clear()
        host.start(lambda _job, _spec: Scripted())
        until(waiting.is_set)
        assert host.ledger.status(job).state is not JobState.FAILED
        room.set()
        until(lambda: host.ledger.status(job).state is JobState.COMPLETED)
        found = list(host.ledger.rows(job).results(DONE))
        host.close()
    assert not failures
    assert [row.id for row in found] == [f"r{n}" for n in range(ROWS)]
    assert all(row.data == data_of(f"text {n} {'x' * 200}") for n, row in enumerate(found))


def test_the_same_command_goes_on_after_a_full_disk(tmp_path: Path) -> None:
    room = Event()
    room.set()
    model, folder = begin(tmp_path / "model", ROWS), begin(tmp_path / "full", ROWS)
    work(model)
    with disk(room):
        ledger = Ledger(str(folder / "jobs.db"))
        room.clear()
        refused = None
        try:
            Runner(ledger, "job", Scripted()).run()
        except LedgerRefused as error:
            refused = error
        assert refused is not None
        assert refused.retryable
        assert ledger.status("job").state is JobState.RUNNING
        ledger.close()
        room.set()
        work(folder)
    assert_same(folder, model)
