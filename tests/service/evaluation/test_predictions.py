"""Files of predictions: lines of other programs, saved lines, and the rest of a killed run."""

import json
from pathlib import Path
from typing import Any

import pytest
from intaglio.service.evaluation.gold import EvaluationInputError
from intaglio.service.evaluation.predictions import SavedPredictions, read_predictions

from tests.service.evaluation.test_gold import lines


def test_lines_have_data_or_an_error_and_may_have_confidences(tmp_path: Path) -> None:
    fields = {
        "/a": {"confidence": {"probability": 0.5, "calibrated": 0.25}},
        "/b": {"confidence": {"probability": 0.75}},
        "/c": {"match": "exact", "confidence": None},
    }
    path = lines(
        tmp_path / "p.jsonl",
        {"id": "x", "data": {"a": 1}, "fields": fields},
        {"id": 2, "data": None},
        {"id": "z", "error": {"code": "incomplete", "message": "cut"}},
        {"id": "w", "error": {"code": "overloaded", "message": "later"}},
        {"id": "w", "data": 5},
    )
    found = read_predictions(path)
    assert found["x"].probabilities == {"/a": 0.25, "/b": 0.75}
    reports = found["x"].reports
    assert {pointer: report.match for pointer, report in reports.items()} == {
        "/a": "none",
        "/b": "none",
        "/c": "exact",
    }
    errors = [found[id_].error for id_ in ("2", "z", "w")]
    assert [error and error.code for error in errors] == ["no_answer", "incomplete", None]


def test_the_results_of_a_job_are_predictions(tmp_path: Path) -> None:
    path = lines(tmp_path / "out.jsonl", {"row": "17", "name": "kept", "data": {"a": 1}})
    assert read_predictions(path, "row")["17"].data == {"a": 1}
    with pytest.raises(EvaluationInputError, match="no 'id'") as caught:
        read_predictions(path)
    assert "--id-field" in caught.value.hint


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"id": "x"}, "neither 'data' nor 'error'"),
        ({"id": None, "data": 1}, "id must be"),
        ({"id": "x", "data": 1, "fields": []}, "'fields' must be"),
        ({"id": "x", "data": 1, "fields": {"/a": {"confidence": {"probability": 2}}}}, "no prob"),
        (
            {"id": "x", "data": 1, "fields": {"/a": {"confidence": {"probability": True}}}},
            "probability of '/a'",
        ),
    ],
)
def test_a_bad_line_is_refused(tmp_path: Path, line: Any, reason: str) -> None:
    with pytest.raises(EvaluationInputError, match=reason):
        read_predictions(lines(tmp_path / "p.jsonl", line))


def test_two_answers_for_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationInputError, match="line 2: an earlier line"):
        read_predictions(lines(tmp_path / "p", {"id": "x", "data": 1}, {"id": "x", "data": 1}))


def test_saved_lines_are_there_again_but_for_an_incomplete_last_one(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with SavedPredictions(path) as saved:
        saved.add({"id": "a", "digest": "d", "data": {"x": "\u2028é"}})
        saved.add({"id": "b", "digest": "d", "error": {"code": "incomplete", "message": "cut"}})
        assert len(path.read_text().strip().split("\n")) == 2, "a line is in the file at once"
    with path.open("a") as file:
        file.write('{"id": "c", "dig')
    with SavedPredictions(path) as saved:
        assert set(saved.finished) == {"a"}
        saved.add({"id": "c", "digest": "e", "data": 3})
    assert [json.loads(line)["id"] for line in path.read_text().split("\n") if line] == [
        "a",
        "b",
        "c",
    ]


def test_a_file_that_was_not_saved_by_an_evaluation_is_left_alone(tmp_path: Path) -> None:
    path = lines(tmp_path / "p.jsonl", {"id": "x", "data": 1})
    before = path.read_bytes()
    with pytest.raises(EvaluationInputError, match="was not saved by an evaluation"):
        SavedPredictions(path)
    assert path.read_bytes() == before
    with pytest.raises(EvaluationInputError, match="cannot be written"):
        SavedPredictions(tmp_path / "absent" / "p.jsonl")
