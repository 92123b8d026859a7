"""Spellings of strings and numbers, against Python's own reader of JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.grammar.machine.escapes import (
    characters,
    escapes,
    is_respelled,
    numbers,
    plain,
    settled,
    strings,
    unfinished,
)

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


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (b'"a', 2), (b'"a\\', 2), (b'"a\\u', 2), (b'"a\\u006', 2), (b'"\\\\', 3), (b'"\\n', 3), (b'"\\u0001', 7),
        (b"[1,", 3), (b'"a\\ud83d', 2), (b'"a\\ud83d\\ude0', 2), (b'"\\ud83da', 8),
    ],
)  # fmt: skip
def test_an_unfinished_escape_is_found_at_the_end(text: bytes, begins: int) -> None:
    assert unfinished(text) == begins


NUMBERS = {
    b"[1.0,": b"[1,", b"[1.50]": b"[1.5]", b"[-0,": b"[0,", b"[-0.0,": b"[0,", b"[1e0,": b"[1,",
    b"[10,1.20": b"[10,1.20", b'["1.0",': b'["1.0",',
    b"[1e2,": b"[1e2,", b"[0.0e-0]": b"[0]", b"[1.": b"[1.", b'{"1.0":2.0}': b'{"1.0":2}',
}  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_plain_text_has_no_needless_zeros_but_in_a_number_at_its_end(text: bytes) -> None:
    assert plain(text) == NUMBERS[text]
    if text.endswith((b"]", b"}")):
        assert json.loads(plain(text)) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"[1.", b"[1"), (b"[1.0", b"[1"), (b"[1.50", b"[1.5"), (b"[-", b"["), (b"[-0", b"[0"), (b"[10", b"[10"),
        (b'"1.0', b'"1.0'),
    ],
)  # fmt: skip
def test_a_number_at_the_end_is_settled_as_if_zeros_followed(text: bytes, value: bytes) -> None:
    assert settled(plain(text)) == value


def test_strings_characters_and_numbers_are_found_in_text() -> None:
    text = r'{"k":["é\"\u0001",-1.5,"",20]}'.replace(r"\\", "\\").encode()
    text = '{"k":["é\\n",-1.5,"",20]}'.encode()
    found = [text[begin:end] for begin, end in strings(text)]
    assert found == [b"k", "é\\n".encode(), b""]
    assert [*characters(found[1])] == [0, 2, 4]
    assert [*characters(b"")] == [0]
    assert [text[begin:end] for begin, end in numbers(text)] == [b"-1.5", b"20"]


@pytest.mark.parametrize(
    ("text", "size", "respelled"),
    [
        (rb'"\u0061b', 2, True), (rb'"\u0061b', 3, True), (rb'"a\u0062', 2, False), (rb'"a\u0062', 3, True),
        (rb'"\u0061","b', 6, False), (rb'"\n', 3, False), (rb'"\u000a', 3, True), (b'"ab', 3, False),
    ],
)  # fmt: skip
def test_a_string_is_respelled_if_a_needless_escape_stands_in_it(
    text: bytes, size: int, respelled: bool
) -> None:
    assert is_respelled(text, size) is respelled
