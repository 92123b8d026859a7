"""Random walks over arrays of unique items with tokens of several bytes: every token that a mask offers has an end."""

import json
import random
from typing import Any

import pytest
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    GrammarError,
    KeyOrder,
    Kind,
    Whitespace,
    empty_rows,
)
from intaglio.grammar.contract.vocabulary import Vocabulary

PIECES = (
    '","', '", "', '",', '","', 'e,t', 'e,f', 'l,n', 'l,t', '1,', '1,1', '0,1', '2,', '},{',
    '],[', '],', '},', '[1', '["a', '["a","', 'true,', 'true,f', 'null,"', 'a","b', 'b","',
    'a","', '"a"', '"b"', '"a","b"', '{"k":', '{"k":1', '{"k":1}', '1},{"k":', '"k":2}', '[true',
    '[true,', 'false]', 'false],[', '],[t', '10,', '10,1', '11', '11,1', '1,"', ',"', ',t', ',f',
    ',n', ',1', ',2', ',{', ',[', 'e,"', 'e,1', 'l,"', 'l]', 'e]', '"]', '1]', '}]', ']]',
)  # fmt: skip
MEMBERS = (
    '"k":1', '{"k":1,', '"k":1,"m":', ',"m":', '"m":1', '{"m":', '{"m":1,"k":', '"m":1,"k":', '1,"k":1', '},{"m',
    '},{"m":1,"k":', '1},{"m":', '1},{"k":1,"m":', ',"kk":', '"kk":null', 'null,"m":', '{}', '{},{"k', '[],"k":',
    '"k":[],', '"k":[true', '"m":[false,', 'true]},{"m":[', ',"k":true', '"k":true}', 'e,"m":', '"kk":[1,2]',
)  # fmt: skip
END = 256


def items(rng: random.Random, *, nested: bool = True) -> dict[str, Any]:
    """A schema of items: one kind, or some; most have few values, and some have infinitely many."""
    letters = rng.sample(["a", "b", "ab", "c", "ba"], rng.randint(1, 3))
    one, two = {"k": {"enum": [1, 2]}}, {"k": {"type": "boolean"}}
    kinds: list[dict[str, Any]] = [
        {"enum": letters},
        {"const": rng.choice([1, 10, 11, "a", True, None])},
        {"type": "boolean"},
        {"type": "null"},
        {"type": "integer"},
        {"type": "integer", "minimum": 9, "maximum": rng.randint(10, 12)},
        {"type": "string", "maxLength": rng.randint(0, 1)},
        {"type": "string", "pattern": "^(a|b)$"},
        {"type": "string"},
        {"enum": [10, 11, 1, 2]},
        {"type": "object", "properties": one, "required": ["k"], "additionalProperties": False},
        {"type": "object", "properties": two, "additionalProperties": False},
    ]
    if nested:
        sizes = {"minItems": rng.randint(0, 1), "maxItems": rng.randint(1, 3)}
        inner = {"uniqueItems": rng.random() < 0.7, "items": items(rng, nested=False)}
        kinds.append({"type": "array", **sizes, **inner})
    chosen = rng.sample(kinds, rng.randint(1, 3))
    return chosen[0] if len(chosen) == 1 else {rng.choice(["anyOf", "anyOf", "oneOf"]): chosen}


def members(rng: random.Random) -> dict[str, Any]:
    """A schema of items among which are closed objects; their members have few values, or may be arrays of few."""
    unique = {"type": "array", "uniqueItems": True, "maxItems": 2}
    values: list[dict[str, Any]] = [
        {"enum": [1, 2]},
        {"const": 1},
        {"type": "null"},
        {"type": "boolean"},
        {"enum": ["a", "b"]},
        {**unique, "items": {"type": "boolean"}, "minItems": rng.randint(0, 2)},
        {**unique, "items": {"enum": [1, 2]}},
        {"anyOf": [{**unique, "items": {"type": "boolean"}}, {**unique, "items": {"const": 1}}]},
        {"properties": {"k": {"const": 1}, "m": {"enum": [1, 2]}}, "required": ["k", "m"],
         "additionalProperties": False, "type": "object"},
    ]  # fmt: skip
    kinds: list[dict[str, Any]] = [{"type": "integer"}, {"enum": ["a"]}]
    for _ in range(2):
        names = ["k", "m", "kk"][: rng.randint(1, 3)]
        kinds.append({
            "type": "object",
            "properties": {name: rng.choice(values) for name in names},
            "required": [name for name in names if rng.random() < 0.7],
            "additionalProperties": False,
        })  # fmt: skip
    return {"anyOf": rng.sample(kinds, rng.randint(1, 4))}


def walk(seed: int, steps: int = 12, key_order: KeyOrder | None = None) -> int:
    """Follow random tokens of one random schema and vocabulary; returns the number of tokens tried.

    `key_order`: that of objects, with a schema of `members`.
    """
    rng, tried = random.Random(seed), 0
    schema = {"type": "array", "uniqueItems": True}
    schema["items"] = items(rng) if key_order is None else members(rng)
    if rng.random() < 0.4:
        schema["minItems"] = rng.randint(1, 3)
    known = PIECES if key_order is None else MEMBERS
    pieces = [piece.encode() for piece in rng.sample(known, rng.randint(15, len(known)))]
    words = Vocabulary(
        (*(bytes([byte]) for byte in range(END)), None, *pieces), (END,), END + 1 + len(pieces)
    )
    source = Constraint(
        Kind.JSON_SCHEMA,
        json.dumps(schema),
        whitespace=Whitespace.COMPACT,
        key_order=key_order or KeyOrder.SCHEMA,
    )
    try:
        matcher = Compiler(words, tuple).compile(source).matcher()
    except GrammarError:
        return 0  # no array satisfies it
    row = empty_rows(1, words.width)[0]
    written = b""
    for _ in range(steps):
        matcher.fill(row)
        bytewise = [token for token in range(END) if row[token // 32] >> (token % 32) & 1]
        wider = range(END + 1, words.width)
        whole = [token for token in wider if row[token // 32] >> (token % 32) & 1]
        if not bytewise:
            break
        for token in (*whole, *rng.sample(bytewise, min(6, len(bytewise)))):
            matcher.accept(token)
            assert matcher.closing() is not None, (schema, written, words.tokens[token])
            matcher.rollback(1)
            tried += 1
        token = rng.choice(whole if whole and rng.random() < 0.7 else bytewise)
        matcher.accept(token)
        written += words.tokens[token] or b""
    return tried


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_each_token_of_a_walk_over_unique_items_leaves_an_end(first: int) -> None:
    assert sum(walk(seed) for seed in range(first, first + 10)) > 250


@pytest.mark.parametrize("key_order", KeyOrder)
@pytest.mark.parametrize("first", range(0, 30, 10))
def test_each_token_of_a_walk_over_unique_objects_leaves_an_end(
    first: int, key_order: KeyOrder
) -> None:
    assert sum(walk(seed, 24, key_order) for seed in range(first, first + 10)) > 250
