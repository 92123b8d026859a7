"""Outputs, read back by programs that share no code with the writers."""

import csv
import io
import json
from typing import Any

import pandas
import polars
import pyarrow.parquet as pq
import pytest
from intaglio.schemas.jobs import JobSpec, Output, Source
from intaglio.service.jobs.records.result_columns import Layout
from intaglio.service.jobs.records.row import RowResult
from intaglio.service.jobs.tables import DONE
from intaglio.service.jobs.writers import write
from lxml import etree
from pydantic import JsonValue

from tests.support.scripted_extracting import SCHEMA, data_of

TEXTS = [
    "plain",
    "=SUM(A1)",
    'say "hi", now',
    "zwei\nZeilen",
    " blank ",
    "",
    "-12.5",
    "@x",
    "\tx",
    "größer €",
]


def spec(schema: Any = SCHEMA, **source: Any) -> JobSpec:
    return JobSpec(schema=schema, source=Source(path="in.csv", **source))


def rows(data: list[Any], keep: dict[str, JsonValue] | None = None) -> list[RowResult]:
    return [
        RowResult(number, f"r{number}", keep or {}, DONE, 1, data=one)
        for number, one in enumerate(data, 1)
    ]


def written(found: list[RowResult], job: JobSpec, path: str, **asked: Any) -> bytes:
    file = io.BytesIO()
    write(file, lambda: iter(found), Layout.of(job), Output(path=path, **asked))
    return file.getvalue()


def test_csv_is_read_back_by_three_readers() -> None:
    data = [data_of(text) | {"name": text} for text in TEXTS]
    found = rows(data)
    text = written(found, spec(id="id"), "out.csv", neutralise=False).decode()
    by_csv = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["name"] for row in by_csv] == TEXTS
    assert [int(row["size"]) for row in by_csv] == [one["size"] for one in data]
    frame = pandas.read_csv(
        io.StringIO(text), keep_default_na=False, na_values={"place.city": [""]}
    )
    assert list(frame["name"]) == TEXTS
    assert list(frame["share"]) == [one["share"] for one in data]
    assert list(frame["even"]) == [one["even"] for one in data]
    assert [json.loads(words) for words in frame["words"]] == [one["words"] for one in data]
    other = polars.read_csv(io.StringIO(text))
    assert other["name"].to_list() == TEXTS
    assert other["place.city"].to_list() == [one["place"]["city"] for one in data]


def test_formulas_are_disarmed_unless_told_otherwise() -> None:
    found = rows([data_of(text) | {"name": text} for text in TEXTS], keep={"who": "+1+cmd|x"})
    text = written(found, spec(id="id", keep=("who",)), "out.csv").decode()
    names = [row["name"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert names == [
        "plain", "'=SUM(A1)", 'say "hi", now', "zwei\nZeilen", " blank ", "", "-12.5", "'@x", "'\tx", "größer €",
    ]  # fmt: skip
    assert "'+1+cmd|x" in text


def test_columns_follow_the_schema() -> None:
    layout = Layout.of(spec(id="name", keep=("size", "who")))
    assert (layout.row, layout.keep) == ("name", ("size", "who"))
    assert [(c.name, c.kind) for c in layout.columns] == [
        ("result.name", "string"),
        ("result.size", "integer"),
        ("share", "number"),
        ("even", "boolean"),
        ("words", "json"),
        ("place.city", "string"),
    ]


def test_no_two_columns_share_a_name() -> None:
    text = {"type": "string"}
    inner = {"type": "object", "properties": {"b": text}, "additionalProperties": False}
    named = {"a.b": text, "a": inner, "id": text, "result.id": text, "_extra": text}
    job = spec({"type": "object", "properties": named, "additionalProperties": True}, id="id")
    names = [column.name for column in Layout.of(job).columns]
    assert names == [
        *("a.b", "result.a.b", "result.id", "result.result.id"),
        *("_extra", "result._extra"),
    ]
    data: Any = {"a.b": "1", "a": {"b": "2"}, "id": "3", "result.id": "4", "_extra": "5", "z": 6}
    table = written(rows([data]), job, "out.csv").decode()
    (row,) = csv.DictReader(io.StringIO(table, newline=""))
    assert list(row.values()) == ["r1", "1", "2", "3", "4", "5", '{"z":6}']


def test_references_alternatives_and_open_objects() -> None:
    schema = {
        "$defs": {"p": {"type": "object", "properties": {"x": {"enum": [1, 2]}}}},
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/p"},
            "b": {"anyOf": [{"$ref": "#/$defs/p"}, {"type": "null"}]},
            "c": {"type": "object", "properties": {"x": {}}, "additionalProperties": True},
            "d": {"const": None},
        },
        "additionalProperties": {"type": "string"},
    }
    columns = {c.name: c.kind for c in Layout.of(spec(schema)).columns}
    assert columns == {
        "a.x": "integer",
        "b.x": "integer",
        "c": "json",
        "d": "json",
        "_extra": "json",
    }
    found = rows([{"a": {"x": 1}, "b": None, "c": {"y": 2}, "z": "w"}])
    line = next(csv.DictReader(io.StringIO(written(found, spec(schema), "o.csv").decode())))
    assert line == {
        "row": "r1",
        "a.x": "1",
        "b.x": "",
        "c": '{"y":2}',
        "d": "",
        "_extra": '{"z":"w"}',
    }


def test_a_schema_that_is_no_object_makes_one_column() -> None:
    text = written(rows([3, 4.5]), spec({"type": "number"}), "o.csv").decode()
    assert text == "row,value\nr1,3\nr2,4.5\n"
    assert pq.read_table(io.BytesIO(written(rows([3]), spec({"type": "number"}), "o.parquet")))[
        "value"
    ].to_pylist() == [3.0]


def test_parquet_has_the_types_of_the_schema() -> None:
    data = [data_of(text) for text in TEXTS]
    table = pq.read_table(io.BytesIO(written(rows(data), spec(id="id"), "out.parquet")))
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds == {
        "id": "string",
        "name": "string",
        "size": "int64",
        "share": "double",
        "even": "bool",
        "words": "list<element: string>",
        "place": "struct<city: string>",
    }
    assert [{k: v for k, v in row.items() if k != "id"} for row in table.to_pylist()] == data
    assert polars.from_arrow(table)["size"].to_list() == [one["size"] for one in data]  # type: ignore[index]


@pytest.mark.parametrize("value", [2**63, 12345678901234567890, -(2**70)])
def test_numbers_that_fit_no_column_stay_exact(value: int) -> None:
    schema = {"type": "object", "properties": {"i": {"type": "integer"}, "n": {"type": "number"}}}
    data = [{"i": 1, "n": 1.5}, {"i": value, "n": value}]
    table = pq.read_table(io.BytesIO(written(rows(data), spec(schema), "o.parquet")))
    assert [json.loads(one) for one in table["i"].to_pylist()] == [1, value]
    assert [json.loads(one) for one in table["n"].to_pylist()] == [1.5, value]


def back(element: Any) -> Any:
    """The value that an element of our XML stands for, by the rules in the writer's description."""
    if element.get("null"):
        return None
    kind = element.get("type")
    if kind == "array":
        return [back(item) for item in element]
    if len(element) or kind == "object":
        return {_name(inner): back(inner) for inner in element}
    text = element.text or ""
    if element.get("encoding") == "json":
        return json.loads(text)
    return json.loads(text) if kind in ("number", "boolean") else text


def _name(element: Any) -> str:
    name = element.get("name")
    if name is None:
        return str(element.tag)
    return str(json.loads(name)) if element.get("name-encoding") else str(name)


def test_xml_is_read_back() -> None:
    data: list[Any] = [data_of(text) | {"name": text} for text in TEXTS]
    data += [
        {
            "odd key": {"1": [[], {}, None, "a\x00b", "c\rd", "]]>", "<&>"]},
            "field": 1e300,
            "xml": True,
        }
    ]
    root = etree.fromstring(written(rows(data), spec(), "out.xml"))
    assert [back(row.find("data")) for row in root] == data
    assert [row.find("key").text for row in root][:2] == ["r1", "r2"]


def test_json_lines_keep_everything() -> None:
    data = [data_of(text) for text in TEXTS]
    lines = written(
        rows(data, {"who": None}), spec(id="id", keep=("who",)), "out.jsonl"
    ).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": f"r{n}", "who": None, "data": one} for n, one in enumerate(data, 1)
    ]


@pytest.mark.parametrize("path", ["o.csv", "o.tsv", "o.xml", "o.parquet"])
def test_no_rows_make_a_file_too(path: str) -> None:
    assert written([], spec(), path)
