"""JSON on a terminal: still JSON, and within the width wherever its values allow."""

import json

from hypothesis import given
from hypothesis import strategies as st
from intaglio.schemas import catalogue
from intaglio.service.cli.console import compact, condensed, highlighted, pretty
from rich.console import Console

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(value=JSON, width=st.integers(10, 120))
def test_every_form_is_the_same_value(value: object, width: int) -> None:
    assert json.loads(condensed(value, width)) == value
    assert json.loads(pretty(value)) == value
    assert json.loads(compact(value)) == value
    assert "\n" not in compact(value)


def test_lines_fit_where_they_can() -> None:
    for name in catalogue.names():
        expected = catalogue.get(name).expected
        for width in (58, 80, 120):
            assert max(map(len, condensed(expected, width).splitlines())) <= width
    assert condensed({"a": [1, 2]}, 80) == '{"a": [1, 2]}'
    assert condensed({"a": [1, 2], "b": {}}, 15) == '{\n  "a": [1, 2],\n  "b": {}\n}'


def test_highlighting_changes_no_character() -> None:
    text = pretty({"markup": "[bold]not markup[/bold]", "path": "C:\\x", "smile": ":smile:"})
    console = Console(width=60, markup=False, emoji=False, color_system=None)
    with console.capture() as capture:
        console.print(highlighted(text), soft_wrap=True)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    assert lines == text.splitlines()
