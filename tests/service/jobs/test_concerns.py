"""What an answer of the service says of a row and of its job: warnings, errors of codes old and new, a run's end."""

import json
import threading
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from intaglio.schemas.extraction.grounding import FieldReport, Span
from intaglio.schemas.extraction.results import Timings, Usage
from intaglio.schemas.jobs import JobSpec, JobState, Output, Source
from intaglio.schemas.problem import Code
from intaglio.service.client import Extraction
from intaglio.service.jobs.backends import Finished, LocalBackend, Task
from intaglio.service.jobs.ingest import source_fingerprint
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.outcome_buffer import ERROR_SCOPES, ErrorScope
from intaglio.service.jobs.publish import publish
from intaglio.service.jobs.tables import DEAD

from tests.support.scripted_extracting import refusal

WARNING = {"pointer": "/name", "kind": "looped", "message": "a value was closed early"}


def answer(data: Any, **more: Any) -> Extraction[Any]:
    return Extraction(
        data=data,
        valid=True,
        finish="stop",
        usage=Usage(prompt_tokens=1, output_tokens=1, total_tokens=2),
        timings=Timings(queue_ms=0, prefill_ms=1, decode_ms=1, total_ms=2),
        id="x",
        model="m",
        request_id=None,
        raw=more,
    )


class Each:
    """Answers each row by a function of its text."""

    model = "m"
    reads_images = False

    def __init__(self, outcome: Any) -> None:
        self._outcome = outcome

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        while (task := next(tasks, None)) is not None:
            yield task.claim, self._outcome(task.claim.text)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger with a job named `job` over the rows `a` to `d`."""
    (tmp_path / "in.csv").write_text("t\na\nb\nc\nd\n")
    source = Source(path=str(tmp_path / "in.csv"), text="t")
    outputs = (Output(path=str(tmp_path / "out.jsonl")),)
    spec = JobSpec(schema={"type": "string"}, source=source, outputs=outputs, attempts=1)
    book = Ledger(str(tmp_path / "jobs.db"))
    book.create("job", spec, "d", source_fingerprint(tmp_path / "in.csv"), "m")
    yield book
    book.close()


def test_warnings_of_a_result_reach_the_outputs_and_the_report(
    ledger: Ledger, tmp_path: Path
) -> None:
    def outcome(text: str) -> Extraction[Any]:
        return answer(text, warnings=[WARNING] if text in "ab" else [])

    Runner(ledger, "job", Each(outcome)).run()
    publish(ledger, "job")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line.get("warnings") for line in lines] == [[WARNING], [WARNING], None, None]
    report = json.loads((tmp_path / "out.jsonl.report.json").read_text())
    assert report["warnings"] == {"looped": 2}
    assert "looped: 2" in (tmp_path / "out.jsonl.report.html").read_text()


def test_sources_of_a_result_reach_the_outputs(ledger: Ledger, tmp_path: Path) -> None:
    report = FieldReport(
        match="exact", span=Span(start=0, end=1), occurrences=(Span(start=0, end=1),)
    )

    def outcome(text: str) -> Extraction[Any]:
        return replace(answer(text), fields={"": report} if text == "b" else {})

    Runner(ledger, "job", Each(outcome)).run()
    publish(ledger, "job")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    span = {"start": 0, "end": 1}
    found = {"": {"match": "exact", "span": span, "occurrences": [span]}}
    assert [line.get("fields") for line in lines] == [None, found, None, None]


@pytest.mark.parametrize("code", ["quarantined", "invalid_output", "a_code_of_next_year"])
def test_an_error_that_is_not_retryable_makes_a_dead_letter(ledger: Ledger, code: str) -> None:
    def outcome(text: str) -> Any:
        return refusal(code, status=422) if text == "b" else answer(text)

    assert Runner(ledger, "job", Each(outcome)).run().state is JobState.COMPLETED_WITH_ERRORS
    (dead,) = ledger.rows("job").results(DEAD)
    assert dead.failure is not None
    assert (dead.row, dead.failure.code, dead.attempts) == (2, code, 1)


def test_every_code_that_ends_a_job_is_one_of_ours() -> None:
    assert ERROR_SCOPES.keys() <= set(Code)
    assert ERROR_SCOPES[Code.ENGINE_LOST] is ErrorScope.ENGINE


class Endless:
    """An LLM whose rows never end; it counts the steps that its engine takes and what was aborted."""

    def __init__(self) -> None:
        self.in_hand: list[Any] = []
        self.aborted = 0
        self.full = threading.Event()

    def extract_stream(
        self, items: Iterator[Any], *, at_once: int, **options: Any
    ) -> Generator[Any, None, None]:
        try:
            while True:
                item = next(items, None) if len(self.in_hand) < at_once else None
                if item is not None:
                    self.in_hand.append(item)
                elif self.in_hand:
                    self.full.set()
                if len(self.in_hand) > 99:
                    yield
        finally:
            self.aborted = len(self.in_hand)


@pytest.mark.parametrize("at_once", [2, 64], ids=["no room", "room for more"])
def test_a_run_that_is_stopped_gives_back_the_rows_in_hand(ledger: Ledger, at_once: int) -> None:
    llm = Endless()
    runner = Runner(ledger, "job", LocalBackend(llm, {}, at_once=at_once))  # type: ignore[arg-type]

    def stop() -> None:
        llm.full.wait()
        runner.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    status = runner.run()  # which would never return if it waited for a row
    thread.join()
    assert (status.state, status.counts.pending, status.counts.running) == (JobState.PAUSED, 4, 0)
    assert llm.aborted == min(at_once, 4)
    claims = ledger.rows("job").claim("another", 9, 60)
    assert [claim.attempt for claim in claims] == [1, 1, 1, 1], "the try does not count"


def test_a_pause_from_another_shell_is_heard_while_there_is_no_room(ledger: Ledger) -> None:
    llm = Endless()
    runner = Runner(ledger, "job", LocalBackend(llm, {}, at_once=2))  # type: ignore[arg-type]

    def pause() -> None:
        llm.full.wait()
        ledger.request("job", "pause")

    thread = threading.Thread(target=pause)
    thread.start()
    assert runner.run().state is JobState.PAUSED
    thread.join()
