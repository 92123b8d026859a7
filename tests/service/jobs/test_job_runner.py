"""Jobs from file to file with a scripted extractor."""

import json
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest
from intaglio.schemas.jobs import JobSpec, JobState, Output, Source
from intaglio.service.client import IntaglioError
from intaglio.service.jobs.estimate import estimate
from intaglio.service.jobs.fixed_values import with_fixed_values
from intaglio.service.jobs.ingest import ingest, source_fingerprint
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.outcome_buffer import TIMING, Progress, Timing
from intaglio.service.jobs.publish import check, publish
from intaglio.service.jobs.records.errors import JobChanged, OutputRefused
from intaglio.service.jobs.records.row import spec_digest
from intaglio.service.jobs.tables import DEAD, DONE

from tests.support.scripted_extracting import SCHEMA, Scripted, data_of


class Bench:
    """A ledger, a folder, and jobs begun in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = Ledger(str(folder / "jobs.db"))

    def begin(self, texts: list[str], name: str = "job", **asked: Any) -> str:
        """A job over a table of these texts."""
        path = self.folder / f"{name}.in.jsonl"
        lines = (json.dumps({"id": f"r{n}", "t": text}) for n, text in enumerate(texts, 1))
        path.write_text("\n".join(lines))
        spec = JobSpec.model_validate(
            {
                "schema": SCHEMA,
                "source": Source(path=str(path), text="t", id="id"),
                "outputs": (Output(path=str(self.folder / f"{name}.csv")),),
                **asked,
            }
        )
        self.ledger.create(
            name, spec, spec_digest(spec, "scripted"), source_fingerprint(path), "scripted"
        )
        return name

    def run(
        self, job: str, extracting: Scripted | None = None, timing: Timing = TIMING
    ) -> JobState:
        self.ledger.resume(job)
        return Runner(self.ledger, job, extracting or Scripted(), timing=timing).run().state

    def reasons(self, job: str) -> dict[str, tuple[str, int]]:
        dead = self.ledger.rows(job).results(DEAD)
        return {row.id: (row.failure.code, row.attempts) for row in dead if row.failure}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_every_row_has_its_result_in_order(bench: Bench) -> None:
    texts = [f"text number {n}" for n in range(777)]
    job = bench.begin(texts)
    extracting = Scripted()
    assert bench.run(job, extracting) is JobState.COMPLETED
    assert [row.data for row in bench.ledger.rows(job).results(DONE)] == [data_of(t) for t in texts]
    assert extracting.most_in_hand == 16
    assert set(extracting.tries.values()) == {1}


def test_outputs_dead_letters_and_reports(bench: Bench) -> None:
    job = bench.begin(["one", "FAIL context_length_exceeded", "", "four <b>bold</b>"])
    assert bench.run(job) is JobState.COMPLETED_WITH_ERRORS
    names = sorted(path.name for path in publish(bench.ledger, job))
    assert names == ["job.csv", "job.csv.dead.jsonl", "job.csv.report.html", "job.csv.report.json"]
    lines = (bench.folder / "job.csv.dead.jsonl").read_text().splitlines()
    dead = [json.loads(line) for line in lines]
    assert [(d["row"], d["id"], d["code"], d["attempts"]) for d in dead] == [
        (2, "r2", "context_length_exceeded", 1),
        (3, "r3", "invalid_record", 0),
    ]
    assert dead[1]["pointer"] == "/line/3"
    report = json.loads((bench.folder / "job.csv.report.json").read_text())
    assert report["job"]["counts"]["done"] == 2
    assert report["contract"]["enforced"]["type"] >= 1
    assert report["contract"]["unknown"] == []
    assert report["reasons"] == {"context_length_exceeded": 1, "invalid_record": 1}
    assert report["slowest"][0]["id"] == "r4"
    assert report["samples"][0]["spans"][0] == {"begin": 0, "end": 3, "pointer": "/name"}
    page = (bench.folder / "job.csv.report.html").read_text()
    assert "<b>bold" not in page
    assert "<script" not in page
    assert '<mark title="/name">one</mark>' in page


def test_what_may_pass_is_tried_again(bench: Bench) -> None:
    job = bench.begin(["FLAKY 2 a", "FLAKY 9 b", "c", "FAIL incomplete"], attempts=3)
    extracting = Scripted()
    timing = Timing(longest_pause_s=0.05)
    assert bench.run(job, extracting, timing) is JobState.COMPLETED_WITH_ERRORS
    assert bench.reasons(job) == {"r2": ("internal_error", 3), "r4": ("incomplete", 1)}
    assert extracting.tries == {"r1": 3, "r2": 3, "r3": 1, "r4": 1}


def test_a_service_out_of_reach_costs_no_row(bench: Bench) -> None:
    job = bench.begin([f"AWAY 40 {n}" for n in range(10)], attempts=1)
    assert bench.run(job, timing=Timing(longest_pause_s=0.02)) is JobState.COMPLETED


def test_a_service_that_stays_away_ends_the_run(bench: Bench) -> None:
    job = bench.begin(["AWAY 100000 x", "y"])
    with pytest.raises(IntaglioError, match="out of reach"):
        bench.run(job, timing=Timing(longest_pause_s=0.02, patience_s=0.3))
    status = bench.ledger.status(job)
    assert (status.state, status.counts.pending, status.counts.done) == (JobState.FAILED, 1, 1)


def test_a_schema_that_is_refused_fails_the_job_and_no_row(bench: Bench) -> None:
    job = bench.begin(["BAD SCHEMA"] * 500)
    extracting = Scripted()
    with pytest.raises(IntaglioError, match="unsupported_schema"):
        bench.run(job, extracting)
    status = bench.ledger.status(job)
    assert (status.state, status.counts.dead) == (JobState.FAILED, 0)
    assert extracting.calls <= 32


def test_too_many_dead_rows_stop_the_job(bench: Bench) -> None:
    texts = ["FAIL invalid_output" if n % 4 == 0 else f"t{n}" for n in range(4000)]
    job = bench.begin(texts, stop_at_dead_share=0.1)
    extracting = Scripted()
    assert bench.run(job, extracting, Timing(recount_s=0.0)) is JobState.FAILED
    assert extracting.calls <= 2 * 64
    assert bench.ledger.status(job).counts.done > 0


def test_pause_resume_cancel(bench: Bench) -> None:
    job = bench.begin([f"t{n}" for n in range(2000)])

    def soon(progress: Progress) -> None:
        if progress.ended:
            bench.ledger.request(job, "pause")

    slow = Scripted(0.05)
    assert Runner(bench.ledger, job, slow, soon).run().state is JobState.PAUSED
    counts = bench.ledger.status(job).counts
    assert 0 < counts.done < 2000
    assert counts.running == 0
    again = Scripted()
    assert bench.run(job, again) is JobState.COMPLETED
    assert sum((slow.tries + again.tries).values()) == 2000


def test_cancel_keeps_results_under_another_name(bench: Bench) -> None:
    job = bench.begin([f"t{n}" for n in range(2000)])

    def once_some_are_kept(progress: Progress) -> None:
        if progress.ended and bench.ledger.status(job).state is JobState.RUNNING:
            bench.ledger.request(job, "cancel")

    slow = Scripted(0.02)
    assert Runner(bench.ledger, job, slow, once_some_are_kept).run().state is JobState.CANCELLED
    publish(bench.ledger, job)
    lines = (bench.folder / "job.partial.csv").read_text().splitlines()
    assert not (bench.folder / "job.csv").exists()
    assert len(lines) - 1 == bench.ledger.status(job).counts.done > 0


class Asked(Ledger):
    """A ledger to which a client's request comes at the last moment before the end of a run is written."""

    last: Literal["pause", "cancel"] | None = None

    def move(self, job: str, state: JobState, error: str | None = None) -> None:
        if self.last is not None:
            self.request(job, self.last)
        super().move(job, state, error)


@pytest.mark.parametrize(
    ("last", "state"),
    [("cancel", JobState.CANCELLED), ("pause", JobState.PAUSED), (None, JobState.READY)],
)
def test_a_request_while_a_run_is_stopped_is_not_lost(
    bench: Bench, last: Literal["pause", "cancel"] | None, state: JobState
) -> None:
    job = bench.begin([f"t{n}" for n in range(2000)])
    ledger = Asked(str(bench.folder / "jobs.db"))
    ledger.last = last
    runner = Runner(ledger, job, Scripted(0.05), lambda progress: runner.stop())
    assert runner.run(stopped=JobState.READY).state is state
    ledger.close()


@pytest.mark.parametrize("what", ["pause", "cancel"])
def test_a_runner_stops_when_another_one_has_carried_out_the_request(
    bench: Bench, what: Literal["pause", "cancel"]
) -> None:
    job = bench.begin([f"t{n}" for n in range(2000)])

    def as_another(_progress: Progress) -> None:
        if bench.ledger.status(job).state is JobState.RUNNING:
            bench.ledger.request(job, what)
            bench.ledger.move(job, JobState.PAUSED)

    state = JobState.CANCELLED if what == "cancel" else JobState.PAUSED
    status = Runner(bench.ledger, job, Scripted(0.05), as_another).run()
    assert (status.state, status.counts.running) == (state, 0)
    assert status.counts.pending > 0


def test_dead_rows_can_be_tried_again(bench: Bench) -> None:
    job = bench.begin(["FLAKY 1 a", "b"], attempts=1)
    extracting = Scripted()
    assert bench.run(job, extracting) is JobState.COMPLETED_WITH_ERRORS
    bench.ledger.rows(job).requeue_dead()
    assert bench.run(job, extracting) is JobState.COMPLETED
    assert bench.ledger.rows(job).counts().done == 2


def test_limit_and_sample(bench: Bench) -> None:
    texts = [f"t{n}" for n in range(1000)]
    bench.run(bench.begin(texts, "few", limit=7))
    assert bench.ledger.status("few").counts.done == 7
    bench.run(bench.begin(texts, "some", sample=0.1))
    bench.run(bench.begin(texts, "same", sample=0.1))
    some, same = ([row.id for row in bench.ledger.rows(job).results()] for job in ("some", "same"))
    assert some == same
    assert 60 < len(some) < 140


def test_a_source_that_breaks_off_is_worked_up_to_there(bench: Bench) -> None:
    path = bench.folder / "in.xml"
    path.write_text("<c>" + "".join(f"<i>row {n}</i>" for n in range(50)) + "<i>")
    spec = JobSpec(schema=SCHEMA, source=Source(path=str(path), record="c/i"))
    bench.ledger.create("x", spec, "d", source_fingerprint(path), "scripted")
    status = Runner(bench.ledger, "x", Scripted()).run()
    assert (status.state, status.counts.done) == (JobState.FAILED, 50)
    assert status.error is not None
    assert "not well-formed" in status.error


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write('\n{"id": "more", "t": "more"}\n')


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def replace(path: Path) -> None:
    path.with_suffix(".new").write_text('{"id": "other", "t": "other"}\n' * 1200)
    path.with_suffix(".new").replace(path)


def edit(path: Path) -> None:
    """As long as before."""
    path.write_text(path.read_text().replace("text", "TEXT"))


@pytest.mark.parametrize("change", [append, truncate, replace, edit])
@pytest.mark.parametrize(("at", "kept"), [(100, 0), (700, 500), (1150, 1000)])
def test_rows_of_a_file_that_changes_while_it_is_read_are_never_mixed(
    bench: Bench, change: Callable[[Path], None], at: int, kept: int
) -> None:
    job = bench.begin([f"text {n}" for n in range(1200)])
    spec, rows, source = (
        bench.ledger.spec(job),
        bench.ledger.rows(job),
        bench.folder / "job.in.jsonl",
    )
    mark, calls = bench.ledger.origin(job)[1], count()

    def changing() -> bool:
        if next(calls) == at:
            change(source)
        return False

    with pytest.raises(JobChanged, match="has changed"):
        ingest(spec, source, rows, mark, changing)
    assert rows.read_position() == (kept, False)
    assert [row.text for row in rows.results()] == [f"text {n}" for n in range(kept)]
    with pytest.raises(JobChanged, match="has changed"):  # when it is resumed
        ingest(spec, source, rows, mark, lambda: False)
    assert bench.run(job) is JobState.FAILED
    assert "has changed since the job started" in str(bench.ledger.status(job).error)
    assert bench.ledger.status(job).counts.done == kept


def test_a_folder_that_changes_while_it_is_read_is_told(bench: Bench) -> None:
    folder = bench.folder / "mails"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text(f"mail {number}")
    spec = JobSpec(schema=SCHEMA, source=Source(path=str(folder)))
    bench.ledger.create("x", spec, "d", source_fingerprint(folder), "scripted")
    calls = count()

    def changing() -> bool:
        if next(calls) == 2:
            (folder / "2.txt").write_text("another mail")
        return False

    with pytest.raises(JobChanged, match="mails has changed"):
        ingest(spec, folder, bench.ledger.rows("x"), bench.ledger.origin("x")[1], changing)
    assert bench.ledger.rows("x").read_position() == (0, False)


def test_a_field_is_added_without_doing_the_rest_again(bench: Bench) -> None:
    texts = ["one", "two", "FAIL invalid_output", "four"]
    bench.run(bench.begin(texts, "old"))
    wider = SCHEMA | {"properties": SCHEMA["properties"] | {"more": {"type": "string"}}}
    job = bench.begin(["one", "changed", "three", "four"], "new", schema=wider, extends="old")
    extracting = Scripted()
    bench.run(job, extracting)
    kept = {json.dumps(s["allOf"][1]["properties"]) for s in extracting.schemas if "allOf" in s}
    held = ({k: {"const": v} for k, v in data_of(text).items()} for text in ("one", "four"))
    assert kept == set(map(json.dumps, held))
    assert extracting.schemas.count(wider) == 2


def test_given_values_that_the_schema_does_not_name_are_left_out() -> None:
    held = with_fixed_values({"type": "object", "properties": {"a": {}}}, {"a": 1, "b": 2})
    assert held == {
        "allOf": [
            {"type": "object", "properties": {"a": {}}},
            {"properties": {"a": {"const": 1}}, "required": ["a"]},
        ]
    }
    assert with_fixed_values("invoice", {"nothing": 1})["type"] == "object"  # type: ignore[index]
    assert with_fixed_values(schema=True, given={"a": 1}) is True


def test_an_estimate_keeps_nothing(bench: Bench) -> None:
    job = bench.begin([f"text {n}" for n in range(100)] + ["", "FAIL x"])
    found = estimate(bench.ledger.spec(job), Scripted())
    assert (found.rows, found.dead, found.tried, found.failed) == (102, 1, 8, ())
    assert found.scaled(found.output_tokens) == 7 * 101
    assert bench.ledger.status(job).counts.rows == 0


def test_outputs_that_cannot_be_written_are_refused_before_any_work(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none" / "o.csv", "cannot be written"),
        (tmp_path, "does not say what"),
        (tmp_path / "o.docx", "does not say what"),
    ):
        with pytest.raises(OutputRefused, match=reason):
            check((Output(path=str(path)),))
    with pytest.raises(OutputRefused, match="two outputs"):
        check((Output(path=str(tmp_path / "o.csv")), Output(path=str(tmp_path / "o.csv"))))
