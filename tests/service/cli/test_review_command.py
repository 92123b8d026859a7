"""`intaglio job review` as a user types it, against a scripted service."""

import json
from pathlib import Path

import pytest

from tests.service.cli.conftest import Run
from tests.support.stub_service import Answer, StubService, result

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.fixture
def reviewed(run: Run, stub: StubService, tmp_path: Path) -> Run:
    """A job with two rows of which both have an unsure name."""
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "in.csv").write_text("id,body\na,first\nb,second\n")
    fields = {"/name": {"confidence": {"probability": 0.25}}}
    stub.will_answer(Answer(result({"name": "Ann"}, fields=fields)))
    where = ("--url", stub.base_url, "--model", "stub", "--ledger", "jobs.db", "--job", "j")
    asked = ("-s", "s.json", "-t", "body", "--id-column", "id", "-o", "out.jsonl")
    done = run("job", "run", "in.csv", *asked, *where, "--review-below", "0.5")
    assert done.exit_code == 0, done.output
    assert "2 to review" in done.stdout
    assert stub.asked[-1].body["options"]["confidence"] == "first_reading"
    return run


def test_rows_are_listed_decided_and_exported(reviewed: Run) -> None:
    listed = reviewed("job", "review", "j", "--ledger", "jobs.db")
    assert listed.stdout == 'a:\n  /name  "Ann"  0.250\nb:\n  /name  "Ann"  0.250\n'
    rows = reviewed("job", "review", "j", "--ledger", "jobs.db", "--json").stdout.splitlines()
    assert [json.loads(row)["id"] for row in rows] == ["a", "b"]
    Path("fix.jsonl").write_text('{"id": "b", "data": {"name": "Bob"}}\n')
    files = ("--correct", "fix.jsonl", "--gold", "gold.jsonl")
    decided = reviewed("job", "review", "j", "--ledger", "jobs.db", "--accept", "a", *files)
    assert decided.exit_code == 0, decided.output
    assert "2 rows were reviewed, 0 wait" in decided.stderr
    gold = [json.loads(line) for line in Path("gold.jsonl").read_text().splitlines()]
    assert [(each["text"], each["expected"]["name"]) for each in gold] == [
        ("first", "Ann"),
        ("second", "Bob"),
    ]
    again = reviewed("job", "report", "j", "--ledger", "jobs.db")
    assert again.exit_code == 0, again.output
    out = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [(line["data"]["name"], line["needs_review"]) for line in out] == [
        ("Ann", None),
        ("Bob", None),
    ]


def test_a_wrong_correction_is_refused_and_changes_nothing(reviewed: Run) -> None:
    Path("fix.jsonl").write_text('{"id": "a", "data": {"name": "x"}}\n{"id": "b", "data": {}}\n')
    refused = reviewed("job", "review", "j", "--ledger", "jobs.db", "--correct", "fix.jsonl")
    assert refused.exit_code == 2
    assert "not valid" in refused.stderr
    unknown = reviewed("job", "review", "j", "--ledger", "jobs.db", "--accept", "z")
    assert (unknown.exit_code, "'z'" in unknown.stderr) == (2, True)
    status = json.loads(reviewed("job", "status", "j", "--ledger", "jobs.db", "--json").stdout)
    assert (status["counts"]["needs_review"], status["counts"]["reviewed"]) == (2, 0)
    every = reviewed("job", "review", "j", "--ledger", "jobs.db", "--accept-all")
    assert "2 rows were reviewed" in every.stderr
