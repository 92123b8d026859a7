"""Result files of jobs, of `extract` and whole answers become rows; anything else is refused with its line."""

import json
from typing import Any

import pytest
from intaglio.service.page.result_rows import UnreadableResults, result_rows


def rows(*values: Any, text_column: str | None = None) -> list[dict[str, Any]]:
    return list(result_rows([json.dumps(value) + "\n" for value in values], text_column))


def test_a_row_of_a_job() -> None:
    warning = {"pointer": "/n", "kind": "looped", "message": "m", "hint": ""}
    given = {"row": 7, "body": "n is 1", "data": {"n": 1}, "warnings": [warning]}
    assert rows(given, text_column="body") == [
        {"id": "7", "data": {"n": 1}, "warnings": [warning], "text": "n is 1"}
    ]


def test_a_source_column_of_the_name_data() -> None:
    assert rows({"id": "a", "data": "source", "result.data": {"n": 1}}) == [
        {"id": "a", "data": {"n": 1}}
    ]


def test_a_row_of_extract_with_and_without_a_result() -> None:
    error = {"message": "no", "code": "incomplete"}
    found = rows({"document": "a.txt", "data": 1}, {"document": "b.txt", "error": error})
    assert found == [
        {"id": "a.txt", "data": 1},
        {"id": "b.txt", "data": None, "error": error},
    ]


def test_a_whole_answer_with_its_fields() -> None:
    fields = {"/n": {"match": "exact", "span": {"start": 5, "end": 6}}}
    (row,) = rows({"id": "ext_1", "text": "n is 1", "data": {"n": 1}, "fields": fields})
    assert row["fields"] == fields
    assert row["text"] == "n is 1"


def test_a_row_without_an_id_has_its_line() -> None:
    assert [row["id"] for row in result_rows(["\n", '{"data": null}\n'])] == ["2"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "JSON object"),
        ('{"n": 1}', "neither"),
        ('{"data": NaN}', "NaN"),
        ("[" * 100_000, "line 2"),
    ],
)
def test_other_lines_are_refused_with_their_number(line: str, reason: str) -> None:
    with pytest.raises(UnreadableResults, match=reason) as refusal:
        list(result_rows(['{"data": 1}', line]))
    assert refusal.value.line == 2


def test_a_named_column_must_be_there() -> None:
    with pytest.raises(UnreadableResults, match="'body'") as refusal:
        rows({"row": 1, "data": 1}, text_column="body")
    assert "--keep body" in refusal.value.hint
