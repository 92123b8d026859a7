"""Masks of Earley items equal those found by reading each token's text, and xgrammar's where both apply."""

import random
from collections.abc import Callable

import numpy as np
import pytest
import xgrammar
from intaglio.grammar.api import allowed_tokens, empty_rows
from intaglio.grammar.backends.earley import EarleyGrammar
from intaglio.grammar.backends.token_spelling import Speller
from intaglio.grammar.cfg import ebnf
from intaglio.grammar.cfg.enforce import NondeterministicGrammar
from intaglio.grammar.cfg.trim import trim
from intaglio.grammar.contract.errors import Violation
from intaglio.grammar.earley.masks import Masks, WalkIndex
from intaglio.grammar.mask.compute_masks import TokenIndex

from tests.support.earley_texts import byte_form
from tests.support.emit import to_ebnf
from tests.support.tokens import small

Compile = Callable[[str], EarleyGrammar]

NESTED = r"""
root  ::= value
value ::= value "+" value | "-" value | "(" value ")" | "[" value ("," value)* "]" | name | name "(" value ")"
name  ::= [a-z] [a-z0-9_]* | [a-z] [a-z0-9_]* "." name
"""
WORDS = r"""
root ::= line+
line ::= words "." | words words "!" | "" line "?"
words ::= [a-zA-Z ]+ | words ", " words
"""


@pytest.fixture(scope="module")
def compiled() -> Compile:
    """Compile EBNF to items, whichever engine would run it."""
    vocabulary = small().vocabulary()
    walk = WalkIndex(TokenIndex(vocabulary, 1 << 26))
    speller = Speller(vocabulary, small().canonical)

    def made(source: str) -> EarleyGrammar:
        form = byte_form(source)
        assert form is not None
        return EarleyGrammar(NondeterministicGrammar(form, ""), walk, speller)

    return made


@pytest.mark.parametrize("source", [NESTED, WORDS])
def test_masks_are_what_each_token_says(compiled: Compile, source: str) -> None:
    grammar = compiled(source)
    vocabulary, draw = grammar.index.vocabulary, random.Random(source)
    row = empty_rows(1, vocabulary.width)[0]
    for _ in range(4):
        matcher = grammar.matcher()
        for _ in range(12):
            matcher.fill(row)
            legal = allowed_tokens(row, vocabulary.width)
            taken = []
            for token in range(vocabulary.width):
                try:
                    matcher.fork().accept(token)
                    taken.append(token)
                except Violation:
                    continue
            assert legal.tolist() == taken
            open_ones = [token for token in taken if token not in vocabulary.end_ids]
            matcher.accept(draw.choice(open_ones))


def test_a_mask_is_the_same_whether_its_columns_were_known_or_are_made_for_it(
    compiled: Compile,
) -> None:
    draw, row, again = random.Random(0), *empty_rows(2, small().vocabulary().width)
    for size in range(1, 30):
        grammar = compiled(NESTED)
        matcher, chart = grammar.matcher(), grammar.generation.chart
        text = "".join(draw.choice(("(", "[", "a(", "-", "b+(", "[c,")) for _ in range(size)) + "d"
        for token in grammar.speller.complete((), text.encode()):
            matcher.accept(token)
        matcher.fill(row)
        column = chart.read(chart.first, np.frombuffer(text.encode(), np.uint8).copy())
        made = chart.columns
        Masks(grammar.walk).fill(chart, column, again.view(np.uint32))
        assert chart.columns == made
        assert (row == again).all()


@pytest.mark.parametrize("source", [NESTED, WORDS])
def test_xgrammar_allows_the_same_tokens(compiled: Compile, source: str) -> None:
    grammar = compiled(source)
    vocabulary, draw = grammar.index.vocabulary, random.Random(source)
    texts = [text or b"" for text in vocabulary.tokens]
    info = xgrammar.TokenizerInfo(
        texts,
        vocab_type=xgrammar.VocabType.RAW,
        vocab_size=vocabulary.width,
        stop_token_ids=list(vocabulary.end_ids),
    )
    theirs = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False).compile_grammar(
        # In xgrammar 0.2.8 a recursive start rule loses tokens that close two levels at once, so it gets a rule above.
        xgrammar.Grammar.from_ebnf(
            to_ebnf(trim(ebnf.parse(source))[0]) + "start ::= root\n", root_rule_name="start"
        )
    )
    row = empty_rows(1, vocabulary.width)[0]
    other = xgrammar.allocate_token_bitmask(1, vocabulary.width)
    for _ in range(4):
        matcher, their_matcher = grammar.matcher(), xgrammar.GrammarMatcher(theirs)
        for _ in range(16):
            matcher.fill(row)
            their_matcher.fill_next_token_bitmask(other)
            legal = allowed_tokens(row, vocabulary.width)
            assert np.array_equal(legal, allowed_tokens(other.numpy()[0], vocabulary.width))
            token = int(draw.choice([t for t in legal if t not in vocabulary.end_ids]))
            matcher.accept(token)
            assert their_matcher.accept_token(token)


def test_masks_are_shared_between_outputs_that_differ_far_up(compiled: Compile) -> None:
    grammar = compiled(NESTED)
    row = empty_rows(1, grammar.index.vocabulary.width)[0]

    def held(text: bytes) -> int:
        matcher = grammar.matcher()
        for token in small().canonical(text):
            matcher.accept(token)
        matcher.fill(row)
        return grammar.generation.masks.nbytes

    before = held(b"(" * 32 + b"a")
    shared = held(b"(" * 47 + b"a")
    own = held(b"[" * 32 + b"a")
    assert own - shared >= shared - before + 4 * grammar.index.words


@pytest.mark.parametrize("source", [
    'root ::= root root root | "a"',
    'root ::= root root root | root root | "(" root ")" | "a" root "a" | ""',
    'root ::= x root | root x | x\nx ::= "a" | "a" x "a"',
])  # fmt: skip
def test_masks_leave_out_tokens_that_have_too_many_readings(compiled: Compile, source: str) -> None:
    grammar = compiled(source)
    matcher, row = grammar.matcher(), empty_rows(1, grammar.index.vocabulary.width)[0]
    for _ in range(600):
        matcher.fill(row)
        some = [
            t
            for t in allowed_tokens(row, grammar.index.vocabulary.width)
            if grammar.index.texts.get(t)
        ]
        if not some:
            assert grammar.generation.chart.refused
            break
        for token in some:
            matcher.fork().accept(token)
        matcher.accept(some[0])


def test_a_matcher_moves_to_an_empty_chart_and_goes_on(compiled: Compile) -> None:
    grammar, draw = compiled('root ::= "a" root "a" | "b" root "b" | ""'), random.Random(0)
    one = {byte: small().canonical(bytes([byte]))[0] for byte in b"ab"}
    first, matchers = grammar.generation, []
    while grammar.generation is first:
        matcher = grammar.matcher()
        for _ in range(400):
            matcher.accept(one[draw.choice(b"ab")])
        matchers.append(matcher)
    moved, old = matchers[-1], matchers[0]
    for matcher in (moved, old):
        closing = matcher.closing()
        assert closing is not None
        assert len(closing) <= 401
        for token in closing:
            matcher.accept(token)
        assert matcher.finished
        matcher.rollback(3)
        assert matcher.closing() is not None
