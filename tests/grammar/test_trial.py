"""Slow schemas: admitted ones can be ended from anywhere, the others are refused during examination."""

import json
from dataclasses import replace
from typing import Any

import pytest
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    ConstraintTooLarge,
    KeyOrder,
    Kind,
    examine,
    screen,
)
from intaglio.grammar.contract.vocabulary import Vocabulary
from intaglio.grammar.intake.trial import attempt

BYTES = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)

DIFFER: dict[str, tuple[dict[str, Any], bytes]] = {
    "strings": ({"type": "string"}, b'["","a","b","ab'),
    "integers": ({"type": "integer"}, b"[0,1,2,-1,7"),
    "numbers": ({"type": "number"}, b"[0,1.5,-1.25,2"),
    "anything": ({}, b'[true,null,[0],{"a":1},"'),
    "objects": (
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}},
         "required": ["a", "b"], "additionalProperties": False}, b'[{"a":0,"b":false},{"a":'),
}  # fmt: skip


def compiler() -> Compiler:
    return Compiler(BYTES, tuple)


def source(schema: dict[str, Any]) -> Constraint:
    return Constraint(Kind.JSON_SCHEMA, json.dumps(schema))


@pytest.mark.parametrize("name", DIFFER)
def test_a_long_list_of_different_items_is_ended_from_anywhere(name: str) -> None:
    items, begun = DIFFER[name]
    schema = {"type": "array", "items": items, "uniqueItems": True, "minItems": 60}
    matcher = compiler().compile(source(schema)).matcher()
    for token in begun:
        matcher.accept(token)
    way = matcher.closing()
    assert way is not None
    for token in way:
        matcher.accept(token)
    assert matcher.finished
    text = bytes(matcher_tokens(begun, way)).decode()
    found = {json.dumps(item, sort_keys=True) for item in json.loads(text)}
    assert len(found) >= 60


def matcher_tokens(begun: bytes, way: tuple[int, ...]) -> list[int]:
    """The bytes of an output, without its end."""
    return [*begun, *(token for token in way if token < 256)]


@pytest.mark.parametrize("step", [1_048_576, 65_536, 2_000_000_000])
def test_multiples_of_a_power_of_two_can_be_ended_after_any_digit(step: int) -> None:
    grammar = compiler().compile(source({"type": "integer", "multipleOf": step}))
    for begun in (b"7", b"-123456789", b"99999999999999999"):
        matcher = grammar.matcher()
        for token in begun:
            matcher.accept(token)
        way = matcher.closing()
        assert way is not None
        assert int(bytes(matcher_tokens(begun, way))) % step == 0


@pytest.mark.parametrize("step", [1_000_003, 0.123456789, 0.21841])
def test_multiples_that_no_automaton_tells_are_refused_by_place(step: float) -> None:
    schema = {"properties": {"n": {"type": "number", "multipleOf": step}}}
    with pytest.raises(ConstraintTooLarge) as caught:
        screen(source(schema))
    refusal = caught.value.refusals[0]
    assert (refusal.where, refusal.keyword) == ("/properties/n/multipleOf", "multipleOf")
    assert refusal.hint


def test_outputs_that_take_much_work_a_token_are_refused() -> None:
    schema = source({"type": "string", "pattern": r"^\p{Lu}\p{Ll}+( \p{L}+)*$", "maxLength": 300})
    attempt(compiler().compile(schema), BYTES.width)
    with pytest.raises(ConstraintTooLarge, match="units of work per token") as caught:
        attempt(compiler().compile(schema), BYTES.width, slow=1)
    assert caught.value.refusals[0].hint


def any_order(count: int) -> Constraint:
    """A schema whose masks cost the more, the more keys are missing."""
    names = [f"field_{number}" for number in range(count)]
    schema = {
        "type": "object",
        "properties": {key: {"type": "string"} for key in names},
        "required": names,
        "additionalProperties": False,
    }
    return Constraint(Kind.JSON_SCHEMA, json.dumps(schema), key_order=KeyOrder.ANY)


HEAVY = {
    "many keys in any order": any_order(80),
    "fewer keys in any order": any_order(40),
    "a long chain of keys": Constraint(
        Kind.JSON_SCHEMA,
        json.dumps({"type": "object", "required": (names := [f"p{n}" for n in range(7000)]),
                    "properties": {key: {"type": "boolean"} for key in names}}),
    ),
    "different strings": source({"type": "array", "items": {}, "uniqueItems": True, "minItems": 40}),
    "letters": source({"type": "string", "pattern": r"^\p{L}{3,40}$"}),
    "formats": source({"properties": {n: {"format": n} for n in ("email", "uri", "date-time")}}),
}  # fmt: skip


class Stalling:
    """A clock of a machine that stops for an hour between two looks."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 3600.0
        return self.now


@pytest.fixture(scope="module")
def used() -> Compiler:
    """A compiler that has examined all heavy schemas."""
    made = compiler()
    for each in HEAVY.values():
        examine(made, each)
    return made


@pytest.mark.parametrize("name", HEAVY)
def test_verdicts_depend_neither_on_time_nor_on_what_was_compiled_before(
    name: str, used: Compiler
) -> None:
    first = examine(compiler(), HEAVY[name])
    again = examine(used, HEAVY[name], Stalling())
    assert replace(first, seconds=0.0) == replace(again, seconds=0.0)
    assert (first.code is not None) == (name == "a long chain of keys")
    assert first.final
