"""Predictions: the answer of a model for each gold record, in a file of JSON Lines that a later run continues.

Does: read finished predictions and results of jobs, and save lines as they come. Does not: extract or compare.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from intaglio.schemas.extraction.grounding import FieldReport
from pydantic import JsonValue, ValidationError

from ..client import APIStatusError, Extraction, IntaglioError
from .gold import EvaluationInputError, GoldRecord, id_text, json_objects

_PROBABILITIES: Final = ("calibrated", "probability")


@dataclass(frozen=True, slots=True)
class PredictionError:
    """Why a record has no data."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """The data for one record, or the error in its place.

    `probabilities` are the model's, by the JSON Pointer of each leaf, calibrated where the answer has that. `reports`
    has the reports of the answer on its leaves.
    """

    id: str
    data: JsonValue = None
    error: PredictionError | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    reports: Mapping[str, FieldReport] = field(default_factory=dict)


def record_digest(record: GoldRecord, model: str, options: Mapping[str, Any]) -> str:
    """The digest of all that determines the prediction for a record."""
    identity = [record.schema, record.text, model, dict(options)]
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:32]


def read_predictions(path: Path, id_field: str = "id") -> dict[str, Prediction]:
    """Predictions by id: lines with `data` or `error`, from `--save`, from a job, or from elsewhere.

    A line with null as `data`, or with an `error`, is not an answer.

    Raises:
        EvaluationInputError: a line is not a prediction, or two lines have one id and both have data.
    """
    found: dict[str, Prediction] = {}
    for number, line in json_objects(path):
        prediction = _read(line, id_field, f"{path}, line {number}")
        earlier = found.get(prediction.id)
        if earlier is not None and earlier.error is None:
            raise EvaluationInputError(
                f"{path}, line {number}: an earlier line has the id {prediction.id!r}, too"
            )
        found[prediction.id] = prediction
    return found


def prediction_line(
    id_: str, digest: str, outcome: Extraction[Any] | IntaglioError
) -> dict[str, Any]:
    """The line that is saved for an outcome."""
    line: dict[str, Any] = {"id": id_, "digest": digest}
    if isinstance(outcome, IntaglioError):
        code = str(outcome.code) if isinstance(outcome, APIStatusError) else type(outcome).__name__
        return line | {"error": {"code": code, "message": outcome.message}}
    raw = outcome.raw
    line["data"] = raw["data"]
    return line | {name: raw[name] for name in ("fields", "warnings") if raw.get(name)}


def prediction_of(line: Mapping[str, Any]) -> Prediction:
    """The prediction of a line that `prediction_line` made."""
    return _read(line, "id", "an answer")


class SavedPredictions:
    """A file of predictions that is written line by line. Use it as a context manager.

    Opening reads the finished lines: `finished` has them by id. A line that a killed process left incomplete is cut
    off.

    Raises:
        EvaluationInputError: a line is not one that was saved here, or the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.finished: dict[str, tuple[str, Prediction]] = {}
        try:
            if path.exists():
                self._cut_incomplete_line()
                self._read_finished()
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise EvaluationInputError(f"{path} cannot be written: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, line: Mapping[str, Any]) -> None:
        """Append a line; it is in the file when this returns."""
        self._file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._file.flush()

    def _cut_incomplete_line(self) -> None:
        content = self._path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self._path, whole)

    def _read_finished(self) -> None:
        for number, line in json_objects(self._path):
            where = f"{self._path}, line {number}"
            digest = line.get("digest")
            if not isinstance(digest, str):
                raise EvaluationInputError(
                    f"{where} was not saved by an evaluation", "choose another file for --save"
                )
            prediction = _read(line, "id", where)
            if prediction.error is None:
                self.finished[prediction.id] = digest, prediction


def _read(line: Mapping[str, Any], id_field: str, where: str) -> Prediction:
    if id_field not in line:
        raise EvaluationInputError(
            f"{where}: there is no {id_field!r}", "name the field of the ids with --id-field"
        )
    id_ = id_text(line[id_field], where)
    failure = line.get("error")
    if failure is not None:
        if not isinstance(failure, dict):
            failure = {"message": str(failure)}
        message = str(failure.get("message") or failure.get("reason") or "failed")
        return Prediction(id_, error=PredictionError(str(failure.get("code", "error")), message))
    if "data" not in line:
        raise EvaluationInputError(f"{where}: there is neither 'data' nor 'error'")
    if line["data"] is None:
        return Prediction(id_, error=PredictionError("no_answer", "the data is null"))
    reports = _reports(line.get("fields"), where)
    best = {
        pointer: report.confidence.calibrated
        if report.confidence.calibrated is not None
        else report.confidence.probability
        for pointer, report in reports.items()
        if report.confidence is not None
    }
    given = {pointer: value for pointer, value in best.items() if value is not None}
    return Prediction(id_, line["data"], probabilities=given, reports=reports)


def _reports(fields: object, where: str) -> dict[str, FieldReport]:
    """The reports by pointer. Raises `EvaluationInputError` for an invalid report or probability."""
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise EvaluationInputError(f"{where}: 'fields' must be an object of reports by pointer")
    found = dict[str, FieldReport]()
    for pointer, report in fields.items():
        try:
            found[pointer] = FieldReport.model_validate_json(json.dumps(report), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise EvaluationInputError(f"{where}: {place} of {pointer!r}: {first['msg']}") from None
        sure = found[pointer].confidence
        for name in _PROBABILITIES:
            value = getattr(sure, name, None)
            if value is not None and not 0 <= value <= 1:
                raise EvaluationInputError(f"{where}: {name} of {pointer!r} is no probability")
    return found
