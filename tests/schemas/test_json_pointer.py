"""JSON Pointers are written, read and followed as RFC 6901 defines them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.schemas.json_pointer import (
    child_pointer,
    leaves,
    local_target,
    pointer_keys,
    pointer_of,
    value_at,
)
from jsonpointer import resolve_pointer

# Section 5 of the RFC.
DOCUMENT = json.loads(
    r'{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}'
)
PLACES = {
    "": DOCUMENT,
    "/foo": ["bar", "baz"],
    "/foo/0": "bar",
    "/": 0,
    "/a~1b": 1,
    "/c%d": 2,
    "/e^f": 3,
    "/g|h": 4,
    "/i\\j": 5,
    '/k"l': 6,
    "/ ": 7,
    "/m~0n": 8,
}
KEYS = st.lists(st.text(alphabet="~/01ab%", max_size=4), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("~/0a", max_size=3), inner),
    max_leaves=12,
)


@pytest.mark.parametrize("pointer", PLACES)
def test_the_examples_of_the_rfc(pointer: str) -> None:
    assert value_at(DOCUMENT, pointer) == PLACES[pointer]
    assert pointer_of(pointer_keys(pointer)) == pointer


@pytest.mark.parametrize(
    "pointer", ["nothing", "/nothing", "/foo/2", "/foo/-1", "/foo/x", "/foo/\u0661", "/a~1b/0"]
)
def test_a_place_that_does_not_exist_is_a_lookup_error(pointer: str) -> None:
    with pytest.raises(LookupError):
        value_at(DOCUMENT, pointer)


@given(KEYS)
def test_keys_are_read_as_they_were_written(keys: list[str]) -> None:
    pointer = ""
    for key in keys:
        pointer = child_pointer(pointer, key)
    assert pointer == pointer_of(keys)
    assert pointer_keys(pointer) == keys


@settings(deadline=None)
@given(VALUES)
def test_every_leaf_is_found_at_its_pointer(value: Any) -> None:
    found = list(leaves(value))
    assert len({pointer for pointer, _ in found}) == len(found)
    for pointer, leaf in found:
        assert value_at(value, pointer) is leaf
        assert resolve_pointer(value, pointer) is leaf
        assert not isinstance(leaf, dict | list) or not leaf


def test_leaves_are_scalars_and_empty_containers() -> None:
    value: Any = {"a": [1, {"b/c": None}], "d": [], "e~": {}}
    assert list(leaves(value)) == [("/a/0", 1), ("/a/1/b~1c", None), ("/d", []), ("/e~0", {})]
    assert list(leaves("x")) == [("", "x")]


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#/$defs/a", True),
        ("#/anyOf/1", {"type": "null"}),
        ("#/$defs/b%20c", False),
        ("#/$defs/none", None),
        ("#anchor", None),
        ("http://elsewhere#/$defs/a", None),
    ],
)
def test_local_references_are_followed(reference: str, target: Any) -> None:
    schema = {"$defs": {"a": True, "b c": False}, "anyOf": [{}, {"type": "null"}]}
    assert local_target(schema, reference) == target


def test_a_reference_to_the_root_is_the_schema_itself() -> None:
    schema = {"type": "object"}
    assert local_target(schema, "#") is schema
