"""The catalogue: sound schemas, samples that fit them, answers that can be found in the samples."""

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.grammar.api import Constraint, Kind, screen
from intaglio.schemas import catalogue
from jsonschema import Draft202012Validator
from pydantic import JsonValue

ASKED_FOR = {
    "contact",
    "event",
    "invoice",
    "job_posting",
    "order",
    "product",
    "receipt",
    "support_ticket",
}
# Keywords that need no thought of anyone who reads an entry and makes it their own.
PLAIN = {
    "type",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "format",
    "pattern",
}
ANNOTATIONS = {"$schema", "$id", "title", "description"}

every_entry = pytest.mark.parametrize("name", catalogue.names())


def objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every schema of an object inside `schema`, itself included."""
    if "properties" in schema:
        yield schema
        for member in schema["properties"].values():
            yield from objects(member)
    if "items" in schema:
        yield from objects(schema["items"])


def subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for member in schema.get("properties", {}).values():
        yield from subschemas(member)
    if "items" in schema:
        yield from subschemas(schema["items"])


def leaves(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, dict):
        for member in value.values():
            yield from leaves(member)
    elif isinstance(value, list):
        for member in value:
            yield from leaves(member)
    else:
        yield value


def test_the_promised_names_are_there() -> None:
    assert set(catalogue.names()) >= ASKED_FOR
    assert list(catalogue.names()) == sorted(catalogue.names())


def test_every_file_belongs_to_an_entry() -> None:
    folder = Path(catalogue.__file__).with_name("catalogue")
    expected = {
        f"{name}{suffix}"
        for name in catalogue.names()
        for suffix in (".json", ".txt", ".expected.json")
    }
    assert {path.name for path in folder.iterdir()} == expected


@every_entry
def test_the_schema_is_sound_and_described(name: str) -> None:
    entry = catalogue.get(name)
    Draft202012Validator.check_schema(entry.schema)
    assert entry.schema["$id"] == f"urn:intaglio:schema:{name}"
    assert entry.title
    assert entry.description
    assert 5 <= len(entry.schema["properties"]) <= 10
    for part in subschemas(entry.schema):
        assert set(part) <= PLAIN | ANNOTATIONS
    for part in objects(entry.schema):
        assert part["required"] == list(part["properties"])
        assert part["additionalProperties"] is False
        assert all(member.get("description") for member in part["properties"].values())


@every_entry
def test_every_keyword_is_enforced_while_decoding(name: str) -> None:
    screen(Constraint(Kind.JSON_SCHEMA, json.dumps(catalogue.get(name).schema)))


@every_entry
def test_the_expected_answer_is_valid(name: str) -> None:
    entry = catalogue.get(name)
    checker = Draft202012Validator.FORMAT_CHECKER
    errors = list(
        Draft202012Validator(entry.schema, format_checker=checker).iter_errors(entry.expected)
    )
    assert errors == []


@every_entry
def test_the_answer_stands_in_the_document(name: str) -> None:
    """Strings word for word, numbers as printed; dates and enum values are rewritten and not looked for."""
    entry = catalogue.get(name)
    text = " ".join(entry.sample.split())
    enums = {value for part in subschemas(entry.schema) for value in part.get("enum", ())}
    assert 60 <= len(text.split()) <= 200
    for leaf in leaves(entry.expected):
        if isinstance(leaf, bool) or leaf is None or leaf in enums:
            continue
        if isinstance(leaf, int | float):
            printed = {f"{leaf:g}", f"{leaf:.2f}", f"{leaf:,.0f}"}
            assert any(form in text for form in printed), leaf
        elif not re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(leaf)):
            assert str(leaf) in text


@every_entry
def test_addresses_are_invented(name: str) -> None:
    sample = catalogue.get(name).sample
    hosts = re.findall(r"(?:@|https?://)([\w.-]+)", sample)
    assert all(host.endswith(".example") for host in hosts)


@every_entry
def test_files_are_written_evenly(name: str) -> None:
    """Two blanks an indentation level, characters unescaped: a change shows as the lines it changes."""
    folder = Path(catalogue.__file__).with_name("catalogue")
    for suffix in (".json", ".expected.json"):
        text = (folder / f"{name}{suffix}").read_text(encoding="utf-8")
        assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"


def test_entries_are_frozen_and_never_shared() -> None:
    entry = catalogue.get("invoice")
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.name = "other"  # type: ignore[misc]
    entry.schema["properties"].clear()
    assert catalogue.get("invoice").schema["properties"]


@pytest.mark.parametrize(
    ("wrong", "matches"), [("invoise", ("invoice",)), ("Receipt", ("receipt",)), ("../spec", ())]
)
def test_an_unknown_name_is_told_with_close_ones(wrong: str, matches: tuple[str, ...]) -> None:
    with pytest.raises(KeyError) as caught:
        catalogue.get(wrong)
    assert isinstance(caught.value, catalogue.UnknownSchema)
    assert caught.value.matches == matches
    assert wrong in str(caught.value)
    assert all(match in str(caught.value) for match in matches)
