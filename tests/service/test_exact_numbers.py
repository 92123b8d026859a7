"""Prices, and other numbers that binary floats cannot hold: the final check accepts what the masks allow."""

from typing import Any

import pytest
from intaglio.grammar.api import parse_json
from intaglio.service.errors import InvalidOutput
from intaglio.service.extraction.validate import check

from tests.conformance.numbers import differing

DRAFT4 = "http://json-schema.org/draft-04/schema#"

VALID: list[tuple[str, Any]] = [
    ("19.99", {"type": "number", "multipleOf": 0.01}),
    ('{"total":1145.1}', {"properties": {"total": {"multipleOf": 0.1}}}),
    ("0.15", {"multipleOf": 0.05}),
    ("4.35", {"multipleOf": 0.01, "minimum": 4.35, "maximum": 4.35}),
    ("123456789012345678901234567890.01", {"multipleOf": 0.01}),
    ("1e300", {"multipleOf": 1e-7}),
    ("-0.0", {"multipleOf": 0.3, "const": 0}),
    ("0e99999999999999999999999999", {"const": 0}),
    ("1.0", {"type": "integer", "enum": [1]}),
    ("9007199254740993", {"const": 9007199254740993}),
    ("[0.1,0.10000000000000000001,true,1,[1],[true]]", {"uniqueItems": True}),
    ("0.3", {"maximum": 0.3, "minimum": 0.3}),
    ("3", {"$schema": DRAFT4, "maximum": 3}),
]
INVALID: list[tuple[str, Any]] = [
    ("19.991", {"multipleOf": 0.01}),
    ("0.30000000000000000001", {"maximum": 0.3}),
    ("9007199254740993", {"const": 9007199254740992}),
    ("9007199254740993.0", {"enum": [9007199254740992]}),
    ("1e-320", {"multipleOf": 0.01}),
    ("[0.10,0.1]", {"uniqueItems": True}),
    ("[[1],[true],[1.0]]", {"uniqueItems": True}),
    ('[{"a":1,"b":2},{"b":2.0,"a":1}]', {"uniqueItems": True}),
    ("true", {"const": 1}),
    ("1.5", {"type": "integer"}),
    ("3.0", {"$schema": DRAFT4, "maximum": 3, "exclusiveMaximum": True}),
    ("3.0", {"$schema": DRAFT4, "type": "integer"}),
]


@pytest.mark.parametrize(("text", "schema"), VALID)
def test_a_right_number_passes(text: str, schema: Any) -> None:
    check(parse_json(text, exact=True), schema)


@pytest.mark.parametrize(("text", "schema"), INVALID)
def test_a_wrong_number_is_stopped(text: str, schema: Any) -> None:
    with pytest.raises(InvalidOutput):
        check(parse_json(text, exact=True), schema)


def test_masks_and_last_check_agree_on_random_numbers() -> None:
    assert differing(1_500, seed=1) == []
