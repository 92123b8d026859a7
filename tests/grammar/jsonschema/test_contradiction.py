"""The place and the keywords that leave a schema without values."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from intaglio.grammar.api import Constraint, Kind, Refusal, Unsatisfiable, screen

TEXT: dict[str, Any] = {"type": "string"}


def closed(**members: Any) -> dict[str, Any]:
    required = {"required": [*members], "additionalProperties": False}
    return {"type": "object", "properties": members, **required}


def refused(schema: Any, *, extra: bool = False) -> Refusal:
    """Why a schema has no value."""
    with pytest.raises(Unsatisfiable) as caught:
        screen(Constraint(Kind.JSON_SCHEMA, json.dumps(schema), extra_properties=extra))
    (refusal,) = caught.value.refusals
    told = f"{refusal.where}: {refusal.reason}" if refusal.where else refusal.reason
    assert caught.value.message == told
    return refusal


@pytest.mark.parametrize(
    ("schema", "where", "keywords"),
    [
        ({"type": "string", "minLength": 5, "maxLength": 2}, "", "type, minLength and maxLength"),
        ({"type": "string", "enum": [1, 2], "title": "a"}, "", "type and enum"),
        ({"type": ["string", "null"], "const": 5}, "", "type and const"),
        ({"enum": []}, "", "enum"),
        (
            closed(a=closed(b={"type": "integer", "maximum": 1.8, "minimum": 1.2})),
            "/properties/a/properties/b",
            "type, maximum and minimum",
        ),
        (
            closed(a={"type": "array", "minItems": 2, "prefixItems": [TEXT], "items": {"enum": []}}),
            "/properties/a/items",
            "enum",
        ),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [TEXT, {"pattern": "^b$", "const": "c"}]}}},
            "/$defs/a/allOf/1",
            "pattern and const",
        ),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a"}
            | {"definitions": {"a": {"type": "null", "minimum": 3, "const": "x"}}},
            "/definitions/a",
            "type and const",
        ),
        (
            {"type": "object", "required": ["a"]}
            | {"allOf": [{"properties": {"a": TEXT}}, {"properties": {"a": {"type": "null"}}}]},
            "",
            "type, required, allOf/0 and allOf/1",
        ),
        (
            {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 3},
            "",
            "type, items, uniqueItems and minItems",
        ),
        ({"type": "array", "items": TEXT, "contains": {"type": "null"}}, "", "type, items and contains"),
        (closed(a={"oneOf": [TEXT, {"type": "string"}]}), "/properties/a", "oneOf"),
        (closed(a={"anyOf": [{"enum": []}, {"not": {}}]}), "/properties/a", "anyOf"),
        (
            {"properties": {"a": {"const": 1}}, "type": "object", "required": ["a"]}
            | {"if": {"required": ["a"]}, "then": {"required": ["b"], "properties": {"b": False}}},
            "",
            "type, required, if and then",
        ),
    ],
)  # fmt: skip
def test_the_cause_is_named_with_its_place(schema: Any, where: str, keywords: str) -> None:
    refusal = refused(schema)
    assert refusal.where == where
    assert keywords in refusal.reason
    assert refusal.hint


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "multipleOf": 10, "minimum": 1, "maximum": 9, "title": "x", "not": {"const": 7}},
        {"type": "string", "pattern": "^[0-9]{4}$", "format": "date", "minLength": 1},
        {"type": "object", "maxProperties": 1, "required": ["a", "b"], "properties": {"a": TEXT}},
    ],
)  # fmt: skip
def test_every_named_keyword_is_needed_for_the_contradiction(schema: dict[str, Any]) -> None:
    named = (
        refused(schema, extra=True).reason.removeprefix("no value meets ").removesuffix(" together")
    )
    keywords = named.replace(" and ", ", ").split(", ")
    assert len(keywords) >= 3
    refused({keyword: schema[keyword] for keyword in keywords}, extra=True)
    bounds = {"minimum", "maximum"}  # one formula: either is named with the other
    for keyword in keywords:
        left_out = bounds if keyword in bounds else {keyword}
        kept = {name: schema[name] for name in keywords if name not in left_out}
        screen(Constraint(Kind.JSON_SCHEMA, json.dumps(kept)))


@pytest.mark.parametrize(
    "definition",
    [
        closed(next={"$ref": "#/$defs/node"}),
        closed(a=TEXT, kids={"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/node"}}),
    ],
)
def test_a_value_that_contains_itself_without_end_is_told(definition: Mapping[str, Any]) -> None:
    refusal = refused({**closed(a={"$ref": "#/$defs/node"}), "$defs": {"node": definition}})
    assert refusal.where == "/$defs/node"
    assert "no value ends" in refusal.reason
    assert "allow null" in refusal.hint


def test_properties_that_only_the_options_forbid_are_told() -> None:
    schema = {"type": "object", "properties": {"a": TEXT}, "minProperties": 2}
    refusal = refused(schema)
    assert "extra_properties" in refusal.hint
    screen(Constraint(Kind.JSON_SCHEMA, json.dumps(schema), extra_properties=True))
    assert "extra_properties" not in refused(schema | {"additionalProperties": False}).hint


def test_an_object_closed_to_what_another_schema_declares_gets_advice() -> None:
    base = {"properties": {"a": TEXT}, "required": ["a"], "additionalProperties": False}
    own = {"properties": {"b": TEXT}, "required": ["b"]}
    assert "unevaluatedProperties" in refused({"type": "object", "allOf": [base, own]}).hint
