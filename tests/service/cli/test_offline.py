"""The commands that run a model in their own process, on a small checkpoint with random weights.

Such a model writes nonsense, but what it writes is valid: that is the grammar's work and is seen here. Right answers
are judged with the model in the package (`test_read_only_install.py`).
"""

import json
from pathlib import Path

import pytest
from intaglio.service.cli.doctor_report import State
from jsonschema import Draft202012Validator

from tests.service.cli.conftest import Run
from tests.support.tiny_checkpoint import QWEN2, write_checkpoint

SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["invoice", "receipt"]},
        "paid": {"type": "boolean"},
        "pages": {"type": "integer", "minimum": 1, "maximum": 99},
    },
    "required": ["kind", "paid", "pages"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = {**QWEN2, "max_position_embeddings": 4096}
    return write_checkpoint(tmp_path_factory.mktemp("model") / "tiny", config)


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    return path


def test_documents_become_valid_json(run: Run, model: Path, schema: Path, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"Invoice {name}, paid, 3 pages")
    one = run("extract", "-s", schema, "-m", model, "a.txt")
    assert one.exit_code == 0, one.stderr
    Draft202012Validator(SCHEMA).validate(json.loads(one.stdout))
    assert "model tiny ready in" in one.stderr
    assert "a.txt: valid" in one.stderr
    both = run("extract", "-s", schema, "-m", model, "a.txt", "b.txt")
    lines = [json.loads(line) for line in both.stdout.splitlines()]
    assert [line["document"] for line in lines] == ["a.txt", "b.txt"]
    assert lines[0]["data"] == json.loads(one.stdout)


def test_a_refused_schema_is_named(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"$ref": "other.json"}')
    (tmp_path / "doc.txt").write_text("text")
    done = run("extract", "-s", "bad.json", "-m", model, "doc.txt")
    assert done.exit_code == 3
    assert "/schema/$ref" in done.stderr
    assert "hint:" in done.stderr


def test_too_long_a_text_is_a_failure_with_advice(
    run: Run, model: Path, schema: Path, tmp_path: Path
) -> None:
    (tmp_path / "long.txt").write_text("word " * 2000)
    done = run("extract", "-s", schema, "-m", model, "long.txt")
    assert done.exit_code == 1
    assert "shorten the text" in done.stderr


def test_a_folder_that_is_no_model_cannot_start(run: Run, schema: Path, tmp_path: Path) -> None:
    (tmp_path / "doc.txt").write_text("text")
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "nowhere"):
        done = run("extract", "-s", schema, "-m", folder, "doc.txt")
        assert done.exit_code == 4
        assert folder in done.stderr
        assert "Traceback" not in done.stderr


def test_doctor_names_the_first_step_that_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run("doctor", "-m", "empty")
    assert done.exit_code == 1
    assert "fail model" in " ".join(done.stdout.split())
    assert "→" in done.stdout
    report = json.loads(run("doctor", "-m", "empty", "--json").stdout)
    assert report["state"] == State.FAIL
    assert [check["name"] for check in report["checks"] if check["state"] == "fail"] == ["model"]
    assert report["checks"][-1]["fix"]
