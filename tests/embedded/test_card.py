"""The figures of the model's card: answers go on where they ended, and the tables count what is there."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from examples.train_embedded.card import Answered, answer, read, sets, tables
from examples.train_embedded.evaluate import Case, Line

SCHEMA = {"type": "object", "properties": {"name": {"type": ["string", "null"]}}}


def case(number: int, kind: str, name: str | None) -> Case:
    return Case(str(number), kind, SCHEMA, f"{name} was here.", {"name": name})


CASES = [case(1, "real one", "Ada"), case(2, "real one", None), case(3, "real two", "Alan")]


def test_a_line_that_was_cut_short_is_answered_again(tmp_path: Path) -> None:
    asked: list[str] = []

    def answers(cases: Sequence[Case]) -> Iterator[Line]:
        for each in cases:
            asked.append(each.id)
            yield {"id": each.id, "data": each.expected}

    file = tmp_path / "real.free.jsonl"
    file.write_text('{"id": "1", "data": {"name": "Ada"}}\n{"id": "2", "da')
    answer(file, CASES, answers)
    assert asked == ["2", "3"]
    assert [line["id"] for line in read(file)] == ["1", "2", "3"]
    answer(file, CASES, answers)
    assert len(asked) == 2


def test_ways_are_compared_on_the_documents_that_all_have() -> None:
    report = {"fields": {"/name": {"match": "exact"}}}
    lost = {"fields": {"/name": {"match": "none"}}}
    enforced: list[Line] = [
        {"id": "1", "data": {"name": "Ada"}, **report},
        {"id": "2", "data": {"name": "Eve"}, **lost},
        {"id": "3", "data": {"name": None}, **lost},
    ]
    free: list[Line] = [{"id": "2", "data": {"name": None}}, {"id": "3", "data": {"name": "Alan"}}]
    written = tables(
        [
            Answered("real", "locate", CASES, enforced),
            Answered("real", "free", CASES[1:], free),
        ]
    )
    (whole,) = (line for line in written.splitlines() if line.startswith("| real | enforced"))
    cells = [cell.strip() for cell in whole.strip("|").split("|")]
    assert cells == [
        *("real", "enforced", "3", "33.3 % (1 of 3)", "25.0 %", "33.3 %", "33.3 %", "100.0 %"),
        *("50.0 %", "0"),
    ]
    assert "given for `real`, 50.0 % were located" in written
    assert "| real one | 1 | 100.0 % | 0.0 % | 100.0 % |" in written
    assert "| real two | 1 | 0.0 % | 0.0 % | 100.0 % |" in written


def test_sets_that_are_not_there_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = sets(tmp_path, 12, 1)
    assert list(found) == ["synthetic"]
    kinds = [each.kind for each in found["synthetic"]]
    assert len(kinds) == len(set(kinds))
    assert "real-docs/dev.jsonl is not there" in capsys.readouterr().out
