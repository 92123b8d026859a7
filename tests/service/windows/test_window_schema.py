"""The schema of one window: it accepts all valid documents, and windows with only a part of one."""

from typing import Any

import pytest
from intaglio.service.extraction.validate import faults
from intaglio.service.windows.window_schema import window_schema

ITEM = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
WHOLE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"const": "list"},
        "name": {"type": "string", "minLength": 1},
        "state": {"$ref": "#/$defs/State"},
        "owner": {"$ref": "#/$defs/Owner"},
        "other": {"anyOf": [{"$ref": "#/$defs/Owner"}, {"type": "null"}]},
        "sum": {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9]+$"}]},
        "items": {"type": "array", "items": ITEM, "minItems": 2, "maxItems": 4},
        "states": {"type": "array", "items": {"$ref": "#/$defs/State"}, "uniqueItems": True},
    },
    "required": ["kind", "name", "state", "owner", "sum", "items"],
    "minProperties": 6,
    "dependentRequired": {"other": ["states"]},
    "additionalProperties": False,
    "$defs": {
        "State": {"enum": ["open", "paid"]},
        "Owner": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}},
            "required": ["name"],
        },
    },
}
FULL: dict[str, Any] = {
    "kind": "list",
    "name": "x",
    "state": "open",
    "owner": {"name": "Ada", "age": 3},
    "sum": 1.5,
    "items": [{"a": "1"}, {"a": "2"}],
}


def is_valid(value: Any, schema: Any) -> bool:
    return next(faults(value, schema), None) is None


def test_a_full_value_and_an_empty_window_are_both_valid() -> None:
    part = window_schema(WHOLE)
    assert is_valid(FULL, WHOLE)
    assert is_valid(FULL, part)
    empty: dict[str, Any] = {
        "kind": "list",
        "name": None,
        "state": None,
        "owner": {"name": None},
        "sum": None,
        "items": [],
        "other": {"name": None},
    }
    assert is_valid(empty, part)
    assert not is_valid(empty, WHOLE)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": None},
        {"name": ""},
        {"state": "lost"},
        {"items": [{"a": None}]},
        {"items": [{"a": "1"}] * 5},
        {"states": [None]},
        {"states": ["open", "open"]},
        {"sum": "x"},
        {"more": 1},
    ],
)
def test_what_a_part_must_meet_stays(change: dict[str, Any]) -> None:
    assert not is_valid({**FULL, **change}, window_schema(WHOLE))


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3},
        {"enum": [1, 2]},
        {"type": "string"},
        {"allOf": [{"type": "string"}, {"minLength": 2}]},
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        {"not": {"type": "integer"}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "minProperties": 1}}},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": []},
        {"if": {"type": "string"}, "then": {"minLength": 3}},
    ],
)
def test_every_value_of_the_whole_is_one_of_a_window(schema: Any) -> None:
    part = window_schema(schema)
    values: tuple[Any, ...] = (1, 2, "ab", "abc", None, [], [1, 2, 3], {}, {"a": {}}, 1.5)
    for value in (*values, {"a": {"a": {}}}):
        assert is_valid(value, part) or not is_valid(value, schema), value
