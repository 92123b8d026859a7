"""The requests of the client, and the types of its results."""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from intaglio.schemas.extraction.requests import ExtractOptions, ExtractRequest
from intaglio.service.client import Client, Extraction, Options, ResultMismatch, UnexpectedAnswer
from intaglio.service.client.shapes import shape_of
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator
from typing_extensions import TypedDict  # Pydantic wants this one below Python 3.12

from tests.service.client.conftest import Connect
from tests.support.stub_service import Answer, StubService, result


class Line(BaseModel):
    name: str
    price: float


class Invoice(BaseModel):
    number: str
    issued: datetime.date
    note: str | None
    lines: list[Line] = Field(description="In the order of the invoice")


@dataclass
class Point:
    x: int
    y: int


class Movie(TypedDict):
    title: str
    year: int


INVOICE = {
    "number": "A-1",
    "issued": "2026-03-14",
    "note": None,
    "lines": [{"name": "Ink", "price": 2.5}],
}


def ask(
    connect: Connect, stub: StubService, schema: Any, data: Any, **options: Any
) -> Extraction[Any]:
    stub.will_answer(Answer(result(data)))
    extraction: Extraction[Any] = connect().extract(schema, "the text", **options)
    return extraction


def test_a_pydantic_model_comes_back_as_itself(connect: Connect, stub: StubService) -> None:
    answer = ask(connect, stub, Invoice, INVOICE)
    assert answer.data == Invoice(
        number="A-1",
        issued=datetime.date(2026, 3, 14),
        note=None,
        lines=[Line(name="Ink", price=2.5)],
    )
    assert answer.valid
    assert answer.finish == "stop"
    assert answer.usage.output_tokens == 5
    assert answer.timings.total_ms == 3.1
    assert (answer.id, answer.model, answer.request_id) == ("ext-1", "stub", "req-1")
    assert answer.raw == result(INVOICE)


@pytest.mark.parametrize(
    ("schema", "data", "expected"),
    [
        (Point, {"x": 1, "y": 2}, Point(1, 2)),
        (Movie, {"title": "Ink", "year": 1999}, {"title": "Ink", "year": 1999}),
        (list[Line], [{"name": "a", "price": 1}], [Line(name="a", price=1.0)]),
        (Line | None, None, None),
        (TypeAdapter(tuple[int, str]), [1, "a"], (1, "a")),
        (datetime.date, "2026-01-31", datetime.date(2026, 1, 31)),
        ({"type": "integer"}, 3, 3),
        (True, {"any": ["thing"]}, {"any": ["thing"]}),
        ("invoice", {"as": "sent"}, {"as": "sent"}),
    ],
)
def test_anything_that_describes_data_may_be_the_schema(
    connect: Connect, stub: StubService, schema: Any, data: Any, expected: Any
) -> None:
    assert ask(connect, stub, schema, data).data == expected


def test_strict_types_read_json_forms(connect: Connect, stub: StubService) -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(strict=True)
        day: datetime.date

    assert ask(connect, stub, Strict, {"day": "2026-01-31"}).data.day.year == 2026


def test_the_body_is_what_the_service_reads(connect: Connect, stub: StubService) -> None:
    ask(connect, stub, "invoice", {}, model="small", max_tokens=9, temperature=0.5, seed=3)
    asked = stub.asked[0]
    assert (asked.method, asked.path) == ("POST", "/v1/extract")
    read = ExtractRequest.model_validate(asked.body)
    assert read.schema_ == "invoice"
    assert read.text == "the text"
    assert read.model == "small"
    assert read.options == ExtractOptions(max_tokens=9, temperature=0.5, seed=3)


def test_nothing_that_was_not_said_is_sent(connect: Connect, stub: StubService) -> None:
    ask(connect, stub, {"type": "null"}, None)
    assert stub.asked[0].body == {"schema": {"type": "null"}, "text": "the text"}


def test_the_options_are_those_of_the_wire() -> None:
    assert set(Options.__annotations__) == set(ExtractOptions.model_fields)


def test_an_unknown_option_is_a_type_error_with_a_guess(
    connect: Connect, stub: StubService
) -> None:
    with pytest.raises(TypeError, match="no option 'max_token'; did you mean max_tokens"):
        connect().extract("invoice", "text", max_token=3)
    assert stub.asked == []


@pytest.mark.parametrize("schema", [None, 5, Line(name="a", price=1), object(), print])
def test_what_is_no_schema_is_a_type_error(
    connect: Connect, stub: StubService, schema: Any
) -> None:
    with pytest.raises(TypeError, match="schema must be"):
        connect().extract(schema, "text")
    assert stub.asked == []


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ('{"type": "object"}', "json.loads"),
        ("\n {'type': 'object'}", "json.loads"),
        ("./order.json", "json.load"),
        ("schemas\\order", "json.load"),
        (Path("order.json"), "json.load"),
        (Path("order"), "json.load"),
    ],
)
def test_the_text_or_the_path_of_a_schema_is_told_from_a_name(
    connect: Connect, stub: StubService, schema: Any, hint: str
) -> None:
    with pytest.raises(TypeError, match="is not the name of a schema") as refused:
        connect().extract(schema, "text")
    assert hint in str(refused.value)
    assert stub.asked == []


def test_a_validator_of_the_type_has_the_last_word(connect: Connect, stub: StubService) -> None:
    class Even(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def is_even(cls, n: int) -> int:
            if n % 2:
                raise ValueError("not even")
            return n

    with pytest.raises(ResultMismatch, match="not even") as caught:
        ask(connect, stub, Even, {"n": 3})
    assert caught.value.data == {"n": 3}
    assert caught.value.request_id == "req-1"


def test_objects_of_types_are_closed_unless_they_ask_for_more() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int

    class Holder(BaseModel):
        line: Line
        point: Point
        movie: Movie
        other: Open
        prices: dict[str, float]

    schema = shape_of(Holder).schema
    assert isinstance(schema, dict)
    Draft202012Validator.check_schema(schema)
    definitions = schema["$defs"]
    assert schema["additionalProperties"] is False
    for name in ("Line", "Point", "Movie"):
        assert definitions[name]["additionalProperties"] is False
    assert definitions["Open"]["additionalProperties"] is True
    assert schema["properties"]["prices"]["additionalProperties"] == {"type": "number"}


def test_more_than_we_know_is_no_reason_to_fail(connect: Connect, stub: StubService) -> None:
    stub.will_answer(Answer(result({"a": 1}, spans=[1, 2])))
    answer = connect().extract("invoice", "text")
    assert answer.data == {"a": 1}
    assert answer.raw["spans"] == [1, 2]


@pytest.mark.parametrize("body", ["<html>welcome</html>", {"hello": "world"}])
def test_a_stranger_is_recognised(connect: Connect, stub: StubService, body: Any) -> None:
    stub.will_answer(Answer(body))
    with pytest.raises(UnexpectedAnswer, match="base_url") as caught:
        connect().extract("invoice", "text")
    assert caught.value.request_id == "req-1"


def test_the_small_questions(connect: Connect, stub: StubService) -> None:
    client = connect()
    card = {"id": "m", "created": 1, "context_length": 2048, "parameters": 18}
    stub.will_answer(Answer({"object": "list", "data": [card]}))
    assert [model.id for model in client.models()] == ["m"]
    stub.will_answer(Answer({"status": "ok"}))
    assert client.health().status == "ok"
    stub.will_answer(Answer({"version": "0.1.0", "model": "m"}))
    assert client.version().version == "0.1.0"
    assert [a.path for a in stub.asked] == ["/v1/models", "/health", "/version"]


def call_me(name: str) -> str:
    raise AssertionError("a schema is never called")


@pytest.mark.parametrize("schema", [call_me, partial(call_me), print, "x".upper])
def test_a_function_in_the_place_of_a_type_is_refused_and_not_called(
    connect: Connect, stub: StubService, schema: Any
) -> None:
    stub.will_answer(Answer(result({"name": "Ann"})))
    client = connect()
    with pytest.raises(TypeError, match="schema must be"):
        client.extract(schema, "text")
    assert stub.asked == []


def test_a_decimal_is_a_number(connect: Connect, stub: StubService) -> None:
    """Pydantic permits any string beside it, such as one that is no number."""
    stub.will_answer(Answer(result(19.99)))
    price = Annotated[Decimal, Field(ge=0, max_digits=6, decimal_places=2)]
    assert connect().extract(TypeAdapter(price), "text").data == Decimal("19.99")
    expected = {"type": "number", "minimum": 0, "multipleOf": 0.01, "exclusiveMaximum": 10_000}
    assert stub.asked[0].body["schema"] == expected


def test_a_pattern_that_pydantic_cannot_run_is_a_type_error(
    connect: Connect, stub: StubService
) -> None:
    client = connect()
    with pytest.raises(TypeError, match="look-around"):
        client.extract(Annotated[str, Field(pattern="(?<=a)b")], "text")
    assert stub.asked == []


@pytest.mark.parametrize("examples", ["ab", [("a",)], [5], [{"text": "a", "data": 1, "more": 2}]])
def test_examples_that_are_no_pairs_are_refused(
    connect: Connect, stub: StubService, examples: Any
) -> None:
    client = connect()
    with pytest.raises(TypeError, match="examples must be pairs"):
        client.extract({}, "text", examples=examples)
    assert stub.asked == []


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"base_url": 5}, TypeError, "base_url must be a str"),
        ({"api_key": 5}, TypeError, "api_key must be a str"),
        ({"base_url": "http://"}, ValueError, "no host"),
        ({"base_url": "http://[::1"}, ValueError, "cannot be read"),
        ({"base_url": "http://127.0.0.1:99999"}, ValueError, "cannot be read"),
        ({"max_retries": -1}, ValueError, "must not be negative"),
        ({"max_retries": 1.5}, TypeError, "must be an int"),
    ],
)
def test_a_client_is_not_made_of_unusable_arguments(
    arguments: Any, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        Client(**arguments)


def test_a_call_with_an_unusable_number_of_retries_is_refused(
    connect: Connect, stub: StubService
) -> None:
    client = connect()
    with pytest.raises(TypeError, match="max_retries must be an int"):
        client.extract({}, "text", max_retries="a")
    assert stub.asked == []
