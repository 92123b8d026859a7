"""Begun items that may become items seen before, with their members in any order, against all orders written out."""

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

from intaglio.grammar.machine.member_orders import (
    Value,
    has_orders,
    may_become,
    value_of,
    way_out,
)


def value(rng: random.Random, deep: int) -> Any:
    kind = rng.random()
    if deep == 0 or kind < 0.4:
        return rng.choice([1, 12, 305, "a", "ab", True, None, "x y", "{", ",]"])
    if kind < 0.7:
        names = rng.sample(["k", "kk", "m"], rng.randint(0, 3))
        return {name: value(rng, deep - 1) for name in names}
    return [value(rng, deep - 1) for _ in range(rng.randint(0, 2))]


def orders(value: Any) -> Iterator[str]:
    """All texts of a value."""
    if isinstance(value, dict):
        for names in itertools.permutations(value):
            for members in itertools.product(*(list(orders(value[name])) for name in names)):
                pairs = zip(names, members, strict=True)
                yield "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in pairs) + "}"
    elif isinstance(value, list):
        for items in itertools.product(*(list(orders(each)) for each in value)):
            yield "[" + ",".join(items) + "]"
    else:
        yield json.dumps(value)


def read(value: Any) -> Value:
    return value_of(json.dumps(value, separators=(",", ":")).encode())


def test_a_beginning_may_become_a_value_in_each_of_its_orders() -> None:
    rng, compared = random.Random(1), 0
    for _ in range(120):
        seen = [value(rng, 2) for _ in range(rng.randint(1, 2))]
        whole = {text for each in seen for text in orders(each)}
        if len(whole) > 200:
            continue
        values = [read(each) for each in seen]
        assert any(map(has_orders, values)) is (len(whole) > len(seen))
        tried = [*whole, *orders(value(rng, 2))]
        for text in rng.sample(tried, min(6, len(tried))):
            for size in range(1, len(text) + 1):
                begun = text[:size]
                expected = any(each.startswith(begun) for each in whole)
                assert may_become(begun.encode(), values) is expected, (begun, seen)
                compared += 1
    assert compared > 3000


def test_white_space_and_escapes_make_no_difference() -> None:
    values = [read({"a": 1, "b": "x"})]
    assert may_become(b'{ "b" : "\\u0078", "a', values)
    assert may_become(b'{\n  "a": 1,\n', values)
    assert not may_become(b'{\n  "a": 2,\n', values)
    assert not may_become(b'{"b":"y', values)
    assert not may_become(b'{"a":1,"b":"x",', values)


def test_texts_that_are_no_json_become_nothing() -> None:
    values = [read({"a": 1, "b": 2})]
    assert not any(may_become(text, values) for text in (b"}", b",", b"{{", b'{[],"', b"{}}"))


def test_values_nested_deeply_are_compared_as_they_are_written() -> None:
    deep = b"[" * 5000 + b"]" * 5000
    values = [value_of(deep), read({"a": 1, "b": 2})]
    assert values[0] == deep
    assert not may_become(deep[:5001], values)
    assert may_become(b'{"b":2', values)


def test_each_set_of_members_is_searched_once() -> None:
    """Eight constants have 40,320 orders, and 256 sets."""
    names = [f'"{letter}"' for letter in "abcdefgh"]
    values = [read({name[1:-1]: "x" for name in names})]
    asked = 0

    def any_move(text: bytes, leads_on: Any) -> bool:
        nonlocal asked
        asked += 1
        left = [name for name in names if name.encode() not in text]
        comma = b"," if text != b"{" else b""
        return any(leads_on(text + comma + name.encode() + b':"x"') for name in left)

    assert way_out(b"{", values, any_move, lambda _: 0) is None
    assert asked == 256
    names.append('"i"')
    assert way_out(b"{", values, any_move, lambda _: 0) is not None
