"""The characters of a text as a model sees them."""

import json

from hypothesis import given
from hypothesis import strategies as st
from intaglio.service.extraction.prompt_text import prompt_text


@given(st.text())
def test_what_is_left_is_written_as_it_is_in_json(text: str) -> None:
    """But for quotation marks, backslashes, tabs and line feeds."""
    shown = prompt_text(text).translate(dict.fromkeys(map(ord, '"\\\t\n')))
    assert json.dumps(shown, ensure_ascii=False) == f'"{shown}"'


@given(st.text())
def test_a_text_changes_once_and_only_in_control_characters(text: str) -> None:
    shown = prompt_text(text)
    assert prompt_text(shown) == shown
    assert [c for c in shown if c > " "] == [c for c in text if c > " "]


def test_line_ends_are_line_feeds() -> None:
    assert prompt_text("a\r\nb\rc\n\x0cd\x0be\tf\u2028") == "a\nb\nc\n\nd\ne\tf\u2028"
    assert prompt_text("a\0b\x1bc\x7f") == "a b c\x7f"
