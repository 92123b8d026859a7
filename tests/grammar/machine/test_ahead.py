"""What is learned ahead saves learning later, and changes nothing else."""

import json

import numpy as np
import pytest
from intaglio.grammar.ahead import look_ahead
from intaglio.grammar.api import empty_rows
from intaglio.grammar.cursor import Cursor
from intaglio.grammar.errors import ConstraintTooLarge
from intaglio.grammar.jsonschema.language import Language
from intaglio.grammar.jsonschema.options import Options
from intaglio.grammar.jsonschema.values import read
from intaglio.grammar.machine import Machine
from intaglio.grammar.native import NativeGrammar
from intaglio.grammar.ways import Ways

from tests.grammar.machine.test_masks import index
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


def machine(any_order: bool, ahead: bool, **limits: int) -> Machine:
    made = Machine(Language(read(json.dumps(SCHEMA)), Options(any_order=any_order)).root, **limits)
    if ahead:
        look_ahead(Ways(made), 10.0)
    return made


def masks(made: Machine) -> list[np.ndarray]:
    grammar = NativeGrammar(made, *index())
    matcher, rows = grammar.matcher(), []
    for token in small().canonical(TEXT.encode()):
        rows.append(empty_rows(1, grammar.index.vocabulary.width)[0])
        matcher.fill(rows[-1])
        matcher.accept(token)
    return rows


@pytest.mark.parametrize("any_order", [False, True])
def test_masks_are_the_same_with_less_learned_on_the_way(
    any_order: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned = {}
    learn = Cursor.learn
    for ahead in (False, True):
        count = [0]
        made = machine(any_order, ahead)

        def counting(cursor: Cursor, count: list[int] = count) -> None:
            count[0] += 1
            learn(cursor)

        monkeypatch.setattr(Cursor, "learn", counting)
        learned[ahead] = masks(made), count[0]
    assert learned[True][1] < learned[False][1] / 2
    for one, other in zip(learned[False][0], learned[True][0], strict=True):
        assert np.array_equal(one, other)


def test_no_time_learns_nothing() -> None:
    made = machine(any_order=True, ahead=False)
    states = made.states
    look_ahead(Ways(made), 0.0)
    assert made.states == states


def test_what_is_too_large_is_an_error_only_where_text_reaches_it() -> None:
    made = machine(any_order=True, ahead=True, most_bytes=4_000)
    with pytest.raises(ConstraintTooLarge):
        masks(made)
