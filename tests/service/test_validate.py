"""The last check: every draft, no network, no code shared with the decoder, and an end."""

import socket
import threading
from typing import Any

import pytest
from intaglio.service.errors import InvalidOutput
from intaglio.service.extraction.validate import check

VALID: list[tuple[Any, Any]] = [
    (True, {"x": 1}),
    ({}, None),
    ({"type": "integer"}, 3.0),
    (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "minimum": 1,
            "exclusiveMinimum": True,
        },
        2,
    ),
    (
        {
            "$schema": "https://json-schema.org/draft-04/schema#",
            "minimum": 1,
            "exclusiveMinimum": True,
        },
        2,
    ),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, "x"),
    ({"definitions": {"a": {"$id": "urn:a", "const": 1}}, "$ref": "urn:a"}, 1),
    ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, {"type": "object"}),
    (
        {"patternProperties": {r"^\d+$": {"type": "string"}}, "additionalProperties": False},
        {"12": ""},
    ),
    ({"format": "email"}, "a@b.example"),
    ({"format": "iri"}, "http://é.example/ü?q#ñ"),
    ({"format": "iri-reference"}, "/ü"),
    ({"format": "iri"}, 5),
    ({"format": "a-format-of-their-own"}, "anything"),
]

INVALID: list[tuple[Any, Any]] = [
    (False, 1),
    ({"uniqueItems": True}, [1, 1.0]),
    ({"not": {"type": "string"}}, "x"),
    ({"if": {"const": 1}, "then": False}, 1),
    ({"contains": {"const": 2}}, [1]),
    ({"multipleOf": 0.1}, 0.25),
    (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "minimum": 1,
            "exclusiveMinimum": True,
        },
        1,
    ),
    (
        {
            "$schema": "https://json-schema.org/draft-04/schema#",
            "minimum": 1,
            "exclusiveMinimum": True,
        },
        1,
    ),
    ({"$schema": "https://json-schema.org/draft/2019-09/schema", "items": [{"const": 1}]}, [2]),
    (
        {"patternProperties": {r"^\d+$": {"type": "string"}}, "additionalProperties": False},
        {"a": ""},
    ),
    ({"patternProperties": {r"^\d+$": {"type": "string"}}}, {"1": 2}),
    ({"properties": {"a": {}}, "additionalProperties": {"type": "null"}}, {"b": 1}),
    ({"pattern": "^b"}, "a\nb"),
    ({"format": "date"}, "2026-02-30"),
    ({"format": "iri"}, "/ü"),
    ({"format": "iri"}, "http://a b"),
    ({"format": "iri-reference"}, "a b"),
    ({"format": "ipv4"}, "1.2.3"),
    ({"unevaluatedProperties": False, "properties": {"a": {}}}, {"b": 1}),
]


@pytest.mark.parametrize(("schema", "value"), VALID)
def test_it_lets_pass(schema: Any, value: Any) -> None:
    check(value, schema)


@pytest.mark.parametrize(("schema", "value"), INVALID)
def test_it_stops(schema: Any, value: Any) -> None:
    with pytest.raises(InvalidOutput):
        check(value, schema)


def test_the_message_has_nothing_of_the_output() -> None:
    with pytest.raises(InvalidOutput) as caught:
        check({"a": "confidential"}, {"properties": {"a": {"const": "x"}}})
    assert "confidential" not in str(caught.value)
    assert "/properties/a/const" in caught.value.message


def test_a_reference_abroad_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: Any, **__: Any) -> Any:
        raise AssertionError("the validator went to the network")

    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    monkeypatch.setattr(socket.socket, "connect", forbidden)
    for reference in ("http://localhost:9/x.json", "file:///etc/passwd", "other.json"):
        with pytest.raises(InvalidOutput, match="not part of it"):
            check({}, {"$ref": reference})


def bomb() -> Any:
    """A schema of a kilobyte that asks for 2**30 validations."""
    definitions = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(30)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, "d30": True}}


def test_references_that_multiply_and_references_in_a_ring_come_to_an_end() -> None:
    with pytest.raises(InvalidOutput, match="cannot be checked"):
        check(1, bomb())
    with pytest.raises(InvalidOutput, match="cannot be checked"):
        check(1, {"$ref": "#"})


def test_threads_do_not_share_their_bounds() -> None:
    faults: list[BaseException] = []

    def many() -> None:
        try:
            for _ in range(20):
                check([1] * 200, {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": True}})
        except InvalidOutput as error:
            faults.append(error)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
