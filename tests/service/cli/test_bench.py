"""`intaglio bench` as its user types it."""

import json
from pathlib import Path

import pytest

from tests.service.cli.conftest import Run
from tests.support.answering_server import AnsweringServer, answering
from tests.support.forked_programs import forking

NUMBERS = '{"text": "seven", "schema": {"type": "integer"}}\n'
REFUSED = '{"text": "refuse", "schema": {"type": "integer"}}\n'


def address(serving: AnsweringServer) -> str:
    return f"http://127.0.0.1:{serving.server_port}"


def test_a_table_of_figures(run: Run, tmp_path: Path) -> None:
    (tmp_path / "numbers.jsonl").write_text(NUMBERS)
    with answering() as serving, forking().anew():  # as users start it
        result = run(
            *("bench", "--url", address(serving), "-n", "4", "-c", "2"),
            *("--documents", "numbers.jsonl", "--out", "figures.json", "--stream"),
        )
    assert result.exit_code == 0, result.output
    for words in ("4 of 4 answered", "4 valid, 0 invalid", "requests/s", "between tokens", "p99"):
        assert words in result.output
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["summary"]["succeeded"] == 4
    assert figures["plan"]["clients"] == 2


def test_the_model_of_an_openai_server_is_asked_for(run: Run, tmp_path: Path) -> None:
    (tmp_path / "numbers.jsonl").write_text(NUMBERS)
    with answering() as serving:
        result = run(
            *("bench", "--url", address(serving), "-n", "1", "--protocol", "chat", "--json"),
            *("--documents", "numbers.jsonl", "--warmup", "0"),
        )
        (body,) = serving.bodies
    assert result.exit_code == 0, result.output
    assert body["model"] == "the-model"
    assert json.loads(result.output)["summary"]["valid"] == 1


@pytest.mark.parametrize("protocol", ["extract", "chat", "completions"])
def test_the_model_that_is_asked_for_is_named_in_every_protocol(
    run: Run, tmp_path: Path, protocol: str
) -> None:
    (tmp_path / "numbers.jsonl").write_text(NUMBERS)
    with answering() as serving:
        result = run(
            *("bench", "--url", address(serving), "-n", "1", "--protocol", protocol),
            *("--documents", "numbers.jsonl", "--warmup", "0", "--model", "adapter-7"),
        )
        (body,) = serving.bodies
    assert result.exit_code == 0, result.output
    assert body["model"] == "adapter-7"


def test_a_refused_request_is_shown_by_its_code_and_fails_the_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "numbers.jsonl").write_text(NUMBERS + REFUSED)
    with answering() as serving:
        result = run(
            *("bench", "--url", address(serving), "-n", "2", "--documents", "numbers.jsonl")
        )
    assert result.exit_code == 1
    assert "429 overloaded" in result.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--protocol", "smoke"), "there are extract, chat, completions"),
        (("--documents", "absent.jsonl"), "cannot be read"),
        (("--schema", "invoic"), "did you mean"),
        (("--url", "ftp://x"), "http://"),
        (("--rate", "5", "-c", "4"), "--clients has no effect with --rate"),
        (("--rate", "inf"), "not a finite number"),
        (("--timeout", "nan"), "Invalid value"),
        (("--temperature", "nan"), "Invalid value"),
    ],
)
def test_unusable_options_are_refused(run: Run, options: tuple[str, ...], words: str) -> None:
    result = run("bench", *options)
    assert result.exit_code == 2, result.output
    assert words in result.output


def test_no_server(run: Run) -> None:
    with answering() as serving:
        pass
    for protocol in ("extract", "chat"):
        result = run("bench", "--url", address(serving), "-n", "1", "--protocol", protocol)
        assert result.exit_code == 4
        assert "no server answers" in result.output
