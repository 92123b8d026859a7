"""`POST /v1/schemas/explain`, over a real socket."""

import json

import pytest
from intaglio.schemas.extraction.explanation import ExplainResult
from intaglio.schemas.problem import Code, ProblemDocument

from tests.support.live_service import Live


@pytest.fixture(scope="module")
def service(plain_service: Live) -> Live:
    return plain_service


def test_a_schema_is_explained_for_the_tokens_of_the_model(service: Live) -> None:
    body = {"schema": {"type": "array", "items": {"const": 10}, "minItems": 2, "maxitems": 3}}
    response = service.http.post("/v1/schemas/explain", json=body)
    assert response.status_code == 200
    found = ExplainResult.model_validate_json(response.content, strict=False)
    assert found.enforced
    assert found.shortest == found.typical == "[10,10]"
    assert found.least_tokens == len("[10,10]") + 1  # this tokenizer has bytes only
    assert {row.pointer: row.tier for row in found.keywords}["/minItems"] == "A"
    assert found.keywords[-1].hint == "did you mean maxItems?"
    spaced = {**body, "options": {"whitespace": "spaced"}}
    assert service.http.post("/v1/schemas/explain", json=spaced).json()["shortest"] == "[10, 10]"


def test_a_refused_schema_is_an_explanation_too(service: Live) -> None:
    body = {"schema": {"properties": {"a": {"$ref": "https://elsewhere.example/x"}}}}
    response = service.http.post("/v1/schemas/explain", json=body)
    assert response.status_code == 200
    found = ExplainResult.model_validate_json(response.content, strict=False)
    assert (found.enforced, found.code) == (False, Code.UNSUPPORTED_SCHEMA)
    assert found.refusals[0].pointer == "/properties/a/$ref"
    assert found.refusals[0].hint
    assert found.cost is None


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("{", 400, Code.INVALID_JSON),
        ('{"schema":{},"text":"x"}', 400, Code.UNKNOWN_FIELD),
        ('{"schema":{},"options":{"max_tokens":3}}', 400, Code.UNKNOWN_FIELD),
        ('{"schema":3}', 400, Code.INVALID_REQUEST),
        ('{"schema":"nonsense"}', 404, Code.UNKNOWN_SCHEMA),
    ],
)
def test_requests_that_make_no_sense(service: Live, body: str, status: int, code: Code) -> None:
    response = service.http.post("/v1/schemas/explain", content=body)
    assert response.status_code == status
    found = ProblemDocument.model_validate_json(response.content, strict=False).error
    assert found.code is code
    if code is Code.UNKNOWN_FIELD and "options" in json.loads(body):
        assert found.hint == "the fields are whitespace, key_order, extra_properties"
