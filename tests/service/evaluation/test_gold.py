"""Gold data: accepted lines, and the refusal of each bad line."""

import json
from pathlib import Path
from typing import Any

import pytest
from intaglio.schemas import catalogue
from intaglio.service.evaluation.gold import EvaluationInputError, catalogue_gold, read_gold


def lines(path: Path, *values: Any) -> Path:
    path.write_text("\n".join(v if isinstance(v, str) else json.dumps(v) for v in values) + "\n")
    return path


def test_a_record_has_its_own_id_schema_and_group(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "g.jsonl",
        {"id": "x", "schema": {"type": "object"}, "text": "t", "expected": {}, "domain": "mail"},
        "",
        {"schema": "invoice", "text": "u", "expected": {"a": None}},
        {"text": "v", "expected": [1]},
    )
    first, second, third = read_gold(path, schema=True)
    assert (first.id, first.group, first.schema) == ("x", "mail", {"type": "object"})
    assert (second.id, second.group, second.expected) == ("3", "invoice", {"a": None})
    assert (third.id, third.group, third.schema) == ("4", "", True)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 1 is not JSON"),
        ("[]", "line 1 is not an object"),
        ({"text": " ", "schema": True, "expected": 1}, '"text" must be the document'),
        ({"text": "t", "schema": True}, 'no "expected"'),
        ({"text": "t", "expected": 1}, '"schema" must be'),
        ({"text": "t", "schema": 4, "expected": 1}, '"schema" must be'),
        ({"id": 1.5, "text": "t", "schema": True, "expected": 1}, "id must be"),
        ('{"text": "t", "schema": true, "expected": NaN}', "NaN"),
        ('{"text": "t", "schema": true, "expected": 1e999}', "out of range"),
        ('{"text": "a", "text": "b", "schema": true, "expected": 1}', "occurs twice"),
        ("[" * 100_000, "line 1"),
    ],
)
def test_a_bad_line_is_refused_by_number_and_reason(tmp_path: Path, line: Any, reason: str) -> None:
    with pytest.raises(EvaluationInputError, match="line 1") as caught:
        read_gold(lines(tmp_path / "g.jsonl", line))
    assert reason in str(caught.value)


def test_an_id_occurs_once(tmp_path: Path) -> None:
    record = {"id": 7, "text": "t", "schema": True, "expected": 1}
    with pytest.raises(EvaluationInputError, match="line 2: line 1 has the id '7'"):
        read_gold(lines(tmp_path / "g.jsonl", record, record))


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationInputError, match="cannot be read"):
        read_gold(tmp_path / "absent.jsonl")
    (tmp_path / "b").write_bytes(b"\xff\xfe")
    with pytest.raises(EvaluationInputError, match="byte 0"):
        read_gold(tmp_path / "b")
    with pytest.raises(EvaluationInputError, match="no records"):
        read_gold(lines(tmp_path / "empty", ""))


def test_the_catalogue_is_gold() -> None:
    assert [record.id for record in catalogue_gold()] == list(catalogue.names())
