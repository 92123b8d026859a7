"""`intaglio job …` as a user types it, against a scripted service."""

import csv
import gzip
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from intaglio.engine.api import model_folder
from intaglio.service.calibration.calibration_file import Calibration, HeldOut, model_fingerprint
from typer.testing import Result

from tests.service.cli.conftest import Run
from tests.support.stub_service import Answer, StubService, result

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    path = tmp_path / "in.csv"
    path.write_text("id,body,who\na,first,x\nb,second,y\nc,  ,z\n")
    return path


@pytest.fixture
def job(run: Run, stub: StubService, table: Path) -> "Job":
    stub.will_answer(Answer(result({"name": "=Ann"})))
    return Job(run, stub)


class Job:
    """The command with the options that every test gives."""

    def __init__(self, run: Run, stub: StubService) -> None:
        self._run = run
        self._stub = stub

    def run(self, *more: str, out: str = "out.csv") -> Result:
        where = ("--url", self._stub.base_url, "--model", "stub", "--ledger", "jobs.db")
        asked = ("-s", "s.json", "-t", "body", "--id-column", "id", "-o", out)
        return self._run("job", "run", "in.csv", *asked, *where, "--job", "j", *more)

    def __call__(self, *args: str) -> Result:
        return self._run("job", *args, "--ledger", "jobs.db")


def test_a_table_goes_in_and_a_table_comes_out(job: Job, stub: StubService) -> None:
    done = job.run("--keep", "who", "--json")
    assert done.exit_code == 1, "a row is dead"
    status = json.loads(done.stdout)
    assert (status["state"], status["counts"]["done"]) == ("completed_with_errors", 2)
    with Path("out.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["id", "who", "name"],
            ["a", "x", "'=Ann"],
            ["b", "y", "'=Ann"],
        ]
    assert json.loads(Path("out.csv.dead.jsonl").read_text())["id"] == "c"
    assert Path("out.csv.report.html").read_text().startswith("<!doctype html>")
    assert sorted(asked.body["text"] for asked in stub.asked) == ["first", "second"]


@pytest.mark.parametrize("name", ["in.parquet", "in.csv.gz", "in.jsonl"])
def test_each_format_of_a_source_is_read(
    run: Run, stub: StubService, table: Path, name: str
) -> None:
    stub.will_answer(Answer(result({"name": "Ann"})))
    rows = [{"id": "a", "body": "first"}, {"id": "b", "body": "second"}]
    if name == "in.parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), name)
    elif name == "in.csv.gz":
        Path(name).write_bytes(gzip.compress(b"id,body\na,first\nb,second\n"))
    else:
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    where = ("--url", stub.base_url, "--model", "stub", "--ledger", "jobs.db")
    asked = ("-s", "s.json", "-t", "body", "--id-column", "id", "-o", "out.csv")
    assert run("job", "run", name, *asked, *where).exit_code == 0
    assert Path("out.csv").read_text() == "id,name\na,Ann\nb,Ann\n"


def test_what_tokens_cost_is_told(job: Job, stub: StubService) -> None:
    estimate = json.loads(job.run("--price", "1", "10", "--dry-run", "--json").stdout)
    answer = result({"name": "=Ann"})["usage"]
    each = (answer["prompt_tokens"] + 10 * answer["output_tokens"]) / 1e6
    assert estimate["cost"] == pytest.approx(2 * each)
    assert "cost" in job.run("--price", "1", "10").stderr
    report = json.loads(Path("out.csv.report.json").read_text())
    assert report["cost"] == pytest.approx(2 * each)
    assert ">cost</div>" in Path("out.csv.report.html").read_text()
    stub.asked.clear()
    assert job.run("--price", "2", "20").exit_code == 1, "the same job at another price"
    assert stub.asked == []


def test_the_same_command_again_asks_for_nothing(job: Job, stub: StubService) -> None:
    job.run()
    stub.asked.clear()
    Path("out.csv").unlink()
    again = job.run()
    assert again.exit_code == 1
    assert "2 rows are done" in again.stderr
    assert stub.asked == []
    assert Path("out.csv").exists()


def test_another_job_of_the_same_name_is_refused(job: Job) -> None:
    job.run()
    other = job.run("--limit", "1")
    assert other.exit_code == 2
    assert "another source, schema, model or option" in other.stderr


def test_status_list_report_and_their_errors(job: Job) -> None:
    assert "there is no ledger jobs.db" in job("list").stderr
    job.run()
    assert "2 valid · 1 dead · of 3" in job("status", "j").stdout
    assert json.loads(job("list", "--json").stdout)[0]["id"] == "j"
    Path("out.csv").unlink()
    assert "out.csv" in job("report", "j").stdout
    assert Path("out.csv").exists()
    assert job("status", "nobody").exit_code == 2
    ended = job("cancel", "j")
    assert (ended.exit_code, "has ended" in ended.stderr) == (2, True)


def test_dead_rows_are_tried_again(job: Job, stub: StubService) -> None:
    problem = {"message": "no", "type": "x", "code": "invalid_output", "retryable": False}
    stub.will_answer(Answer({"error": problem}, status=500), Answer(result({"name": "Ann"})))
    assert "1 valid · 2 dead" in job.run("--at-once", "1").stdout
    done = job("retry-dead", "j", "--url", stub.base_url, "--model", "stub")
    assert "2 valid · 1 dead" in done.stdout
    assert "1 dead rows are retried, and 1 are not: their records are at fault" in done.stderr


def test_a_refused_schema_is_told_with_its_place(job: Job, stub: StubService) -> None:
    detail = {"pointer": "/schema/properties/name/pattern", "reason": "back-reference"}
    problem = {"message": "refused", "type": "x", "code": "unsupported_schema", "details": [detail]}
    stub.will_answer(Answer({"error": problem}, status=400))
    refused = job.run()
    assert refused.exit_code == 3
    assert "/schema/properties/name/pattern" in refused.stderr
    assert json.loads(job("status", "j", "--json").stdout)["state"] == "failed"


def test_a_dry_run_keeps_nothing(job: Job) -> None:
    tried = job.run("--dry-run", "--json")
    assert tried.exit_code == 0
    told = json.loads(tried.stdout)
    assert (told["rows"], told["dead"], told["prompt_tokens"]) == (3, 1, 14)
    assert not Path("jobs.db").exists()
    assert "3 rows, 1 of them not documents" in job.run("--dry-run").stdout


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("-t", "text"), "no column 'text'"),
        (("--template", "{body}"), "exclude each other"),
        (("--encoding", "klingon"), "no encoding"),
        (("--format", "docx"), "format"),
        (("--delimiter", "ab"), "delimiter"),
        (("-o", "out.docx"), "does not say what to write"),
        (("-o", "none/out.csv"), "cannot be written"),
        (("in.csv", "s.json"), "a job has one source, not 3: in.csv, in.csv and 1 more"),
        (("--record", "a/b"), "this source is CSV"),
        (("--workers", "2"), "--workers has no effect"),
        (("--cluster", "auto"), "--url has no effect"),
        (("--sample", "0"), "greater than 0"),
        (("--sample", "1.5"), "--sample"),
        (("--row-deadline", "0"), "greater than 0"),
    ],
)
def test_mistakes_are_found_before_any_work(
    job: Job, stub: StubService, more: tuple[str, ...], told: str
) -> None:
    done = job.run(*more)
    assert done.exit_code == 2
    assert told in done.stderr
    assert stub.asked == []


def test_a_row_without_an_id_has_none_and_takes_that_of_no_other(
    job: Job, stub: StubService, table: Path
) -> None:
    table.write_text("id,body\na,first\n,second\n2,third\n3,fourth,too many\n3,fifth\n")
    done = job.run("--json")
    assert json.loads(done.stdout)["counts"]["done"] == 3
    assert Path("out.csv").read_text() == "id,name\na,'=Ann\n2,'=Ann\n3,'=Ann\n"
    dead = [json.loads(line) for line in Path("out.csv.dead.jsonl").read_text().splitlines()]
    assert [(row["row"], row["id"], row["pointer"]) for row in dead] == [
        (2, "", "/line/3"),
        (4, "", "/line/5"),
    ]


def test_a_calibration_decides_which_rows_are_to_be_reviewed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,body\na,Name: Ada Lovelace\n")
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    (tmp_path / "s.json").write_text(json.dumps(schema))
    judged = HeldOut(
        documents=9,
        values=99,
        auroc_before=None,
        auroc_after=None,
        ece_before=0,
        ece_after=0,
        brier_before=0,
        brier_after=0,
    )
    folder = model_folder(None)
    made = Calibration(
        model=folder.name,
        fingerprint=model_fingerprint(folder),
        method="isotonic",
        points=((0.0, 0.01), (1.0, 0.02)),
        documents=9,
        values=99,
        held_out=judged,
    )
    (tmp_path / "c.json").write_text(made.model_dump_json())
    asked = ("in.csv", "-s", "s.json", "-t", "body", "--id-column", "id", "-o", "o.jsonl")
    where = ("--ledger", "jobs.db", "--job", "j", "--review-below", "0.5")
    refused = run(
        "job", "run", *asked, *where, "--url", "http://127.0.0.1:9", "--calibration", "c.json"
    )
    assert refused.exit_code == 2
    assert "intaglio serve --calibration" in refused.stderr
    done = run("job", "run", *asked, *where, "--calibration", "c.json")
    assert done.exit_code == 0, done.output
    assert "1 to review" in done.stdout
    listed = run("job", "review", "j", "--ledger", "jobs.db", "--json")
    assert 0.01 <= json.loads(listed.stdout)["unsure"]["/name"] <= 0.02


@pytest.mark.parametrize(
    "command",
    [
        ("list",),
        *((name, "j") for name in ("status", "pause", "cancel", "report", "review")),
        *((name, "j") for name in ("resume", "retry-dead")),
    ],
)
@pytest.mark.parametrize("ledger", ["jbos.db", "sub/jobs.db", "sqlite:///jbos.db", "empty.db"])
def test_a_mistyped_ledger_is_told_and_not_made(
    run: Run, tmp_path: Path, command: tuple[str, ...], ledger: str
) -> None:
    (tmp_path / "empty.db").touch()
    done = run("job", *command, "--ledger", ledger)
    assert done.exit_code == 4
    assert f"there is no ledger {ledger.removeprefix('sqlite:///')}" in done.stderr
    assert [(path.name, path.stat().st_size) for path in tmp_path.iterdir()] == [("empty.db", 0)]


def test_before_the_first_job_there_are_none(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTAGLIO_SERVICE_LEDGER", str(tmp_path / "jobs.db"))
    done = run("job", "list")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "there are no jobs yet" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_extends_none_is_refused_and_computes_nothing(
    job: Job, stub: StubService
) -> None:
    done = job.run("--extends", "last-week")
    assert done.exit_code == 2
    assert "there is no job 'last-week'" in done.stderr
    assert not any(asked.path == "/v1/extract" for asked in stub.asked)


def test_what_is_no_url_is_refused(job: Job) -> None:
    done = job.run("--url", "nonsense")
    assert done.exit_code == 2
    assert "must start with http:// or https://" in done.stderr
