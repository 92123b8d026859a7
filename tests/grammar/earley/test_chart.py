"""Charts against enumerated languages: the accepted texts, and the length of a shortest end."""

import random
from itertools import product

import numpy as np
import pytest
from intaglio.grammar.api import Constraint, GrammarError, Kind, Unsatisfiable, screen
from intaglio.grammar.contract.errors import TablesFull
from intaglio.grammar.earley import column_store
from intaglio.grammar.earley.chart import Chart

from tests.support.earley_texts import byte_form

LETTERS = "ab"
LONGEST = 6
Rules = dict[str, list[tuple[str, ...]]]


def rules_of(draw: random.Random) -> Rules:
    """A random grammar: any recursion, empty branches, ambiguity."""
    names = ["root", "x", "y"][: draw.randint(1, 3)]
    symbols = [*names, *LETTERS]
    return {
        name: [
            tuple(draw.choice(symbols) for _ in range(draw.choice((0, 1, 1, 2, 2, 3))))
            for _ in range(draw.randint(1, 4))
        ]
        for name in names
    }


def language(rules: Rules) -> set[str]:
    """All texts of `root` of at most `LONGEST` letters, by a fixed point."""
    texts: dict[str, set[str]] = {name: set() for name in rules} | {c: {c} for c in LETTERS}
    while True:
        before = {name: len(found) for name, found in texts.items()}
        for name, branches in rules.items():
            for branch in branches:
                joined = {""}
                for symbol in branch:
                    joined = {a + b for a in joined for b in texts[symbol] if len(a + b) <= LONGEST}
                texts[name] |= joined
        if before == {name: len(found) for name, found in texts.items()}:
            return texts["root"]


def source_of(rules: Rules) -> str:
    """The rules as EBNF."""
    lines = []
    for name, branches in rules.items():
        shown = (" ".join(f'"{s}"' if s in LETTERS else s for s in b) or '""' for b in branches)
        lines.append(f"{name} ::= {' | '.join(shown)}")
    return "\n".join(lines)


def chart_of(source: str) -> Chart | None:
    """The chart of a grammar, whichever engine would run it; None for a regular one."""
    form = byte_form(source)
    return None if form is None else Chart(form)


def agrees(seed: int) -> bool:
    """Whether a random grammar has a chart; asserts that the chart knows its language and its shortest ends."""
    rules = rules_of(random.Random(seed))
    known, source = language(rules), source_of(rules)
    try:
        chart = chart_of(source)
    except Unsatisfiable:
        assert not known, source
        return False
    if chart is None:
        return False
    for size in range(LONGEST + 1):
        for text in map("".join, product(LETTERS, repeat=size)):
            column = chart.read(chart.first, np.frombuffer(text.encode(), np.uint8).copy())
            ends = [other for other in known if other.startswith(text)]
            if not ends:
                assert column < 0 or chart.least(column) > LONGEST - size, (source, text)
                continue
            assert column >= 0, (source, text)
            assert chart.may_end(column) == (text in known), (source, text)
            least = min(map(len, ends)) - size
            closing = chart.closing(column)
            assert closing is not None
            assert chart.least(column) == len(closing) == least, (source, text)
            assert text + closing.decode() in known, (source, text)
    return True


def test_random_languages_and_their_shortest_ends() -> None:
    assert sum(agrees(seed) for seed in range(120)) > 20


def test_outputs_with_the_same_future_share_a_column() -> None:
    chart = chart_of('root ::= e\ne ::= e "+" e | "(" e ")" | "a"')
    assert chart is not None
    read = {
        text: chart.read(chart.first, np.frombuffer(text, np.uint8).copy())
        for text in (b"a+a+", b"a+a+a+", b"(a)+a+", b"(a+", b"((a+", b"((a)+")
    }
    assert read[b"(a+"] == read[b"((a)+"] != read[b"((a+"]
    before = chart.columns
    chart.read(chart.first, np.frombuffer(b"((a)+" * 1, np.uint8).copy())
    assert chart.columns == before


def test_an_ambiguous_output_of_any_length_has_few_columns() -> None:
    source = 'root ::= (x "-"?)* (y x* | x)\nx ::= a (c | b)*\nc ::= ("." a | "-"? (a | [0-9]))+'
    source += '\nb ::= "(" ("-"? x)+ ")"'
    chart = chart_of(source + '\na ::= [A-Z] | y\ny ::= "Y(" a ")" | "Yy"')
    assert chart is not None
    draw, counts = random.Random(0), []
    for size in (200, 4_000):
        text = (
            "".join(
                draw.choice(("A", "-B", "C1", "A(B-C(D))", "Yy", "Y(Y(A))")) for _ in range(size)
            )
            + "A"
        )
        assert chart.read(chart.first, np.frombuffer(text.encode(), np.uint8).copy()) > 0
        counts.append(chart.columns)
    assert counts[0] == counts[1] < 200


def test_recursion_at_the_end_of_a_rule_adds_no_frames() -> None:
    chart = chart_of('root ::= "a" x\nx ::= "b" y | "(" root ")"\ny ::= "c" x | "d"')
    assert chart is not None
    at = chart.read(chart.first, np.frombuffer(b"a" + b"bc" * 8, np.uint8).copy())
    before = chart.columns
    assert chart.read(at, np.frombuffer(b"bc" * 800, np.uint8).copy()) == at
    assert chart.columns <= before + 1


def test_forced_bytes_stop_at_a_choice_and_at_a_possible_end() -> None:
    chart = chart_of('root ::= "begin(" root ")" | "begin[" root "]" | "x"')
    assert chart is not None
    assert chart.forced(chart.first) == b""
    assert chart.forced(chart.read(chart.first, np.frombuffer(b"b", np.uint8).copy())) == b"egin"
    last = chart.read(chart.first, np.frombuffer(b"begin(x", np.uint8).copy())
    assert chart.forced(last) == b")"
    assert chart.is_over(chart.read(last, np.frombuffer(b")", np.uint8).copy()))


def test_a_full_chart_says_so() -> None:
    source = 'root ::= "a" root "a" | "b" root "b" | ""'
    made = chart_of(source)
    assert made is not None
    chart = Chart(made.form, most_bytes=1 << 18)
    text = np.frombuffer(bytes(random.Random(0).choices(b"ab", k=4_000)), np.uint8).copy()
    with pytest.raises(TablesFull):
        chart.read(chart.first, text)
    assert chart.empty_copy().read(chart.first, text[:8]) > 0


def test_a_grammar_with_too_many_states_is_refused() -> None:
    wide = " | ".join(f'"{word:05}" root "{word:05}"' for word in range(3_000))
    try:
        screened = screen(Constraint(Kind.EBNF, f'root ::= {wide} | ""'))
    except GrammarError:
        return
    assert (
        screened.parsed is None or Chart(screened.parsed.form).columns < column_store.MOST_COLUMNS
    )
