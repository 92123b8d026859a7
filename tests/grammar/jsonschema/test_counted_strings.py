"""Long strings read through windows: the same texts and masks as without, for any tokens."""

import json
import random
import re
from typing import Any

import numpy as np
import pytest
from intaglio.grammar.api import empty_rows
from intaglio.grammar.backends.native import NativeGrammar, NativeMatcher
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.jsonschema.scalars.counted_strings import CountedChars, CountedString
from intaglio.grammar.jsonschema.scalars.windows import window
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.regex import search

from tests.grammar.machine.test_compute_masks import index
from tests.support.tokens import small
from tests.support.walker import accepts

WORDS = r"^(?:\S+\s+){0,%d}\S+$"
SCHEMAS: list[dict[str, Any]] = [
    {"type": "string", "maxLength": 3000},
    {"type": "string", "minLength": 2500, "maxLength": 2600},
    {"type": "string", "pattern": WORDS % 199},
    {"type": "string", "pattern": WORDS % 9, "maxLength": 100},
    {"type": "string", "pattern": WORDS % 29, "maxLength": 300, "minLength": 2},
]


def texts(schema: dict[str, Any]) -> list[str]:
    """Words of many lengths, as many as there may be and one more, as long as they may be and one more."""
    draw = random.Random(3)
    most = schema.get("maxLength", 2000)
    signs = 'abcdefg.,-\u00e9\u2003\u3042\U0001f600\\"\n'
    found = []
    for count in (1, 2, 9, 10, 11, 29, 30, 31, 120, 200, 201):
        for size in (1, 2, 5, 9, 30):
            words = ["".join(draw.choices(signs, k=draw.randint(1, size))) for _ in range(count)]
            found.append(draw.choice((" ", "  ", "\u2003 ")).join(words))
    long = [text + "x" * (most - len(text)) for text in found if len(text) <= most]
    return [*found, *long, *(text + "y" for text in long)]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_takes_what_pattern_and_bounds_take(schema: dict[str, Any]) -> None:
    root = Language(read(json.dumps(schema)), Options()).root
    verdicts = set()
    for text in texts(schema):
        fits = schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 10_000)
        blank = r"[\s\ufeff]"  # those of the other dialect of patterns
        words = len(re.split(f"{blank}+", text))
        most = int((re.findall(r"\d+", schema.get("pattern", "99999")))[-1]) + 1
        fits = fits and ("pattern" not in schema or (words <= most and not text[:1].isspace()))
        if "pattern" in schema:
            fits = (
                fits
                and re.fullmatch(r"[^\s\ufeff].*[^\s\ufeff]|[^\s\ufeff]", text, re.S) is not None
            )
        assert accepts(root, json.dumps(text, ensure_ascii=False).encode()) is fits, text
        verdicts.add(fits)
    assert verdicts == {True, False}


def matcher(schema: dict[str, Any]) -> NativeMatcher:
    root = Language(read(json.dumps(schema)), Options()).root
    return NativeGrammar(Machine(root), *index()).matcher()


@pytest.mark.parametrize("schema", SCHEMAS)
def test_another_window_changes_no_mask(
    schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = empty_rows(2, index()[0].vocabulary.width)
    array = {"type": "array", "items": schema}
    renewed = 0
    one = matcher(array)
    other = matcher(array)
    for text in texts(schema)[::9]:
        tokens = list(small().canonical(json.dumps([text], ensure_ascii=False).encode()))
        for token in tokens[:250]:
            one.fill(rows[0])
            with monkeypatch.context() as patch:
                patch.setattr(CountedString, "renewed", lambda *_: None)
                other.fill(rows[1])
                assert np.array_equal(*rows)
                if not rows[0, token // 32] >> token % 32 & 1:
                    break
                other.accept(token)
            one.accept(token)
            renewed += one._cursor.stack != other._cursor.stack
        one.rollback(len(one.tokens))
        other.rollback(len(other.tokens))
    assert renewed > 5


def test_windows_far_from_bounds_are_the_same() -> None:
    leaves = set()
    for most in (99, 199):
        chars = search(WORDS % most)
        counted = CountedString(chars, None)
        state = 0
        for point in b"a b a b a b a b":
            state = chars.step(state, point)
            leaves.add(counted.following(CountedChars(state, 0)).fingerprint)
    assert len(leaves) == 2


MOST_STATES = 8000
"""Of a window's leaf: making one takes some 10 ms, in which all other requests wait."""

LETTERS = "\u00e9\u0416\u3042\ud55c\U00020000"


@pytest.mark.parametrize(
    ("pattern", "most"),
    [
        (r"^\p{L}+$", 300),
        (r"^\p{Lu}\p{Ll}+( \p{L}+)*$", 300),
        (r"^\p{L}{3,40}$", None),
        (r"^(\p{L}{2,9}|\p{N}{1,7}|\p{P}{3,5})+$", None),
    ],
)
def test_windows_of_large_classes_are_small(pattern: str, most: int | None) -> None:
    chars = search(pattern)
    counted = CountedString(chars, most)
    state, read = 0, 0
    for letter in "A" + 2 * LETTERS:
        leaf = counted.following(CountedChars(state, read))
        assert leaf.states <= MOST_STATES
        state = chars.step(state, ord(letter.lower() if read else letter))
        read += most is not None


@pytest.mark.parametrize(("count", "fits"), [(0, False), (1, True), (300, True), (301, False)])
def test_letters_of_all_scripts_are_counted(count: int, fits: bool) -> None:
    schema = {"type": "string", "pattern": r"^\p{L}+$", "maxLength": 300}
    root = Language(read(json.dumps(schema)), Options()).root
    text = (LETTERS * count)[:count]
    for spelled in (json.dumps(text, ensure_ascii=False), json.dumps(text)):
        assert accepts(root, spelled.encode()) is fits
    assert not accepts(root, json.dumps("1" + text[1:]).encode())


def test_a_window_is_renewed_between_characters_only() -> None:
    chars = search("^.*$")
    counted = CountedString(chars, 5000)
    fresh = window(counted._text, 0, None, counted=True).fresh
    assert counted.renewed(CountedChars(0, 0), b"a" * (fresh - 1)) is None
    assert counted.renewed(CountedChars(0, 7), b"a" * fresh) == CountedChars(0, 7 + fresh)
    for begun in ("\u3042".encode()[:2], b"\\", b"\\u00", b"\\ud83d"):
        assert counted.renewed(CountedChars(0, 0), b"a" * fresh + begun) is None
    whole = b"a" * fresh + b"\\ud83d\\ude00" + "\u3042".encode()
    assert counted.renewed(CountedChars(0, 0), whole) == CountedChars(0, fresh + 2)


def test_a_bound_that_is_kept_anyway_is_not_counted() -> None:
    chars = search("^(ab|c){0,50}$")
    assert [CountedString(chars, most).most for most in (99, 100, 10_000)] == [99, None, None]
    assert CountedString(search("^(ab|c)*$"), 10_000).most == 10_000
    assert not CountedString(chars, 10_000).needed


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize(
    "string",
    [
        {"type": "string", "pattern": WORDS % 29, "maxLength": 300},
        {"type": "string", "format": "email", "maxLength": 1024},
    ],
)
@pytest.mark.parametrize("word", ["anyOf", "oneOf", "if", "dependentSchemas"])
def test_alternatives_may_speak_of_long_strings(
    word: str, string: dict[str, Any], any_order: bool
) -> None:
    """Whether `a` is such a string is only asked, not demanded, until it is known whether `b` comes."""
    alternatives = [{"properties": {"a": string}, "required": ["a"]}, {"required": ["b"]}]
    keywords: dict[str, dict[str, Any]] = {
        "anyOf": {"anyOf": alternatives},
        "oneOf": {"oneOf": alternatives},
        "if": {"if": alternatives[1], "then": {}, "else": alternatives[0]},
        "dependentSchemas": {"dependentSchemas": {"b": alternatives[0]}},
    }
    schema = keywords[word] | {"properties": {"a": {}, "b": {}}}
    machine = Machine(Language(read(json.dumps(schema)), Options(any_order=any_order)).root)
    fitting = ["x@y.z"]
    other = ["", " x", "x" * 2000, 7, None]
    for value in [*fitting, *other]:
        fits = value in fitting
        alone, both = {
            "anyOf": (fits, True),
            "oneOf": (fits, not fits),
            "if": (fits, True),
            "dependentSchemas": (True, fits),
        }[word]
        for members, valid in (({"a": value}, alone), ({"a": value, "b": 1}, both)):
            text = json.dumps(members, separators=(",", ":"))
            cursor = Cursor(machine)
            taken = cursor.read(np.frombuffer(text.encode(), np.uint8))
            assert taken == valid, text


@pytest.mark.parametrize("other", [{"format": "date-time"}, {"pattern": "^[0-9]{4}-[0-9]{2}$"}])
def test_a_long_bound_is_no_obstacle_where_the_rest_is_small(other: dict[str, Any]) -> None:
    """Nothing is an e-mail address and a date: the length is not to be counted on the way to that."""
    string = {"format": "email", "maxLength": 1024, "allOf": [other]}
    schema = {"properties": {"a": string}, "required": ["b"]}
    root = Language(read(json.dumps(schema)), Options(any_order=True)).root
    assert accepts(root, b'{"b":1}')
    assert accepts(root, b'{"a":null,"b":1}')
    assert not accepts(root, b'{"a":"2024-02","b":1}')
    assert not accepts(root, b'{"a":"x@y.z","b":1}')
