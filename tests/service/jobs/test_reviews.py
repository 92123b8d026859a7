"""Rows with unsure values: marked once, listed, accepted or corrected, and exported as gold data."""

import json
import sqlite3
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.schemas.jobs import JobSpec, ReviewDecision, ReviewRow, Source
from intaglio.service.client.models import extraction
from intaglio.service.client.shapes import Shape
from intaglio.service.evaluation.gold import read_gold
from intaglio.service.jobs.backends import Finished, Task
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger, reviews_of
from intaglio.service.jobs.publish import publish
from intaglio.service.jobs.records.errors import CorrectionRefused, UnknownReview
from intaglio.service.jobs.records.row import Outcome, spec_digest
from intaglio.service.jobs.unsure_values import unsure_values
from pydantic import ValidationError
from pydantic_core import to_json

from tests.support.stub_service import result

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "s": {"type": "string"}},
    "required": ["n", "s"],
    "additionalProperties": False,
}


class Backend:
    """The probability of `n` is the number in the text over 100; that of `s` is high."""

    model = "sure"
    reads_images = False

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        for task in tasks:
            if task is None:
                return
            number = int(task.claim.text)
            fields = {
                "/n": {"confidence": {"probability": number / 100}},
                "/s": {"confidence": {"probability": 0.1, "calibrated": 0.95}},
            }
            body = to_json(result({"n": number, "s": "x"}, fields=fields))
            yield task.claim, extraction(body, Shape(schema=True, adapter=None), None)


def spec(folder: Path, *outputs: str, **more: Any) -> JobSpec:
    return JobSpec.model_validate(
        {
            "schema": SCHEMA,
            "source": Source(path=str(folder / "in.csv"), text="body", id="id", keep=("k",)),
            "outputs": tuple({"path": str(folder / name)} for name in outputs),
            "review_below": 0.5,
            **more,
        }
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    found = Ledger(str(tmp_path / "jobs.db"))
    yield found
    found.close()


def run(ledger: Ledger, folder: Path, rows: int = 100, *outputs: str, **more: Any) -> None:
    lines = "".join(f"r{n},{n},k{n}\n" for n in range(1, rows + 1))
    (folder / "in.csv").write_text("id,body,k\n" + lines)
    given = spec(folder, *outputs, **more)
    ledger.create("job", given, spec_digest(given, "sure"), _mark(folder), "sure")
    Runner(ledger, "job", Backend()).run()


def _mark(folder: Path) -> str:
    from intaglio.service.jobs.ingest import source_fingerprint

    return source_fingerprint(folder / "in.csv")


def test_rows_with_a_less_probable_value_wait_page_by_page(ledger: Ledger, tmp_path: Path) -> None:
    run(ledger, tmp_path)
    counts = ledger.status("job").counts
    assert (counts.done, counts.needs_review, counts.reviewed) == (100, 49, 0)
    reviews, after = reviews_of(ledger, "job"), 0
    found: list[ReviewRow] = []
    while True:
        page = reviews.page(after=after, limit=20)
        found += page.data
        if page.next is None:
            break
        after = page.next
    assert [row.row for row in found] == list(range(1, 50))
    assert found[29].unsure == {"/n": 0.3}
    assert (found[29].id, found[29].text, found[29].data) == ("r30", "30", {"n": 30, "s": "x"})


def test_decisions_change_states_results_and_outputs(ledger: Ledger, tmp_path: Path) -> None:
    run(ledger, tmp_path, 60, "out.jsonl", "out.csv")
    reviews = reviews_of(ledger, "job")
    reviews.decide(
        ReviewDecision(row=3, decision="accept"),
        ReviewDecision(row=30, decision="correct", data={"n": 31, "s": "y"}),
    )
    counts = ledger.status("job").counts
    assert (counts.needs_review, counts.reviewed) == (47, 2)
    publish(ledger, "job")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    by_id = {line["id"]: line for line in lines}
    assert by_id["r2"]["needs_review"] == ["/n"]
    assert by_id["r2"]["fields"]["/n"] == {"confidence": {"probability": 0.02}}
    assert (by_id["r3"]["needs_review"], by_id["r60"]["needs_review"]) == (None, None)
    assert by_id["r30"] == {
        "id": "r30",
        "k": "k30",
        "needs_review": None,
        "data": {"n": 31, "s": "y"},
    }
    head, first, *_ = (tmp_path / "out.csv").read_text().splitlines()
    assert (head, first) == ("id,k,needs_review,n,s", 'r1,k1,"[""/n""]",1,x')
    reviews.decide(ReviewDecision(row=30, decision="accept"))
    assert reviews.row(30).data == {"n": 30, "s": "x"}, "the last decision counts"
    assert reviews.accept_all() == 47
    assert ledger.status("job").counts.needs_review == 0


def test_reviewed_rows_are_gold_data(ledger: Ledger, tmp_path: Path) -> None:
    run(ledger, tmp_path, 60)
    reviews = reviews_of(ledger, "job")
    reviews.decide(
        ReviewDecision(row=40, decision="correct", data={"n": 1, "s": "z"}),
        ReviewDecision(row=2, decision="accept"),
    )
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(row.model_dump_json(by_alias=True) + "\n" for row in reviews.gold()))
    first, second = read_gold(path)
    assert (first.id, first.text, first.expected) == ("r2", "2", {"n": 2, "s": "x"})
    assert (second.id, second.expected, second.schema) == ("r40", {"n": 1, "s": "z"}, SCHEMA)


def test_bad_decisions_change_nothing(ledger: Ledger, tmp_path: Path) -> None:
    run(ledger, tmp_path, 60)
    reviews = reviews_of(ledger, "job")
    good = ReviewDecision(row=1, decision="accept")
    with pytest.raises(UnknownReview, match="row 60 "):
        reviews.decide(good, ReviewDecision(row=60, decision="accept"))
    with pytest.raises(CorrectionRefused, match="not valid"):
        reviews.decide(good, ReviewDecision(row=2, decision="correct", data={"n": "one", "s": ""}))
    with pytest.raises(UnknownReview, match="'r60'"):
        reviews.number_of("r60")
    assert ledger.status("job").counts.reviewed == 0
    for wrong in ({"decision": "correct"}, {"decision": "accept", "data": 1}):
        with pytest.raises(ValidationError, match="data belongs"):
            ReviewDecision.model_validate({"row": 1, **wrong})


def test_an_outcome_that_does_not_count_marks_nothing(ledger: Ledger, tmp_path: Path) -> None:
    run(ledger, tmp_path, 1)
    rows = ledger.rows("job")
    stale = Outcome(_claim_of_before(), '{"n":0,"s":""}', unsure={"/s": 0.0})
    before = reviews_of(ledger, "job").row(1)
    assert rows.record_outcomes([stale]) == 0
    assert reviews_of(ledger, "job").row(1) == before


def _claim_of_before() -> Any:
    from intaglio.service.jobs.records.row import Claim

    return Claim(1, "r1", "1", None, 1, 0)


def test_an_older_ledger_gets_the_table_and_keeps_its_rows(tmp_path: Path) -> None:
    old = Ledger(str(tmp_path / "jobs.db"))
    run(old, tmp_path, 5, review_below=None)
    old.close()
    with sqlite3.connect(tmp_path / "jobs.db") as database:
        database.execute("DROP TABLE reviews")
    found = Ledger(str(tmp_path / "jobs.db"))
    assert found.status("job").counts.done == 5
    assert found.status("job").counts.needs_review == 0
    assert [row.data["n"] for row in found.rows("job").results()] == [1, 2, 3, 4, 5]  # type: ignore[index,call-overload]
    found.close()


def test_jobs_from_before_reviews_have_the_digest_of_then(tmp_path: Path) -> None:
    """The digest of a specification that names none of the newer fields, as an older program computed it."""
    plain = JobSpec(schema="invoice", source=Source(path="x"))
    assert spec_digest(plain, "m") != spec_digest(plain.model_copy(update={"limit": 3}), "m")
    asked = JobSpec(schema="invoice", source=Source(path="x"), review_below=0.5)
    assert spec_digest(asked, "m") != spec_digest(plain, "m")
    identity = plain.model_dump(mode="json", by_alias=True)
    assert identity["review_below"] is None


def test_a_threshold_asks_for_confidences_and_needs_its_column() -> None:
    source = {"path": "x"}
    asked = JobSpec.model_validate_json(
        json.dumps({"schema": "invoice", "source": {**source, "keep": ["a"]}, "review_below": 0.8}),
        strict=True,
    )
    assert asked.options.confidence == "first_reading"
    assert asked.options.model_dump(exclude_unset=True) == {"confidence": "first_reading"}
    for wrong in (
        {"options": {"confidence": "off"}, "source": source},
        {"source": {**source, "id": "needs_review"}},
    ):
        with pytest.raises(ValidationError, match="review_below"):
            JobSpec.model_validate({"schema": "invoice", "review_below": 0.8, **wrong})


@pytest.mark.parametrize(
    ("fields", "below", "found"),
    [
        ({"/a": {"confidence": {"probability": 0.4}}}, 0.5, {"/a": 0.4}),
        ({"/a": {"confidence": {"probability": 0.4, "calibrated": 0.5}}}, 0.5, {}),
        ({"/a": {"confidence": {"probability": 0.4}}}, None, {}),
        ({"/a": {"confidence": None}, "/b": {"match": "exact"}}, 0.5, {"": None}),
        (None, 0.5, {"": None}),
    ],
)
def test_unsure_values(fields: Any, below: float | None, found: dict[str, float | None]) -> None:
    assert unsure_values({"fields": fields}, below) == found
