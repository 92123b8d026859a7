"""Reviews of jobs over HTTP, on a real socket, over a ledger with marked rows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.api import Watch
from intaglio.schemas.jobs import JobSpec, Source
from intaglio.service.evaluation.gold import read_gold
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.owners import job_name
from intaglio.service.jobs.records.row import NewRow, Outcome

from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import Script, launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
ROWS = 5
JOBS = 12


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Iterator[str]]:
    """A data folder with cancelled jobs, made before there is a server that could run them, and their names."""
    data = tmp_path_factory.mktemp("data")
    names = [job_name("", f"{number:032x}") for number in range(JOBS)]
    ledger = Ledger(str(data / "jobs.db"))
    for name in names:
        fill(ledger, name)
    ledger.close()
    return data, iter(names)


def fill(ledger: Ledger, name: str) -> None:
    """A cancelled job with five rows, all to be reviewed."""
    spec = JobSpec(schema=SCHEMA, source=Source(path="in.csv"), review_below=0.5)
    ledger.create(name, spec, "digest", "mark", "m")
    ledger.request(name, "cancel")
    rows = ledger.rows(name)
    rows.add_rows([NewRow(n, f"r{n}", f"text {n}") for n in range(1, ROWS + 1)], ROWS, whole=True)
    claims = rows.claim("test", ROWS, 600)
    rows.record_outcomes(
        [Outcome(c, f'{{"n":{c.row}}}', unsure={"/n": c.row / 100}) for c in claims]
    )


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, jobs: tuple[Path, Iterator[str]]
) -> Iterator[Live]:
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    engine, watch = launch(Script(pace_s=0.05)), Watch(backoff_s=0.05)
    with live(engine, folder, watch=watch, data=str(jobs[0]), grace_s=5.0) as served:
        until(lambda: served.http.get("/v1/jobs").status_code == 200)
        yield served


@pytest.fixture
def job(jobs: tuple[Path, Iterator[str]]) -> str:
    """A job of its own for each test."""
    return next(jobs[1])


def test_the_queue_tells_the_sources_of_values_where_it_is_asked(service: Live, job: str) -> None:
    path = f"/v1/jobs/{job}/review"
    first = service.http.get(path, params={"sources": "true", "limit": 1}).json()["data"][0]
    assert first["text"] == "text 1"
    assert first["sources"]["/n"]["span"] == {"start": 5, "end": 6}
    assert service.http.get(path).json()["data"][0]["sources"] == {}
    refused = service.http.get(path, params={"sources": "yes"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "sources")


def page(service: Live, job: str, **query: Any) -> dict[str, Any]:
    answer = service.http.get(f"/v1/jobs/{job}/review", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_queue_comes_in_pages_and_decisions_empty_it(service: Live, job: str) -> None:
    first = page(service, job, limit=3)
    assert [row["row"] for row in first["data"]] == [1, 2, 3]
    assert first["data"][1]["unsure"] == {"/n": 0.02}
    rest = page(service, job, limit=3, after=first["next"])
    assert ([row["row"] for row in rest["data"]], rest["next"]) == ([4, 5], None)
    path = f"/v1/jobs/{job}/review"
    accepted = service.http.post(path, json={"row": 2, "decision": "accept"})
    assert (accepted.status_code, accepted.json()["state"]) == (200, "accepted")
    fixed = service.http.post(path, json={"row": 4, "decision": "correct", "data": {"n": 40}})
    assert (fixed.json()["state"], fixed.json()["data"]) == ("corrected", {"n": 40})
    assert [row["row"] for row in page(service, job)["data"]] == [1, 3, 5]
    assert [row["row"] for row in page(service, job, state="corrected")["data"]] == [4]
    counts = service.http.get(f"/v1/jobs/{job}").json()["counts"]
    assert (counts["needs_review"], counts["reviewed"]) == (3, 2)


def test_reviewed_rows_are_gold_data(service: Live, job: str, tmp_path: Path) -> None:
    decision = {"row": 5, "decision": "correct", "data": {"n": 50}}
    service.http.post(f"/v1/jobs/{job}/review", json=decision)
    answer = service.http.get(f"/v1/jobs/{job}/gold")
    assert answer.headers["content-type"].startswith("application/jsonl")
    (tmp_path / "gold.jsonl").write_bytes(answer.content)
    (record,) = read_gold(tmp_path / "gold.jsonl")
    assert (record.id, record.text, record.expected) == ("r5", "text 5", {"n": 50})


@pytest.mark.parametrize(
    ("body", "status", "place"),
    [
        ({"row": 1, "decision": "correct", "data": {"n": "x"}}, 422, "not valid"),
        ({"row": 1, "decision": "correct"}, 400, "data belongs"),
        ({"row": 9, "decision": "accept"}, 404, "row 9 "),
        ({"row": 0, "decision": "accept"}, 400, "row"),
        ({"row": 1, "decision": "reject"}, 400, "decision"),
        ({"row": 1, "decision": "accept", "more": 1}, 400, "more"),
    ],
)
def test_bad_decisions_are_clear_errors(
    service: Live, job: str, body: dict[str, Any], status: int, place: str
) -> None:
    answer = service.http.post(f"/v1/jobs/{job}/review", json=body)
    assert answer.status_code == status, answer.text
    assert place in json.dumps(answer.json()["error"])
    assert len(page(service, job)["data"]) == ROWS


def test_bad_queries_and_jobs_are_clear_errors(service: Live, job: str) -> None:
    for query in ("state=all", "limit=0", "limit=501", "after=-1", "after=x"):
        answer = service.http.get(f"/v1/jobs/{job}/review?{query}")
        assert answer.status_code == 400, query
        assert answer.json()["error"]["param"] == query.partition("=")[0]
    for method, path in (("GET", "review"), ("POST", "review"), ("GET", "gold")):
        answer = service.http.request(method, f"/v1/jobs/absent/{path}", json={})
        assert answer.status_code == 404, path
