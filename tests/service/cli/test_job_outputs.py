"""The files that `intaglio job run` may write and those it must leave alone, against a scripted service."""

import csv
import json
import os
import signal
from contextlib import closing
from pathlib import Path

import pytest
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.lock import sole_runner
from typer.testing import Result

from tests.service.cli.conftest import Run, start
from tests.support.stub_service import Answer, StubService, result

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
TABLE = "id,body\na,first\nb,second\n"


class Shell:
    """`intaglio job` in a folder with a table and a schema."""

    def __init__(self, run: Run, stub: StubService) -> None:
        self._run = run
        self.stub = stub

    def job(self, *more: str, source: str = "in.csv", column: str = "body") -> Result:
        asked = ("-s", "s.json", "--ledger", "jobs.db", "--url", self.stub.base_url)
        columns = ("-t", column) if column else ()
        return self._run("job", "run", source, *asked, "--model", "stub", *columns, *more)

    def __call__(self, *args: str) -> Result:
        return self._run("job", *args, "--ledger", "jobs.db")

    @property
    def asked(self) -> int:
        return len(self.stub.asked)


@pytest.fixture
def shell(run: Run, stub: StubService) -> Shell:
    Path("s.json").write_text(json.dumps(SCHEMA))
    Path("in.csv").write_text(TABLE)
    stub.will_answer(Answer(result({"name": "Ann"})))
    return Shell(run, stub)


def cells(name: str) -> list[list[str]]:
    with Path(name).open(newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize(
    "out",
    ["in.csv", "./in.csv", "sub/../in.csv", "soft.csv", "hard.csv", "folder/in.csv"],
)
@pytest.mark.parametrize("more", [(), ("--overwrite",)])
def test_the_source_is_never_the_output(shell: Shell, out: str, more: tuple[str, ...]) -> None:
    Path("sub").mkdir()
    Path("soft.csv").symlink_to("in.csv")
    Path("hard.csv").hardlink_to("in.csv")
    Path("folder").symlink_to(".")
    done = shell.job("-o", "good.csv", "-o", out, *more)
    assert done.exit_code == 2
    assert "would overwrite the source" in done.stderr
    assert Path("in.csv").read_text() == TABLE
    assert (shell.asked, Path("good.csv").exists()) == (0, False)


@pytest.mark.parametrize(
    ("source", "out", "what"),
    [
        ("in.jsonl", "x.csv", "the source"),  # by the report beside the output
        ("in.csv", "s.jsonl", "the schema"),
        ("mails/*", "mails/new.csv", "a file of the source"),
        ("mails/*.csv", "mails/one.csv", "a file of the source"),
        ("mails", "mails/letter.csv", "a file of the source"),
    ],
)
def test_whatever_a_job_reads_is_never_its_output(
    shell: Shell, source: str, out: str, what: str
) -> None:
    Path("mails").mkdir()
    Path("mails/one.csv").write_text("text")
    Path("mails/letter.txt").write_text("text")
    Path("mails/letter.csv").symlink_to("letter.txt")
    Path("in.jsonl").symlink_to("x.csv.dead.jsonl")
    Path("x.csv.dead.jsonl").write_text('{"body": "x"}\n')
    schema = Path("s.json").rename("s.jsonl")
    Path("s.json").symlink_to(schema)
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    done = shell.job("-o", out, source=source, column="" if "mails" in source else "body")
    assert done.exit_code == 2
    assert f"would overwrite {what}" in done.stderr
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_the_ledger_is_never_the_output(shell: Shell) -> None:
    done = shell.job("-o", "book.csv", "--ledger", "book.csv")
    assert done.exit_code == 2
    assert "would overwrite the ledger" in done.stderr


def test_a_foreign_file_is_left_alone_unless_told_otherwise(shell: Shell) -> None:
    Path("res.csv").write_text("mine")
    refused = shell.job("-o", "res.csv")
    assert (refused.exit_code, shell.asked) == (2, 0)
    assert "exists already" in refused.stderr
    assert "--overwrite" in refused.stderr
    assert Path("res.csv").read_text() == "mine"
    assert shell.job("-o", "res.csv", "--overwrite").exit_code == 0
    assert cells("res.csv")[1] == ["1", "Ann"]


@pytest.mark.parametrize("ending", [".report.json", ".report.html", ".dead.jsonl"])
def test_foreign_files_beside_the_output_are_left_alone(shell: Shell, ending: str) -> None:
    Path("res.csv" + ending).write_text("mine")
    assert shell.job("-o", "res.csv").exit_code == 2
    assert Path("res.csv" + ending).read_text() == "mine"


def test_two_jobs_do_not_share_an_output(shell: Shell) -> None:
    assert shell.job("-o", "res.csv", "--id-column", "id").exit_code == 0
    before = Path("res.csv").read_bytes()
    other = shell.job("-o", "res.csv")
    assert other.exit_code == 2
    assert "was written by job 'in-" in other.stderr
    assert Path("res.csv").read_bytes() == before
    assert shell.job("-o", "./res.csv", "--id-column", "id").exit_code == 0, "its own"


def test_two_jobs_that_run_at_once_do_not_share_an_output(shell: Shell) -> None:
    shell.stub.will_answer(Answer("no", status=500))
    first = shell.job("-o", "res.csv", "--job", "first", "--attempts", "1")
    assert first.exit_code == 1
    for written in Path().glob("res.*"):  # as before its first file is there
        written.unlink()
    shell.stub.will_answer(Answer(result({"name": "Ann"})))
    ledger = Ledger("jobs.db")
    with closing(ledger), sole_runner(ledger, "first"):
        ledger.resume("first")
        assert ledger.begin("first")
        before = shell.asked
        other = shell.job("-o", "res.csv", "--job", "other", "--id-column", "id")
        assert other.exit_code == 2
        assert "is an output of job 'first', which is running" in " ".join(other.stderr.split())
        assert shell.asked == before
        assert shell.job("-o", "own.csv", "--job", "other", "--id-column", "id").exit_code == 0
    # A job whose process has died blocks no other.
    assert shell.job("-o", "res.csv", "--job", "third", "--limit", "1").exit_code == 0


def test_a_file_changed_by_hand_is_not_the_jobs_any_more(shell: Shell) -> None:
    assert shell.job("-o", "res.csv").exit_code == 0
    stat = Path("res.csv").stat()
    changed = Path("res.csv").read_text().replace("Ann", "Bob")
    Path("res.csv").write_text(changed)
    os.utime("res.csv", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert shell.job("-o", "res.csv").exit_code == 2
    (name,) = (one["id"] for one in json.loads(shell("list", "--json").stdout))
    assert shell("report", name).exit_code == 2
    assert Path("res.csv").read_text() == changed
    assert shell("report", name, "--overwrite").exit_code == 0
    assert cells("res.csv")[1] == ["1", "Ann"]


def test_every_output_that_is_asked_for_is_written(shell: Shell) -> None:
    assert shell.job("-o", "a.csv").exit_code == 0
    shell.stub.asked.clear()
    assert shell.job("-o", "b.csv", "-o", "c.jsonl").exit_code == 0
    assert shell.asked == 0
    assert cells("b.csv") == cells("a.csv")
    assert len(Path("c.jsonl").read_text().splitlines()) == 2
    assert Path("b.csv.report.json").exists()


def test_an_earlier_output_that_was_changed_does_not_hinder_another(shell: Shell) -> None:
    assert shell.job("-o", "a.csv").exit_code == 0
    Path("a.csv").write_text("mine now")
    done = shell.job("-o", "b.csv")
    assert done.exit_code == 0
    assert "skipped" in done.stderr
    assert Path("a.csv").read_text() == "mine now"
    assert Path("b.csv").exists()


def test_a_partial_result_has_another_name_until_the_job_is_complete(shell: Shell) -> None:
    refusal = {"message": "no", "type": "x", "code": "unknown_model"}
    Path("in.csv").write_text("id,body\n" + "".join(f"{n},t{n}\n" for n in range(40)))
    shell.stub.will_answer(*[Answer(result({"name": "Ann"}))] * 9, Answer({"error": refusal}, 404))
    assert shell.job("-o", "res.csv", "--at-once", "1").exit_code == 2
    assert not Path("res.csv").exists()
    (name,) = (one["id"] for one in json.loads(shell("list", "--json").stdout))
    assert "res.partial.csv" in shell("report", name).stdout
    assert 1 < len(cells("res.partial.csv")) < 41
    shell.stub.will_answer(Answer(result({"name": "Ann"})))
    assert shell.job("-o", "res.csv").exit_code == 0
    assert len(cells("res.csv")) == 41
    assert not list(Path().glob("*partial*"))


def test_interrupted_it_stops_soon_and_says_where_the_results_are(
    stub: StubService, tmp_path: Path
) -> None:
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "in.csv").write_text("id,body\n" + "".join(f"{n},t{n}\n" for n in range(100)))
    stub.will_answer(Answer(result({"name": "Ann"})), Answer(result({"name": "Ann"}), after_s=3600))
    asked = ("-s", "s.json", "-t", "body", "-o", "res.csv", "--ledger", "jobs.db")
    where = ("--url", stub.base_url, "--model", "stub", "--job", "j")
    process = start("job", "run", "in.csv", *asked, *where, cwd=tmp_path)
    assert stub.busy.wait(120)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)  # and not the hour that the rows would take
    assert process.returncode == 130, err
    assert "paused" in out
    assert "res.partial.csv" in err
    assert "intaglio job resume j" in err
    assert not (tmp_path / "res.csv").exists()
    assert stub.caller_left.wait(60), "what was in hand was given up at the service"


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("none/res.csv", "mkdir -p"),
        ("folder.csv", "not a regular file"),
        ("pipe.csv", "not a regular file"),
    ],
)
def test_an_output_that_cannot_be_is_refused_at_once(shell: Shell, out: str, words: str) -> None:
    Path("folder.csv").mkdir()
    os.mkfifo("pipe.csv")
    done = shell.job("-o", out, "--overwrite")
    assert done.exit_code == 2
    assert words in done.stderr
    assert shell.asked == 0


def test_names_that_would_be_written_twice_are_refused(shell: Shell) -> None:
    for two in (("res.csv", "./res.csv"), ("res.csv", "res.partial.csv")):
        done = shell.job("-o", two[0], "-o", two[1])
        assert (done.exit_code, "two outputs" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("source", "name"),
    [("mails/*.txt", "mails"), ("*.txt", "odd-name"), ("-(1) ä.txt", "1-ä"), ("mails", "mails")],
)
def test_a_job_has_a_name_that_a_shell_takes(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str, name: str
) -> None:
    folder = tmp_path / "odd name"
    (folder / "mails").mkdir(parents=True)
    for one in ("mails/a.txt", "a.txt", "-(1) ä.txt"):
        (folder / one).write_text("text")
    (folder / "s.json").write_text(json.dumps(SCHEMA))
    monkeypatch.chdir(folder)
    done = shell.job("-o", "res.csv", "--json", source=f"./{source}", column="")
    assert json.loads(done.stdout)["id"].rpartition("-")[0] == name


def test_a_near_miss_of_a_column_gets_a_hint(shell: Shell) -> None:
    Path("in.jsonl").write_text('{"Body": "x"}\n{"Body": "y"}\n')
    for source in ("in.csv", "in.jsonl"):
        done = shell.job("-o", "res.csv", source=source, column="boddy")
        assert done.exit_code == 2
        assert "did you mean 'body'" in done.stderr.replace("Body", "body")
    assert shell.asked == 0


def test_a_folder_that_gets_the_output_is_the_same_source_again(shell: Shell) -> None:
    Path("mails").mkdir()
    Path("mails/a.txt").write_text("text")
    asked = ("-o", "mails/out.csv", "--job", "j")
    assert shell.job(*asked, source="mails", column="").exit_code == 0
    again = shell.job(*asked, source="mails", column="")
    assert (again.exit_code, "1 rows are done" in again.stderr) == (0, True)


@pytest.mark.parametrize(
    ("url", "end", "words"),
    [
        ("postgresql+psycopg://u@127.0.0.1:9/x", 4, "cannot open the ledger"),
        ("mysql://u@127.0.0.1/x", 2, "postgresql+psycopg://"),
        ("oracle://u@127.0.0.1/x", 2, "postgresql+psycopg://"),
        ("postgresql+psycopg2://u@127.0.0.1/x", 2, "not supported"),
        ("://", 2, "cannot be read"),
        ("sqlite:////none/of/this/x.db", 4, "there is no ledger /none/of/this/x.db"),
        ("s.json/jobs.db", 4, "cannot write the ledger"),
    ],
)
def test_a_ledger_out_of_reach_and_one_that_is_none(
    run: Run, shell: Shell, url: str, end: int, words: str
) -> None:
    done = run("job", "list", "--ledger", url)
    assert done.exit_code == end
    assert words in done.stderr
    assert "No module" not in done.stderr
