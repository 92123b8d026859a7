"""Alternatives of objects that overlap: exactly one of them has to hold, and no member is let in that makes it two."""

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from intaglio.grammar.contract.errors import Unsatisfiable
from intaglio.grammar.jsonschema.logic.evaluate import holds
from intaglio.grammar.jsonschema.logic.schema_formulas import SchemaFormulas
from intaglio.grammar.jsonschema.read.resolve import Schemas
from intaglio.grammar.jsonschema.read.values import TRUE, Map, Value
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules import costs
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.machine import Machine

NAMES = "abcd"
WRITTEN: dict[Value, str] = {TRUE: "true", 1: "1", "x": '"x"'}
RARER: list[dict[str, Any]] = [
    {"minProperties": 2},
    {"maxProperties": 2},
    {"patternProperties": {"^[ab]$": {"type": "string"}}},
    {"propertyNames": {"enum": ["a", "c", "d"]}},
    {"unevaluatedProperties": {"type": "integer"}},
]
KINDS = ("boolean", "integer", "string")


def readable(machine: Machine, text: str) -> bool:
    """Whether something that may be written begins with the text."""
    cursor = Cursor(machine)
    for byte in text.encode():
        memories, step = len(cursor.memories), np.array([byte], np.uint8)
        if not cursor.read(step):
            return False
        cursor.commit(step, memories)
    return True


def begun(members: dict[str, Value]) -> str:
    return "{" + ",".join(f'"{name}":{WRITTEN[value]}' for name, value in members.items())


def objects() -> list[dict[str, Value]]:
    """All objects of these names and values."""
    return [
        {name: value for name, value in zip(NAMES, values, strict=True) if value is not None}
        for values in product((None, *WRITTEN), repeat=len(NAMES))
    ]


def alternative(chance: Random) -> dict[str, Any]:
    some = chance.sample(NAMES, chance.randint(1, 3))
    found: dict[str, Any] = {"properties": {name: {"type": chance.choice(KINDS)} for name in some}}
    if chance.random() < 0.5:
        found["required"] = chance.sample(NAMES, chance.randint(1, 2))
    if chance.random() < 0.2:
        found["additionalProperties"] = False
    if chance.random() < 0.3:
        found |= chance.choice(RARER)
    return {"not": found} if chance.random() < 0.15 else found


def schema(chance: Random, any_order: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"enum": [True, 1, "x"]} for name in NAMES},
        "additionalProperties": False,
    }
    if any_order and chance.random() < 0.3:
        made["unevaluatedProperties"] = made.pop("additionalProperties")
        made["properties"] = {name: made["properties"][name] for name in NAMES[:2]}
        made["propertyNames"] = {"enum": list(NAMES)}
    for keyword in chance.sample(["oneOf", "oneOf", "anyOf", "if"], chance.randint(1, 2)):
        if keyword == "if":
            made |= {part: alternative(chance) for part in ("if", "then", "else")}
        else:
            made[keyword] = [alternative(chance) for _ in range(chance.randint(2, 4))]
    return made


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("seed", [*range(24), 308, 359])
def test_a_beginning_is_let_through_where_some_valid_object_goes_on_so(
    seed: int, any_order: bool
) -> None:
    chance = Random(seed)
    made = schema(chance, any_order)
    root = SchemaFormulas(Schemas(made), formats=False).root.formula
    valid = [
        set(members.items())
        for members in objects()
        if holds(root, Map(frozenset(members.items())))
    ]
    if not valid:
        with pytest.raises(Unsatisfiable):
            Language(made)
        return
    machine = Machine(Language(made, Options(any_order=any_order)).root)
    for members in chance.sample(objects(), 60):
        last = "" if any_order else max(members, default="")
        possible = any(
            whole >= set(members.items())
            and all(name > last for name, _ in whole - set(members.items()))
            for whole in valid
        )
        assert readable(machine, begun(members)) == possible, (made, members)
        ended = set(members.items()) in valid
        assert readable(machine, begun(members) + "}") == ended, (made, members)


@pytest.mark.parametrize("any_order", [False, True])
def test_that_two_alternatives_of_many_hold_is_seen_without_a_search(
    any_order: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of a hundred siblings asks the same: a search that tried what may still come would come to its limit."""
    monkeypatch.setattr(costs, "MOST_STEPS", 12)
    names = [f"n{number}" for number in range(100)]
    made = {
        "type": "object",
        "properties": {name: {"enum": [True, 1]} for name in names},
        "additionalProperties": False,
        "oneOf": [
            {"properties": {name: {"type": "boolean"}}, "required": [name]} for name in names
        ],
    }
    machine = Machine(Language(made, Options(any_order=any_order)).root)
    for text, possible in (
        ('{"n3":true}', True),
        ('{"n3":1', True),
        ('{"n3":1,"n4":true}', True),
        ('{"n3":1}', False),
        ('{"n3":true,"n4":1,"n99":1}', True),
        ('{"n3":true,"n4":t', False),
        ('{"n3":1,"n4":true,"n99":t', False),
    ):
        assert readable(machine, text) == possible, text


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "if"])
@pytest.mark.parametrize("lost", ["c", "d"])
def test_nothing_is_begun_for_an_alternative_that_demands_a_member_without_a_value(
    lost: str, keyword: str, any_order: bool
) -> None:
    """Once `a` was passed over such an alternative is the only one left."""
    needs_a, needs_lost = {"required": ["a"]}, {"required": [lost]}
    made: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"enum": [True, 1, "x"]} for name in NAMES} | {lost: {"not": {}}},
    }
    if keyword == "if":
        made |= {"if": needs_a, "else": needs_lost}
    else:
        made[keyword] = [needs_a, needs_lost]
    machine = Machine(Language(made, Options(any_order=any_order)).root)
    assert readable(machine, '{"b') == any_order
    assert readable(machine, '{"b":1}') is False
    assert readable(machine, '{"b":1,"a":1}') == any_order
    assert readable(machine, '{"a":true,"b":1}')
