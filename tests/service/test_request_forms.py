"""Parts of a request other than schema and text: instructions, examples, a conversation."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from intaglio.engine.api import TooLong
from intaglio.grammar.api import Coverage, Verdict
from intaglio.service.errors import InvalidBody, UnknownField
from intaglio.service.extraction.extract import Extractor, Prepared
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.extraction.translate import checked

from tests.support.modelless_engine import engine_info
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number", "multipleOf": 0.01},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
    },
    "required": ["name"],
    "additionalProperties": False,
    "$defs": {
        "part": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "additionalProperties": False,
        }
    },
}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> TextModel:
    return TextModel.load(write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", LLAMA))


def extractor(model: TextModel, context: int = 4096) -> Extractor:
    info = engine_info(model="tiny", context_length=context)
    return Extractor(model, info)


def prepared(model: TextModel, context: int = 4096, **body: Any) -> Prepared:
    """What the engine would be asked for a request with this body."""
    extracting = extractor(model, context)
    parsed = extracting.parse(checked({"schema": SCHEMA, **body}))
    examined = extracting.examined(parsed, Verdict(coverage=Coverage()))
    return extracting.prepare(examined)


def prompt(model: TextModel, **body: Any) -> str:
    return model.text(prepared(model, **body).request.prompt)


def refusal(model: TextModel, **body: Any) -> Mapping[str, str]:
    """The places that a refusal names, with their reasons."""
    with pytest.raises((InvalidBody, UnknownField)) as refused:
        prepared(model, **body)
    return {detail.pointer: detail.reason for detail in refused.value.details}


def test_examples_are_a_conversation_before_the_document(text: TextModel) -> None:
    examples = [
        {"text": "first text", "data": {"parts": [{"b": 2, "a": 1}], "name": "x"}},
        {"text": "second text", "data": {"name": "y", "price": 19.99}},
    ]
    found = prompt(text, text="third text", examples=examples, instructions="Prices in euros.")
    order = [
        "name: string",
        "Prices in euros.",
        "first text",
        '{"name":"x","parts":[{"a":1,"b":2}]}',
        "second text",
        '{"name":"y","price":19.99}',
        "third text",
    ]
    places = [found.index(part) for part in order]
    assert places == sorted(places)


def test_the_data_of_an_example_is_valid_or_told_where_not(text: TextModel) -> None:
    bad = {"name": 5, "price": 0.001, "parts": [{"a": 1}, {"c/d": 2}]}
    found = refusal(
        text, text="x", examples=[{"text": "a", "data": {"name": "b"}}, {"text": "c", "data": bad}]
    )
    assert set(found) == {
        "/examples/1/data/name",
        "/examples/1/data/price",
        "/examples/1/data/parts/1",
    }
    assert "/properties/name/type" in found["/examples/1/data/name"]


def test_a_null_is_right_in_an_example_if_the_request_allows_nulls(text: TextModel) -> None:
    examples = [{"text": "a", "data": {"name": None}}]
    assert "/examples/0/data/name" in refusal(text, text="x", examples=examples)
    found = prompt(text, text="x", examples=examples, options={"not_stated": "null"})
    assert '{"name":null}' in found


def test_a_conversation_takes_the_place_of_the_document(text: TextModel) -> None:
    messages = [
        {"role": "system", "content": "The caller speaks of one order."},
        {"role": "user", "content": "I ordered a lamp."},
        {"role": "assistant", "content": "Which one?"},
        {"role": "user", "content": "The Aurora."},
    ]
    found = prompt(text, messages=messages)
    places = [found.index(part["content"]) for part in messages]
    assert places == sorted(places)
    assert found.count("The caller speaks") == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/text"),
        ({"text": "a", "messages": [{"role": "user", "content": "b"}]}, "/text"),
        ({"messages": []}, "/messages"),
        ({"messages": [{"role": "tool", "content": "b"}]}, "/messages/0/role"),
        ({"messages": [{"role": "user", "content": ""}]}, "/messages/0/content"),
        ({"messages": [{"role": "user", "content": "b", "name": "c"}]}, "/messages/0/name"),
        ({"messages": [{"role": "system", "content": "b"}]}, "/messages"),
        ({"messages": [{"role": "user", "content": "\n"}] * 2}, "/messages"),
        ({"text": "a", "texts": ["b"]}, "/text"),
        ({"texts": []}, "/texts"),
        ({"texts": ["a", ""]}, "/texts/1"),
        ({"text": "a", "instructions": 5}, "/instructions"),
        ({"text": "a", "examples": [{"text": "b"}]}, "/examples/0/data"),
        (
            {"text": "a", "examples": [{"text": "b", "data": {"name": "c"}, "why": 1}]},
            "/examples/0/why",
        ),
        ({"text": "a", "examples": {}}, "/examples"),
    ],
    ids=range(15),
)
def test_what_is_wrong_is_told_where(text: TextModel, body: Any, pointer: str) -> None:
    assert pointer in refusal(text, **body)


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ({"grounding": "locate"}, "it belongs at /options/grounding"),
        ({"options": {"instructions": "be brief"}}, "it belongs at /instructions"),
        ({"options": {"max_token": 5}}, "did you mean max_tokens or draft_max_tokens"),
    ],
)
def test_an_unknown_field_is_told_where_one_of_its_name_belongs(
    text: TextModel, body: Any, hint: str
) -> None:
    with pytest.raises(UnknownField) as refused:
        prepared(text, text="a", **body)
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"text": "x" * 3000}, "text"),
        ({"messages": [{"role": "user", "content": "x" * 3000}] * 2}, "messages"),
        ({"text": "x", "instructions": "y" * 3000}, "instructions"),
        ({"text": "x", "examples": [{"text": "z" * 3000, "data": {"name": "a"}}]}, "examples"),
    ],
)
def test_the_longest_part_of_a_prompt_that_does_not_fit_is_named(
    text: TextModel, body: Any, where: str
) -> None:
    with pytest.raises(TooLong) as refused:
        prepared(text, context=1024, **body)
    assert refused.value.where == where
    assert f"{where} " in refused.value.message
    assert where.removesuffix("s") in refused.value.hint


def test_the_room_for_an_answer_grows_with_the_conversation(text: TextModel) -> None:
    def room(contents: list[str]) -> int:
        messages = [{"role": "user", "content": content} for content in contents]
        limits = prepared(text, messages=messages).request.limits
        assert limits is not None
        assert limits.room is not None
        return limits.room

    assert room(["a" * 100, "b" * 100]) > room(["a" * 100]) > room(["a"])


def test_a_model_without_messages_reads_instructions_and_refuses_examples() -> None:
    from intaglio.engine.api import model_folder

    embedded = TextModel.load(model_folder(None))
    examples = [{"text": "a", "data": {"name": "b"}}]
    assert refusal(embedded, text="some text", examples=examples).keys() == {"/examples"}
    found = prompt(embedded, text="some text", instructions="Prices\nin euros.")
    assert (
        found.index("// Prices in euros.") < found.index("name: string") < found.index("some text")
    )


def test_data_is_written_as_an_answer_is(text: TextModel) -> None:
    data = {"name": 'é "q"', "parts": []}
    found = prompt(text, text="x", examples=[{"text": "a", "data": data}])
    assert json.dumps(data, ensure_ascii=False, separators=(",", ":")) in found
