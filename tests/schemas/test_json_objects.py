"""Hooks for `json.loads`: keys that occur twice, and numbers that JSON does not have."""

import json

import pytest
from intaglio.schemas.json_objects import no_constant, unrepeated


def test_a_key_that_occurs_twice_is_named() -> None:
    assert json.loads('{"a":1,"b":{"a":2}}', object_pairs_hook=unrepeated) == {
        "a": 1,
        "b": {"a": 2},
    }
    with pytest.raises(ValueError, match="the key 'b' occurs twice"):
        json.loads('[{"a":1,"b":2,"b":2}]', object_pairs_hook=unrepeated)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a":-Infinity}'])
def test_numbers_that_json_does_not_have_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number of JSON"):
        json.loads(text, parse_constant=no_constant)
