"""The contract of an answer: typos in the schema are listed in every answer, and refused on request."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.api import SamplingParams
from intaglio.grammar.api import Constraint, Kind
from intaglio.schemas import catalogue
from intaglio.schemas.extraction.contract import Contract
from intaglio.service.client import BadRequest, SchemaRefused
from intaglio.service.offline.llm import LLM

from tests.support.live_service import Live
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

TYPOS: list[tuple[Any, str, str]] = [
    ({"type": "string", "maxlength": 5}, "/maxlength", "did you mean maxLength?"),
    ({"type": "string", "max_length": 5}, "/max_length", "did you mean maxLength?"),
    ({"type": "object", "propertys": {"a": {}}}, "/propertys", "did you mean properties?"),
    ({"type": "array", "minItem": 1, "maxItems": 2}, "/minItem", "did you mean minItems?"),
    (
        {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}},
        "/properties/a/nullable",
        'use "type": ["string", "null"]',
    ),
    ({"type": "string", "format": "emial"}, "/format", "did you mean email?"),
    ({"type": "string", "format": "datetime"}, "/format", "did you mean date-time?"),
    ({"type": "string", "format": "iban"}, "/format", "use a pattern instead"),
    ({"type": "integer", "x-intaglio-tier": "A"}, "/x-intaglio-tier", "remove it"),
    ({"type": "boolean", "descripton": "x"}, "/descripton", "did you mean description?"),
    (
        {"type": "object", "name": {"type": "string"}},
        "/name",
        "a property of that name belongs under `properties`",
    ),
]


@pytest.fixture(scope="module")
def service(plain_service: Live) -> Live:
    return plain_service


@pytest.fixture(scope="module")
def llm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LLM]:
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", QWEN3)
    with LLM(folder, num_blocks=256) as model:
        yield model


@pytest.mark.parametrize(("schema", "pointer", "hint"), TYPOS)
def test_a_typo_is_told_in_explanations_and_refused_where_that_is_asked_for(
    service: Live, schema: Any, pointer: str, hint: str
) -> None:
    explained = service.http.post("/v1/schemas/explain", json={"schema": schema}).json()
    (unknown,) = explained["contract"]["unknown"]
    assert (unknown["pointer"], unknown["hint"]) == (pointer, hint)
    assert unknown["reason"]
    answer = service.extract(schema, "some text", options={"strict_schema": True})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "unsupported_schema"
    assert [(d["pointer"], d["hint"]) for d in error["details"]] == [("/schema" + pointer, hint)]


@pytest.mark.parametrize("name", catalogue.names())
def test_schemas_of_the_catalogue_are_strict(service: Live, name: str) -> None:
    contract = service.http.post("/v1/schemas/explain", json={"schema": name}).json()["contract"]
    assert (contract["unknown"], contract["ignored"], contract["omitted"]) == ([], [], 0)
    assert contract["enforced"]["properties"] >= 1
    assert contract["annotations"]["description"] > 1


def test_known_words_without_effect_are_no_slips(service: Live) -> None:
    schema = {"type": "string", "format": "int64", "contentEncoding": "base64", "then": {}}
    contract = service.http.post("/v1/schemas/explain", json={"schema": schema}).json()["contract"]
    assert contract["enforced"] == {"type": 1}
    assert contract["unknown"] == []
    assert [entry["pointer"] for entry in contract["ignored"]] == [
        "/format",
        "/contentEncoding",
        "/then",
    ]


def test_answers_carry_the_contract_of_their_schema(llm: LLM) -> None:
    schema = {"enum": ["a", "b"], "title": "T", "x-note": 1, "maxlength": 5}
    for _ in range(2):  # the second comes from what is remembered
        result = llm.extract(schema, "some text")
        assert result.contract.enforced == {"enum": 1}
        assert result.contract.annotations == {"title": 1, "x-note": 1}
        assert [entry.pointer for entry in result.contract.unknown] == ["/maxlength"]
        assert result.raw["contract"]["unknown"][0]["hint"] == "did you mean maxLength?"  # type: ignore[call-overload, index]
    with pytest.raises(SchemaRefused) as refused:
        llm.extract(schema, "some text", strict_schema=True)
    assert refused.value.details[0].pointer == "/schema/maxlength"
    assert llm.extract({"enum": ["a", "b"]}, "some text", strict_schema=True).contract.unknown == ()


def test_generated_texts_carry_it_too(llm: LLM) -> None:
    constraint = Constraint(Kind.JSON_SCHEMA, '{"enum": ["a"], "maxlength": 3}')
    (found,) = llm.generate("a text", SamplingParams(max_tokens=8), constraint=constraint)
    assert [entry.hint for entry in found.contract.unknown] == ["did you mean maxLength?"]
    (free,) = llm.generate("a text", SamplingParams(max_tokens=2))
    assert free.contract == Contract()
    with pytest.raises(TypeError, match="prompts must be"):
        llm.generate(b"a text")  # type: ignore[arg-type]


def test_thousands_of_unknown_words_are_told_in_part(service: Live) -> None:
    schema = {"const": 1} | {f"unheard-of-{n}": n for n in range(3000)} | {"x" * 5000: 1}
    answer = service.http.post("/v1/schemas/explain", json={"schema": schema}).json()["contract"]
    assert len(answer["unknown"]) + answer["omitted"] == 3001
    assert len(json.dumps(answer)) < 32_768


@pytest.mark.parametrize(
    "text", ["   ", "\n\t\r\n", "\0\1\x7f", "\u200b\ufeff\u2060", "\u00a0\u3000", "\ufffd"]
)
def test_a_text_without_anything_to_read_is_refused(service: Live, llm: LLM, text: str) -> None:
    answer = service.extract("contact", text)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["details"][0]["pointer"]) == ("invalid_request", "/text")
    assert error["hint"]
    with pytest.raises(BadRequest, match="no readable characters"):
        llm.extract({"type": "string"}, text)


@pytest.mark.parametrize("text", ["7", ".", "é", "日", "👍", " a "])
def test_a_text_of_one_character_is_a_text(llm: LLM, text: str) -> None:
    assert llm.extract({"enum": ["a", "b"]}, text).data in ("a", "b")


def test_a_long_enumeration_leaves_room_for_the_text(llm: LLM) -> None:
    values = [f"value number {n}" for n in range(5000)]
    result = llm.extract({"enum": values}, "value number 4711")
    assert result.data in values
    assert result.usage.prompt_tokens < 1000


def test_values_that_leave_no_room_are_cut_where_they_would_be_whole_elsewhere(llm: LLM) -> None:
    # 3,000 characters, each a token of this model, which takes 1,024 tokens.
    values = [f"value {n}" for n in range(250)]
    assert llm.extract({"enum": values}, "value 47").data in values


def test_what_is_too_long_names_the_part_that_is(service: Live) -> None:
    wide = {
        "type": "object",
        "properties": {f"a_{'long_' * 40}property_{n}": {"enum": ["x", "y"]} for n in range(150)},
    }
    error = service.extract(wide, "a short text").json()["error"]
    assert (error["code"], error["param"]) == ("context_length_exceeded", "schema")
    assert "shorten the schema by at least" in error["hint"]
    error = service.extract({"type": "string"}, "a long text " * 2000).json()["error"]
    assert (error["code"], error["param"]) == ("context_length_exceeded", "text")
    assert "shorten the text by at least" in error["hint"]


def test_many_texts_are_no_single_text(llm: LLM) -> None:
    schema = {"enum": ["a", "b"]}
    for single in ("one text", b"one text", {"a": "text"}):
        with pytest.raises(TypeError, match=r"extract\(\)"):
            llm.extract_many(schema, single)  # type: ignore[arg-type]
    results = llm.extract_many(schema, (f"text {n}" for n in range(3)))
    assert len(results) == 3
    assert [json.dumps(result.data) for result in llm.extract_many(schema, iter(()))] == []


def test_bytes_are_no_text(llm: LLM) -> None:
    with pytest.raises(TypeError, match="decode"):
        llm.extract({"type": "string"}, b"some text")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="must be a str"):
        llm.extract({"type": "string"}, Path("a.txt"))  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="extract_many takes several texts"):
        llm.extract({"type": "string"}, ["a", "b"])  # type: ignore[call-overload]
