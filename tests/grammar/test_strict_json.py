"""JSON that is taken as it is, and JSON that is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.grammar.api import InvalidJson, parse_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_json_is_read(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False, indent=2)) == value


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('{"a":1,"b":2,"a":3}', "twice"),
        ("NaN", "not JSON"),
        ("[-Infinity]", "not JSON"),
        ("1e999", "out of range"),
        ('"\\ud800"', "surrogate"),
        ('{"\\udc00":1}', "surrogate"),
        ("[" * 300 + "]" * 300, r"deep \(char 200\)"),
        ('["[", ' + '{"\\"]":[' * 300, r"deep \(char 805\)"),
        ("[" * 1_000_000, "deep"),
        ('{"a":' * 1_000_000, "deep"),
        ("1" * 5000, "digits"),
        ("{'a':1}", "Expecting"),
        ("[1,]", "Expecting|trailing"),
        ('"a', "Unterminated"),
        ("", "Expecting"),
        ("1 2", "Extra"),
    ],
)
def test_what_is_not_is_refused(text: str, match: str) -> None:
    with pytest.raises(InvalidJson, match=match):
        parse_json(text)


def test_brackets_in_strings_do_not_nest() -> None:
    assert parse_json(json.dumps(["[" * 500, '"{' * 500])) == ["[" * 500, '"{' * 500]


def test_length_is_bounded() -> None:
    with pytest.raises(InvalidJson, match="longer"):
        parse_json("[1, 2]", characters=5)
