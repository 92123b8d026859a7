"""Unique prefixes of a leaf: an outcome with one text has none, which is found for all outcomes at once."""

import json
from random import Random

import numpy as np
import pytest
from intaglio.grammar.automata import Dfa, trie
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.leaf import Leaf
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.machine.unique_prefixes import UniquePrefixes

OPEN = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "named": {"type": "number"}, "kind": {"enum": ["a"]}},
    "patternProperties": {"^x[0-9]{1,3}$": {"type": "boolean"}, "^(?:y|yes)$": {"type": "null"}},
}  # fmt: skip
WRITTEN = b'{"name":"a","x1":true,"other":[1'


def texts_of(dfa: Dfa, outcome: int, state: int = 0, most: int = 12) -> int:
    """The number of texts of at most `most` bytes that have an outcome, 2 for more than one."""
    found = int(dfa.outcome[state] == outcome)
    for byte in range(256) if most else ():
        after = dfa.step(state, byte)
        if after >= 0 and found < 2:
            found += texts_of(dfa, outcome, after, most - 1)
    return min(found, 2)


def prefixes(dfa: Dfa, *, one_by_one: bool = False) -> UniquePrefixes:
    found = UniquePrefixes(dfa, Leaf(dfa, 0, chosen=True).alive)
    if one_by_one:
        vars(found)["_has_one_text"] = np.zeros(dfa.outcomes[-1] + 1, np.bool_)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_outcomes_of_one_text_are_told_from_others(seed: int) -> None:
    draw = Random(seed)
    words = {
        bytes(draw.choices(b"abc", k=draw.randrange(1, 6))) for _ in range(draw.randrange(2, 12))
    }
    dfa = trie({word: draw.randrange(5) for word in sorted(words)})
    at_once, one_by_one = prefixes(dfa), prefixes(dfa, one_by_one=True)
    for outcome in dfa.outcomes:
        assert at_once._has_one_text[outcome] == (texts_of(dfa, outcome) == 1)
        assert at_once.exist(outcome) == one_by_one.exist(outcome)


def test_names_of_an_open_object_are_told_from_other_names() -> None:
    machine = Machine(Language(read(json.dumps(OPEN)), Options(any_order=True)).root)
    assert Cursor(machine).advance(np.frombuffer(WRITTEN, np.uint8).copy()) is not None
    alone, existing = 0, 0
    for leaf in machine.leaves:
        at_once, one_by_one = prefixes(leaf.dfa), prefixes(leaf.dfa, one_by_one=True)
        for outcome in leaf.dfa.outcomes:
            assert at_once.exist(outcome) == one_by_one.exist(outcome)
            alone += int(at_once._has_one_text[outcome])
            existing += at_once.exist(outcome)
    assert alone > 2
    assert existing
