"""Budgets with the real grammar: tokens forced after a sample count too."""

import json
import math
import random
from collections.abc import Sequence

import pytest
from intaglio.engine.grammars.budgeted_matcher import BudgetedMatcher
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    Kind,
    allowed_tokens,
    empty_rows,
)

from tests.support.tokens import small


@pytest.mark.parametrize(
    "schema",
    [
        '{"enum": ["Open", "Fulfilled"]}',
        '{"type": "array", "items": {"type": "string", "format": "date"}}',
        '{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}',
        '{"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 5000}, "minContains": 2}',
        '{"type": "array", "contains": {"type": "integer", "minimum": 5000}}',
        '{"type": "array", "contains": {"type": "string", "minLength": 9}, "items": {"type": ["string", "null"]}}',
        '{"type": "array", "uniqueItems": true, "items": {"type": "integer"}, "minItems": 12}',
        '{"type": "array", "items": {"type": "integer"}, "contains": {"multipleOf": 777}}',
    ],
)
def test_every_budget_from_the_least_on_is_kept(schema: str) -> None:
    vocabulary = small().vocabulary()
    grammar = Compiler(vocabulary, small().canonical).compile(Constraint(Kind.JSON_SCHEMA, schema))
    assert grammar.least_tokens is not None
    width = vocabulary.width
    row = empty_rows(1, width)[0]
    for seed in range(40):
        dice = random.Random(seed)
        budget = grammar.least_tokens + seed % 9
        following = BudgetedMatcher(grammar.matcher(), budget)
        taken = len(following.start())
        while not following.matcher.finished:
            following.matcher.fill(row)
            sampled = (int(dice.choice(allowed_tokens(row, width))),)
            followed = following.follow(sampled)
            taken += len(followed.tokens) + (0 if followed.instead else 1)
            assert taken <= budget


SEARCHED = json.dumps(
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 12}
)


def compiled_anew() -> CompiledGrammar:
    compiler = Compiler(small().vocabulary(), small().canonical)
    return compiler.compile(Constraint(Kind.JSON_SCHEMA, SEARCHED))


def written(following: Sequence[BudgetedMatcher], search_s: float) -> tuple[list[list[int]], int]:
    """The outputs of matchers that are asked in turn, and how often one was not done."""
    outputs = [list(one.start()) for one in following]
    rows = empty_rows(1, small().vocabulary().width)
    dice, waits = [random.Random(n) for n, _ in enumerate(following)], 0
    while not all(one.matcher.finished for one in following):
        asked: dict[int, tuple[int, ...]] = {}
        for n, one in enumerate(following):
            if not one.matcher.finished:
                one.matcher.fill(rows[0])
                asked[n] = (int(dice[n].choice(allowed_tokens(rows[0], rows.shape[1] * 32))),)
        while asked:
            for n, sampled in list(asked.items()):
                followed = following[n].follow_for(sampled, search_s)
                if followed is None:
                    waits += 1
                    continue
                outputs[n] += followed.tokens if followed.instead else sampled + followed.tokens
                del asked[n]
    return outputs, waits


def test_searches_in_turns_find_what_each_finds_alone() -> None:
    """Outputs of one grammar share its tables, which grow while they search."""
    budgets = (90, 120, 160)
    alone = BudgetedMatcher(compiled_anew().matcher(), budgets[0])
    grammar = compiled_anew()
    assert grammar.least_tokens is not None
    together, waits = written([BudgetedMatcher(grammar.matcher(), b) for b in budgets], 0.0)
    assert together[0] == written([alone], math.inf)[0][0]
    assert waits > 100
    texts = small().vocabulary().tokens
    for output, budget in zip(together, budgets, strict=True):
        assert len(output) <= budget
        items = json.loads(b"".join(texts[token] or b"" for token in output[:-1]))
        assert len(set(items)) == len(items) >= 12
