"""`intaglio calibrate` as a user types it, over finished answers."""

import json
import random
from pathlib import Path

import pytest
from intaglio.engine.api import model_folder
from intaglio.service.calibration.calibration_file import Calibration, model_fingerprint
from intaglio.service.calibration.value_evidence import ValueEvidence

from tests.service.cli.conftest import Run


def write(path: Path, lines: list[object]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_finished_answers_are_fitted_for_the_named_model(run: Run, tmp_path: Path) -> None:
    rng = random.Random(5)
    gold: list[object] = []
    answers: list[object] = []
    for number in range(60):
        given = {f"k{n}": rng.uniform(0.5, 1) for n in range(8)}
        right = {name: rng.random() < (p - 0.5) * 2 for name, p in given.items()}
        gold.append({"id": number, "schema": {}, "text": "t", "expected": dict.fromkeys(given, 1)})
        fields = {f"/{k}": {"confidence": {"probability": p}} for k, p in given.items()}
        data = {name: 1 if yes else 2 for name, yes in right.items()}
        answers.append({"id": number, "data": data, "fields": fields})
    write(tmp_path / "gold.jsonl", gold)
    write(tmp_path / "answers.jsonl", answers)
    files = ("--predictions", "answers.jsonl", "-o", "c.json", "--plot", "r.svg")
    done = run("calibrate", "gold.jsonl", *files)
    assert done.exit_code == 0, done.output
    assert "held-out documents: ECE 0.2" in done.stdout
    folder = model_folder(None)
    found = Calibration.load(Path("c.json"), model_fingerprint(folder))
    assert (found.model, found.values) == (folder.name, 480)
    assert abs(found.apply(ValueEvidence(0.75, field="/k1", properties=())) - 0.5) < 0.2
    assert Path("r.svg").read_text().startswith("<svg")


def test_answers_without_confidences_are_refused(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "g.jsonl", [{"id": "a", "schema": {}, "text": "t", "expected": 1}])
    write(tmp_path / "p.jsonl", [{"id": "a", "data": 1}])
    done = run("calibrate", "g.jsonl", "--predictions", "p.jsonl", "-o", "c.json")
    assert done.exit_code == 2
    assert "has 0 values with a probability" in done.stderr
    assert not Path("c.json").exists()


@pytest.mark.parametrize(
    "outputs",
    [("-o", "g.jsonl"), ("-o", "p.jsonl"), ("-o", "c", "--plot", "c"), ("-o", "no/c.json")],
)
def test_an_output_is_never_an_input_or_another_output(run: Run, outputs: tuple[str, ...]) -> None:
    write(Path("g.jsonl"), [{"id": "a", "schema": {}, "text": "t", "expected": 1}])
    write(Path("p.jsonl"), [{"id": "a", "data": 1}])
    before = Path("g.jsonl").read_text(), Path("p.jsonl").read_text()
    done = run("calibrate", "g.jsonl", "--predictions", "p.jsonl", *outputs)
    assert done.exit_code == 2
    assert "--output" in done.stderr or "cannot write" in done.stderr
    assert (Path("g.jsonl").read_text(), Path("p.jsonl").read_text()) == before
