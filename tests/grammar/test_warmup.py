"""A warm-up saves table entries and masks later, and changes nothing else."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from intaglio.grammar.api import empty_rows
from intaglio.grammar.backends import generation
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.backends.warmup import warm_up, warm_up_s
from intaglio.grammar.cfg import ebnf, enforce
from intaglio.grammar.contract.errors import ConstraintTooLarge
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.machine.rule import Rule
from intaglio.grammar.mask.compute_masks import make_row

from tests.grammar.machine.test_compute_masks import index
from tests.support.tokens import small

SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        "inside": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
        "either": {"anyOf": [{"type": "null"}, {"type": "object", "required": ["y"]}]},
    },
    "required": ["inside"],
}
TEXT = '{"id":5,"tags":["b"],"inside":{"x":"z"},"either":{"y":0}}'


def root(schema: Any, any_order: bool = True) -> Rule:
    return Language(read(json.dumps(schema)), Options(any_order=any_order)).root


def grammar_of(rule: Any, **limits: int) -> NativeGrammar:
    return NativeGrammar(Machine(rule, **limits), *index())


def masks(grammar: NativeGrammar, text: str) -> list[np.ndarray]:
    matcher, rows = grammar.matcher(), []
    for token in small().canonical(text.encode()):
        rows.append(empty_rows(1, grammar.index.vocabulary.width)[0])
        matcher.fill(rows[-1])
        matcher.accept(token)
    return rows


class Counts:
    """How often the tables are filled in, and how often a row is made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.filled_in = self.made = 0

        def counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
            def counted(*args: Any) -> Any:
                setattr(self, name, getattr(self, name) + 1)
                return function(*args)

            return counted

        monkeypatch.setattr(Cursor, "fill_in", counting("filled_in", Cursor.fill_in))
        monkeypatch.setattr(generation, "make_row", counting("made", make_row))


@pytest.mark.parametrize("any_order", [False, True])
def test_masks_are_the_same_and_were_made_before(
    any_order: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, warmed = (grammar_of(root(SCHEMA, any_order)) for _ in range(2))
    warm_up(warmed, 10.0)
    counts = Counts(monkeypatch)
    one = masks(plain, TEXT)
    filled_in, made = counts.filled_in, counts.made
    other = masks(warmed, TEXT)
    assert counts.filled_in - filled_in < filled_in / 4
    assert counts.made - made < made / 4
    for row, same in zip(one, other, strict=True):
        assert np.array_equal(row, same)


def test_names_are_not_written_twice_and_all_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"name{i}" for i in range(30)]
    schema = {"items": {"properties": {name: {"type": "integer"} for name in names}}}
    grammar = grammar_of(root({**schema, "type": "array"}))
    warm_up(grammar, 10.0)
    counts = Counts(monkeypatch)
    masks(grammar, json.dumps([dict.fromkeys(names, 12)] * 2, separators=(",", ":")))
    assert counts.filled_in == 0


def test_what_must_not_come_twice_is_no_end_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    items = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    schema = {"properties": {"a": items, "b": {"type": "integer"}}, "additionalProperties": False}
    grammar = grammar_of(root(schema, any_order=False))
    warm_up(grammar, 10.0)
    counts = Counts(monkeypatch)
    masks(grammar, '{"a":["ae"],"b":12}')
    assert counts.filled_in == 0


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}, "type": "array"}}},
        {"type": "object", "additionalProperties": {"type": "object", "minProperties": 3}},
        {"type": "array", "minItems": 40, "items": {"enum": [1, 2, "x"]}},
    ],
)
def test_it_comes_to_an_end_by_itself(schema: Any) -> None:
    grammar = grammar_of(root(schema))
    warm_up(grammar, 1000.0)
    assert grammar.index.rows.nbytes > 0


def test_grammars_and_automata_are_warmed_up_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = enforce.enforce(ebnf.parse('root ::= "(" root ")" | [a-z]+ "=" [0-9]'))
    assert not isinstance(rule, enforce.NondeterministicGrammar)
    grammar = grammar_of(rule)
    warm_up(grammar, 10.0)
    counts = Counts(monkeypatch)
    masks(grammar, "(")
    assert counts.made == 0


def test_places_within_tokens_are_warmed_up_bytewise(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    grammar = grammar_of(root({**schema, "type": "object", "additionalProperties": False}))
    warm_up(grammar, 10.0, bytewise=True)
    matcher, row = grammar.matcher(), empty_rows(1, grammar.index.vocabulary.width)[0]
    counts = Counts(monkeypatch)
    for byte in b'{"name":"':
        matcher.fill(row)
        matcher.accept(grammar.speller.single_bytes[byte])
    matcher.fill(row)
    assert (counts.filled_in, counts.made) == (0, 0)


def test_no_time_makes_nothing() -> None:
    grammar = grammar_of(root(SCHEMA))
    states = grammar.machine.states
    warm_up(grammar, 0.0)
    assert grammar.machine.states == states


def test_what_is_too_large_is_an_error_only_where_text_reaches_it() -> None:
    grammar = grammar_of(root(SCHEMA), most_bytes=4_000)
    warm_up(grammar, 10.0)
    with pytest.raises(ConstraintTooLarge):
        masks(grammar, TEXT)


def test_long_sources_are_warmed_up_longer_within_a_bound() -> None:
    times = [warm_up_s("x" * size) for size in (0, 2_000, 4_000, 1 << 20)]
    assert 0 < times[0] < times[1] < times[2] < times[3] < 0.3
