"""The outline of a schema: one line a property, and nothing lost."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from intaglio.schemas.extraction.requests import Example, Message
from intaglio.service.documents.seen_image import SeenImage
from intaglio.service.extraction.outline import BRIEF, outline
from intaglio.service.extraction.prompt import INSTRUCTION, PromptParts, extraction_messages


def lines(properties: dict[str, object], **more: object) -> list[str]:
    schema = {"type": "object", "properties": properties, "required": list(properties), **more}
    return outline(schema).split("\n")


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ({"type": "string"}, "a: string"),
        ({"type": ["string", "null"]}, "a: string | null"),
        ({"type": "string", "format": "date"}, "a: date"),
        ({"type": "string", "pattern": "^[A-Z]{3}$"}, "a: string /^[A-Z]{3}$/"),
        ({"type": "string", "minLength": 1, "maxLength": 9}, "a: string 1..9"),
        ({"type": "integer", "minimum": 0}, "a: integer >=0"),
        ({"type": "number", "exclusiveMaximum": 5, "multipleOf": 0.5}, "a: number <5 *0.5"),
        ({"enum": ["x y", 3, None]}, 'a: "x y" | 3 | null'),
        ({"const": True}, "a: true"),
        ({"type": "boolean", "description": "is  it\nso?"}, "a: boolean // is it so?"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, "a: [string] 1.."),
        (
            {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
            "a: [integer] unique",
        ),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "a: integer | null"),
        ({}, "a: any"),
        ({"type": "object"}, "a: {}"),
    ],
)
def test_one_property(schema: dict[str, object], line: str) -> None:
    assert lines({"a": schema}) == [line]


def test_optional_properties_are_marked_and_awkward_names_quoted() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b?": {}},
        "required": ["b?"],
    }
    assert outline(schema) == 'a?: string\n"b?": any'


def test_objects_nest_by_indentation() -> None:
    inner = {
        "type": ["object", "null"],
        "description": "who",
        "properties": {"name": {"type": "string", "description": "in full"}},
        "required": ["name"],
    }
    assert lines({"p": inner, "q": {"type": "array", "items": inner}}) == [
        "p: { // who",
        "  name: string // in full",
        "} | null",
        "q: [{ // who",
        "  name: string // in full",
        "} | null]",
    ]


def test_local_references_are_written_out_and_recursive_ones_declared_once() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    text = lines({"tree": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}})
    assert text == ["tree: {", "  next?: node", "}", "node = {", "  next?: node", "}"]
    assert outline({"type": "object", "properties": {"a": {"$ref": "#"}}}).count("Root = {") == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"type": "string"}},
        {"type": "string", "contentEncoding": "base64"},
        {"type": "object", "properties": {"a": {}}, "minProperties": 1},
        {"type": "array", "items": {"type": "string"}, "contains": {"const": "x"}},
        {"$ref": "#/$defs/missing"},
        {"allOf": [{"$ref": "#/$defs/used"}, {"minLength": 2}]},
    ],
)
def test_what_has_no_short_form_stays_as_json(schema: dict[str, object]) -> None:
    text = lines({"a": schema}, **{"$defs": {"used": {"type": "string"}}})
    assert json.loads(text[0].removeprefix("a: ")) == schema
    assert ("used = string" in text) == ("used" in json.dumps(schema))


def test_a_description_cannot_forge_a_property() -> None:
    text = lines({"a": {"type": "string", "description": "x\nb: integer"}})
    assert text == ["a: string // x b: integer"]


def test_messages_and_variables_say_the_same() -> None:
    schema = {"title": "Thing", "type": "object", "properties": {"a": {"type": "string"}}}
    prompt = extraction_messages(schema, PromptParts.of("the text"))
    assert prompt.variables == {"schema": "// Thing\na?: string", "document": "the text"}
    system, user = prompt.messages
    assert system["content"] == f"{INSTRUCTION.format(root='object')}\n\n// Thing\na?: string"
    assert user == {"role": "user", "content": "the text"}


def test_a_model_sees_line_feeds_and_no_other_control_character() -> None:
    sent, seen = "Name: Ada\r\nCity: Hull\rA\0B\x0cC\tD", "Name: Ada\nCity: Hull\nA B\nC\tD"
    messages = (Message(role="system", content=sent), Message(role="user", content=sent))
    parts = PromptParts(messages, examples=(Example(text=sent, data={"a": "b"}),))
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    prompt = extraction_messages(schema, parts)
    assert parts.document == sent
    assert prompt.variables["document"] == parts.printed == seen
    system, example, answer, user = prompt.messages
    assert system["content"].endswith(f"\n\n{seen}")
    assert [example["content"], user["content"]] == [seen, seen]
    assert answer["content"] == '{"a":"b"}'
    pixel = SeenImage(rows=1, columns=1, pixels=b"")
    (user,) = extraction_messages(schema, replace(PromptParts.of(sent), images=(pixel,))).messages[
        1:
    ]
    assert user["content"] == [{"type": "image"}, {"type": "text", "text": seen}]


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "array", "items": {"type": "string"}}, "array"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "array"}}}, "array"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {}}}}, "object"),
        ({"type": "number"}, "value"),
        ({"$ref": "#/$defs/a", "$defs": {"a": True}}, "value"),
    ],
)
def test_the_instruction_names_the_kind_of_the_answer(schema: dict[str, object], kind: str) -> None:
    system, _ = extraction_messages(schema, PromptParts.of("the text")).messages
    assert f"one compact JSON {kind} in the order" in system["content"]


def test_definitions_that_multiply_do_not_multiply_the_outline() -> None:
    definitions: dict[str, object] = {
        f"d{n}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/$defs/d{n + 1}"} for name in "ab"},
        }
        for n in range(40)
    }
    schema = {"$ref": "#/$defs/d0", "$defs": {**definitions, "d40": {"type": "null"}}}
    text = outline(schema)
    assert len(text) < 20_000
    assert "d40 = null" in text or "b: null" in text


def test_a_long_enumeration_is_cut_with_a_count_and_a_short_one_is_whole() -> None:
    (whole,) = lines({"a": {"enum": [f"v{n}" for n in range(300)]}})
    assert whole.endswith('| "v298" | "v299"')
    (cut,) = lines({"a": {"enum": [f"v{n}" for n in range(5000)]}})
    assert cut == "a: " + " | ".join(f'"v{n}"' for n in range(10)) + " | … and 4,990 more"
    (wide,) = lines({"a": {"enum": ["x" * 600 + str(n) for n in range(20)]}})
    assert wide.endswith("| … and 10 more")
    (huge,) = lines({"a": {"enum": ["x" * 50_000, "y"]}})
    assert huge.endswith('… | "y"')
    assert len(huge) < 3000
    (raw,) = lines({"a": {"type": "string", "enum": [f"v{n}" for n in range(5000)]}})
    assert "… and 4,990 more" in raw
    assert len(raw) < 300


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "description": "long " * 5000},
        {"const": "x" * 20_000},
        {"type": "string", "pattern": "a|" * 10_000 + "b"},
        {"not": {"enum": [["x" * 100] * 3000]}},
    ],
)
def test_nothing_by_itself_fills_a_prompt(schema: dict[str, object]) -> None:
    text = "\n".join(lines({"a": schema, "b": {"type": "integer"}}))
    assert len(text) < 12_000
    assert text.endswith("b: integer")
    assert len(outline({"properties": {"a": schema}}, limits=BRIEF)) < 1000


def test_a_thousand_properties_are_counted() -> None:
    text = lines({f"p{n}": {"type": "integer"} for n in range(1200)})
    assert text[-2:] == ["p999: integer", "… and 200 more properties"]


@pytest.mark.parametrize("document", ["7", "a\0b", "...", "<|document|><|schema|>", "<|end|> x"])
def test_a_document_without_words_lends_none_of_the_schema(document: str) -> None:
    member = {"type": "string", "description": "How it is called"}
    schema = {"title": "Thing", "type": "object", "properties": {"name": member}}
    assert (
        extraction_messages(schema, PromptParts.of(document)).variables["schema"] == "name?: string"
    )
    assert (
        "How it is called"
        in extraction_messages(schema, PromptParts.of(document)).messages[0]["content"]
    )
    assert (
        "called"
        in extraction_messages(schema, PromptParts.of(document + " Brandt")).variables["schema"]
    )
