"""Equality of values while they are written: an answer about a beginning holds for all its continuations."""

import json
import random
from typing import Any

import pytest
from intaglio.grammar.jsonschema.arrays.equality import EQUALITY

TEXTS = ("", "a", "ab", "a/b", 'q"q', "\\", "é", "\n", "]}", "12", "\U0001f600")
NUMBERS = (0, 1, 12, -1, 1.5, 100.0, -0.0)


def value(dice: random.Random, depth: int = 2) -> Any:
    kind = dice.randrange(6 if depth else 4)
    if kind == 4:
        return [value(dice, depth - 1) for _ in range(dice.randrange(3))]
    if kind == 5:
        return {dice.choice(TEXTS): value(dice, depth - 1) for _ in range(dice.randrange(3))}
    return (dice.choice(TEXTS), dice.choice(NUMBERS), dice.choice((True, False)), None)[kind]


def spelled(dice: random.Random, data: Any) -> bytes:
    """One of the ways to write a value."""
    text = json.dumps(data, ensure_ascii=dice.random() < 0.5)
    if dice.random() < 0.5:
        text = json.dumps(data, separators=(",", ":"))
    if dice.random() < 0.3:
        text = text.replace("/", "\\/").replace("a", "\\u0061").replace("f\\u0061lse", "false")
    return text.encode()


@pytest.mark.parametrize("seed", range(200))
def test_beginnings_of_equal_values_are_alike(seed: int) -> None:
    dice = random.Random(seed)
    data = value(dice)
    text, said = spelled(dice, data), spelled(dice, data)
    assert EQUALITY.key(text) == EQUALITY.key(said)
    for cut in range(1, len(text)):
        begun, ahead = text[:cut], text[cut:]
        assert EQUALITY.alike(begun, said), (begun, said)
        rest = EQUALITY.rest(begun, said)
        assert rest is None or rest == ahead or b"\\" in ahead


@pytest.mark.parametrize("seed", range(200))
def test_equal_values_have_one_weight_where_they_have_any(seed: int) -> None:
    dice = random.Random(2000 + seed)
    data = value(dice)
    turned = dict(reversed(data.items())) if isinstance(data, dict) else data
    weights = {EQUALITY.weight(spelled(dice, kind)) for kind in (data, turned, data)} - {None}
    assert len(weights) <= 1


def test_weights_tell_most_values_apart() -> None:
    assert EQUALITY.weight(b'{"a": 1, "b": "x"}') == EQUALITY.weight(b'{"b":"x","a":1}')
    assert EQUALITY.weight(b'{"a":1}') != EQUALITY.weight(b'{"a":2}')
    assert EQUALITY.weight(b"100.0") is None


@pytest.mark.parametrize("seed", range(200))
def test_ends_are_where_values_end(seed: int) -> None:
    dice = random.Random(1000 + seed)
    text = spelled(dice, value(dice))
    after = dice.choice((b",", b"]", b"}", b',"a":[', b"]]\n"))
    for cut in range(1, len(text)):
        whole, part = text[cut:] + after, text[cut:-1]
        assert list(EQUALITY.ends(text[:cut], [whole])) == [text]
        if text[:1] in (b'"', b"[", b"{"):
            assert list(EQUALITY.ends(text[:cut], [part, whole, part])) == [None, text, None]


def test_other_kinds_are_not_alike() -> None:
    assert not EQUALITY.alike(b'"a', b'"b"')
    assert not EQUALITY.alike(b'"a', b"1")
    assert not EQUALITY.alike(b"1", b'"1"')
    assert not EQUALITY.alike(b"[", b"{}")
    assert EQUALITY.alike(b"1", b"-0.5e3")
    assert EQUALITY.rest(b'"a', b'"ab"') == b'b"'
    assert EQUALITY.rest(b'"a', b'"a\\n"') is None
