"""Readings of windows become one value."""

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.schemas.extraction.grounding import FieldReport, LeafConfidence
from intaglio.service.windows.merge_readings import Merged, Merger, WindowReading
from intaglio.service.windows.split import Window

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}},
    "required": ["name"],
    "additionalProperties": False,
}


def merged(schema: Any, *readings: tuple[str, Any], certainty: Any = None) -> Merged:
    """The readings of windows that share no text."""
    merger, start = Merger(schema), 0
    for number, (text, data) in enumerate(readings):
        window = Window(start, start + len(text), len(text))
        last = number == len(readings) - 1
        start += len(text)
        known = {} if certainty is None else certainty[number]
        fields = {
            place: FieldReport(match="exact", confidence=LeafConfidence(probability=share))
            for place, share in known.items()
        }
        merger.add(WindowReading(window, None if last else start, text, data, fields))
    return merger.finish()[1]


def test_a_value_that_its_window_states_is_chosen() -> None:
    found = merged(PERSON, ("x", {"name": "Bob"}), ("Ada", {"name": "Ada"}), ("y", {"name": None}))
    assert found.value == {"name": "Ada"}
    assert [one.value for one in found.candidates["/name"]] == ["Bob"]
    assert [(one.number, one.to) for one in found.relocations] == [(1, "/name")]


def test_the_first_of_equally_good_readings_is_chosen() -> None:
    found = merged(PERSON, ("Bob", {"name": "Bob"}), ("Ada", {"name": "Ada"}))
    assert found.value == {"name": "Bob"}
    assert [one.value for one in found.candidates["/name"]] == ["Ada"]


def test_the_most_confident_reading_is_chosen_where_all_have_a_confidence() -> None:
    readings = ("Bob", {"name": "Bob"}), ("Ada", {"name": "Ada"})
    found = merged(PERSON, *readings, certainty=({"/name": 0.2}, {"/name": 0.9}))
    assert found.value == {"name": "Ada"}
    found = merged(PERSON, *readings, certainty=({"/name": 0.2}, {}))
    assert found.value == {"name": "Bob"}


def test_properties_come_from_different_windows_in_the_order_of_the_schema() -> None:
    found = merged(PERSON, ("7", {"age": 7}), ("Ada", {"name": "Ada", "age": None}))
    assert list(found.value.items()) == [("name", "Ada"), ("age", 7)]
    assert found.missing == ()


def test_a_required_value_that_no_window_states_is_missing() -> None:
    found = merged(PERSON, ("x", {"name": None, "age": None}), ("y", {"name": None}))
    assert found.value == {"age": None}
    assert found.missing == (("name",),)


def test_an_optional_object_that_no_window_states_is_absent_or_null() -> None:
    empty = {"name": None, "age": None}
    schema = {"type": "object", "properties": {"a": PERSON}}
    assert merged(schema, ("x", {"a": empty}), ("y", {"a": empty})).value == {}
    schema["properties"]["a"] = {"anyOf": [PERSON, {"type": "null"}]}  # type: ignore[index]
    found = merged(schema, ("x", {"a": empty}), ("y", {"a": None}))
    assert found.value == {"a": None}
    assert found.missing == ()
    found = merged(schema, ("x", {"a": None}), ("Ada", {"a": {"name": "Ada"}}))
    assert found.value == {"a": {"name": "Ada"}}


def test_values_whose_schema_has_alternatives_are_taken_whole() -> None:
    other = {"type": "object", "properties": {"firm": {"type": "string"}}, "required": ["firm"]}
    schema = {"anyOf": [PERSON, other]}
    found = merged(
        schema, ("Ada", {"name": "Ada", "age": 3}), ("Hull 3", {"firm": "Hull"}), ("", None)
    )
    assert found.value == {"name": "Ada", "age": 3}
    assert [one.value for one in found.candidates[""]] == [{"firm": "Hull"}]


def test_arrays_are_joined_at_any_depth_and_named_by_their_new_places() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"b": {"type": "array", "maxItems": 3}}}
        },
    }
    found = merged(schema, ("1 2", {"a": {"b": [1, 2]}}), ("", {}), ("3 4", {"a": {"b": [3, 4]}}))
    assert found.value == {"a": {"b": [1, 2, 3]}}
    assert [(one.number, one.pointer, one.to) for one in found.relocations] == [
        (0, "/a/b/0", "/a/b/0"),
        (0, "/a/b/1", "/a/b/1"),
        (2, "/a/b/0", "/a/b/2"),
    ]
    assert found.dropped == {"/a/b": 1}


FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        name: {
            "type": "object",
            "properties": {part: {"type": "string"} for part in "xyz"},
            "required": list("xyz"),
        }
        for name in "ab"
    },
    "required": list("ab"),
}


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=6, max_size=6), st.integers(0, 2**32))
def test_values_that_stand_in_one_window_each_make_up_the_whole(
    homes: list[int], seed: int
) -> None:
    # Other windows give null, leave the value out, or give one that they do not state.
    dice, leaves = random.Random(seed), [(a, b) for a in "ab" for b in "xyz"]
    whole = {a: {b: f"value {a}{b}" for b in "xyz"} for a in "ab"}
    readings = list[tuple[str, Any]]()
    for number in range(5):
        data: dict[str, Any] = {"a": {}, "b": {}}
        stated = list[str]()
        for home, (a, b) in dice.sample(list(zip(homes, leaves, strict=True)), 6):
            if home == number:
                data[a][b] = whole[a][b]
                stated.append(whole[a][b])
            else:
                data[a] |= dice.choice(({}, {b: None}, {b: "made up"}))
        readings.append(("; ".join(stated), data))
    found = merged(FORM, *readings)
    assert found.value == whole
    assert [list(found.value), *map(list, found.value.values())] == [["a", "b"], *[list("xyz")] * 2]
    assert found.missing == ()
    assert all(other.value == "made up" for some in found.candidates.values() for other in some)


def test_items_are_settled_once_and_in_order() -> None:
    merger = Merger({"type": "array"})
    text = "a b c d e"
    windows = (Window(0, 5, 5), Window(4, 9, 5))
    first = merger.add(WindowReading(windows[0], 4, text[0:5], ["a", "b", "c"]))
    second = merger.add(WindowReading(windows[1], None, text[4:9], ["c", "d", "e"]))
    rest, found = merger.finish()
    told = [(item.pointer, item.value) for item in (*first, *second, *rest)]
    assert [item.value for item in first] == ["a", "b"]
    assert told == [(f"/{number}", value) for number, value in enumerate("abcde")]
    assert found.value == list("abcde")
