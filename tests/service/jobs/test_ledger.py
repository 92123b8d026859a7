"""The ledger under adversity: expired leases, fences, clock jumps, a full disk, other versions."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from intaglio.schemas.jobs import JobSpec, JobState, Source
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.lock import sole_runner
from intaglio.service.jobs.records.errors import JobBusy, JobChanged, LedgerRefused, UnknownJob
from intaglio.service.jobs.records.row import Failure, NewRow, Outcome
from intaglio.service.jobs.tables import DEAD, DONE, PENDING

SPEC = JobSpec(schema=True, source=Source(path="in.csv", text="body"))


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    book = Ledger(str(tmp_path / "deep" / "jobs.db"), clock)
    book.create("job", SPEC, "digest", "mark", "model")
    yield book
    book.close()


def fill(ledger: Ledger, count: int) -> None:
    new = [NewRow(n, f"r{n}", f"text {n}") for n in range(1, count + 1)]
    ledger.rows("job").add_rows(new, count, whole=True)


def test_rows_go_out_in_order_and_come_back_once(ledger: Ledger) -> None:
    fill(ledger, 5)
    rows = ledger.rows("job")
    first = rows.claim("a", 3, 60)
    assert [claim.row for claim in first] == [1, 2, 3]
    assert [claim.row for claim in rows.claim("b", 3, 60)] == [4, 5]
    assert rows.claim("c", 3, 60) == []
    assert rows.record_outcomes([Outcome(claim, '{"v":1}') for claim in first]) == 3
    assert rows.record_outcomes([Outcome(claim, '{"v":2}') for claim in first]) == 0
    assert [(r.row, r.data) for r in rows.results(DONE)] == [(n, {"v": 1}) for n in (1, 2, 3)]
    counts = rows.counts()
    assert (counts.rows, counts.done, counts.running) == (5, 3, 2)


def test_a_worker_that_slept_too_long_commits_nothing(ledger: Ledger, clock: Clock) -> None:
    fill(ledger, 1)
    rows = ledger.rows("job")
    (late,) = rows.claim("a", 1, 60)
    clock.now += 61
    (other,) = rows.claim("b", 1, 60)
    assert (other.row, other.attempt) == (1, 2)
    assert rows.record_outcomes([Outcome(late, '"late"')]) == 0
    assert rows.record_outcomes([Outcome(other, '"in time"')]) == 1
    assert [r.data for r in rows.results()] == ["in time"]


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_a_clock_that_jumps_costs_work_at_most(ledger: Ledger, clock: Clock, jump: float) -> None:
    fill(ledger, 4)
    rows = ledger.rows("job")
    held = rows.claim("a", 2, 60)
    clock.now += jump
    others = rows.claim("b", 4, 60)
    counted = rows.record_outcomes([Outcome(c, '"a"') for c in held]) + rows.record_outcomes(
        [Outcome(c, '"b"') for c in others]
    )
    assert counted == len({c.row for c in (*held, *others)})
    assert rows.counts().done == counted


def test_a_lease_that_is_renewed_holds(ledger: Ledger, clock: Clock) -> None:
    fill(ledger, 1)
    rows = ledger.rows("job")
    rows.claim("a", 1, 60)
    clock.now += 50
    rows.renew("a", 60)
    clock.now += 50
    assert rows.claim("b", 1, 60) == []


def test_what_is_tried_again_waits_and_keeps_count(ledger: Ledger, clock: Clock) -> None:
    fill(ledger, 1)
    rows = ledger.rows("job")
    (claim,) = rows.claim("a", 1, 60)
    again = Failure("internal_error", "broke", may_retry=True)
    rows.record_outcomes([Outcome(claim, failure=again, due=clock.now + 5)])
    assert rows.claim("a", 1, 60) == []
    assert rows.next_due() == clock.now + 5
    clock.now += 5
    (claim,) = rows.claim("a", 1, 60)
    assert claim.attempt == 2
    free = Failure("not_ready", "away", may_retry=True, charged=False)
    rows.record_outcomes([Outcome(claim, failure=free)])
    assert rows.claim("a", 1, 60)[0].attempt == 2


def test_dead_rows_are_told_and_revived(ledger: Ledger) -> None:
    rows = ledger.rows("job")
    refused = NewRow(2, "r2", None, failure=Failure("invalid_record", "empty", "/line/3"))
    twin = NewRow(3, "r1", "again")
    rows.add_rows([NewRow(1, "r1", "text"), refused, twin], 3, whole=True)
    (claim,) = rows.claim("a", 9, 60)
    rows.record_outcomes([Outcome(claim, failure=Failure("too_long", "too long"))])
    dead = {r.row: r.failure.code for r in rows.results(DEAD) if r.failure}
    assert dead == {1: "too_long", 2: "invalid_record", 3: "duplicate_id"}
    assert rows.requeue_dead() == 1
    assert [r.row for r in rows.results(PENDING)] == [1]


def test_twins_in_different_chunks_are_found(ledger: Ledger) -> None:
    rows = ledger.rows("job")
    rows.add_rows([NewRow(1, "a", "x")], 1, whole=False)
    rows.add_rows([NewRow(2, "a", "y"), NewRow(3, "b", "z"), NewRow(4, "b", "w")], 4, whole=True)
    assert [r.row for r in rows.results(DEAD)] == [2, 4]
    assert rows.read_position() == (4, True)


def test_released_rows_are_pending_and_uncounted(ledger: Ledger) -> None:
    fill(ledger, 3)
    rows = ledger.rows("job")
    rows.claim("a", 1, 60)
    rows.claim("b", 2, 60)
    assert rows.release("a") == 1
    assert rows.release() == 2
    assert [c.attempt for c in rows.claim("c", 9, 60)] == [1, 1, 1]


def test_results_come_in_pages(ledger: Ledger) -> None:
    fill(ledger, 1203)
    assert [r.row for r in ledger.rows("job").results()] == list(range(1, 1204))


def test_threads_never_get_the_same_row(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "jobs.db"))
    ledger.create("job", SPEC, "digest", "mark", "model")
    fill(ledger, 200)
    got: list[int] = []

    def work(name: str) -> None:
        rows = ledger.rows("job")
        while claims := rows.claim(name, 7, 60):
            rows.record_outcomes([Outcome(claim, "1") for claim in claims])
            got.extend(claim.row for claim in claims)

    threads = [threading.Thread(target=work, args=(str(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(1, 201))
    ledger.close()


def test_names_and_states(ledger: Ledger, clock: Clock) -> None:
    clock.now += 1
    ledger.create("later", SPEC, "d", "m", "model")
    assert ledger.names() == ["later", "job"]
    with pytest.raises(JobChanged, match="already"):
        ledger.create("job", SPEC, "d", "m", "model")
    with pytest.raises(UnknownJob):
        ledger.status("nobody")
    assert ledger.spec("job") == SPEC


def state(ledger: Ledger) -> tuple[JobState, str | None]:
    return ledger.status("job").state, ledger.stop_request("job")


def test_a_runner_is_asked_and_what_nobody_runs_obeys_at_once(ledger: Ledger) -> None:
    ledger.request("job", "pause")
    assert state(ledger) == (JobState.PAUSED, "pause")
    assert not ledger.begin("job"), "it was seen ready, and was paused before it began"
    assert state(ledger) == (JobState.PAUSED, "pause")
    ledger.resume("job")
    assert ledger.begin("job")
    ledger.request("job", "cancel")
    assert state(ledger) == (JobState.RUNNING, "cancel")
    assert ledger.begin("job"), "another runner joins, or this one's process died"
    assert state(ledger) == (JobState.RUNNING, "cancel")
    ledger.move("job", JobState.CANCELLED)
    assert state(ledger) == (JobState.CANCELLED, "cancel")
    with pytest.raises(JobChanged, match="cancelled"):
        ledger.request("job", "pause")
    with pytest.raises(UnknownJob):
        ledger.request("nobody", "pause")


def test_the_ledger_is_its_owners(ledger: Ledger, tmp_path: Path) -> None:
    assert ledger.file is not None
    assert ledger.file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700


def test_one_runner_a_job(ledger: Ledger) -> None:
    with sole_runner(ledger, "job"):
        with sole_runner(ledger, "other"):
            pass
        with pytest.raises(JobBusy), sole_runner(ledger, "job"):
            pass
    with sole_runner(ledger, "job"):
        pass


def test_a_full_disk_is_told_and_nothing_is_lost(ledger: Ledger) -> None:
    fill(ledger, 50)
    rows = ledger.rows("job")
    claims = rows.claim("a", 50, 60)
    engine = rows._engine
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.rollback()
    sa.event.listen(engine, "connect", lambda raw, _: raw.execute(f"PRAGMA max_page_count={pages}"))
    engine.dispose()
    big = '"' + "x" * 100_000 + '"'
    with pytest.raises(LedgerRefused, match="full") as refused:
        rows.record_outcomes([Outcome(claim, big) for claim in claims])
    # Under `serve --data` that is all there is to do.
    assert refused.value.hint.startswith("nothing is lost: make room on its disk; a server then")
    counts = rows.counts()
    assert (counts.done, counts.running) == (0, 50)


def test_no_place_and_another_version(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LedgerRefused, match="cannot write"):
        Ledger(str(tmp_path / "file" / "jobs.db"))
    (tmp_path / "no.db").write_text("this is no database at all, whatever its name says")
    with pytest.raises(LedgerRefused, match="cannot open"):
        Ledger(str(tmp_path / "no.db"))
    path = tmp_path / "jobs.db"
    Ledger(str(path)).close()
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE intaglio_ledger SET version = 99")
    engine.dispose()
    with pytest.raises(LedgerRefused, match="version 99"):
        Ledger(str(path))
    with pytest.raises(LedgerRefused, match="cannot open"):
        Ledger("nonsense://nowhere")
