"""The comparison of host and device masks finds differences, and names skipped cases (see `tests.gpu`)."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tests.gpu.compare_grammars import Report
from tests.support.followed import EXPORTED, TOO_SLOW, Outcome, Task, follow
from tests.support.walked import Comparer

ROOT = Path(__file__).parents[2]


def line(name: str, schema: object, *values: object) -> bytes:
    """As in JSONSchemaBench."""
    tests = [{"data": value, "valid": True} for value in values]
    return json.dumps({"id": name, "schema": schema, "tests": tests}).encode() + b"\n"


FLAT = {"type": "object", "properties": {"a": {"enum": [1, 12]}}, "required": ["a"]}
NUMBERS = line("numbers", {"type": "integer"}, 7, "no number")
LINES = [
    NUMBERS,
    line("flat", FLAT, {"a": 12}),
    line("different", {"type": "array", "uniqueItems": True}, [1]),
    line("empty", {"allOf": [{"type": "null"}, {"type": "string"}]}, None),
]


def followed(text: bytes) -> Outcome:
    return follow(Task(text, "closed", steps=8, seconds=100, tiny=True))


def compared(outcome: Outcome) -> Comparer:
    comparer = Comparer(tiny=True, rows=2)
    comparer.add(outcome)
    comparer.finish()
    return comparer


def test_a_planted_difference_is_found_and_named() -> None:
    whole = followed(NUMBERS)
    number, text = whole.instances
    assert whole.verdict == EXPORTED
    assert len(number.which) == 3, "before the digit, before the end, and after it"
    assert len(text.which) == 1, "the quote is not legal"
    right = compared(whole)
    assert (right.counts, right.differences) == ({"masks": 4, "instances": 2, "differences": 0}, [])
    assert right.too_deep == []
    rows = number.rows.copy()
    rows[number.which[1], -1] ^= np.int32(1 << 30)
    wrong = compared(replace(whole, instances=[replace(number, rows=rows), text]))
    assert wrong.counts["differences"] == 1
    assert wrong.differences == ["numbers/0 closed at token 1"]


def test_what_takes_too_long_is_left_out_by_name() -> None:
    def endless(*_: object) -> NoReturn:
        while True:
            pass

    late = follow(Task(NUMBERS, "closed", steps=8, seconds=0.05, tiny=True), endless)
    assert (late.name, late.verdict, late.instances) == ("numbers", TOO_SLOW, [])
    report = Report()
    for outcome in (late, followed(NUMBERS)):
        report.take(outcome)
    assert report.left_out == ["numbers closed: too slow"]
    assert report.counts["closed: exported"] == 1


def run(file: Path, *more: str) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", "-m", "tests.gpu.compare_grammars", "--tiny"]
    command += ["--file", str(file), "--processes", "2", "--rows", "3", "--seconds", "200", *more]
    found_at = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), *found_at))}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_processes_follow_what_this_one_compares(tmp_path: Path) -> None:
    file = tmp_path / "schemas.jsonl"
    file.write_bytes(b"".join(LINES))
    found = run(file, "--limit", "100", "--steps", "8")
    counts = found["counts"]
    assert (counts["schemas"], counts["schemas covered"]) == (4, 4)
    verdicts = {
        name: counts.get(f"closed: {name}") for name in ("refused", "host only", "exported")
    }
    assert verdicts == {"refused": 1, "host only": 1, "exported": 2}
    assert counts["masks"] >= 8
    assert counts["instances"] >= 3
    assert (found["differences"], found["failed"], found["left out"]) == ([], {}, [])
