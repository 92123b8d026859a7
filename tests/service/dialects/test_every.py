"""At most one constraint in a request, in any mixture of dialects."""

import json
from typing import Any

import pytest
from intaglio.schemas.dialects.constraint_fields import ConstraintFields
from intaglio.service.dialects.every import stated_constraint
from intaglio.service.errors import InvalidBody

from tests.service.dialects.languages import lets_through, stated

OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
RULES = 'root ::= "a" | "b"'

# Fields, a text that their constraint lets through, and one that it does not.
TAG = {
    "type": "structural_tag",
    "structures": [{"begin": "<f>", "schema": {"type": "integer"}, "end": "</f>"}],
    "triggers": ["<f>"],
}
STATED: dict[str, tuple[dict[str, Any], str, str]] = {
    "OpenAI schema": (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": OBJECT}}},
        '{"a":1}', '{"a":1,"b":2}'),
    "OpenAI object": ({"response_format": {"type": "json_object"}}, '{"x":[1]}', "[1]"),
    "object with a schema": (
        {"response_format": {"type": "json_object", "schema": OBJECT}}, '{"a":1}', '{"x":1}'),
    "schema beside its type": (
        {"response_format": {"type": "json_schema", "schema": OBJECT}}, '{"a":1}', '{"x":1}'),
    "vLLM json": ({"structured_outputs": {"json": OBJECT}}, '{"a":1}', '{"a":"1"}'),
    "vLLM json as text": ({"structured_outputs": {"json": '{"type":"null"}'}}, "null", "1"),
    "vLLM regex": ({"structured_outputs": {"regex": "[ab]+"}}, "abba", "abc"),
    "vLLM choice": ({"structured_outputs": {"choice": ["yes", "no"]}}, "no", "maybe"),
    "vLLM choice of marks": (
        {"structured_outputs": {"choice": ["a.b|c", "(é)\n/", "-^$"]}}, "(é)\n/", "axb"),
    "vLLM empty choice": ({"structured_outputs": {"choice": ["", "x"]}}, "", "y"),
    "vLLM grammar": ({"structured_outputs": {"grammar": RULES}}, "b", "ab"),
    "vLLM Lark": ({"structured_outputs": {"grammar": '?start: "::=" A\nA: /a+/'}}, "::=aa", "aa"),
    "vLLM object": ({"structured_outputs": {"json_object": True}}, "{}", "1"),
    "vLLM structural tag": (
        {"structured_outputs": {"structural_tag": TAG}}, "a <f>1</f>", "<f>a</f>"),
    "vLLM structural tag as text": (
        {"structured_outputs": {"structural_tag": json.dumps(TAG)}}, "<f>1</f>", "<f>"),
    "properties in a structural tag": (
        {"response_format": {"type": "structural_tag", "format": {
            "type": "json_schema", "json_schema": OBJECT}}}, '{"a":1}', '{"a":1,"b":2}'),
    "structural tag as a format": ({"response_format": TAG}, "<f>1</f>", "<f>a</f>"),
    "guided_json": ({"guided_json": OBJECT, "guided_decoding_backend": "x"}, '{"a":1}', "{}"),
    "guided_regex": ({"guided_regex": r"\d{2}"}, "12", "1"),
    "guided_choice": ({"guided_choice": ["x"], "guided_whitespace_pattern": r"[\n\t ]*"}, "x", "y"),
    "guided_grammar": ({"guided_grammar": f"# a: b\n{RULES}"}, "a", "c"),
    "SGLang regex": ({"regex": "a?"}, "a", "b"),
    "SGLang ebnf": ({"ebnf": RULES}, "a", "c"),
    "SGLang schema": ({"json_schema": '{"const":[1,"a"]}'}, '[1,"a"]', "1"),
    "llama.cpp grammar": ({"grammar": "# GBNF\nroot ::= item+\nitem ::= [0-9] \",\""}, "1,2,", "1"),
    "llama.cpp Lark": ({"grammar": '// Lark\nstart: pair{"a"}\npair{x}: x x'}, "aa", "a"),
    "llama.cpp schema": ({"json_schema": {"enum": [True, 7]}}, "7", "8"),
}  # fmt: skip


@pytest.mark.parametrize("name", STATED)
def test_a_constraint_means_what_its_dialect_says(name: str) -> None:
    fields, good, bad = STATED[name]
    found = stated(**fields)
    assert lets_through(found.constraint, good)
    assert not lets_through(found.constraint, bad)
    assert found.pointer.startswith("/" + next(iter(fields)))
    assert (found.schema is not None) == (found.constraint.kind == "json_schema")


@pytest.mark.parametrize(
    "fields",
    [{}, {"response_format": {"type": "text"}}, {"grammar": ""}, {"guided_decoding_backend": "auto"}],
)  # fmt: skip
def test_a_request_without_a_constraint_is_free(fields: dict[str, Any]) -> None:
    assert stated_constraint(ConstraintFields.model_validate(fields)) is None


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"regex": "a", "grammar": RULES}, ["/regex", "/grammar"]),
        ({"guided_json": {}, "response_format": {"type": "json_object"}},
         ["/response_format", "/guided_json"]),
        ({"structured_outputs": {"regex": "a", "choice": ["a"]}},
         ["/structured_outputs/regex", "/structured_outputs/choice"]),
        ({"json_schema": {}, "ebnf": RULES, "guided_regex": "a"},
         ["/guided_regex", "/ebnf", "/json_schema"]),
    ],
)  # fmt: skip
def test_several_constraints_are_refused_with_the_place_of_each(
    fields: dict[str, Any], pointers: list[str]
) -> None:
    with pytest.raises(InvalidBody) as refusal:
        stated(**fields)
    assert [detail.pointer for detail in refusal.value.details] == pointers
    assert refusal.value.hint


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"structured_outputs": {}}, "/structured_outputs"),
        ({"structured_outputs": {"json_object": False}}, "/structured_outputs"),
        ({"structured_outputs": {"choice": []}}, "/structured_outputs/choice"),
        ({"structured_outputs": {"json": "{"}}, "/structured_outputs/json"),
        ({"structured_outputs": {"json": "[1]"}}, "/structured_outputs/json"),
        ({"structured_outputs": {"json": {}, "whitespace_pattern": "x+"}},
         "/structured_outputs/whitespace_pattern"),
        ({"guided_whitespace_pattern": "\n"}, "/guided_whitespace_pattern"),
        ({"response_format": {"type": "json_schema"}}, "/response_format/json_schema/schema"),
        ({"response_format": {"type": "json_object", "json_schema": {"schema": True}}},
         "/response_format/json_schema"),
        ({"response_format": {"type": "text", "schema": True}}, "/response_format/schema"),
        ({"response_format": {"type": "json_object", "scheme": {}}}, "/response_format/scheme"),
        ({"response_format": {"type": "json_schema", "schema": True, "json_schema": {"schema": True}}},
         "/response_format/schema"),
        ({"json_schema": "no"}, "/json_schema"),
    ],
)  # fmt: skip
def test_an_unusable_field_is_refused_at_its_place(fields: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidBody) as refusal:
        stated(**fields)
    assert [detail.pointer for detail in refusal.value.details] == [pointer]
    assert refusal.value.param == pointer[1:].replace("/", ".")
