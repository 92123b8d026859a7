"""Data frames in and out: typed columns, errors in their rows, order and index kept."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import pandas as pd
import polars as pl
import pytest
from intaglio import extract_frame, register_pandas
from intaglio.service.client import (
    AsyncClient,
    ConnectionFailed,
    Extraction,
    IntaglioError,
    TimedOut,
)
from intaglio.service.client.models import extraction
from intaglio.service.client.shapes import Shape
from pydantic import AwareDatetime, BaseModel
from pydantic_core import to_json

from tests.support.stub_service import result


@dataclass
class Part:
    label: str
    count: int


class Order(BaseModel):
    number: str
    items: list[Part]
    total: float
    lines: int | None
    paid: bool
    day: date
    at: AwareDatetime
    note: str | None = None


FULL = {
    "number": "=A",
    "items": [{"label": "x", "count": 2}],
    "total": 3,
    "lines": 9007199254740993,
    "paid": True,
    "day": "2026-03-14",
    "at": "2026-03-14T10:30:00+02:00",
    "note": None,
}


class Answers:
    """Answers as a client: with the JSON in the text, or with an error for `!`; remembers the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], dict[str, Any]]] = []

    def extract_many(
        self, schema: Any, texts: Iterable[str], *, return_errors: bool = False, **options: Any
    ) -> list[Any]:
        assert return_errors
        assert schema is not None
        found = list(texts)
        self.calls.append((found, options))
        return [self._answer(text) for text in found]

    @staticmethod
    def _answer(text: str) -> Extraction[Any] | IntaglioError:
        if text.startswith("!"):
            return TimedOut(text[1:])
        return extraction(to_json(result(json.loads(text))), Shape(schema=True, adapter=None), None)


def text(**changes: Any) -> str:
    return json.dumps({**FULL, **changes})


def test_a_pandas_frame_gets_typed_columns_in_its_order_with_its_index() -> None:
    frame = pd.DataFrame(
        {"k": [1, 2, 3, 4], "doc": [text(), "!late", None, text(lines=None, total=2.5)]},
        index=["a", "b", "b", "c"],
    )
    client = Answers()
    out = extract_frame(frame, Order, column="doc", client=client, max_tokens=9)
    assert client.calls == [([text(), "!late", text(lines=None, total=2.5)], {"max_tokens": 9})]
    assert list(out.index) == ["a", "b", "b", "c"]
    assert list(out["k"]) == [1, 2, 3, 4]
    kinds = {name: str(kind) for name, kind in out.dtypes.items()}
    assert {n: kinds[n] for n in ("number", "total", "lines", "paid", "day", "at", "items")} == {
        "number": "string",
        "total": "Float64",
        "lines": "Int64",
        "paid": "boolean",
        "day": "datetime64[s]",
        "at": "datetime64[us, UTC]",
        "items": "object",
    }
    first, last = out.iloc[0], out.iloc[3]
    assert (first["number"], first["lines"], first["total"]) == ("=A", 9007199254740993, 3.0)
    assert first["items"] == [{"label": "x", "count": 2}]
    assert (first["day"], first["at"].hour) == (pd.Timestamp("2026-03-14"), 8)
    assert pd.isna(last["lines"])
    assert last["total"] == 2.5
    assert list(out["extraction_error"].fillna("")) == ["", "late", "the text is missing", ""]
    assert out.iloc[1:3][list(Order.model_fields)].isna().all().all()
    assert list(frame.columns) == ["k", "doc"], "the frame itself is left alone"


def test_a_polars_frame_gets_typed_columns_with_lists_and_structs() -> None:
    frame = pl.DataFrame({"doc": [text(), "", "!late", text(items=[])]})
    out = extract_frame(frame, Order, column="doc", client=Answers(), prefix="x_")
    assert out.schema == {
        "doc": pl.String,
        "x_number": pl.String,
        "x_items": pl.List(pl.Struct({"label": pl.String, "count": pl.Int64})),
        "x_total": pl.Float64,
        "x_lines": pl.Int64,
        "x_paid": pl.Boolean,
        "x_day": pl.Date,
        "x_at": pl.Datetime("us", "UTC"),
        "x_note": pl.String,
        "x_extraction_error": pl.String,
    }
    rows = out.rows(named=True)
    assert rows[0]["x_items"] == [{"label": "x", "count": 2}]
    assert (rows[0]["x_day"], rows[0]["x_lines"]) == (date(2026, 3, 14), 9007199254740993)
    assert rows[0]["x_at"] == datetime(2026, 3, 14, 8, 30, tzinfo=UTC)
    assert [row["x_extraction_error"] for row in rows] == [None, "the text is empty", "late", None]
    assert rows[3]["x_items"] == []


def test_what_has_no_type_is_an_object_or_json_text() -> None:
    docs = [json.dumps({"a": [1, "x", None]}), json.dumps(5)]
    as_objects = extract_frame(pd.DataFrame({"d": docs}), {}, column="d", client=Answers())
    assert list(as_objects["value"]) == [{"a": [1, "x", None]}, 5]
    as_text = extract_frame(pl.DataFrame({"d": docs}), {}, column="d", client=Answers())
    assert list(as_text["value"]) == ['{"a":[1,"x",null]}', "5"]


def test_a_value_without_place_in_its_column_is_the_error_of_its_row() -> None:
    docs = [text(lines=2**63), text(day="2026-02-30"), text()]
    out = extract_frame(pl.DataFrame({"d": docs}), Order, column="d", client=Answers())
    errors = list(out["extraction_error"])
    assert "64 bits" in errors[0]
    assert "day: '2026-02-30'" in errors[1]
    assert errors[2] is None
    assert list(out["number"]) == [None, None, "=A"]


def test_an_error_of_all_rows_is_raised() -> None:
    class Unreachable(Answers):
        def extract_many(self, *_: Any, **__: Any) -> list[Any]:
            return [ConnectionFailed("nobody answers")] * 2

    with pytest.raises(ConnectionFailed, match="nobody answers"):
        extract_frame(pl.DataFrame({"d": ["x", "y"]}), Order, column="d", client=Unreachable())


def test_a_frame_without_texts_needs_no_service() -> None:
    client = Answers()
    out = extract_frame(pl.DataFrame({"d": [None, 5]}), "invoice", column="d", client=client)
    assert client.calls == []
    assert out["total"].dtype == pl.Float64
    assert list(out["extraction_error"]) == [
        "the text is missing",
        "the text is of type int, not str",
    ]


def test_unusable_frames_columns_and_schemas_are_refused() -> None:
    frame = pl.DataFrame({"d": ["x"], "total": [1]})
    with pytest.raises(ValueError, match="no column 'e'; its columns are 'd', 'total'"):
        extract_frame(frame, "invoice", column="e", client=Answers())
    with pytest.raises(ValueError, match="two columns 'total': choose a prefix"):
        extract_frame(frame, "invoice", column="d", client=Answers())
    with pytest.raises(TypeError, match="give the schema itself"):
        extract_frame(frame, "of-the-registry", column="d", client=Answers())
    with pytest.raises(TypeError, match="collect"):
        extract_frame(frame.lazy(), "invoice", column="d", client=Answers())
    with pytest.raises(TypeError, match="not list"):
        extract_frame(["x"], "invoice", column="d", client=Answers())


def test_a_client_that_cannot_answer_within_the_call_is_refused_with_a_way_out() -> None:
    frame = pl.DataFrame({"d": ["x"]})
    client: Any = AsyncClient("http://localhost:1")
    with pytest.raises(TypeError, match="asynchronous AsyncClient; within asyncio:"):
        extract_frame(frame, "invoice", column="d", client=client)
    with pytest.raises(TypeError, match=r"not str: give Client\(base_url\)"):
        extract_frame(frame, "invoice", column="d", client="http://localhost:1")  # type: ignore[arg-type]


def test_pandas_frames_have_an_accessor_on_request() -> None:
    register_pandas()
    register_pandas()
    frame = pd.DataFrame({"d": [text()]})
    out = frame.intaglio.extract(Order, column="d", client=Answers())
    pd.testing.assert_frame_equal(out, extract_frame(frame, Order, column="d", client=Answers()))
