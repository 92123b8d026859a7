"""Which values a schema chose from a list."""

from typing import Any

import pytest
from intaglio.service.grounding.closed_values import closed_values

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
    assert closed_values(schema, data) == closed
