"""Reading JSON while it is written: the events of a text, against `json.loads` of the whole."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.service.extraction.json_events import (
    MAX_EVENT_DEPTH,
    FieldCompleted,
    FieldStarted,
    JsonEvent,
    JsonReader,
    Kind,
)

NAMES = st.text(st.sampled_from('abé/~"\\ \n0😀'), max_size=4)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=24,
)


def escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def kind(value: Any) -> Kind:
    if isinstance(value, bool):
        return "boolean"
    names: list[tuple[type, Kind]] = [(dict, "object"), (list, "array"), (str, "string")]
    return next(
        (name for of, name in names if isinstance(value, of)),
        "number" if value is not None else "null",
    )


def expected(value: Any, pointer: str = "", depth: int = 0) -> list[JsonEvent]:
    """The events of a document, from the document itself."""
    root: list[JsonEvent] = [] if depth else [FieldStarted("", kind(value))]
    return root + below(value, pointer, depth)


def below(value: Any, pointer: str, depth: int) -> list[JsonEvent]:
    found: list[JsonEvent] = []
    members: Any = ()
    if isinstance(value, dict):
        members = [(escaped(name), member) for name, member in value.items()]
    elif isinstance(value, list):
        members = list(enumerate(value))
    if depth == MAX_EVENT_DEPTH:
        return []
    for name, member in members:
        here = f"{pointer}/{name}"
        inner = below(member, here, depth + 1)
        found += [FieldStarted(here, kind(member)), *inner, FieldCompleted(here, member)]
    return found


def events(text: str, cuts: list[int]) -> tuple[list[JsonEvent], JsonReader]:
    reader, found, last = JsonReader(), [], 0
    for cut in [*sorted(cuts), len(text)]:
        found += reader.push(text[last:cut])
        last = cut
    return found + reader.finish(), reader


@settings(max_examples=200, deadline=None)
@given(VALUES, st.data(), st.booleans(), st.sampled_from([None, 1]))
def test_events_are_those_of_the_document_however_it_is_cut(
    value: Any, data: st.DataObject, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=len(text)))
    found, reader = events(text, cuts)
    whole = json.loads(text)
    assert reader.is_complete
    assert reader.value == whole
    # As text, 1 is not 1.0, and members keep their order.
    assert json.dumps(reader.value) == json.dumps(whole)
    assert found == expected(whole)


@pytest.mark.parametrize("depth", [MAX_EVENT_DEPTH - 1, MAX_EVENT_DEPTH, MAX_EVENT_DEPTH + 1, 200])
def test_deep_values_come_with_the_value_that_contains_them(depth: int) -> None:
    text = "[" * depth + "1" + "]" * depth
    found, reader = events(text, list(range(len(text))))
    assert found == expected(json.loads(text))
    assert len(found) == 1 + 2 * min(depth, MAX_EVENT_DEPTH)
    assert reader.value == json.loads(text)


def test_a_value_is_told_as_soon_as_it_is_certain() -> None:
    reader = JsonReader()
    assert reader.push('{"a":') == [FieldStarted("", "object")]
    assert reader.push(' "x') == [FieldStarted("/a", "string")]
    assert reader.push('y"') == [FieldCompleted("/a", "xy")]
    assert reader.push(',"b":1') == [FieldStarted("/b", "number")]
    assert reader.push("2") == []
    assert reader.push("}") == [FieldCompleted("/b", 12)]
    assert reader.value == {"a": "xy", "b": 12}


@pytest.mark.parametrize(
    "text",
    [
        "{,}",
        '{"a" 1}',
        '{"a":1,}',
        "[1,]",
        "[1}",
        "[01]",
        "[+1]",
        "[nul]",
        "[NaN]",
        "[1e999]",
        '["\\x"]',
        '["\\ud800"]',
        '["\n"]',
        "[1] 2",
        '{"a":1,"a":2}',
        "{1:2}",
        "]",
        "[" * 600,
    ],
)
def test_what_is_not_json_gives_no_events_from_there_on(text: str) -> None:
    reader = JsonReader()
    for character in text:
        reader.push(character)
    assert reader.finish() == []
    assert reader.is_broken
    assert reader.push('{"a":1}') == []
    assert not reader.is_complete


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('{}[]",:1e-.tru \\u0'), max_size=20))
def test_a_text_is_complete_exactly_where_it_is_json(text: str) -> None:
    _, reader = events(text, list(range(len(text))))
    try:
        json.loads(text, parse_constant=float)
    except ValueError:
        assert not reader.is_complete
    else:
        # Stricter than `json`: keys are unique, strings are whole characters and numbers are finite.
        assert reader.is_complete or reader.is_broken
