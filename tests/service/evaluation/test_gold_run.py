"""Runs over gold records: each once, continued after an interruption, refused when they do not belong together."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.service.client import ConnectionFailed, IntaglioError, TimedOut
from intaglio.service.client.models import extraction
from intaglio.service.client.shapes import Shape
from intaglio.service.evaluation.gold import EvaluationInputError, GoldRecord
from intaglio.service.evaluation.gold_run import answer_records
from intaglio.service.evaluation.predictions import SavedPredictions
from intaglio.service.jobs.backends import Finished, Task
from pydantic_core import to_json

from tests.support.stub_service import result

RECORDS = [GoldRecord(f"r{n}", {"type": "integer"}, f"text {n}", n, "") for n in range(6)]


class Backend:
    """Answers with the number in the text, the last task first; `broken` are errors by text."""

    model = "numbers"
    reads_images = False

    def __init__(self, **broken: IntaglioError) -> None:
        self.broken = broken
        self.asked: list[str] = []

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        for task in reversed([task for task in tasks if task is not None]):
            self.asked.append(task.claim.id)
            if task.claim.id in self.broken:
                yield task.claim, self.broken[task.claim.id]
                continue
            more: dict[str, Any] = {"fields": {"": {"confidence": {"probability": 0.5}}}}
            body = to_json(result(int(task.claim.text.split()[1]), **more))
            yield task.claim, extraction(body, Shape(schema=True, adapter=None), None)


def test_answers_are_in_the_order_of_the_records_and_errors_in_their_place() -> None:
    counts: list[int] = []
    found = answer_records(RECORDS, Backend(r2=TimedOut("slow")), {}, progress=counts.append)
    assert list(found) == [record.id for record in RECORDS]
    assert found["r4"].data == 4
    assert found["r4"].probabilities == {"": 0.5}
    assert found["r2"].error is not None
    assert (found["r2"].error.code, found["r2"].error.message) == ("TimedOut", "slow")
    assert counts == [0, 1, 2, 3, 4, 5, 6]


def test_a_second_run_extracts_only_what_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with SavedPredictions(path) as saved, pytest.raises(ConnectionFailed):
        answer_records(
            RECORDS, Backend(r4=TimedOut("slow"), r2=ConnectionFailed("gone")), {}, saved
        )
    second = Backend()
    with SavedPredictions(path) as saved:
        found = answer_records(RECORDS, second, {}, saved)
    assert sorted(second.asked) == ["r0", "r1", "r2", "r4"]
    assert [found[record.id].data for record in RECORDS] == [0, 1, 2, 3, 4, 5]
    third = Backend()
    with SavedPredictions(path) as saved:
        assert answer_records(RECORDS, third, {}, saved) == found
    assert third.asked == []


def test_answers_of_other_options_are_not_taken(tmp_path: Path) -> None:
    with SavedPredictions(tmp_path / "s") as saved:
        answer_records(RECORDS[:1], Backend(), {"max_tokens": 5}, saved)
    backend = Backend()
    with (
        SavedPredictions(tmp_path / "s") as saved,
        pytest.raises(EvaluationInputError, match="'r0'"),
    ):
        answer_records(RECORDS, backend, {"max_tokens": 6}, saved)
    assert backend.asked == []
