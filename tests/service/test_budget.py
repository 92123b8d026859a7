"""The default budget of an answer: enough for everything in a document, and always finite."""

from typing import Any

import pytest
from intaglio.service.extraction.budget import room

TEXT: dict[str, Any] = {"type": "string"}


def an_object(*names: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {**dict.fromkeys(names, TEXT), **properties}}


def test_a_small_document_gives_some_hundred_tokens() -> None:
    assert 200 < room(an_object("name", "phone", "email", "iban"), 20) < 800


def test_a_table_in_the_document_fits_with_the_names_of_its_columns() -> None:
    # Sixty rows of five values, some three tokens each; the answer repeats five names for each row.
    schema = an_object(
        rows={"type": "array", "items": an_object("date", "text", "amount", "tax", "account")}
    )
    names = sum(len(name) // 3 + 5 for name in ("date", "text", "amount", "tax", "account"))
    assert room(schema, 60 * 15) > 60 * (15 + names)


def test_a_verbatim_text_fits_whatever_its_length() -> None:
    for tokens in (10, 100, 1000, 10_000):
        assert room(an_object("body"), tokens) > 1.5 * tokens


def test_a_summary_of_a_small_document_fits() -> None:
    assert room(an_object("summary"), 30) > 250


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "propertys": {"name": TEXT}},
        {"type": "object"},
        {"type": "array"},
        {"type": "array", "items": {}},
        {},
        True,
    ],
)
def test_a_schema_without_declared_properties_has_little_more_than_the_document(
    schema: Any,
) -> None:
    for tokens in (10, 30, 1000):
        assert tokens < room(schema, tokens) <= 192 + 3 * tokens + 128


def test_optional_properties_have_room_for_what_the_document_can_state() -> None:
    names = [f"field_{number}" for number in range(800)]
    optional, required = an_object(*names), {**an_object(*names), "required": names}
    assert room(optional, 30) < 1000
    assert room(required, 30) > 800 * 96
    # Every second token another property, with its name, quotes, colon and comma.
    assert room(optional, 300) > 150 * 12


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "propertys": {"name": TEXT}},
        {},
        True,
        {"type": "array", "items": {"$ref": "#"}},
        {"$ref": "#/$defs/a", "$defs": {"a": an_object(a={"$ref": "#/$defs/a"})}},
        {"type": "object", "additionalProperties": TEXT},
        {"anyOf": [TEXT, {"type": "integer"}, {"$ref": "http://elsewhere"}]},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"items": [True, {"enum": [1]}], "prefixItems": "no list", "properties": 7},
    ],
)
def test_every_schema_has_a_finite_room(schema: Any) -> None:
    assert 128 < room(schema, 10) < 2000
    assert room(schema, 1000) > room(schema, 10)


def test_a_schema_that_doubles_with_every_reference_is_counted_in_bounded_time() -> None:
    defs = {
        f"a{n}": an_object(x={"$ref": f"#/$defs/a{n + 1}"}, y={"$ref": f"#/$defs/a{n + 1}"})
        for n in range(60)
    }
    assert room({"$ref": "#/$defs/a0", "$defs": defs}, 10) > 0
