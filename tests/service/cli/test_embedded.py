"""The first minute: demo and doctor with the model that is in the package, as programs."""

import json
from pathlib import Path
from typing import Any

from intaglio.schemas import catalogue
from jsonschema import Draft202012Validator

from tests.service.cli.conftest import start


def finished(*args: str | Path, **environment: str) -> tuple[int, str, str]:
    process = start(*args, env=environment)
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def test_the_demo_reads_real_documents() -> None:
    code, out, err = finished("demo", "--json")
    assert code == 0, err
    report: dict[str, Any] = json.loads(out)
    assert report["valid"] is True
    assert [document["name"] for document in report["documents"]] == ["invoice", "email", "order"]
    for document in report["documents"]:
        Draft202012Validator(catalogue.get(document["name"]).schema).validate(document["data"])
        assert document["usage"]["output_tokens"] > 10
    assert 0 < report["model_seconds"] < report["seconds"]


def test_the_doctor_finds_all_well() -> None:
    code, out, err = finished("doctor", "--json")
    report = json.loads(out)
    assert code == 0, err
    assert [check["name"] for check in report["checks"]][-6:] == [
        "model",
        "tokenizer",
        "engine",
        "grammar",
        "extraction",
        "loops",
    ]
    assert {check["state"] for check in report["checks"]} <= {"ok", "warn"}
