"""Which values a schema chose from a list, and which may be null."""

from typing import Any

import pytest
from intaglio.service.grounding.value_choices import value_choices

COLOUR = {"enum": ["red", "blue", 1, None]}


@pytest.mark.parametrize(
    ("schema", "data", "closed"),
    [
        (COLOUR, "red", {""}),
        (COLOUR, "green", set()),
        (COLOUR, True, set()),
        ({"const": "x"}, "x", {""}),
        ({"type": "string"}, "red", set()),
        (True, {"a": 1}, set()),
        ({"properties": {"a/b": COLOUR, "c": {}}}, {"a/b": "red", "c": "red"}, {"/a~1b"}),
        ({"additionalProperties": COLOUR}, {"z": 1}, {"/z"}),
        ({"items": COLOUR, "prefixItems": [{}]}, ["red", "red"], {"/1"}),
        ({"anyOf": [{"type": "string"}, COLOUR]}, "blue", {""}),
        ({"allOf": [{"$ref": "#/$defs/c"}], "$defs": {"c": COLOUR}}, "blue", {""}),
        ({"if": {}, "then": {"properties": {"a": COLOUR}}}, {"a": "red"}, {"/a"}),
        ({"$ref": "#"}, "x", set()),
        ({"$ref": "https://elsewhere.example/"}, "x", set()),
        (
            {"properties": {"n": {"$ref": "#"}, "c": COLOUR}},
            {"c": "red", "n": {"n": {"c": "blue"}}},
            {"/c", "/n/n/c"},
        ),
    ],
)
def test_values_of_lists_are_found(schema: Any, data: Any, closed: set[str]) -> None:
    assert value_choices(schema, data).closed == closed


@pytest.mark.parametrize(
    ("schema", "data", "nullable"),
    [
        ({"type": ["string", "null"]}, "x", {""}),
        ({"type": "null"}, None, {""}),
        ({"type": "string"}, "x", set()),
        ({"type": "nullable"}, "x", set()),
        (COLOUR, "red", {""}),
        ({"enum": ["red"]}, "red", set()),
        ({"const": None}, None, {""}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "x", {""}),
        ({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/n"}], "$defs": {"n": COLOUR}}, "x", {""}),
        ({"anyOf": [{"type": "string"}, {"const": 1}]}, "x", set()),
        (True, "x", {""}),
        ({"minLength": 1}, "x", {""}),
        ({"properties": {"a": {"type": "string"}}}, {"a": "x", "b": "x"}, {"/b"}),
        ({"items": {"type": ["string", "null"]}}, ["x", 1], {"/0", "/1"}),
    ],
)
def test_values_that_may_be_null_are_found(schema: Any, data: Any, nullable: set[str]) -> None:
    assert value_choices(schema, data).nullable == nullable
