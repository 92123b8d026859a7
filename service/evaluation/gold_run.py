"""Answers for gold records: each record through a service or a model in this process, saved as they come.

Does: run records, skip those that a file of predictions has, report progress. Does not: compare (`figures`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from intaglio.schemas import catalogue

from ..client import ConnectionFailed, TimedOut
from ..jobs.backends import ExtractionBackend, Task
from ..jobs.records.row import Claim
from .gold import EvaluationInputError, GoldRecord
from .predictions import (
    Prediction,
    SavedPredictions,
    prediction_line,
    prediction_of,
    record_digest,
)


def answer_records(
    records: Sequence[GoldRecord],
    backend: ExtractionBackend,
    options: Mapping[str, Any],
    saved: SavedPredictions | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, Prediction]:
    """The prediction for each record, by id, in the order of the records.

    Records that `saved` has an answer for are not extracted again; those that failed are. `progress` is called with the
    number of records that are over. A record that fails has the error in place of its data.

    Raises:
        EvaluationInputError: `saved` has an answer by another schema, text, model or options for one of the ids.
        ConnectionFailed: the service is not reachable; answers until then are saved.
    """
    digests = {record.id: record_digest(record, backend.model, options) for record in records}
    found = _finished(digests, saved)
    progress(len(found))
    todo = [record for record in records if record.id not in found]
    with closing(backend.extract(_tasks(todo))) as outcomes:
        for claim, outcome in outcomes:
            if isinstance(outcome, ConnectionFailed) and not isinstance(outcome, TimedOut):
                raise outcome
            line = prediction_line(claim.id, digests[claim.id], outcome)
            if saved is not None:
                saved.add(line)
            found[claim.id] = prediction_of(line)
            progress(len(found))
    return {record.id: found[record.id] for record in records}


def _finished(digests: Mapping[str, str], saved: SavedPredictions | None) -> dict[str, Prediction]:
    found = {}
    for id_, (digest, prediction) in (saved.finished if saved is not None else {}).items():
        if id_ not in digests:
            continue
        if digest != digests[id_]:
            raise EvaluationInputError(
                f"the saved answer for {id_!r} was made by another schema, text, model or option",
                "choose another file for --save, or remove this one",
            )
        found[id_] = prediction
    return found


def _tasks(records: Sequence[GoldRecord]) -> Iterator[Task | None]:
    for number, record in enumerate(records, 1):
        schema = record.schema
        if isinstance(schema, str) and schema in catalogue.names():
            schema = catalogue.get(schema).schema
        yield Task(Claim(number, record.id, record.text, None, 1, 1), schema)
