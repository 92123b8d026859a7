"""Columns that a job repeats (`--keep`) and results of formats: with their types to the last output."""

import csv
import datetime as dt
import decimal
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from intaglio.schemas.jobs import JobSpec, JobState, Output, Source
from intaglio.service.jobs.ingest import ingest, source_fingerprint
from intaglio.service.jobs.job_runner import Runner
from intaglio.service.jobs.ledger import Ledger
from intaglio.service.jobs.publish import publish
from intaglio.service.jobs.records.errors import JobChanged
from intaglio.service.jobs.records.result_columns import Layout
from intaglio.service.jobs.records.row import RowResult
from intaglio.service.jobs.tables import DONE
from intaglio.service.jobs.writers import write
from lxml import etree

from tests.support.scripted_extracting import SCHEMA, Scripted

BERLIN = dt.timezone(dt.timedelta(hours=2))
TABLE = pa.table(
    {
        "body": ["one", "two"],
        "small": pa.array([7, None], pa.int8()),
        "large": pa.array([2**64 - 1, 0], pa.uint64()),
        "share": [0.1, None],
        "price": pa.array([decimal.Decimal("12.50"), None], pa.decimal128(9, 2)),
        "good": [True, None],
        "day": [dt.date(2026, 1, 1), None],
        "hour": pa.array([dt.time(6, 25), None], pa.time64("us")),
        "naive": pa.array([dt.datetime(2026, 1, 1), None], pa.timestamp("us")),
        "zoned": pa.array([dt.datetime(2026, 6, 1, 12, tzinfo=BERLIN), None], pa.timestamp("us", "Europe/Berlin")),
        "fine": pa.array([1767225600123456789, None], pa.timestamp("ns", "UTC")),
        "span": pa.array([1_500_000_001, None], pa.duration("ns")),
        "tags": [["a", "b"], None],
        "place": [{"city": "Leipzig", "since": dt.date(2001, 2, 3)}, None],
        "class": pa.array(["x", None]).dictionary_encode(),
        "nothing": pa.array([None, None], pa.int32()),
    }
)  # fmt: skip
KEPT = tuple(name for name in TABLE.column_names if name != "body")


class Bench:
    """A job over one file, run to its end with a scripted extractor."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, source: Path, keep: tuple[str, ...], *outs: str, **more: Any) -> None:
        outputs = tuple(Output(path=str(self.folder / out)) for out in outs)
        asked = Source(path=str(source), text="body", keep=keep, **more)
        spec = JobSpec(schema=SCHEMA, source=asked, outputs=outputs)
        ledger = Ledger(str(self.folder / "jobs.db"))
        ledger.create("job", spec, "d", source_fingerprint(source), "scripted")
        assert Runner(ledger, "job", Scripted()).run().state is JobState.COMPLETED
        publish(ledger, "job")
        ledger.close()

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_parquet_column_that_is_kept_comes_out_as_it_was(bench: Bench, tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "in.parquet")
    bench.run(tmp_path / "in.parquet", KEPT, "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    for name in KEPT:
        wanted = TABLE[name].combine_chunks()
        if name == "class":
            wanted = wanted.dictionary_decode()
        assert found[name].combine_chunks().equals(wanted), name


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        (pa.date32(), [100_000_000, 20_260_101, -10_000_000, 1]),
        (pa.duration("ms"), [2**62, -1]),
        (pa.list_(pa.date32()), [[100_000_000, 1], []]),
    ],
)
def test_values_beyond_the_calendar_come_out_as_they_were(
    bench: Bench, tmp_path: Path, kind: Any, numbers: list[Any]
) -> None:
    column = pa.array(numbers, kind)
    table = pa.table({"body": [f"text {at}" for at in range(len(numbers))], "far": column})
    pq.write_table(table, tmp_path / "in.parquet")
    bench.run(tmp_path / "in.parquet", ("far",), "out.parquet", "out.csv")
    assert pq.read_table(tmp_path / "out.parquet")["far"].combine_chunks().equals(column)


def test_texts_of_kept_values_are_plain(bench: Bench, tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "in.parquet")
    bench.run(tmp_path / "in.parquet", KEPT, "out.csv", "out.jsonl", "out.xml")
    texts = {
        "small": "7",
        "large": "18446744073709551615",
        "price": "12.50",
        "good": "true",
        "day": "2026-01-01",
        "hour": "06:25:00",
        "naive": "2026-01-01T00:00:00",
        "zoned": "2026-06-01T12:00:00+02:00",
        "fine": "2026-01-01T00:00:00.123456789+00:00",
        "span": "PT1.500000001S",
        "tags": '["a","b"]',
        "place": '{"city":"Leipzig","since":"2001-02-03"}',
        "class": "x",
    }
    first, second = csv.DictReader(io.StringIO(bench.read("out.csv")))
    assert {name: first[name] for name in texts} == texts
    assert {second[name] for name in KEPT if name != "large"} == {""}
    values = json.loads(bench.read("out.jsonl").splitlines()[0])
    assert [values[n] for n in ("small", "good", "share", "day", "tags")] == [
        *(7, True, 0.1, "2026-01-01", ["a", "b"])
    ]
    assert values["place"] == {"city": "Leipzig", "since": "2001-02-03"}
    row = etree.fromstring(bench.read("out.xml").encode())[0]
    keys = {key.get("name"): key for key in row.findall("key")}
    assert (keys["day"].text, keys["small"].get("type")) == ("2026-01-01", "number")
    assert [item.text for item in keys["tags"]] == ["a", "b"]


def test_json_lines_keep_their_types(bench: Bench, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"body": "a", "n": 1, "f": 1, "b": True, "l": [1], "o": {"x": 1}, "m": 1, "s": "2026-01-01"},
        {"body": "b", "n": None, "f": 2.5, "b": None, "l": [], "o": {"y": "z"}, "m": "x", "s": "1"},
    ]  # fmt: skip
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    bench.run(tmp_path / "in.jsonl", tuple("nfbloms"), "out.parquet", "out.jsonl")
    table = pq.read_table(tmp_path / "out.parquet")
    kinds = {field.name: str(field.type) for field in table.schema}
    assert [kinds[name] for name in "nfblos"] == [
        *("int64", "double", "bool", "list<element: int64>"),
        *("struct<x: int64, y: string>", "string"),
    ]
    assert table["m"].to_pylist() == ["1", "x"], "values of several types are text"
    assert b"several types" in table.schema.field("m").metadata[b"intaglio.text"]
    for line, row in zip(bench.read("out.jsonl").splitlines(), rows, strict=True):
        assert {name: json.loads(line)[name] for name in "nfbloms"} == {
            name: row[name] for name in "nfbloms"
        }


def test_documents_and_ids_of_any_type_are_plain_text(bench: Bench, tmp_path: Path) -> None:
    table = pa.table({"body": [dt.date(2026, 1, 1)], "id": [dt.datetime(2026, 1, 2)]})
    pq.write_table(table, tmp_path / "in.parquet")
    bench.run(tmp_path / "in.parquet", (), "out.jsonl", id="id")
    line = json.loads(bench.read("out.jsonl"))
    assert (line["id"], line["data"]["name"]) == ("2026-01-02T00:00:00", "2026-01-01")


def test_kept_columns_named_as_our_own_lose_nothing(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("body,data,warnings,name\none,D,W,N\n")
    bench.run(tmp_path / "in.csv", ("data", "warnings", "name"), "out.jsonl", "out.csv")
    line = json.loads(bench.read("out.jsonl"))
    assert (line["data"], line["warnings"], line["result.data"]["name"]) == ("D", "W", "one")
    (row,) = csv.DictReader(io.StringIO(bench.read("out.csv")))
    assert (row["name"], row["result.name"]) == ("N", "one")


OLD = """
CREATE TABLE intaglio_ledger (version INTEGER NOT NULL, PRIMARY KEY (version));
INSERT INTO intaglio_ledger VALUES (1);
CREATE TABLE jobs (id VARCHAR(200) NOT NULL, spec TEXT NOT NULL, digest VARCHAR(64) NOT NULL, state
  VARCHAR(32) NOT NULL, wanted VARCHAR(16), created FLOAT NOT NULL, changed FLOAT NOT NULL, read INTEGER NOT
  NULL, whole BOOLEAN NOT NULL, mark TEXT NOT NULL, model TEXT, error TEXT, PRIMARY KEY (id));
CREATE TABLE rows (job VARCHAR(200) NOT NULL, row INTEGER NOT NULL, id TEXT NOT NULL, digest VARCHAR(64) NOT
  NULL, keep TEXT NOT NULL, text TEXT, given TEXT, state SMALLINT NOT NULL, attempts INTEGER NOT NULL, due
  FLOAT NOT NULL, holder VARCHAR(64), lease FLOAT NOT NULL, fence INTEGER NOT NULL, result TEXT, failure TEXT,
  prompt_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, seconds FLOAT NOT NULL, PRIMARY KEY (job,
  row));
"""


@pytest.fixture
def old(tmp_path: Path) -> Ledger:
    """A ledger as the version before made it: a job over Parquet with one of two rows read and done."""
    import sqlite3

    pq.write_table(TABLE, tmp_path / "in.parquet")
    asked = Source(path=str(tmp_path / "in.parquet"), text="body", keep=("small", "day"))
    outputs = (Output(path=str(tmp_path / "out.parquet")),)
    spec = JobSpec(schema={"type": "integer"}, source=asked, outputs=outputs)
    mark = source_fingerprint(tmp_path / "in.parquet")
    job = ("job", spec.model_dump_json(by_alias=True), "d", "ready", None, 1.0, 1.0, 1, False, mark)
    keep = json.dumps({"small": "7", "day": '"2026-01-01"'})
    done = ("job", 1, "1", "x", keep, None, None, 2, 1, 0, None, 0, 1, "5", None, 1, 1, 1)
    with sqlite3.connect(tmp_path / "jobs.db") as connection:
        connection.executescript(OLD)
        connection.execute(f"INSERT INTO jobs VALUES ({','.join('?' * 10)}, 'm', NULL)", job)
        connection.execute(f"INSERT INTO rows VALUES ({','.join('?' * 18)})", done)
    connection.close()
    return Ledger(str(tmp_path / "jobs.db"))


def test_results_of_an_older_ledger_are_written_as_they_were(old: Ledger, tmp_path: Path) -> None:
    publish(old, "job")
    assert pq.read_table(tmp_path / "out.partial.parquet").to_pylist() == [
        {"row": "1", "small": "7", "day": '"2026-01-01"', "value": 5}
    ]
    old.close()


def test_a_job_half_read_by_an_older_program_is_not_mixed(old: Ledger, tmp_path: Path) -> None:
    rows, spec = old.rows("job"), old.spec("job")
    with pytest.raises(JobChanged, match="older version"):
        ingest(spec, tmp_path / "in.parquet", rows, old.origin("job")[1], lambda: False)
    old.close()
    Ledger(str(tmp_path / "jobs.db")).close()  # it is of this version now


def parquet(schema: Any, values: list[Any]) -> pa.Table:
    """A Parquet output of these values of the only property `v`."""
    whole = {"type": "object", "properties": {"v": schema}, "additionalProperties": False}
    spec = JobSpec(schema=whole, source=Source(path="in.csv", text="t"))
    found = [RowResult(n, str(n), {}, DONE, 1, data={"v": v}) for n, v in enumerate(values)]
    file = io.BytesIO()
    write(file, lambda: iter(found), Layout.of(spec), Output(path="o.parquet"))
    return pq.read_table(file)


def text(form: str) -> dict[str, Any]:
    return {"type": "string", "format": form}


UTC = dt.UTC


@pytest.mark.parametrize(
    ("schema", "kind", "values", "wanted"),
    [
        (text("date"), "date32[day]", ["2026-01-31", None], [dt.date(2026, 1, 31), None]),
        (
            text("date-time"),
            "timestamp[us, tz=UTC]",
            ["2026-06-03T14:30:00Z", "2026-06-03t14:30:00.25z"],
            [
                dt.datetime(2026, 6, 3, 14, 30, tzinfo=UTC),
                dt.datetime(2026, 6, 3, 14, 30, 0, 250_000, tzinfo=UTC),
            ],
        ),
        (
            text("date-time-local"),
            "timestamp[us]",
            ["2026-06-03T14:30:00"],
            [dt.datetime(2026, 6, 3, 14, 30)],
        ),
        (text("time-local"), "time64[us]", ["14:30:00.5"], [dt.time(14, 30, 0, 500_000)]),
        (text("time"), "time64[us]", ["14:30:00Z"], [dt.time(14, 30)]),
        (
            {"type": "array", "items": text("date")},
            "list<element: date32[day]>",
            [["2026-01-31"]],
            [[dt.date(2026, 1, 31)]],
        ),
        (
            {"type": "object", "properties": {"d": text("date")}},
            "struct<d: date32[day]>",
            [{"d": "2026-01-31"}],
            [{"d": dt.date(2026, 1, 31)}],
        ),
        (
            {"anyOf": [text("date"), {"type": "null"}]},
            "date32[day]",
            ["2026-01-31", None],
            [dt.date(2026, 1, 31), None],
        ),
        (text("email"), "string", ["a@b.de"], ["a@b.de"]),
    ],
)
def test_formats_make_types(schema: Any, kind: str, values: list[Any], wanted: list[Any]) -> None:
    table = parquet(schema, values)
    assert str(table.schema.field("v").type) == kind
    assert table["v"].to_pylist() == wanted
    assert table.column_names == ["row", "v"]


def test_an_instant_keeps_its_offset_in_a_column_of_its_own() -> None:
    table = parquet(text("date-time"), ["2026-06-03T14:30:00+02:00", None, "2026-06-03T12:30:00Z"])
    instant = dt.datetime(2026, 6, 3, 12, 30, tzinfo=UTC)
    assert table["v"].to_pylist() == [instant, None, instant]
    assert table["v.utc_offset"].to_pylist() == [120, None, 0]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (text("date"), "0000-01-01"),
        (text("date-time"), "2026-12-31T23:59:60Z"),
        (text("date-time"), "2026-12-31T23:59:59.1234567Z"),
        (text("date-time"), "9999-12-31T23:59:59-01:00"),
        (text("date-time"), "tomorrow"),
        (text("time"), "14:30:00+02:00"),
    ],
)
def test_a_moment_that_a_type_would_change_stays_text_with_the_reason(
    schema: Any, value: str
) -> None:
    good = {"date": "2026-01-01", "time": "10:00:00Z"}.get(schema["format"], "2026-01-01T10:00:00Z")
    table = parquet(schema, [good, value])
    assert table["v"].to_pylist() == [good, value]
    assert table.schema.field("v").metadata[b"intaglio.text"]


def test_an_offset_inside_a_list_is_not_lost() -> None:
    values = [["2026-06-03T14:30:00+02:00"], ["2026-06-03T14:30:00Z"]]
    table = parquet({"type": "array", "items": text("date-time")}, values)
    assert table["v"].to_pylist() == values


def test_what_has_no_one_type_is_json_text_with_the_reason() -> None:
    table = parquet({"type": ["integer", "string"]}, [1, "1", None])
    assert table["v"].to_pylist() == ["1", '"1"', None]
    assert b"no one type" in table.schema.field("v").metadata[b"intaglio.text"]
