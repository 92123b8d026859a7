"""`intaglio eval` as a user types it, against a scripted service."""

import json
from pathlib import Path
from typing import Any

import pytest
from intaglio.schemas import catalogue

from tests.service.cli.conftest import Run
from tests.support.stub_service import Answer, StubService, result


def gold(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def two(tmp_path: Path) -> Path:
    return gold(
        tmp_path / "gold.jsonl",
        {"id": "a", "schema": {"type": "object"}, "text": "x", "expected": {"n": 1, "s": "One"}},
        {"id": "b", "schema": {"type": "object"}, "text": "y", "expected": {"n": 2, "s": None}},
    )


def test_a_service_is_evaluated_with_a_table_and_both_reports(
    run: Run, stub: StubService, tmp_path: Path
) -> None:
    stub.will_answer(Answer(result({"n": 1, "s": "one"})))
    files = ("--json", "r.json", "--html", "r.html", "--save", "p.jsonl")
    done = run("eval", two(tmp_path), "--url", stub.base_url, "--model", "stub", *files)
    assert done.exit_code == 0, done.output
    report = json.loads(Path("r.json").read_text())
    # n: 1 of 2 right. s: one near for a, one invented for b. Gold states 3 values, the service 4.
    total = report["total"]
    assert [total[k] for k in ("gold", "given", "exact", "near", "invented")] == [3, 4, 1, 1, 1]
    assert report["model"] == "stub"
    assert "precision" in done.stdout
    assert "2 of 2 documents answered" in done.stdout
    assert Path("r.html").read_text().startswith("<!doctype html>")
    asked = len(stub.asked)
    again = run("eval", two(tmp_path), "--url", stub.base_url, "--model", "stub", *files)
    assert (again.exit_code, len(stub.asked)) == (0, asked), "saved answers are taken"


def test_finished_answers_need_no_model(run: Run, tmp_path: Path) -> None:
    gold(tmp_path / "p.jsonl", {"row": "a", "data": {"n": 1, "s": "One"}}, {"row": "z", "data": {}})
    given = ("--predictions", "p.jsonl", "--id-field", "row", "--json", "r.json")
    done = run("eval", two(tmp_path), *given)
    assert done.exit_code == 1, "b has no answer"
    assert "b: missing" in done.stderr
    assert "1 predictions are for no gold record" in done.stderr
    report = json.loads(Path("r.json").read_text())
    assert report["total"]["ratio_exact"] == {"precision": 1.0, "recall": 2 / 3, "f1": 0.8}


def test_the_catalogue_is_the_default_gold_and_a_gate_can_fail(run: Run, tmp_path: Path) -> None:
    answers = [
        {"id": name, "data": catalogue.get(name).expected if name != "invoice" else {}}
        for name in catalogue.names()
    ]
    gold(tmp_path / "p.jsonl", *answers)
    # The invoice states 21 of the catalogue's 120 values: recall 99/120, precision 1.
    f1 = 2 * 99 / (99 + 120)
    passes = run("eval", "--predictions", "p.jsonl", "--fail-under", str(f1 - 1e-6))
    assert passes.exit_code == 0, passes.output
    fails = run("eval", "--predictions", "p.jsonl", "--fail-under", str(f1 + 1e-6))
    assert fails.exit_code == 1
    assert "is less than" in fails.stderr


def test_unusable_input_is_named(run: Run, stub: StubService, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"text": "x"}\n')
    refused = run("eval", "bad.jsonl", "--url", stub.base_url)
    assert refused.exit_code == 2
    assert 'bad.jsonl, line 1: there is no "expected"' in refused.stderr
    assert not stub.asked
    both = run("eval", two(tmp_path), "--predictions", "p.jsonl", "--url", stub.base_url)
    assert both.exit_code == 2
    assert "--predictions excludes --url" in both.stderr
    nowhere = run("eval", two(tmp_path), "--url", "http://127.0.0.1:9", "--model", "m")
    assert nowhere.exit_code == 4, nowhere.output
    nonsense = run("eval", two(tmp_path), "--url", "nonsense", "--model", "m")
    assert (nonsense.exit_code, "must start with http://" in nonsense.stderr) == (2, True)


@pytest.mark.parametrize(
    "outputs",
    [
        ("--json", "gold.jsonl"),
        ("--html", "./gold.jsonl"),
        ("--save", "gold.jsonl"),
        ("--json", "schema.json"),
        ("--json", "r", "--html", "r"),
        ("--save", "p.jsonl", "--json", "p.jsonl"),
        ("--json", "no/r.json"),
        ("--html", "."),
    ],
)
def test_an_output_that_is_an_input_or_cannot_be_is_refused_before_any_work(
    run: Run, stub: StubService, tmp_path: Path, outputs: tuple[str, ...]
) -> None:
    Path("schema.json").write_text('{"type": "object"}')
    before = two(tmp_path).read_text()
    done = run("eval", "gold.jsonl", "--url", stub.base_url, "-s", "schema.json", *outputs)
    assert done.exit_code == 2, done.output
    assert Path("gold.jsonl").read_text() == before
    assert Path("schema.json").read_text() == '{"type": "object"}'
    assert not stub.asked


def test_the_compared_answers_are_never_the_report(run: Run, tmp_path: Path) -> None:
    answers = gold(tmp_path / "p.jsonl", {"id": "a", "data": {"n": 1}})
    before = answers.read_text()
    done = run("eval", two(tmp_path), "--predictions", "p.jsonl", "--json", "p.jsonl")
    assert (done.exit_code, answers.read_text()) == (2, before)
