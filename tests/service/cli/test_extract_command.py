"""`intaglio extract` against a service: input, output, errors, exit codes, interruption."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.service.cli.conftest import Run, start
from tests.support.stub_service import Answer, StubService, result

DATA = {"name": "Zoë", "n": 3}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "doc.txt"
    path.write_text("a document", encoding="utf-8")
    return path


def problem(code: str, status: int, **more: Any) -> Answer:
    return Answer(
        {"error": {"message": "it went wrong", "type": "x", "code": code, **more}}, status
    )


def test_one_document_gives_its_data(run: Run, stub: StubService, text: Path) -> None:
    stub.will_answer(Answer(result(DATA)))
    done = run("extract", "-s", "invoice", "--url", stub.base_url, text)
    assert done.exit_code == 0
    assert done.stdout == json.dumps(DATA, ensure_ascii=False, indent=2) + "\n"
    assert "valid · 7 tokens in, 5 out · 3 ms of model work" in done.stderr
    assert stub.asked[0].body == {"schema": "invoice", "text": "a document"}


def test_raw_json_is_one_line(run: Run, stub: StubService, text: Path) -> None:
    stub.will_answer(Answer(result(DATA)))
    done = run("extract", "-s", "invoice", "--url", stub.base_url, "--json", text)
    assert done.stdout == '{"name":"Zoë","n":3}\n'


def test_standard_input_schema_file_and_options(
    run: Run, stub: StubService, tmp_path: Path
) -> None:
    schema = tmp_path / "mine.json"
    schema.write_bytes(b'\xef\xbb\xbf{"type": "object"}')
    stub.will_answer(Answer(result(DATA)))
    done = run(
        *("extract", "-s", schema, "--url", stub.base_url, "-m", "small", "--max-tokens", "9", "-"),
        stdin="from a pipe: ü",
    )
    assert done.exit_code == 0
    assert stub.asked[0].body == {
        "schema": {"type": "object"},
        "text": "from a pipe: ü",
        "model": "small",
        "options": {"max_tokens": 9},
    }


def test_several_documents_give_lines_in_their_order(
    run: Run, stub: StubService, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(f"document {name}")
    stub.will_answer(Answer(result({"x": 1})), problem("invalid_output", 500), Answer(result(2)))
    done = run("extract", "-s", "invoice", "--url", stub.base_url, "a", "b", "c")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["document"] for line in lines] == ["a", "b", "c"]
    assert sorted(line.get("data", "error") == "error" for line in lines) == [False, False, True]
    assert done.exit_code == 1
    assert "it went wrong" in done.stderr
    (failed,) = (line for line in lines if "error" in line)
    assert failed["error"]["code"] == "invalid_output"


def test_a_file_is_written_whole_or_not_at_all(
    run: Run, stub: StubService, text: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.json"
    stub.will_answer(Answer(result(DATA)))
    command = ("extract", "-s", "invoice", "--url", stub.base_url, "-o", target, text)
    done = run(*command)
    assert (done.exit_code, done.stdout) == (0, "")
    assert json.loads(target.read_text(encoding="utf-8")) == DATA
    stub.will_answer(problem("invalid_output", 500))
    assert run(*command).exit_code == 1
    assert json.loads(target.read_text(encoding="utf-8")) == DATA
    assert sorted(path.name for path in tmp_path.iterdir()) == ["doc.txt", "out.json"]
    assert run(*command[:-2], tmp_path / "no" / "where", text).exit_code == 2


@pytest.mark.parametrize(
    ("code", "status", "end"),
    [
        ("unsupported_schema", 400, 3),
        ("invalid_schema", 400, 3),
        ("unsatisfiable_schema", 422, 3),
        ("unknown_schema", 404, 2),
        ("invalid_request", 400, 2),
        ("context_length_exceeded", 400, 1),
        ("incomplete", 422, 1),
        ("internal_error", 500, 1),
        ("not_ready", 503, 4),
    ],
)
def test_failures_have_documented_codes(
    run: Run, stub: StubService, text: Path, code: str, status: int, end: int
) -> None:
    detail = {"pointer": "/schema/not", "keyword": "not", "reason": "no", "hint": "leave it out"}
    stub.will_answer(problem(code, status, details=[detail], hint="look there", request_id="r-9"))
    done = run("extract", "-s", "invoice", "--url", stub.base_url, text)
    assert done.exit_code == end
    assert done.stdout == ""
    for words in ("it went wrong", "/schema/not no", "leave it out", "look there", "r-9"):
        assert words in done.stderr


def test_a_refused_schema_ends_a_long_list_at_once(
    run: Run, stub: StubService, tmp_path: Path
) -> None:
    names = [f"d{n}" for n in range(40)]
    for name in names:
        (tmp_path / name).write_text("text")
    stub.will_answer(problem("unsupported_schema", 400))
    done = run("extract", "-s", "invoice", "--url", stub.base_url, *names)
    assert done.exit_code == 3
    assert done.stderr.count("it went wrong") == 1
    assert len(stub.asked) < 40


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-s", "invoise", "doc.txt"], "did you mean invoice"),
        (["-s", "invoice", "missing.txt"], "No such file"),
        (["-s", "invoice", "."], "directory"),
        (["-s", "invoice", "noise.bin"], "binary data"),
        (["-s", "invoice", "empty.txt"], "is empty"),
        (["-s", "invoice", "-", "-"], "only once"),
        (["-s", "invoice", "--url", "localhost:8000", "doc.txt"], "http"),
    ],
)
def test_mistakes_are_found_before_any_work(
    run: Run, text: Path, tmp_path: Path, args: list[str], words: str
) -> None:
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)))
    (tmp_path / "empty.txt").write_text(" \n")
    done = run("extract", *args)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_schema_that_is_no_json_is_refused(run: Run, text: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"type": ')
    done = run("extract", "-s", "bad.json", text)
    assert done.exit_code == 3
    assert "bad.json is not JSON" in done.stderr


def test_nobody_there(run: Run, text: Path) -> None:
    done = run("extract", "-s", "invoice", "--url", "http://127.0.0.1:9", text)
    assert done.exit_code == 4
    assert "cannot connect to http://127.0.0.1:9" in done.stderr
    assert "intaglio serve" in done.stderr


def test_interruption_reaches_the_service(stub: StubService, text: Path) -> None:
    stub.will_answer(Answer(result(1), after_s=600))
    process = start("extract", "-s", "invoice", "--url", stub.base_url, text)
    assert stub.busy.wait(120)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == ""
    assert "interrupted" in err
    assert "Traceback" not in err
    assert stub.caller_left.wait(60)


def test_what_is_not_enforced_is_told_once(run: Run, stub: StubService, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"document {name}")
    slip = {
        "pointer": "/maxlength",
        "keyword": "maxlength",
        "reason": "there is no such keyword",
        "hint": "did you mean maxLength?",
    }
    answer = {**result(DATA), "contract": {"enforced": {"type": 1}, "unknown": [slip]}}
    stub.will_answer(Answer(answer), Answer(answer))
    done = run("extract", "-s", "invoice", "--url", stub.base_url, "a", "b")
    assert done.exit_code == 0
    assert done.stderr.count("did you mean maxLength?") == 1
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["contract"]["unknown"] for line in lines] == [[slip], [slip]]


def test_the_whole_answer_may_be_asked_for(run: Run, stub: StubService, text: Path) -> None:
    stub.will_answer(Answer(result(DATA)))
    done = run(
        "extract", "-s", "invoice", "--url", stub.base_url, "--answer", "--strict-schema", text
    )
    assert json.loads(done.stdout) == result(DATA)
    assert done.stdout.count("\n") == 1
    assert stub.asked[0].body["options"] == {"strict_schema": True}


WARNING = {"pointer": "/iban", "kind": "looped", "message": "it repeated itself", "hint": "let be"}


def test_a_value_that_was_ended_early_is_told_beside_the_data(
    run: Run, stub: StubService, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"document {name}")
    stub.will_answer(Answer(result(DATA, warnings=[WARNING])))
    done = run("extract", "-s", "invoice", "--url", stub.base_url, "a")
    assert json.loads(done.stdout) == DATA
    assert "a: /iban looped: it repeated itself; let be" in " ".join(done.stderr.split())
    stub.will_answer(Answer(result(DATA, warnings=[WARNING])), Answer(result(DATA)))
    done = run("extract", "-s", "invoice", "--url", stub.base_url, "a", "b")
    told = [json.loads(line).get("warnings") for line in done.stdout.splitlines()]
    assert sorted(told, key=str) == [None, [WARNING]]


def test_nulls_for_what_is_not_stated_are_asked_for_with_one_word(
    run: Run, stub: StubService, text: Path
) -> None:
    stub.will_answer(Answer(result(DATA)))
    assert run("extract", "-s", "invoice", "--nulls", "--url", stub.base_url, text).exit_code == 0
    assert stub.asked[0].body["options"] == {"not_stated": "null"}


def test_sources_and_confidences_are_asked_for_and_shown(
    run: Run, stub: StubService, text: Path
) -> None:
    found = {
        "match": "exact",
        "span": {"start": 2, "end": 10},
        "confidence": {"probability": 0.75, "masked": 0.5},
    }
    fields = {"/name": found}
    stub.will_answer(*(Answer({**result(DATA), "fields": fields}) for _ in range(3)))
    asked = ("extract", "-s", "invoice", "--url", stub.base_url)
    options = ("--grounding", "locate", "--confidence", "first_reading")
    done = run(*asked, *options, text)
    assert stub.asked[0].body["options"] == {
        "grounding": "locate",
        "confidence": "first_reading",
    }
    assert json.loads(done.stdout) == DATA
    row = next(line for line in done.stderr.splitlines() if line.startswith("/name"))
    assert row.split() == ["/name", "exact", "a", "document", "0.750", "0.500"]
    several = run(*asked, *options, text, text)
    assert [json.loads(line)["fields"] for line in several.stdout.splitlines()] == [fields] * 2


def test_an_unknown_kind_of_report_is_a_mistake(run: Run, text: Path) -> None:
    done = run("extract", "-s", "invoice", "--grounding", "maybe", text)
    assert done.exit_code == 2
    assert "'locate'" in done.stderr


def test_windows_are_asked_for_with_one_word(run: Run, stub: StubService, text: Path) -> None:
    stub.will_answer(Answer(result(DATA)))
    assert run("extract", "-s", "invoice", "--windows", "--url", stub.base_url, text).exit_code == 0
    assert stub.asked[0].body["options"] == {"long_documents": "windows"}
