"""Ways to the end of schemas that make them hard: texts that must differ, questions about items, many or long names."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from intaglio.grammar.api import Compiler, Constraint, KeyOrder, Kind, Whitespace
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.base.parts import whole
from intaglio.grammar.completion.rule_graph import RuleGraph
from intaglio.grammar.completion.shortest_end import ShortestEnd
from intaglio.grammar.contract.vocabulary import Vocabulary
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.machine import Machine

ALWAYS: dict[str, Any] = {
    "definitions": {"eleven": {"type": "number", "multipleOf": 11, "minimum": 100}}
}
ELEVEN = {"$ref": "#/definitions/eleven"}
BYTES = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)
MANY = [f"p{i}" for i in range(400)]
# A schema, and a bound on the bytes of the way that is found.
HARD: dict[str, tuple[dict[str, Any], int]] = {
    "many names that no schema knows": ({"type": "object", "minProperties": 40}, 300),
    "many different numbers": (
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "minItems": 40}, 200),
    "different values of any kind": ({"type": "array", "uniqueItems": True, "minItems": 12}, 80),
    "different objects": (
        {"type": "array", "uniqueItems": True, "minItems": 6,
         "items": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
                   "additionalProperties": False}}, 80),
    "different long texts": (
        {"type": "array", "uniqueItems": True, "minItems": 6, "items": {"type": "string", "format": "uuid"}}, 260),
    "names of several patterns": (
        {"type": "object", "minProperties": 4, "not": {"patternProperties": {"c": False}},
         "allOf": [{"patternProperties": {"^.{1,3}$": False}},
                   {"patternProperties": {"a": True}, "additionalProperties": False},
                   {"patternProperties": {"b": True}, "additionalProperties": False}]}, 60),
    "either of many questions about items of items": (
        {**ALWAYS, "type": "array", "minItems": 1,
         "oneOf": [{"anyOf": [{"items": {"contains": ELEVEN, "type": "array"}}, {"contains": {"items": ELEVEN}}]},
                   {"anyOf": [{"items": {"items": ELEVEN}}, {"contains": {"contains": ELEVEN, "type": "array"}}]}]},
        40),
    "items that must be found": (
        {**ALWAYS, "type": "array", "contains": {"type": "object", "required": ["a"],
         "properties": {"a": {"contains": ELEVEN, "minContains": 3, "type": "array"}}}, "minContains": 2}, 80),
    "many demanded names": (
        {"type": "object", "properties": {name: {"type": "integer"} for name in MANY}, "required": MANY,
         "additionalProperties": False}, 5000),
    "a long name": (
        {"type": "object", "properties": {"k" * 20_000: True}, "minProperties": 1, "additionalProperties": False},
        20_100),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_a_way_is_found_and_shrinks_as_it_is_followed(name: str) -> None:
    schema, most = HARD[name]
    vocabulary = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)
    grammar = Compiler(vocabulary, tuple).compile(Constraint(Kind.JSON_SCHEMA, json.dumps(schema)))
    matcher = grammar.matcher()
    places = 0
    while not matcher.finished:
        way = matcher.closing()
        assert way is not None
        assert len(way) == matcher.least_tokens()
        assert len(way) <= most
        assert matcher.closes_within(len(way))
        # Not always along the way: what a fresh matcher finds at a place has to be good, too.
        matcher.accept(way[0])
        places += 1
        if places % 50 == 7:
            matcher = matcher.fork()


@pytest.mark.parametrize("name", HARD)
def test_a_way_is_found_from_the_middle(name: str) -> None:
    """By a matcher that has not been asked before, at places all along the way."""
    vocabulary = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)
    source = json.dumps(HARD[name][0])
    grammar = Compiler(vocabulary, tuple).compile(Constraint(Kind.JSON_SCHEMA, source))
    way = grammar.matcher().closing() or ()
    for at in range(0, len(way), 1 + len(way) // 12):
        matcher = grammar.matcher()
        for token in way[:at]:
            matcher.accept(token)
        for token in matcher.closing() or ():
            matcher.accept(token)
        assert matcher.finished


def test_a_way_is_found_where_the_name_it_would_take_was_written() -> None:
    """Only a name with a `b` and no `a` brings the end, and the shortest of these must not come again."""
    vocabulary = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)
    number = {"multipleOf": 10}
    schema = {
        "type": "object",
        "oneOf": [{"patternProperties": {"a|b": number}}, {"patternProperties": {"a": number}}],
    }
    grammar = Compiler(vocabulary, tuple).compile(Constraint(Kind.JSON_SCHEMA, json.dumps(schema)))
    for begun in (b'{"b":"x"', b'{"b":"x","', b'{"b":"x","other', b'{"b":"x","a":0'):
        matcher = grammar.matcher()
        for token in begun:
            matcher.accept(token)
        way = matcher.closing()
        assert way is not None, begun
        assert len(way) <= 14
        for token in way:
            matcher.accept(token)
        assert matcher.finished


def test_a_begun_name_is_ended_by_what_makes_the_whole_short() -> None:
    """The shorter of two names that begin alike has the longer value."""
    vocabulary = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)
    long = {"type": "object", "properties": {"much more": True}, "required": ["much more"]}
    schema = {
        "anyOf": [
            {"type": "object", "properties": {name: value}, "required": [name]}
            for name, value in (("get_a", long), ("get_bcdef", {"type": "integer"}))
        ]
    }
    grammar = Compiler(vocabulary, tuple).compile(Constraint(Kind.JSON_SCHEMA, json.dumps(schema)))
    matcher = grammar.matcher()
    for token in b'{"get_':
        matcher.accept(token)
    assert matcher.closing() == (*b'bcdef":0}', 256)


def test_names_that_compete_for_a_begun_one_are_tried_in_parts() -> None:
    """Each name that an output may still choose has its own rest of an object, which is expanded now."""
    vocabulary = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)
    names = [f"p{number}" for number in range(24)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "dependentRequired": {name: [after] for name, after in pairwise(names)},
        "additionalProperties": False,
    }
    constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(schema), key_order=KeyOrder.ANY)
    grammar = Compiler(vocabulary, tuple).compile(constraint)
    assert isinstance(grammar, NativeGrammar)
    matcher = grammar.matcher()
    for token in b'{"p':
        matcher.accept(token)
    states, most = grammar.machine.states, 0
    for _ in matcher.closing_parts():
        most = max(most, grammar.machine.states - states)
        states = grammar.machine.states
    assert matcher.closing() == (*b'23":0}', 256)
    assert 0 < most < len(names) // 2


def test_free_white_space_does_not_hide_the_way() -> None:
    names = [f"name_{number}" for number in range(14)]
    part = {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in names},
        "required": names,
    }
    schema = {"type": "object", "properties": {"a": part, "b": part}, "required": ["a", "b"]}
    vocabulary = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)
    constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(schema), Whitespace.LENIENT)
    least = Compiler(vocabulary, tuple).compile(constraint).least_tokens
    assert least is not None
    assert least < 500


def _entity(kind: str, field: str) -> dict[str, Any]:
    properties = {"kind": {"enum": [kind]}, "name": {"type": "string"}, field: {"$ref": "#"}}
    return {"type": "object", "properties": properties, "required": ["kind", "name", field]}


FIELDS = {"list": "items", "map": "values", "fixed": "size", "union": "parts"}
ENTITIES = {"oneOf": [*(_entity(*names) for names in FIELDS.items()), {"type": "string"}]}


def _end_after_a_brace(source: str, options: Options) -> tuple[bytes, int]:
    """(a short end of an object, the states made to find it)."""
    cursor = Cursor(Machine(Language(read(source), options).root))
    brace = np.frombuffer(b"{", np.uint8).copy()
    assert cursor.read(brace)
    cursor.commit(brace, 0)
    end = whole(ShortestEnd(cursor, RuleGraph(cursor.machine)).text())
    assert end is not None
    return end, cursor.machine.states


def test_free_white_space_is_no_way_to_an_end() -> None:
    """Where a rule knows no distance, a blank must not pass for progress: 30,000 states were visited in vain."""
    compact, free = (
        _end_after_a_brace(json.dumps(ENTITIES), Options(any_order=True, whitespace=form))
        for form in (Whitespace.COMPACT, Whitespace.LENIENT)
    )
    assert not set(free[0]) & set(b" \t\n\r")
    assert free[1] < 2 * compact[1]


@pytest.mark.parametrize("begun", [b'[3,[{"', b"[0,[1", b"[[true,1,[false,"])
def test_an_end_does_not_rely_on_an_item_that_is_equal_to_an_earlier_one(begun: bytes) -> None:
    """An inner array needs four items or two equal ones; a search knows of no equal one, so it writes four."""
    few = {"type": "array", "uniqueItems": True, "maxItems": 3}
    source = json.dumps({"type": "array", "uniqueItems": True, "items": {"not": few}})
    matcher = Compiler(BYTES, tuple).compile(Constraint(Kind.JSON_SCHEMA, source)).matcher()
    for token in begun:
        matcher.accept(token)
    for token in matcher.closing() or pytest.fail("no end"):
        matcher.accept(token)
    assert matcher.finished


def test_names_that_are_not_required_are_not_tried() -> None:
    """Each name tried makes states for its member: with the required one alone, their number does not grow."""
    states = [
        _end_after_a_brace(
            json.dumps(
                {
                    "type": "object",
                    "properties": {f"n{i}": {"items": {"enum": [i]}} for i in range(count)}
                    | {"required name": {"type": "string"}},
                    "required": ["required name"],
                    "additionalProperties": False,
                }
            ),
            Options(any_order=True),
        )[1]
        for count in (10, 60)
    ]
    assert states[1] - states[0] < 150  # of the leaf of names
