"""No dead ends: every legal beginning can be completed, also where items must differ and names must not repeat."""

import json
from random import Random
from typing import Any

import numpy as np
import pytest
from intaglio.grammar.automata.specimen import specimen
from intaglio.grammar.contract.errors import Unsatisfiable
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.leaves import formats
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.machine import Machine

COLOURS = {"enum": ["red", "rose", "blue", "black", "blue-green"]}
PAIR = {"type": "string", "pattern": "^[ab]{2}$"}
# Whatever holds of members with an `a` or `b` must not hold of all of them: the names come in classes.
SOME = {
    "oneOf": [
        {"patternProperties": {"a|b": {"const": 1}}},
        {"patternProperties": {"a": {"const": 1}}},
    ]
}
SHORT = {
    "type": "object",
    "propertyNames": {"maxLength": 2},
    "additionalProperties": {"enum": [1, 11]},
}
NEVER = {"allOf": [{"type": "string", "minLength": 3}, {"maxLength": 1}]}
UNIQUE = {"type": "array", "uniqueItems": True}
BYTES = b'"]},:0123456789.abcdefghijklmnopqrstuvwxyz[{-'

SCHEMAS: list[dict[str, Any]] = [
    {**UNIQUE, "items": COLOURS, "minItems": 3},
    {**UNIQUE, "items": {"type": ["boolean", "null"]}},
    {**UNIQUE, "items": {"type": "integer", "minimum": -1, "maximum": 1}, "minItems": 3},
    {**UNIQUE, "items": {"multipleOf": 0.5, "type": "number", "minimum": 0, "maximum": 1}},
    {**UNIQUE, "items": PAIR, "minItems": 4},
    {**UNIQUE, "prefixItems": [{"enum": [1, 2]}, {"enum": [1]}], "minItems": 2, "items": False},
    {**UNIQUE, "prefixItems": [{"enum": [1, 2]}, {"enum": [2, 3]}, {"const": 3}], "minItems": 3},
    {**UNIQUE, "items": {"enum": ["a", "b", {"x": 1}, [2]]}, "contains": {"const": [2]}},
    {**UNIQUE, "items": COLOURS, "maxItems": 2, "contains": {"const": "rose"}},
    {"type": "array", "prefixItems": [{"const": 1}], "items": NEVER},
    {
        "type": "object",
        "patternProperties": {"^[ab]$": {"type": "null"}},
        "additionalProperties": False,
    },
    {
        "type": "object",
        "propertyNames": COLOURS,
        "minProperties": 3,
        "additionalProperties": {"const": 1},
    },
    {**SHORT, **SOME},
]


def walked(machine: Machine, seed: int) -> tuple[str, bool]:
    """(a text of random legal bytes, whether it is complete); bytes that end things are preferred after a while.

    Of bytes in a random order the first legal one is taken: each legal one is as likely, and few are tried.
    """
    cursor, chance = Cursor(machine), Random(seed)
    while True:
        ended = cursor.can_end()
        if ended and chance.random() < 0.5:
            return cursor.output.decode(), True
        order = chance.sample(BYTES, len(BYTES))
        if len(cursor.output) > 60:
            order.sort(key=lambda byte: byte not in b'"]}')
        for byte in order:
            memories, step = len(cursor.memories), np.array([byte], np.uint8)
            if cursor.read(step):
                break
            cursor.memories.cut(memories)
        else:
            return cursor.output.decode(), ended
        cursor.commit(step, memories)
        if len(cursor.output) > 200:
            return cursor.output.decode(), True  # still going: that is no dead end


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
@pytest.mark.parametrize("any_order", [False, True])
def test_random_texts_always_come_to_an_end(schema: dict[str, Any], any_order: bool) -> None:
    machine = Machine(Language(schema, Options(any_order=any_order)).root)
    for seed in range(25):
        text, complete = walked(machine, seed)
        assert complete, text


def test_a_name_is_not_begun_that_only_a_repeated_one_could_complete() -> None:
    """Longer names are none of those that count here, though they are known to the same leaf."""
    machine = Machine(Language({**SHORT, **SOME}).root)
    for text, legal in (
        (b'{"xy":1,"x', True),
        (b'{"xy":1,"xz', True),
        (b'{"xy":1,"xy', False),
        (b'{"xy":1,"ab', True),
        (b'{"ab":1,"xy":1,"ab', False),
    ):
        cursor = Cursor(machine)
        for at in range(len(text)):
            memories, byte = len(cursor.memories), np.array([text[at]], np.uint8)
            read = cursor.read(byte)
            assert read or at == len(text) - 1, text
            cursor.commit(byte, memories)
        assert read == legal, text


@pytest.mark.parametrize(
    "schema",
    [
        {**UNIQUE, "items": {"type": "boolean"}, "minItems": 3},
        {**UNIQUE, "items": COLOURS, "minItems": 6},
        {**UNIQUE, "prefixItems": [{"const": 1}, {"enum": [1]}], "minItems": 2},
        {**UNIQUE, "prefixItems": [{"enum": [1, 2]}] * 3, "minItems": 3},
        {"type": "array", "items": NEVER, "minItems": 1},
    ],
    ids=json.dumps,
)
def test_more_different_items_than_there_are_values_is_never_valid(schema: dict[str, Any]) -> None:
    with pytest.raises(Unsatisfiable):
        Language(schema)


@pytest.mark.parametrize("name", ["hostname", "idn-hostname", "regex"])
def test_formats_that_have_to_be_judged_leave_no_dead_end(name: str) -> None:
    """Texts are taken from an automaton of such as surely have the format; the judge agrees with each."""
    bounded = {"type": "string", "format": name, "maxLength": 5, "minLength": 1}
    for schema in (
        {"type": "string", "format": name},
        bounded,
        {"anyOf": [bounded, {"type": "null"}]},
    ):
        machine = Machine(Language(schema).root)
        for seed in range(15):
            text, complete = walked(machine, seed)
            assert complete, text
            if len(text) < 200:
                value = json.loads(text)
                assert value is None or formats.holds(name, value), text


@pytest.mark.parametrize("name", ["hostname", "idn-hostname", "regex"])
def test_names_with_formats_that_have_to_be_judged(name: str) -> None:
    """No name is judged at its end: of those that come it is sure whether they have the format."""
    named = {"propertyNames": {"format": name}}
    either = {"anyOf": [named, {"minProperties": 3}]}
    for schema in (named, either):
        objects = {"type": "object", "additionalProperties": {"const": 1}, **schema}
        machine = Machine(Language(objects).root)
        for seed in range(15):
            text, complete = walked(machine, seed)
            assert complete, text
            if len(text) < 200:
                members = json.loads(text)
                assert schema is either or all(formats.holds(name, text) for text in members)


def test_what_surely_has_a_format_has_it() -> None:
    for name in ("hostname", "idn-hostname", "regex"):
        for seed in range(200):
            symbols = specimen(formats.certain_texts(name), seed, about=seed % 30)
            assert symbols is not None
            assert formats.holds(name, "".join(map(chr, symbols)))
