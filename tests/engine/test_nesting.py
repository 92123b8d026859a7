"""The nesting at every position of a JSON text, compared with what a parser says of its parts."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.grammars.nesting import Nesting

VALUES = st.recursive(
    st.none() | st.integers() | st.text('a"\\:,{}[]', max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text('a"\\:{', max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def fed(text: bytes) -> Nesting:
    here = Nesting()
    for byte in text:
        here.feed(byte)
    return here


@given(VALUES, st.booleans())
def test_a_whole_text_leaves_nothing_open(value: Any, pretty: bool) -> None:
    here = fed(json.dumps(value, indent=1 if pretty else None).encode())
    assert here.height == 0
    assert here.string is None


@given(VALUES, st.data())
def test_what_is_open_completes_a_text(value: Any, data: st.DataObject) -> None:
    """A text that is cut behind an opening bracket or within a string is completed by a quote and brackets alone."""
    text = json.dumps(value).encode()
    cut = data.draw(st.integers(0, len(text)))
    here = fed(text[:cut])
    if here.string is None:
        if not text[:cut].endswith((b"{", b"[")):
            return
        end = b""
    else:
        if len(text[:cut]) - len(text[:cut].rstrip(b"\\")) & 1:
            return
        end = b'":0' if here.is_name(text[:cut]) else b'"'
    brackets = bytes(b"]}"[bracket == ord("{")] for bracket in reversed(here.open))
    json.loads(text[:cut] + end + brackets)


def test_names_and_values_are_told_apart() -> None:
    assert fed(b'{"a').is_name(b'{"a')
    assert fed(b'{"a": 1, "b').is_name(b'{"a": 1, "b')
    assert not fed(b'{"a": "b').is_name(b'{"a": "b')
    assert not fed(b'["a').is_name(b'["a')
    assert not fed(b'{"a"').is_name(b'{"a"')


def test_a_copy_goes_its_own_way() -> None:
    here = fed(b'[{"a\\')
    there = here.copy()
    for byte in b'"":[':
        there.feed(byte)
    assert (here.height, here.string) == (2, 2)
    assert (there.height, there.string) == (3, None)
