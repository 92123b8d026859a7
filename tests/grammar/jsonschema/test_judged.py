"""Formats that no automaton decides: a constant is judged when its schema is compiled, not when it is written."""

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    ConstraintTooLarge,
    Kind,
    Unsatisfiable,
    Whitespace,
    allowed_tokens,
    empty_rows,
    screen,
)
from intaglio.grammar.contract.vocabulary import Vocabulary
from intaglio.grammar.contract.work import metered
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine
from jsonschema import Draft202012Validator

from tests.conformance.verdicts import accepts
from tests.support.texts import Fate, Reader, fate

# Of each format a text that has it and one that lacks it; neither begins with the other.
SAMPLES = [("hostname", "a-b", "xn--X"), ("idn-hostname", "éa", "-a"), ("regex", "[a]", "(a")]
BYTES = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)
FORMS = (Whitespace.COMPACT, Whitespace.LENIENT)


def asked(schema: dict[str, Any], form: Whitespace) -> Constraint:
    return Constraint(Kind.JSON_SCHEMA, json.dumps(schema), whitespace=form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "right", "wrong"), SAMPLES)
@pytest.mark.parametrize(
    "around",
    [
        lambda s: s,
        lambda s: s | {"type": "string", "pattern": "a|X", "maxLength": 20},
        lambda s: {"anyOf": [s, {"const": 1}]},
        lambda s: {"items": s, "type": "array"},
    ],
)
def test_a_constant_without_the_format_is_never_begun(
    form: Whitespace,
    name: str,
    right: str,
    wrong: str,
    around: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    screened = screen(asked(around({"format": name, "enum": [wrong, right]}), form))
    opening = b"[" * (not Reader(screened).read(b'"'))
    reader = Reader(screened)
    assert reader.read(opening + b'"')
    assert reader.following() == [right.encode()[0]]
    assert fate(screened, opening + json.dumps(right, ensure_ascii=False).encode()) is (
        Fate.OPEN if opening else Fate.WHOLE
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "right", "wrong"), SAMPLES)
def test_nothing_but_constants_without_the_format_is_unsatisfiable(
    form: Whitespace, name: str, right: str, wrong: str
) -> None:
    with pytest.raises(Unsatisfiable):
        screen(asked({"format": name, "enum": [wrong]}, form))
    left = screen(asked({"type": "string", "not": {"format": name}, "enum": [wrong, right]}, form))
    assert fate(left, json.dumps(wrong)) is Fate.WHOLE
    assert fate(left, json.dumps(right, ensure_ascii=False)) is Fate.REFUSED


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "right", "wrong"), SAMPLES)
@pytest.mark.parametrize("around", [{"minItems": 1}, {"contains": {"type": "string"}}])
def test_texts_without_a_format_are_not_taken_for_none(
    form: Whitespace, name: str, right: str, wrong: str, around: dict[str, Any]
) -> None:
    items = {"type": "string", "not": {"format": name}}
    array = {"type": "array", "items": items} | around
    screen(asked(array, form))  # writes only texts that plainly lack the format
    whole = Options(any_order=True, whitespace=form, any_text=True)
    machine = Machine(Language(read(json.dumps(array)), whole).root)
    assert accepts(machine, json.dumps([wrong]))
    few = {
        "type": "string",
        "format": name,
        "pattern": f"^({re.escape(right)}|{re.escape(wrong)})$",
    }
    unique = {"type": "array", "items": few, "uniqueItems": True, "minItems": 2}
    with pytest.raises(Unsatisfiable):
        screen(asked(unique, form))


@pytest.mark.parametrize("form", list(Whitespace))
@pytest.mark.parametrize("name", ["hostname", "idn-hostname", "regex"])
def test_a_text_of_a_judged_format_has_an_end_in_every_form(form: Whitespace, name: str) -> None:
    """Lenient white space once let any text begin, and the search for an end tried all of them."""
    member = {"type": "string", "format": name}
    schema = {"type": "object", "properties": {"a": member}, "required": ["a"]}
    grammar = Compiler(BYTES, tuple).compile(asked(schema, form))
    for seed in range(20):
        draw, matcher = random.Random(seed), grammar.matcher()
        row = empty_rows(1, BYTES.width)[0]
        for _ in range(30):
            if matcher.finished:
                break
            assert matcher.closing() is not None
            matcher.fill(row)
            matcher.accept(int(draw.choice(allowed_tokens(row, BYTES.width))))


def test_texts_that_a_judge_reads_in_a_search_are_charged() -> None:
    """Every `a…` is a pattern, so that no two items are none: the search had each longer text read, for minutes."""
    items = {"type": "string", "pattern": "^a*$"}
    two = {"contains": {"not": {"format": "regex"}}, "minContains": 2}
    schema = {"type": "array", "uniqueItems": True, "items": items, **two}
    with metered(50_000) as meter, pytest.raises(ConstraintTooLarge):
        Compiler(BYTES, tuple).compile(asked(schema, Whitespace.COMPACT)).matcher().closing()
    assert meter.total < 60_000


@pytest.mark.parametrize(
    ("contains", "least"),
    [
        ({"not": {"format": "regex"}}, 1),
        ({"not": {"type": "string", "format": "regex"}, "type": "string"}, 2),
        ({"type": "string", "format": "regex"}, 1),
        ({"type": "string", "format": "hostname"}, 2),
    ],
)
def test_an_array_that_must_contain_a_judged_text_has_an_end(
    contains: dict[str, Any], least: int
) -> None:
    """Only the judge tells whether an item counts, and most short texts do not."""
    schema = {"type": "array", "contains": contains, "minContains": least, "items": True}
    grammar = Compiler(BYTES, tuple).compile(asked(schema, Whitespace.COMPACT))
    matcher = grammar.matcher()
    closing = matcher.closing()
    assert closing is not None
    for token in closing:
        matcher.accept(token)
    items = json.loads(bytes(token for token in closing if token < 256))
    judge = Draft202012Validator({**schema}, format_checker=Draft202012Validator.FORMAT_CHECKER)
    assert judge.is_valid(items), items
