"""Short numbers: digits are bounded by the precision of 64-bit numbers, unless the schema has more."""

import json
from functools import cache
from typing import Any

import pytest
from intaglio.grammar.api import Compiler, Constraint, Kind, Violation, Vocabulary

END = 256
TEXTS: tuple[bytes | None, ...] = (*(bytes([byte]) for byte in range(256)), None)


@cache
def compiler() -> Compiler:
    return Compiler(Vocabulary(TEXTS, (END,), END + 1), tuple)


def takes(schema: Any, text: str, *, short: bool = True) -> bool:
    constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(schema), short_numbers=short)
    matcher = compiler().compile(constraint).matcher()
    try:
        for token in (*text.encode(), END):
            matcher.accept(token)
    except Violation:
        return False
    return True


@pytest.mark.parametrize(
    ("schema", "fits", "too_long"),
    [
        ({"type": "integer"}, "-18446744073709551615", "1" * 21),
        ({"type": "number"}, "0.12345678901234567", "0." + "1" * 18),
        ({"type": "number"}, "1234567.8901234567", "12345678.9012345678"),
        ({"type": "number"}, "2e184", "2e0000000184"),
        ({"type": ["integer", "null"], "minimum": 0}, "1" * 20, "1" * 21),
        ({}, "[1.5,-7]", "1" * 21),
        ({"multipleOf": 0.01}, "19.99", "1" * 21 + ".25"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "12", "1" * 21),
    ],
)
def test_digits_are_bounded_where_it_is_asked_for(schema: Any, fits: str, too_long: str) -> None:
    assert takes(schema, fits)
    assert not takes(schema, too_long)
    assert takes(schema, too_long, short=False)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"enum": [10**30, 1]}, str(10**30)),
        ({"const": 10**40}, str(10**40)),
        ({"type": "integer", "minimum": 10**30}, str(10**30 + 1)),
        ({"type": "integer", "maximum": 10**30}, str(10**29)),
        ({"type": "integer", "multipleOf": 10**25}, str(13 * 10**25)),
        ({"multipleOf": 1e-20}, "0." + "0" * 19 + "3"),
        ({"anyOf": [{"type": "integer", "minimum": 10**25}, {"maximum": 3}]}, str(10**25)),
    ],
)
def test_what_the_schema_means_has_as_many_digits_as_it_takes(schema: Any, text: str) -> None:
    assert takes(schema, text)
