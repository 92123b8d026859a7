"""What no request can carry is refused before it is sent, with its place; among many texts it costs only itself."""

from typing import Any

import pytest
from intaglio.service.client import APIStatusError, BadRequest, Client, SchemaRefused

from tests.service.client.conftest import Connect
from tests.support.stub_service import Answer, StubService, result

SCHEMA = {"type": "object"}


def refused(client: Any, *args: Any, **options: Any) -> APIStatusError:
    with pytest.raises(APIStatusError) as caught:
        client.extract(*args, **options)
    return caught.value


def test_a_text_with_half_a_surrogate_pair_is_refused_with_its_place(
    connect: Connect, stub: StubService
) -> None:
    error = refused(connect(), SCHEMA, "caf\udce9 bill")  # read with errors="surrogateescape"
    assert isinstance(error, BadRequest)
    assert error.details[0].pointer == "/text"
    assert "half a surrogate pair (U+DCE9) at character 3" in str(error)
    assert "errors='replace'" in error.hint
    assert stub.asked == []


@pytest.mark.parametrize(
    ("schema", "options", "pointer", "kind"),
    [
        ({"title": "\ud800"}, {}, "/schema/title", SchemaRefused),
        (
            {"properties": {"a/b": {"enum": ["\ud800"]}}},
            {},
            "/schema/properties/a~1b/enum/0",
            SchemaRefused,
        ),
        ({"properties": {"\ud800": True}}, {}, "/schema/properties", SchemaRefused),
        ({"minimum": float("nan")}, {}, "/schema/minimum", SchemaRefused),
        ({"enum": [1, float("-inf")]}, {}, "/schema/enum/1", SchemaRefused),
        (SCHEMA, {"instructions": "\ud800"}, "/instructions", BadRequest),
        (SCHEMA, {"examples": [("\ud800", {})]}, "/examples/0/text", BadRequest),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_place(
    connect: Connect, stub: StubService, schema: Any, options: Any, pointer: str, kind: type
) -> None:
    error = refused(connect(), schema, "text", **options)
    assert type(error) is kind
    assert error.details[0].pointer == pointer
    assert error.hint
    assert stub.asked == []


def test_a_value_that_is_not_json_is_a_type_error_with_its_place(
    connect: Connect, stub: StubService
) -> None:
    with pytest.raises(TypeError, match="/schema/enum: a value of type set"):
        connect().extract({"enum": {1, 2}}, "text")
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"not": deep}
    assert "nested too deeply" in str(refused(connect(), deep, "text"))
    ring: dict[str, Any] = {}
    ring["not"] = ring
    with pytest.raises(ValueError, match="Circular"):
        connect().extract(ring, "text")
    assert stub.asked == []


def test_a_body_is_sent_as_json_whatever_its_letters(connect: Connect, stub: StubService) -> None:
    stub.will_answer(Answer(result({"n": 1})))
    connect().extract({"title": "Größe \U0001f600"}, "naïve 中", idempotency_key="k-1")
    asked = stub.asked[0]
    assert asked.body == {"schema": {"title": "Größe \U0001f600"}, "text": "naïve 中"}
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["idempotency-key"] == "k-1"


@pytest.mark.parametrize(
    ("key", "error"),
    [("schlüssel", ValueError), ("a\nb", ValueError), ("", ValueError), (5, TypeError)],
)
def test_an_idempotency_key_that_no_header_can_carry_is_refused(
    stub: StubService, key: Any, error: type[Exception]
) -> None:
    with Client(stub.base_url) as client, pytest.raises(error, match="idempotency_key must"):
        client.extract(SCHEMA, "text", idempotency_key=key)
    assert stub.asked == []
