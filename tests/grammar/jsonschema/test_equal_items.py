"""Arrays that are valid because two of their items are equal: `not` of `uniqueItems`, and alternatives with it."""

import json
import random
from typing import Any

import pytest
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    KeyOrder,
    Kind,
    UnsupportedConstraint,
    Violation,
    Whitespace,
    empty_rows,
    examine,
)
from intaglio.grammar.contract.vocabulary import Vocabulary

from tests.conformance.validator import exact, validator

PIECES = (b"1,", b"],", b'","', b",1", b"1]", b"[1", b"true", b"e,t", b"]]")
END = 256
WORDS = Vocabulary((*(bytes([byte]) for byte in range(END)), None, *PIECES), (END,), 266)
NOT_UNIQUE = {"not": {"uniqueItems": True}}
UNIQUE_PAIR = {"uniqueItems": True, "items": {"type": "boolean"}, "minItems": 2}
VALUES: list[Any] = [1, 2, True, False, "a", None, 1.5, [], [1], [1, 1], [True], [True, True], {}]


def faults(schema: dict[str, Any], values: list[Any]) -> list[str]:
    """What is wrong with the masks along some values: each is legal just if it is valid, and all leads to an end.

    What several values begin with is looked at once.
    """
    source = json.dumps(schema)
    compiler = Compiler(WORDS, tuple)
    constraint = Constraint(Kind.JSON_SCHEMA, source, whitespace=Whitespace.COMPACT)
    verdict = examine(compiler, constraint)
    assert verdict.code is None, verdict.message
    grammar, broken = compiler.compile(constraint, verdict.shortest), validator(exact(source))
    row, found = empty_rows(1, WORDS.width)[0], []
    begun = set()

    def has(token: int) -> bool:
        return bool(row[token // 32] >> (token % 32) & 1)

    for value in values:
        text = json.dumps(value, separators=(",", ":"))
        matcher, read = grammar.matcher(), 0
        for byte in text.encode():
            matcher.fill(row)
            is_new = text[:read] not in begun
            begun.add(text[:read])
            for token in range(END + 1, WORDS.width):
                if is_new and has(token):
                    matcher.accept(token)
                    if matcher.closing() is None:
                        found.append(f"{text[:read]} and {WORDS.tokens[token]!r}: no end")
                    matcher.rollback(1)
            if not has(byte):
                with pytest.raises(Violation):
                    matcher.accept(byte)
                break
            matcher.accept(byte)
            read += 1
            if text[:read] not in begun and matcher.closing() is None:
                found.append(f"{text[:read]}: no end")
                break
        matcher.fill(row)
        legal = read == len(text) and has(END)
        if legal != (not broken(exact(text))):
            found.append(f"{text}: {'accepted' if legal else f'refused at {read}'}")
    return found


def arrays(choose: random.Random) -> list[Any]:
    """Some arrays with few different items, and arrays of such arrays."""
    found: list[Any] = []
    for _ in range(12):
        pool = choose.sample(VALUES, choose.randint(1, 4))
        found.append([choose.choice(pool) for _ in range(choose.randint(0, 5))])
        inner = ([choose.choice(pool) for _ in range(choose.randint(0, 4))] for _ in range(3))
        found.append([*inner][: choose.randint(1, 3)])
    return found


ENFORCED: dict[str, dict[str, Any]] = {
    "no array, or one with equal items": {"not": {"type": "array", "uniqueItems": True}},
    "equal items": NOT_UNIQUE,
    "four items or more, two of them equal": NOT_UNIQUE | {"minItems": 4},
    "equal items after a first one of a kind": NOT_UNIQUE | {"prefixItems": [{"const": 1}, {"const": 2}]},
    "unique or long, not both": {"type": "array", "oneOf": [{"uniqueItems": True}, {"minItems": 3}]},
    "unique just if all are integers": {
        "type": "array", "if": {"items": {"type": "integer"}}, "then": {"uniqueItems": True}, "else": NOT_UNIQUE,
    },
    "an item with equal items": {"not": {"type": "array", "items": {"uniqueItems": True}}},
    "only items with equal items": {"items": NOT_UNIQUE, "type": "array"},
    "one item with equal items": {
        "type": "array", "contains": {"type": "array", "minItems": 1, **NOT_UNIQUE}, "maxContains": 1,
    },
    "one pair of different booleans": {
        "type": "array", "contains": {"type": "array", **UNIQUE_PAIR}, "maxContains": 1,
    },
    "some pair of different booleans": {"type": "array", "contains": {"type": "array", **UNIQUE_PAIR}},
}  # fmt: skip


@pytest.mark.parametrize("name", ENFORCED)
def test_equal_items_are_enforced_where_they_may_come_at_any_time(name: str) -> None:
    choose = random.Random(f"equal items: {name}")
    assert faults(ENFORCED[name], arrays(choose)) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"type": "array", "uniqueItems": True}, "maxItems": 3},
        {"type": ["array", "null"], "not": {"uniqueItems": True}, "maxItems": 2},
        {"type": "array", "oneOf": [{"uniqueItems": True}, {"minItems": 3}], "maxItems": 4},
        {"type": "object", "properties": {"a": {"items": NOT_UNIQUE | {"maxItems": 5}}}},
        {"items": {"prefixItems": [{"type": "integer"}] * 2, "items": False, **NOT_UNIQUE}},
    ],
)
def test_an_item_that_had_to_repeat_an_earlier_one_is_refused_at_the_door(
    schema: dict[str, Any],
) -> None:
    """The last item of an array whose items all differ so far: its text could only be copied."""
    source = Constraint(Kind.JSON_SCHEMA, json.dumps(schema))
    compiler = Compiler(WORDS, tuple)
    verdict = examine(compiler, source)
    assert verdict.code == UnsupportedConstraint.code
    assert [refusal.keyword for refusal in verdict.refusals] == ["uniqueItems"]
    assert "two equal items" in verdict.message


def test_an_end_is_found_beside_a_rule_with_many_states() -> None:
    """Which alternative holds is told by one short member, or by items with many members in any order."""
    names = "abcdefghijklm"

    def kind(at: int) -> dict[str, Any]:
        own = {name: {"type": ["string", "boolean", "array"][at]} for name in names[at:]}
        items = {"type": "object", "properties": own, "required": list(names[4 * at : 4 * at + 8])}
        tag = {
            "type": "object",
            "properties": {"kind": {"enum": ["zypp", "yum", "apt"][at : at + 1]}},
        }
        tag["required"] = ["kind"]
        return {"properties": {"tag": tag, "rows": {"type": "array", "items": items}}}

    schema = {"type": "object", "required": ["rows"], "oneOf": [kind(0), kind(1), kind(2)]}
    source = Constraint(Kind.JSON_SCHEMA, json.dumps(schema), key_order=KeyOrder.ANY)
    closing = Compiler(WORDS, tuple).compile(source).matcher().closing()
    assert closing is not None
    assert not validator(schema)(json.loads(bytes(token for token in closing if token < END)))
