"""Budgets of grammars, on the machine and on Earley items: the engine's rule, and a model that picks anything."""

import random

import pytest
from intaglio.engine.grammars.budgeted_matcher import BudgetedMatcher
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    Kind,
    allowed_tokens,
    empty_rows,
    screen,
)
from intaglio.grammar.backends.earley import EarleyGrammar, EarleyMatcher

from tests.support.grammars import SAMPLES, random_lark
from tests.support.texts import Fate, fate
from tests.support.tokens import small

MORE = 8  # budgets above the least


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(small().vocabulary(), small().canonical)


def output(grammar: CompiledGrammar, budget: int, draw: random.Random) -> tuple[bytes, int]:
    """(the text of a random output, its tokens with the end token); it has to end within its budget."""
    vocabulary = small().vocabulary()
    following = BudgetedMatcher(grammar.matcher(), budget)
    tokens = list(following.start())
    row = empty_rows(1, vocabulary.width)[0]
    while not following.matcher.finished:
        following.matcher.fill(row)
        picked = (int(draw.choice(allowed_tokens(row, vocabulary.width))),)
        followed = following.follow(picked)
        tokens += followed.tokens if followed.instead else (*picked, *followed.tokens)
        assert len(tokens) <= budget
    return b"".join(vocabulary.text(token) or b"" for token in tokens), len(tokens)


def kept(compiler: Compiler, constraint: Constraint, seed: str) -> CompiledGrammar:
    """The grammar of a constraint; every budget from its least on gives a whole output."""
    grammar, screened = compiler.compile(constraint), screen(constraint)
    assert grammar.least_tokens is not None
    tight = 0
    for budget in range(grammar.least_tokens, grammar.least_tokens + MORE):
        text, used = output(grammar, budget, random.Random(f"{seed} {budget}"))
        assert fate(screened, text) is Fate.WHOLE, text
        tight += used == budget
    assert tight, "the least budget cannot leave a token over"
    return grammar


@pytest.mark.parametrize("name", SAMPLES)
def test_every_budget_from_the_least_on_gives_a_whole_text(compiler: Compiler, name: str) -> None:
    kept(compiler, SAMPLES[name].constraint, name)


@pytest.mark.parametrize("chunk", range(4))
def test_budgets_of_random_grammars(compiler: Compiler, chunk: int) -> None:
    others = 0
    for seed in range(chunk, 120, 4):
        constraint = Constraint(Kind.LARK, random_lark(random.Random(seed)))
        others += isinstance(kept(compiler, constraint, str(seed)), EarleyGrammar)
    assert others > 3


def test_what_has_too_many_readings_is_closed_while_it_can_be(
    compiler: Compiler,
) -> None:
    constraint = Constraint(
        Kind.EBNF, 'root ::= root root root | root root | "(" root ")" | "a" root "a" | ""'
    )
    grammar = compiler.compile(constraint)
    following = BudgetedMatcher(grammar.matcher(), 10_000)
    (one,) = small().canonical(b"a")
    row = empty_rows(1, small().vocabulary().width)[0]
    count = 0
    while not following.matcher.finished:
        following.matcher.fill(row)
        legal = allowed_tokens(row, small().vocabulary().width)
        count += 1
        token = one if one in legal else int(legal[-1])
        followed = following.follow((token,))
        assert (
            following.matcher.finished == followed.instead or token in small().vocabulary().end_ids
        )
    assert 64 < count < 1_000
    assert isinstance(following.matcher, EarleyMatcher)
