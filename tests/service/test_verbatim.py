"""Verbatim strings through the service: offline, over HTTP, in a stream, in examples, and in a chat."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from intaglio.engine.api import EngineConfig, SamplingParams, launches
from intaglio.grammar.api import Constraint, Kind
from intaglio.schemas.extraction.grounding import FieldReport
from intaglio.service.client import SchemaRefused
from intaglio.service.client.shapes import shape_of
from intaglio.service.client.verbatim import Verbatim
from intaglio.service.errors import InvalidOutput
from intaglio.service.extraction.validate import check, verbatim_values
from intaglio.service.extraction.verbatim_schema import verbatim_schema
from intaglio.service.grounding.verbatim_reports import verbatim_reports
from intaglio.service.offline.llm import LLM
from pydantic import BaseModel

from tests.conformance.verbatim import folded
from tests.support.live_service import Live, live
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

TEXT = 'Shipped by Ünal & Söhne,\nBerlin 🙂 "express" on 2026-03-12.'
NAME: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 40,
    "x-intaglio": {"verbatim": True},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": NAME, "tags": {"type": "array", "items": NAME, "maxItems": 2}},
    "required": ["name", "tags"],
    "additionalProperties": False,
}
SYSTEM = {"role": "system", "content": "XYZXYZ"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", QWEN3)


@pytest.fixture(scope="module")
def llm(folder: Path) -> Iterator[LLM]:
    with LLM(folder, num_blocks=256) as model:
        yield model


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Live]:
    settings = {"model": str(folder), "num_blocks": 256, "threads": 1, "grammar_warm": 0}
    (launch,) = launches(EngineConfig.load(settings, {}))
    with live(launch, folder) as running:
        yield running


def stands_in(value: str, text: str) -> bool:
    return value in text or value in folded(text)


def require_verbatim(data: Any, text: str = TEXT) -> None:
    values = [data["name"], *data["tags"]]
    assert all(values)
    assert all(stands_in(value, text) for value in values), values


@pytest.mark.parametrize("seed", range(6))
def test_values_of_a_random_model_stand_in_the_document(llm: LLM, seed: int) -> None:
    texts = [TEXT, TEXT[::-1], "a\tb " * 30, "東京都港区 7-1-1 ビル " * 4]
    answers = llm.extract_many(SCHEMA, texts, temperature=1.5, seed=seed)
    for text, answer in zip(texts, answers, strict=True):
        require_verbatim(answer.data, text)
        assert answer.contract.enforced["x-intaglio"] == 1


def test_a_constraint_may_carry_its_document(llm: LLM) -> None:
    schema = json.dumps(NAME)
    asked = Constraint(Kind.JSON_SCHEMA, schema, document=TEXT)
    sampling = SamplingParams(max_tokens=60, temperature=1.5, seed=3)
    (answer,) = llm.generate("Say:", sampling, constraint=asked)
    assert stands_in(json.loads(answer.text), TEXT)
    with pytest.raises(SchemaRefused, match="document"):
        llm.generate("Say:", sampling, constraint=Constraint(Kind.JSON_SCHEMA, schema))


def test_each_of_several_texts_is_its_own_document(service: Live) -> None:
    texts = ["only aaa here", "only bbb here"]
    body = {"schema": SCHEMA, "texts": texts, "options": {"temperature": 1.5, "seed": 1}}
    answer = service.http.post("/v1/extract", json=body).json()
    for text, result in zip(texts, answer["outcomes"], strict=True):
        require_verbatim(result["result"]["data"], text)


@pytest.mark.parametrize("seed", range(3))
def test_a_stream_writes_what_stands_in_the_document(service: Live, seed: int) -> None:
    body = {"schema": SCHEMA, "text": TEXT, "stream": True}
    options = {"temperature": 1.5, "seed": seed}
    answer = service.http.post("/v1/extract", json=body | {"options": options})
    events = [
        json.loads(line.removeprefix("data: "))
        for line in answer.text.splitlines()
        if line.startswith("data: {")
    ]
    (result,) = [event["result"] for event in events if event["type"] == "object.completed"]
    require_verbatim(result["data"])


@pytest.mark.parametrize("again", range(2))
def test_a_known_schema_takes_the_document_of_each_request(service: Live, again: int) -> None:
    text = f"Document {again} is about {'cats' if again else 'dogs'}, and nothing else."
    answer = service.extract(SCHEMA, text, options={"temperature": 1.5, "seed": again})
    assert answer.status_code == 200
    require_verbatim(answer.json()["data"], text)


def test_a_chat_takes_what_the_user_wrote_for_the_document(service: Live) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
    first, second = TEXT[:30], TEXT[30:]
    users = [{"role": "user", "content": part} for part in (first, second)]
    body = {"messages": [SYSTEM, *users], "response_format": form, "temperature": 1.5, "seed": 2}
    answer = service.http.post("/v1/chat/completions", json=body | {"max_tokens": 200}).json()
    data = json.loads(answer["choices"][0]["message"]["content"])
    require_verbatim(data, f"{first}\n\n{second}")


def test_a_document_that_has_no_such_string_is_refused(service: Live) -> None:
    long = SCHEMA | {"properties": {"name": NAME | {"minLength": 30}, "tags": {"type": "array"}}}
    answer = service.extract(long, "too short")
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "unsatisfiable_schema"
    assert error["message"] == (
        "/properties/name: no value meets type, minLength and x-intaglio together"
    )
    assert "a verbatim string must occur in it" in error["hint"]
    assert error["details"][0]["pointer"] == "/schema"


def test_a_member_of_the_keyword_that_does_not_exist_is_refused(service: Live) -> None:
    answer = service.extract({"type": "string", "x-intaglio": {"verbatm": True}}, TEXT)
    assert answer.status_code == 400
    (detail,) = answer.json()["error"]["details"]
    assert detail["pointer"] == "/schema/x-intaglio/verbatm"


def test_an_example_must_be_verbatim_too(service: Live) -> None:
    example = {"text": "By Ada.", "data": {"name": "Bob", "tags": []}}
    answer = service.extract(SCHEMA, TEXT, examples=[example])
    assert answer.status_code == 400
    (detail,) = answer.json()["error"]["details"]
    assert detail["pointer"] == "/examples/0/data/name"


def test_the_last_check_refuses_what_does_not_stand_in_the_document() -> None:
    check({"name": "Söhne, Berlin", "tags": ["Söhne,\nBerlin"]}, SCHEMA, TEXT)
    for value in ("Soehne", "Söhne,  Berlin"):
        with pytest.raises(InvalidOutput):
            check({"name": value, "tags": []}, SCHEMA, TEXT)
    with pytest.raises(InvalidOutput):
        check({"name": "Berlin", "tags": []}, SCHEMA)


class Letter(BaseModel):
    sender: Annotated[str, Verbatim]
    subject: Annotated[str | None, Verbatim]


def test_a_type_marks_its_verbatim_strings(llm: LLM) -> None:
    schema = shape_of(Letter).schema
    assert isinstance(schema, dict)
    assert {each["x-intaglio"]["verbatim"] for each in schema["properties"].values()} == {True}
    letter = llm.extract(Letter, TEXT, temperature=1.5, seed=4).data
    assert stands_in(letter.sender, TEXT)
    assert letter.subject is None or stands_in(letter.subject, TEXT)


VERBATIM = {"x-intaglio": {"verbatim": True}}
STRING: dict[str, Any] = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (STRING, STRING | VERBATIM),
        (STRING | {"maxLength": 9}, STRING | {"maxLength": 9} | VERBATIM),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]} | VERBATIM),
        (STRING | {"format": "date"}, STRING | {"format": "date"}),
        (STRING | {"enum": ["a"]}, STRING | {"enum": ["a"]}),
        (
            STRING | {"x-intaglio": {"verbatim": False}},
            STRING | {"x-intaglio": {"verbatim": False}},
        ),
        ({"type": "integer"}, {"type": "integer"}),
        ({"items": STRING}, {"items": STRING | VERBATIM}),
        ({"properties": {"not": STRING}}, {"properties": {"not": STRING | VERBATIM}}),
        ({"not": STRING, "contains": STRING}, {"not": STRING, "contains": STRING}),
        (
            {"anyOf": [STRING, {"type": "null"}]},
            {"anyOf": [STRING | VERBATIM, {"type": "null"}]},
        ),
        ({"anyOf": [STRING, {"enum": ["-"]}]}, {"anyOf": [STRING, {"enum": ["-"]}]}),
        (
            {"allOf": [{"properties": {"a": STRING}}, STRING]},
            {"allOf": [{"properties": {"a": STRING | VERBATIM}}, STRING]},
        ),
    ],
)
def test_free_strings_become_verbatim(schema: Any, expected: Any) -> None:
    assert verbatim_schema(schema) == expected


@pytest.mark.parametrize("seed", range(3))
def test_a_request_may_ask_for_verbatim_strings(service: Live, seed: int) -> None:
    date = STRING | {"format": "date"}
    names = {"type": "array", "items": STRING | {"maxLength": 20}, "maxItems": 3}
    schema = {
        "type": "object",
        "properties": {"name": {"type": ["string", "null"]}, "names": names, "day": date},
        "required": ["name", "names", "day"],
    }
    options = {"grounding": "verbatim", "temperature": 1.5, "seed": seed}
    for _ in range(2):  # the second request takes the short way of known schemas
        answer = service.extract(schema, TEXT, options=options)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        values = {f"/names/{i}": each for i, each in enumerate(body["data"]["names"])}
        if body["data"]["name"] is not None:
            values["/name"] = body["data"]["name"]
        for place, value in values.items():
            report = body["fields"][place]
            assert report["match"] == "verbatim"
            span = TEXT[report["span"]["start"] : report["span"]["end"]]
            assert folded(span) == folded(value)
        assert body["fields"]["/day"]["match"] != "verbatim"
    plain = service.extract(schema, TEXT, options=options | {"grounding": "off"}).json()
    assert plain["fields"] == {}


def test_places_of_verbatim_strings_may_be_within_words() -> None:
    schema = {"properties": {"a": {"anyOf": [NAME, {"type": "null"}]}, "b": NAME, "c": {}}}
    data = {"a": "hip", "b": "Söhne, Berlin", "c": "Shipped"}
    values = {place[0]: text for place, text in verbatim_values(data, schema)}
    assert values == {"a": "hip", "b": "Söhne, Berlin"}
    reports = dict.fromkeys(["a", "b", "c"], FieldReport())
    found = verbatim_reports(reports, {str(name): text for name, text in values.items()}, TEXT)
    spans = [found[name].span for name in ("a", "b")]
    assert [TEXT[span.start : span.end] for span in spans if span] == ["hip", "Söhne,\nBerlin"]
    assert found["c"] == FieldReport()
    (empty,) = verbatim_reports({"a": FieldReport()}, {"a": ""}, TEXT).values()
    assert empty.span is not None
    assert empty.span.start == empty.span.end == 0
