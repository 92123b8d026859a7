"""Structural tags accept exactly the texts of their meaning, and their budgets and device tables agree."""

import json
import random
from functools import cache
from typing import Any

import pytest
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    ConstraintTooLarge,
    DeviceTables,
    GrammarError,
    Kind,
    Screened,
    Unsatisfiable,
    UnsupportedConstraint,
    screen,
    tables_of,
)

from tests.support.tag_model import random_format, random_texts, takes
from tests.support.texts import Fate, fate, random_text
from tests.support.tokens import small

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}


def constraint(form: dict[str, Any]) -> Constraint:
    return Constraint(Kind.STRUCTURAL_TAG, json.dumps({"type": "structural_tag", "format": form}))


def schema(value: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": value}


def tag(begin: str, content: dict[str, Any], end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


CALLS = {
    "type": "triggered_tags",
    "triggers": ["<call>"],
    "tags": [
        tag('<call>{"name":"weather","arguments":', schema(CITY), "}</call>"),
        tag('<call>{"name":"week","arguments":', schema({"type": "integer"}), "}</call>"),
    ],
}


@cache
def compiler() -> Compiler:
    return Compiler(small().vocabulary(), small().canonical)


def screened(form: dict[str, Any]) -> Screened | None:
    """The rules of a format; None if it is refused, which random formats may be."""
    try:
        return screen(constraint(form))
    except (UnsupportedConstraint, Unsatisfiable):
        return None


@pytest.mark.parametrize("seed", range(120))
def test_random_formats_accept_the_texts_of_the_model(seed: int) -> None:
    draw = random.Random(seed)
    form = random_format(draw)
    found = screened(form)
    if found is None:
        return
    source = {"type": "structural_tag", "format": form}
    for text in random_texts(draw, 40):
        assert (fate(found, text) is Fate.WHOLE) == takes(source, text), (source, text)
    for _ in range(6):
        written = random_text(found, draw, 12)
        assert written is None or takes(source, written.decode()), (source, written)


def test_most_random_formats_are_enforced() -> None:
    enforced = [screened(random_format(random.Random(seed))) for seed in range(120)]
    assert sum(each is not None for each in enforced) > 70


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", True),
        ("The weather is fine.", True),
        ("a < b, <call", True),
        ("<call>", False),
        ('<call>{"name":"weather","arguments":{"city":"Rome"}}</call>', True),
        ('Ünï 🙂 <<call>{"name":"week","arguments":12}</call> and on', True),
        ('<call>{"name":"week","arguments":{}}</call>', False),
        ('<call>{"name":"other","arguments":{}}</call>', False),
        ('<call>{"name":"week","arguments":1}</call>' * 3, True),
    ],
)
def test_tags_are_called_in_free_text(text: str, whole: bool) -> None:
    assert (fate(screen(constraint(CALLS)), text) is Fate.WHOLE) == whole


@pytest.mark.parametrize(
    ("counts", "calls"),
    [
        ({"at_least_one": True}, {1, 2, 3}),
        ({"stop_after_first": True}, {0, 1}),
        ({"at_least_one": True, "stop_after_first": True}, {1}),
        ({"at_most": 2}, {0, 1, 2}),
        ({"at_least": 2, "at_most": 2}, {2}),
    ],
)
def test_tags_are_counted(counts: dict[str, Any], calls: set[int]) -> None:
    found = screen(constraint(CALLS | counts))
    call = '<call>{"name":"week","arguments":1}</call>'
    whole = {n for n in range(4) if fate(found, call * n) is Fate.WHOLE}
    assert whole == calls


def test_nothing_follows_the_last_of_the_tags_where_they_stop() -> None:
    call = '<call>{"name":"week","arguments":1}</call>'
    found = screen(constraint(CALLS | {"stop_after_first": True}))
    assert fate(found, "so: " + call) is Fate.WHOLE
    assert fate(found, call + " ") is Fate.REFUSED


def test_reasoning_precedes_a_schema() -> None:
    think = tag("<think>", {"type": "any_text"}, "</think>")
    found = screen(constraint({"type": "sequence", "elements": [think, schema(CITY)]}))
    assert fate(found, '<think>a "<" {b</think>{"city":"Rome"}') is Fate.WHOLE
    assert fate(found, '<think>a</think>b</think>{"city":"Rome"}') is Fate.REFUSED
    assert fate(found, '{"city":"Rome"}') is Fate.REFUSED


@pytest.mark.parametrize("kind", ["grammar", "lark"])
def test_grammars_are_contents(kind: str) -> None:
    source = 'root ::= "(" root* ")"' if kind == "grammar" else 'start: "(" start* ")"'
    found = screen(constraint(tag("<", {"type": kind, kind: source}, ">")))
    assert fate(found, "<(()(()))>") is Fate.WHOLE
    assert fate(found, "<(()>") is Fate.REFUSED


def test_a_grammar_may_not_go_on_with_the_text_after_it() -> None:
    calls = 'root ::= x\nx ::= "(" x ")" | "a" "b"*\n'
    assert screened(tag("<", {"type": "grammar", "grammar": calls}, "c")) is not None
    with pytest.raises(UnsupportedConstraint) as caught:
        screen(constraint(tag("<", {"type": "grammar", "grammar": calls}, "b")))
    assert caught.value.refusals[0].where == "/format/content/grammar"


def test_a_number_may_not_go_on_with_the_text_after_it() -> None:
    number = schema({"type": "integer"})
    assert screened(tag("", number, "]")) is not None
    with pytest.raises(UnsupportedConstraint, match="a number could continue"):
        screen(constraint(tag("", number, "0")))


def test_two_schemas_in_one_place_are_refused_with_their_place() -> None:
    form = {"type": "or", "elements": [schema(CITY), schema({"type": "object"})]}
    with pytest.raises(UnsupportedConstraint) as caught:
        screen(constraint(form))
    (refusal,) = caught.value.refusals
    assert refusal.where == "/format/elements/1/json_schema"
    assert "anyOf" in refusal.hint


def test_the_refusals_of_a_schema_point_into_the_tag() -> None:
    form = tag("<", schema({"properties": {"a": {"pattern": "(a)\\1"}}}), ">")
    with pytest.raises(GrammarError) as caught:
        screen(constraint(form))
    where = caught.value.refusals[0].where
    assert where == "/format/content/json_schema/properties/a/pattern"


def test_budgets_are_exact_at_every_place() -> None:
    """The shortest end of each beginning is an end, and no text of the model is shorter."""
    grammar = compiler().compile(constraint(CALLS))
    text = 'Hi <call>{"name":"weather","arguments":{"city":"Rome"}}</call>'
    matcher = grammar.matcher()
    vocabulary = small().vocabulary()
    for token in small().canonical(text.encode()):
        matcher.accept(token)
        closing = matcher.closing()
        assert closing is not None
        ended = matcher.fork()
        for last in closing:
            assert ended.least_tokens() is not None
            ended.accept(last)
        assert ended.finished
        assert matcher.closes_within(len(closing))
    assert closing == (vocabulary.end_ids[0],)


def test_the_least_tokens_are_those_of_the_shortest_call() -> None:
    assert compiler().compile(constraint(CALLS)).least_tokens == 1
    shortest = '<call>{"name":"week","arguments":0}</call>'
    required = compiler().compile(constraint(CALLS | {"at_least_one": True}))
    assert required.least_tokens == len(small().canonical(shortest.encode())) + 1


def test_it_runs_on_the_device() -> None:
    assert isinstance(tables_of(constraint(CALLS)), DeviceTables)


def test_too_many_places_are_refused() -> None:
    word = {"type": "const_string", "value": "x" * 1000}
    with pytest.raises(ConstraintTooLarge):
        screen(constraint({"type": "repeat", "content": word, "min": 200, "max": 200}))
