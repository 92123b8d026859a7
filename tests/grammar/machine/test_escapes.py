"""Spellings of strings, against Python's own reader of JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.grammar.machine.escapes import ESCAPED, escapes, last_character, plain, unfinished

CHARACTERS = st.characters(exclude_categories=["Cs"])


@given(st.text(CHARACTERS, max_size=8), st.data())
def test_all_spellings_of_a_string_have_one_plain_text(value: str, data: st.DataObject) -> None:
    written = plain(json.dumps(value).encode())
    pieces = [b'"']
    for each in value:
        own = plain(json.dumps(each).encode())[1:-1]
        pieces.append(data.draw(st.sampled_from((own, *escapes(own)))))
    spelled = b"".join((*pieces, b'"'))
    assert json.loads(spelled) == value
    assert plain(spelled) == written
    assert json.loads(written) == value


@given(CHARACTERS)
def test_a_plain_character_is_an_escape_only_where_json_asks_for_one(character: str) -> None:
    written = plain(json.dumps(character).encode())[1:-1]
    needs_one = character in '"\\' or character < " "
    assert written.startswith(b"\\") is needs_one
    assert (written in ESCAPED) is needs_one


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (b'"a', 2), (b'"a\\', 2), (b'"a\\u', 2), (b'"a\\u006', 2), (b'"\\\\', 3), (b'"\\n', 3), (b'"\\u0001', 7),
        (b"[1,", 3),
    ],
)  # fmt: skip
def test_an_unfinished_escape_is_found_at_the_end(text: bytes, begins: int) -> None:
    assert unfinished(text) == begins


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (b'"a', 1), (b'"a\\n', 2), ('"é'.encode(), 1), ('"é'.encode()[:2], None), (b'"', None), (b'"a"', None),
        (b"12", None), (b'{"k":"ab', 6 + 1), (b'{"k"', None),
    ],
)  # fmt: skip
def test_the_last_character_is_one_of_a_string_that_is_open(
    text: bytes, begins: int | None
) -> None:
    assert last_character(text) == begins
