"""Values that are not stated: null where the caller agrees, and said so."""

import json
from typing import Any

import jsonschema
import pytest
from intaglio.service.extraction.nulls import null_warnings, nullable
from intaglio.service.extraction.validate import check

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "mail": {"type": "string", "format": "email"},
        "code": {"type": "string", "pattern": "^[A-Z]+$"},
        "age": {"type": "integer", "minimum": 0},
        "score": {"type": ["number", "string"], "multipleOf": 0.5},
        "ok": {"type": "boolean"},
        "size": {"enum": ["S", "M"]},
        "kind": {"const": "person"},
        "only": {"enum": ["x"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "lines": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "home": {"$ref": "#/$defs/address"},
        "work": {"anyOf": [{"$ref": "#/$defs/address"}, {"type": "string"}]},
        "seen": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    },
    "additionalProperties": False,
    "$defs": {
        "address": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        }
    },
}
PERSON["required"] = list(PERSON["properties"])
STATED: dict[str, Any] = {
    "name": "Bo",
    "mail": "a@b.de",
    "code": "X",
    "age": 1,
    "score": 1.5,
    "ok": True,
    "size": "S",
    "kind": "person",
    "only": "x",
    "tags": [],
    "lines": ["a"],
    "home": {"city": "Bonn"},
    "work": "a",
    "seen": 1,
}


@pytest.mark.parametrize(
    ("pointer", "change"),
    [
        *((f"/{n}", {n: None}) for n in ("name", "mail", "code", "age", "score", "ok", "size")),
        ("/seen", {"seen": None}),
        ("/work", {"work": None}),
        ("/lines/0", {"lines": [None]}),
        ("/home/city", {"home": {"city": None}}),
    ],
)
def test_null_stands_for_any_scalar_that_is_not_stated_and_is_told(
    pointer: str, change: dict[str, Any]
) -> None:
    wide, data = nullable(PERSON), STATED | change
    jsonschema.Draft202012Validator.check_schema(wide)
    check(data, wide)
    (warning,) = null_warnings(data, PERSON)
    assert (warning.pointer, warning.kind) == (pointer, "not_stated")


@pytest.mark.parametrize(
    "change", [{"kind": None}, {"only": None}, {"tags": [None]}, {"home": None}, {"lines": []}]
)
def test_constants_containers_and_items_that_may_be_left_out_stay_as_they_are(
    change: dict[str, Any],
) -> None:
    assert not jsonschema.Draft202012Validator(nullable(PERSON)).is_valid(STATED | change)


def test_what_is_stated_needs_no_warning_and_the_schema_is_not_changed() -> None:
    before = json.dumps(PERSON)
    wide = nullable(PERSON)
    check(STATED, wide)
    assert null_warnings(STATED, PERSON) == ()
    assert json.dumps(PERSON) == before
    assert nullable(wide) == wide


def test_conditions_mean_what_they_meant() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "if": {"properties": {"a": {"type": "string", "const": "x"}}},
        "not": {"required": ["b"], "properties": {"b": {"type": "string"}}},
        "contains": {"type": "string"},
    }
    wide = nullable(schema)
    assert {word: wide[word] for word in ("if", "not", "contains")} == {
        word: schema[word] for word in ("if", "not", "contains")
    }
