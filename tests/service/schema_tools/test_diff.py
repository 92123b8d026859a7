"""Differences of schemas: each with its place and its effect on the set of valid documents."""

import random
from typing import Any

import jsonschema
import pytest
from intaglio.service.schema_tools.diff import NARROWER, SAME, UNKNOWN, WIDER, Change, changes

OBJECT = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("old", "new", "effect", "pointer"),
    [
        ({"minimum": 1}, {"minimum": 2}, NARROWER, "/minimum"),
        ({"maxLength": 1}, {"maxLength": 2}, WIDER, "/maxLength"),
        ({"maxItems": 1}, {}, WIDER, "/maxItems"),
        ({"type": "integer"}, {"type": "number"}, WIDER, "/type"),
        ({"type": ["string", "null"]}, {"type": "string"}, NARROWER, "/type"),
        ({"enum": [1, 2]}, {"const": 1}, NARROWER, "/const"),
        ({}, {"enum": [1]}, NARROWER, "/enum"),
        (
            {**OBJECT, "properties": {}},
            {**OBJECT, "properties": {"a/b": {}}},
            WIDER,
            "/properties/a~1b",
        ),
        ({"properties": {"a": {"type": "null"}}}, {"properties": {}}, WIDER, "/properties/a"),
        ({"required": []}, {"required": ["a"]}, NARROWER, "/required"),
        ({"items": {"minLength": 1}}, {"items": {"minLength": 0}}, WIDER, "/items/minLength"),
        ({}, {"additionalProperties": False}, NARROWER, "/additionalProperties"),
        ({}, {"pattern": "a"}, NARROWER, "/pattern"),
        ({"pattern": "a"}, {"pattern": "b"}, UNKNOWN, "/pattern"),
        ({"title": "a"}, {"title": "b"}, SAME, "/title"),
        (True, False, NARROWER, ""),
        ({"type": "object"}, {"$ref": "https://example.com/x"}, UNKNOWN, "/$ref"),
        ({"$ref": "#/$defs/absent"}, {"type": "object"}, UNKNOWN, "/$ref"),
        ({"items": {"$ref": "#"}}, {"items": {"type": "null"}}, UNKNOWN, "/items/$ref"),
    ],
)
def test_a_change_has_a_place_and_an_effect(old: Any, new: Any, effect: str, pointer: str) -> None:
    (found,) = changes(old, new)
    assert (found.pointer, found.effect) == (pointer, effect)


def test_references_are_followed_once() -> None:
    old = {
        "$ref": "#/$defs/n",
        "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}, "v": {"maximum": 1}}}},
    }
    new = {
        "$ref": "#/$defs/n",
        "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}, "v": {"maximum": 2}}}},
    }
    assert changes(old, new) == [Change("/properties/v/maximum", WIDER, "was 1, is 2")]
    assert changes(old, old) == []


def _drawn(draw: random.Random) -> dict[str, Any]:
    """A small schema of objects with keywords whose effects are known."""
    found: dict[str, Any] = {"type": draw.choice(["object", ["object", "null"]])}
    names = [name for name in "ab" if draw.random() < 0.7]
    kinds: list[dict[str, Any]] = [
        {"type": "integer", "minimum": draw.randint(0, 2), "maximum": draw.randint(1, 3)},
        {"type": "number"},
        {"enum": draw.sample([0, 1, "x", None], 2)},
        {"type": ["string", "null"], "maxLength": draw.randint(0, 2)},
    ]
    found["properties"] = {name: draw.choice(kinds) for name in names}
    found["required"] = [name for name in names if draw.random() < 0.5]
    found["additionalProperties"] = draw.random() < 0.5
    return found


def test_effects_are_true_of_all_small_documents() -> None:
    values = [0, 1, 2, 3, 0.5, "", "x", "xx", "xxx", None]
    documents: list[Any] = [None, 1, *({"a": a} for a in values), *({"b": b} for b in values), {}]
    documents += [{"a": a, "b": b} for a in values for b in values] + [{"c": 1}]
    draw, checked = random.Random(0), 0
    for _ in range(150):
        old, new = _drawn(draw), _drawn(draw)
        valid = [jsonschema.Draft202012Validator(schema).is_valid for schema in (old, new)]
        effects = {change.effect for change in changes(old, new)}
        lost = [d for d in documents if valid[0](d) and not valid[1](d)]
        won = [d for d in documents if valid[1](d) and not valid[0](d)]
        if UNKNOWN not in effects:
            assert not lost or NARROWER in effects, (old, new, lost[0])
            assert not won or WIDER in effects, (old, new, won[0])
            checked += bool(lost or won)
    assert checked > 60
