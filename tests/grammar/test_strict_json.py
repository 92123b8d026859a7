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


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a":1,"b":2,"a":3}', ("a",)),
        ('{"x":[0,{"a":1,"a":2}],"y":NaN}', ("x", 1, "a")),
        ('{"x":[[1],[[2,NaN]]],"x":1e999}', ("x", 1, 0, 1)),
        ("[-Infinity]", (0,)),
        ("1e999", ()),
        ('{"n":[' + "1" * 5000 + "]}", ("n", 0)),
        ('{"a":["b","\\ud800c"]}', ("a", 1)),
        ('[{"\\udc00":1}]', (0,)),
        ('{"a":NaN,', None),
        ("[1,]", None),
        ("[" * 300 + "]" * 300, None),
    ],
)
@pytest.mark.parametrize("exact", [False, True])
def test_the_value_that_is_refused_has_a_place(
    text: str, place: tuple[str | int, ...] | None, exact: bool
) -> None:
    text = text.replace("1e999", "1e99999999999999999999") if exact else text
    with pytest.raises(InvalidJson) as refused:
        parse_json(text, exact=exact)
    assert refused.value.place == place
    assert refused.value.hint or place is None


@given(st.lists(st.integers(0, 3) | st.text(), max_size=6))
def test_a_refused_value_is_found_anywhere(place: list[str | int]) -> None:
    text = "NaN"
    for key in reversed(place):  # among neighbours that are fine
        if isinstance(key, str):
            text = f"{{{json.dumps(key + '-')}:[1],{json.dumps(key)}:{text}}}"
        else:
            text = f"[{'{},' * key}{text},[[]]]"
    with pytest.raises(InvalidJson) as refused:
        parse_json(text)
    assert refused.value.place == tuple(place)


def test_brackets_in_strings_do_not_nest() -> None:
    assert parse_json(json.dumps(["[" * 500, '"{' * 500])) == ["[" * 500, '"{' * 500]


def test_length_is_bounded() -> None:
    with pytest.raises(InvalidJson, match="longer"):
        parse_json("[1, 2]", characters=5)
