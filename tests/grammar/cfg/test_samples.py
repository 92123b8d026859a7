"""Typical handwritten grammars: their texts, their back ends, and that every walk ends."""

import random

import pytest
from intaglio.grammar.api import (
    Compiler,
    Kind,
    Matcher,
    Violation,
    Vocabulary,
    allowed_tokens,
    empty_rows,
    screen,
)
from intaglio.grammar.automata import Spelling, encode
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.cfg import ebnf, lark
from intaglio.grammar.cfg.body import determinised
from intaglio.grammar.cfg.flat import flatten
from intaglio.grammar.cfg.form import ByteGrammar, GrammarLeaf
from intaglio.grammar.cfg.trim import trim

from tests.support.chart import Chart
from tests.support.grammars import SAMPLES
from tests.support.texts import Fate, fate
from tests.support.tokens import small

every = pytest.mark.parametrize("name", SAMPLES)


@every
def test_texts_are_taken_or_refused(name: str) -> None:
    sample = SAMPLES[name]
    screened = screen(sample.constraint)
    assert {text: fate(screened, text) for text in sample.accepts} == dict.fromkeys(
        sample.accepts, Fate.WHOLE
    )
    assert {text: fate(screened, text) for text in sample.rejects} == dict.fromkeys(
        sample.rejects, Fate.REFUSED
    )
    assert {text: fate(screened, text) for text in sample.incomplete} == dict.fromkeys(
        sample.incomplete, Fate.OPEN
    )


@every
def test_what_one_byte_decides_runs_on_the_machine(name: str) -> None:
    screened = screen(SAMPLES[name].constraint)
    assert (screened.root is not None) == SAMPLES[name].native
    assert (screened.parsed is None) == SAMPLES[name].native
    assert bool(screened.note) != SAMPLES[name].native


@every
def test_every_walk_ends_within_any_budget(name: str) -> None:
    made = small()
    compiler = Compiler(made.vocabulary(), made.canonical)
    grammar = compiler.compile(SAMPLES[name].constraint)
    assert isinstance(grammar, NativeGrammar) == SAMPLES[name].native
    draw = random.Random(name)
    row = empty_rows(1, compiler.vocabulary.width)[0]
    for budget in (0, 3, 20):
        matcher = grammar.matcher()
        text = b""
        for _ in range(budget):
            matcher.fill(row)
            token = int(draw.choice(allowed_tokens(row, compiler.vocabulary.width)))
            matcher.accept(token)
            text += compiler.vocabulary.text(token) or b""
            if matcher.finished:
                break
        closing = matcher.closing()
        assert closing is not None
        for token in closing:
            matcher.fill(row)
            assert token in allowed_tokens(row, compiler.vocabulary.width)
            matcher.accept(token)
            text += compiler.vocabulary.text(token) or b""
        assert matcher.finished
        assert fate(screen(SAMPLES[name].constraint), text) is Fate.WHOLE


@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if not sample.native])
def test_the_chart_closes_by_a_shortest_text(name: str) -> None:
    parsed = screen(SAMPLES[name].constraint).parsed
    assert parsed is not None
    for text in map(str.encode, SAMPLES[name].accepts):
        chart = Chart(parsed.form)
        for i in range(len(text)):
            assert len(chart.closing()) <= len(text) - i
            twin = chart.fork()
            assert twin.read(chart.closing())
            assert twin.columns[-1].done
            assert chart.read(text[i : i + 1])
        assert chart.closing() == b""


def chart_of(name: str) -> Chart | None:
    """A chart of any sample, also of those that the machine runs; None for a regular one."""
    constraint = SAMPLES[name].constraint
    read = ebnf.parse if constraint.kind is Kind.EBNF else lark.parse
    flat = flatten(*trim(read(constraint.source)))
    if flat.whole is not None:
        return None
    leaves = [GrammarLeaf(encode(leaf, Spelling.UTF8)) for leaf in flat.leaves]
    bodies = {rule: determinised(body) for rule, body in flat.bodies.items()}
    return Chart(ByteGrammar(flat.start, flat.least[flat.start] == 0, leaves, bodies))


@every
def test_masks_are_what_the_chart_says(name: str) -> None:
    chart = chart_of(name)
    made = small()
    compiler = Compiler(made.vocabulary(), made.canonical)
    vocabulary = compiler.vocabulary
    grammar = compiler.compile(SAMPLES[name].constraint)
    row = empty_rows(1, vocabulary.width)[0]
    for text in SAMPLES[name].accepts:
        matcher, own = grammar.matcher(), None if chart is None else chart.fork()
        for token in made.canonical(text.encode()):
            matcher.fill(row)
            legal = set(allowed_tokens(row, vocabulary.width).tolist())
            assert legal == {
                t for t in range(vocabulary.width) if taken(matcher, own, vocabulary, t)
            }
            matcher.accept(token)
            assert own is None or own.read(vocabulary.text(token) or b"")


def taken(matcher: Matcher, chart: Chart | None, vocabulary: Vocabulary, token: int) -> bool:
    """Whether a token is legal, by the chart or, where there is none, by trying it."""
    text = vocabulary.text(token)
    if chart is None:
        try:
            matcher.fork().accept(token)
        except Violation:
            return False
        return True
    if token in vocabulary.end_ids:
        return chart.columns[-1].done
    return bool(text) and chart.fork().read(text or b"")
