"""Required values that a document does not hold, with the model in the package."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from intaglio.schemas.extraction.contract import Contract
from intaglio.service.client.errors import IntaglioError, ResultMismatch
from intaglio.service.offline.llm import LLM
from pydantic import BaseModel

from tests.bench.bench_absent import DOCUMENTS, SCHEMAS

NOTE = "Dear Sir, my name is Laura Stein. Regards."


@pytest.fixture(scope="module")
def llm() -> Iterator[LLM]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with LLM() as model:
        yield model
    torch.set_num_threads(threads)


def test_no_answer_is_longer_than_its_stated_budget(llm: LLM) -> None:
    lengths = []
    asked = ((at, schema, DOCUMENTS[2 * at]) for at, schema in enumerate(SCHEMAS.values()))
    for _, result in llm.extract_stream(asked):
        assert not isinstance(result, IntaglioError)
        usage = result.usage
        assert usage.budget is not None
        assert usage.budget_from == "default"
        assert usage.output_tokens < usage.budget < 1000
        lengths.append(usage.output_tokens)
    assert max(lengths) <= 4 * sorted(lengths)[len(lengths) // 2]


def test_a_value_that_loops_is_ended_and_told(llm: LLM) -> None:
    schema = SCHEMAS["formats"]
    looped = []
    for _, result in llm.extract_stream((text, schema, text) for text in DOCUMENTS[:6]):
        assert not isinstance(result, IntaglioError)
        looped += [warning for warning in result.warnings if warning.kind == "looped"]
        assert result.raw["warnings"] == [warning.model_dump() for warning in result.warnings]
    assert looped
    assert {warning.pointer for warning in looped} <= {f"/{name}" for name in schema["required"]}
    assert all(warning.message and warning.hint for warning in looped)


def test_a_slip_in_a_keyword_does_not_run_on_and_is_told(llm: LLM) -> None:
    schema = {"type": "object", "propertys": {"name": {"type": "string"}}}
    result = llm.extract(schema, NOTE)
    assert result.usage.budget is not None
    assert result.usage.output_tokens <= result.usage.budget < 350
    contract = Contract.model_validate_json(json.dumps(result.raw["contract"]))
    assert [(found.keyword, found.hint) for found in contract.unknown] == [
        ("propertys", "did you mean properties?")
    ]


@pytest.mark.parametrize(
    "schema", [{}, {"type": "object"}, {"type": "array"}, {"type": "array", "items": {}}]
)
def test_a_schema_that_says_nothing_has_a_small_budget(llm: LLM, schema: dict[str, Any]) -> None:
    usage = llm.extract(schema, NOTE * 6).usage
    assert usage.budget_from == "default"
    assert usage.budget is not None
    assert usage.output_tokens <= usage.budget <= 200 + 3 * usage.prompt_tokens
    assert llm.extract(schema, NOTE * 6, max_tokens=40).usage.budget == 40


def test_null_stands_for_what_is_not_stated_where_the_caller_agrees(llm: LLM) -> None:
    result = llm.extract(SCHEMAS["strings"], NOTE, not_stated="null")
    assert result.data == {"name": "Laura Stein", "phone": None, "email": None, "iban": None}
    assert [(warning.pointer, warning.kind) for warning in result.warnings] == [
        ("/phone", "not_stated"),
        ("/email", "not_stated"),
        ("/iban", "not_stated"),
    ]


def test_a_type_has_to_take_null_where_the_caller_agrees_to_it(llm: LLM) -> None:
    class Strict(BaseModel):
        name: str
        iban: str

    class Open(BaseModel):
        name: str
        iban: str | None

    assert llm.extract(Open, NOTE, not_stated="null").data == Open(name="Laura Stein", iban=None)
    with pytest.raises(ResultMismatch, match="/iban") as caught:
        llm.extract(Strict, NOTE, not_stated="null")
    assert "str | None" in caught.value.hint


def test_max_tokens_is_the_budget_where_it_is_given(llm: LLM) -> None:
    schema: dict[str, Any] = SCHEMAS["nested"]
    result = llm.extract(schema, NOTE, max_tokens=36)  # less than the model would write
    assert (result.usage.budget, result.usage.budget_from) == (36, "max_tokens")
    assert result.usage.output_tokens <= 36
    assert result.usage.budget_forced
    assert [warning.kind for warning in result.warnings][-1] == "budget_forced"
