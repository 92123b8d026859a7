"""Requests as no client would write them: fields left out, of other types, at the edges of their ranges, or beyond.

Does: make them from a seed. Does not: send them (`engine_fuzzer`, `http_fuzzer`).
"""

import math
import random
from collections.abc import Callable
from typing import Any

INTEGERS = tuple(
    number
    for power in (0, 7, 8, 15, 16, 24, 31, 32, 53, 63, 64)
    for off in (-1, 0, 1)
    for number in (2**power + off, -(2**power) - off)
    if -(2**63) <= number < 2**64
)
VAST = (10**40, -(10**40), 10**400)  # more than any message can hold
FLOATS = (0.0, -0.0, 0.5, 1.0, 1.5, 5e-324, 1e-45, 1e-38, 1e-7, 3.5e38, 1e308, -1e308)
NOT_FINITE = (math.nan, math.inf, -math.inf)
TEXTS = (
    "",
    " ",
    "a",
    "\0",
    "\n\r\t",
    "\u202e\u200b",
    "é" * 50,
    "😀" * 300,
    "e\u0301\u0327" * 40,
    "\ufeff\uffff\U0010ffff",
    '"}\\u0000{"',
    "<|im_start|>",
    "x" * 5000,
)
HALVES = ("\ud800", "a\udfffb")

SOURCES = (
    "",
    "{",
    "true",
    "false",
    "null",
    "[]",
    '"a"',
    "1e999",
    '{"enum":["a","b"]}',
    '{"enum":["é","😀","\\u0000"]}',
    '{"enum":["\\ud800"]}',
    '{"const":"\\ud83d"}',
    '{"\\udfff":1}',
    '{"type":"nonsense\\ud800"}',
    '{"type":"integer"}',
    '{"type":"integer","minimum":-9223372036854775809,"maximum":9223372036854775808}',
    '{"type":"string","maxLength":6}',
    '{"type":"string","pattern":"^[a-c]{1,3}$"}',
    '{"type":"string","pattern":"(\\ud800"}',
    '{"type":"array","items":{"type":"boolean"},"maxItems":3}',
    '{"type":"object","properties":{"a":{"type":"null"},"é":{"enum":[1,2]}},"required":["a"]}',
    '{"minLength":1e400}',
    '{"maxLength":9223372036854775808}',
    '{"$ref":"#/nowhere"}',
    "[ab]{1,4}",
    "(",
    "a{99999999999}",
    'root ::= "a" | "b"',
    "root ::=",
    'start: "a"',
    "\ud7ff",
)


class Dice(random.Random):
    """Draws values of every kind. `sendable` ones can be written as a message."""

    def often(self, share: float) -> bool:
        return self.random() < share

    def number(self) -> Any:
        return self.choice((*INTEGERS, *FLOATS, *NOT_FINITE, self.randrange(400), self.random()))

    def text(self) -> str:
        if self.often(0.2):
            return "".join(chr(self.choice((65, 233, 0x1F600, 0x10FFFF, 0))) for _ in range(9))
        return self.choice(TEXTS)

    def anything(self, depth: int = 2, *, sendable: bool = True) -> Any:
        kinds: list[Callable[[], Any]] = [
            self.number,
            self.text,
            lambda: None,
            lambda: self.choice((True, False)),
            lambda: self.choice((b"", b"\xff\xfe")),
        ]
        if depth:
            inner = depth - 1
            kinds += [
                lambda: [self.anything(inner, sendable=sendable) for _ in range(self.randrange(4))],
                lambda: {
                    self.choice((self.text(), self.choice(INTEGERS[:30]))): self.anything(
                        inner, sendable=sendable
                    )
                    for _ in range(self.randrange(4))
                },
            ]
        if not sendable:
            kinds += [
                lambda: self.choice(VAST),
                lambda: self.choice(HALVES),
                lambda: object(),
                lambda: {1, 2},
                lambda: complex(1, 2),
            ]
        return self.choice(kinds)()


def good_sampling(dice: Dice, vocabulary: int) -> dict[str, Any]:
    """Sampling parameters in their ranges, edges among them."""
    token = dice.randrange(vocabulary)
    choices: dict[str, tuple[Any, ...]] = {
        "temperature": (0, 0.0, 5e-324, 1e-40, 1e-6, 0.7, 1, 5.0, 100),
        "top_k": (0, 1, 2, 50, vocabulary, 2**31 - 1),
        "top_p": (1, 1.0, 0.5, 1e-6, 2.0**-126),
        "min_p": (0, 0.0, 1, 0.1, 5e-324),
        "seed": (None, 0, 1, 2**63 - 1),
        "repetition_penalty": (1, 1.0, 0.01, 1.3, 100),
        "presence_penalty": (0, -100, 100.0, 0.5),
        "frequency_penalty": (0, -100.0, 100, 0.5),
        "logit_bias": ({}, {token: 1e6}, {token: -1e6, 0: 3}, dict.fromkeys(range(40), 1.5)),
        "logprobs": (None, 0, 1, 5, 1024),
        "stop": ((), ("a",), ("é😀", "b")),
        "stop_token_ids": ((), (token,), tuple(range(50))),
        "ignore_eos": (False, True),
    }
    chosen = {name: dice.choice(values) for name, values in choices.items() if dice.often(0.4)}
    return {"max_tokens": dice.choice((1, 2, 5, 9)), **chosen}


def good_request(dice: Dice, name: str, vocabulary: int) -> dict[str, Any]:
    """A request that an engine takes, or refuses for its constraint at most."""
    prompt = tuple(dice.randrange(vocabulary) for _ in range(dice.choice((1, 2, 7, 30))))
    request: dict[str, Any] = {
        "id": name,
        "prompt": prompt,
        "sampling": good_sampling(dice, vocabulary),
    }
    if dice.often(0.4):
        request["constraint"] = {
            "kind": dice.choice(("json_schema", "json_schema", "regex", "ebnf", "lark", "csv")),
            "source": dice.choice(SOURCES),
            "extra_properties": dice.often(0.5),
            "key_order": dice.choice(("schema", "any")),
            "whitespace": dice.choice(("compact", "spaced", "pretty", "lenient")),
        }
    if dice.often(0.2):
        request["priority"] = dice.choice((-1_000_000, -1, 0, 5, 1_000_000))
    if dice.often(0.1):
        request["deadline"] = dice.choice((5e-324, 1e-9, 0.01, 30, 1e9))
    if dice.often(0.1):
        request["cache_salt"] = dice.choice(("", "tenant", "é"))
    return request


def spoil(dice: Dice, request: dict[str, Any], *, sendable: bool = True) -> dict[str, Any]:
    """The request with up to three fields, other than its id, replaced, left out or made up."""
    spoilt = {**request, "sampling": dict(request["sampling"])}
    if isinstance(spoilt.get("constraint"), dict):
        spoilt["constraint"] = dict(spoilt["constraint"])
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        part = dice.choice(("sampling", "sampling", "sampling", "request", "constraint"))
        inner = spoilt.get(part)
        target = inner if part != "request" and isinstance(inner, dict) else spoilt
        name = dice.choice(_FIELDS[part if target is inner else "request"])
        if dice.often(0.05):
            target.pop(name, None)
        elif dice.often(0.05):
            target[dice.text()] = dice.anything(sendable=sendable)
        elif dice.often(0.5):
            target[name] = dice.number()
        else:
            target[name] = dice.anything(sendable=sendable)
    return spoilt


_FIELDS = {
    "request": ("prompt", "sampling", "constraint", "priority", "deadline", "cache_salt"),
    "sampling": (
        *("max_tokens", "temperature", "top_k", "top_p", "min_p", "seed", "repetition_penalty"),
        *("presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "stop"),
        *("stop_token_ids", "ignore_eos"),
    ),
    "constraint": (
        *("kind", "source", "whitespace", "extra_properties", "key_order", "indent", "formats"),
        *("exponents", "schemas", "header"),
    ),
}
