"""Budgets with the real grammar: what is forced after a sample counts too."""

import random

import pytest
from intaglio.engine.grammars.budgeted_matcher import BudgetedMatcher
from intaglio.grammar.api import Compiler, Constraint, Kind, allowed_tokens, empty_rows

from tests.support.tokens import small


@pytest.mark.parametrize(
    "schema",
    [
        '{"enum": ["Open", "Fulfilled"]}',
        '{"type": "array", "items": {"type": "string", "format": "date"}}',
        '{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}',
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
