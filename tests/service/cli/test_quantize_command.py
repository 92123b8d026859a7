"""`intaglio quantize` as a user types it."""

import json
from pathlib import Path

from tests.service.cli.conftest import Run
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


def documents(path: Path) -> Path:
    lines = [
        {"text": "Order 7 of 12 March."},
        {"text": "Total: 19.99 EUR", "schema": {"type": "object"}, "expected": {"total": 19.99}},
        {"text": "Mail of Ann", "schema": "contact", "expected": {"full_name": "Ann"}},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_checkpoint_is_written_and_reported(run: Run, tmp_path: Path) -> None:
    model, out = write_checkpoint(tmp_path / "model", LLAMA), tmp_path / "small"
    options = ("--documents", documents(tmp_path / "d.jsonl"), "--json")
    done = run("quantize", model, "--to", "w4", "-o", out, *options)
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    # The last document is compared, by its answer `{"full_name":"Ann"}` in bytes and an end.
    assert report["accuracy"]["tokens"] == 20
    assert report["matrices"] == 14
    assert run("models", "check", out).exit_code == 0


def test_without_documents_nothing_is_claimed(run: Run, tmp_path: Path) -> None:
    model = write_checkpoint(tmp_path / "model", LLAMA)
    done = run("quantize", model, "--to", "int8", "-o", tmp_path / "small")
    assert done.exit_code == 0, done.output
    assert "accuracy: not measured" in done.stdout


def test_wrong_calls_say_what_to_do(run: Run, tmp_path: Path) -> None:
    model = write_checkpoint(tmp_path / "model", LLAMA)
    done = run("quantize", model, "--to", "q4_k_m", "-o", tmp_path / "small")
    assert (done.exit_code, "one of fp8, int8, w4" in done.output) == (2, True)
    done = run("quantize", model, "--to", "w4", "-o", tmp_path / "small")
    assert (done.exit_code, "--documents" in done.output) == (2, True)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": ""}\n')
    done = run("quantize", model, "--to", "w4", "-o", tmp_path / "small", "--documents", bad)
    assert (done.exit_code, "line 1" in done.output) == (2, True)
    done = run("quantize", tmp_path / "nothing", "--to", "int8", "-o", tmp_path / "small")
    assert done.exit_code == 4
    assert not (tmp_path / "small").exists()
