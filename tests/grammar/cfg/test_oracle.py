"""Random grammars against Lark's own Earley parser, which tries every way to cut a text into terminals."""

import random

import lark
import pytest
from intaglio.grammar.api import Constraint, GrammarError, Kind, Unsatisfiable, screen

from tests.support.texts import Fate, fate

_ATOMS = ('"a"', '"b"', '"ab"', "A", "B", "/b+a/", '"c"i')
_TERMINALS = 'A: /a+/\nB: "b" | "ba"\nX: /x/\n'


def _part(draw: random.Random, rules: list[str], depth: int) -> str:
    if depth == 0 or draw.random() < 0.4:
        return draw.choice(_ATOMS) if draw.random() < 0.6 else draw.choice(rules)
    inner = [_part(draw, rules, depth - 1) for _ in range(draw.randint(1, 3))]
    if draw.random() < 0.4:
        return "(" + " | ".join(inner) + ")" + draw.choice(("", "?", "*", "+", "~1..2"))
    return "(" + " ".join(inner) + ")" + draw.choice(("", "?", "*"))


def _grammar(draw: random.Random) -> str:
    rules = ["start", "p", "q"][: draw.randint(1, 3)]
    lines = []
    for rule in rules:
        branches = [_part(draw, rules, 2) for _ in range(draw.randint(1, 3))]
        lines.append(f"{rule}: {' | '.join([*branches, draw.choice(_ATOMS)])}")
    ignored = "%ignore X\n" if draw.random() < 0.4 else ""
    return "\n".join(lines) + "\n" + _TERMINALS + ignored


def _texts(draw: random.Random) -> list[str]:
    texts = {"", "a", "b", "ab", "ba", "x"}
    while len(texts) < 24:
        texts.add("".join(draw.choice("aabbcCx") for _ in range(draw.randint(1, 7))))
    return sorted(texts)


@pytest.mark.parametrize("seed", range(60))
def test_lark_takes_the_same_texts(seed: int) -> None:
    draw = random.Random(seed)
    source = _grammar(draw)
    oracle = lark.Lark(source, parser="earley", lexer="dynamic_complete", ambiguity="forest")
    try:
        screened = screen(Constraint(Kind.LARK, source))
    except Unsatisfiable:
        screened = None
    except GrammarError as error:
        pytest.fail(f"{error}\n{source}")
    for text in _texts(draw):
        try:
            oracle.parse(text)
            known = True
        except lark.exceptions.LarkError:
            known = False
        ours = screened is not None and fate(screened, text) is Fate.WHOLE
        assert ours == known, (source, text)


def test_the_random_grammars_run_both_ways() -> None:
    notes = []
    for seed in range(60):
        try:
            notes.append(screen(Constraint(Kind.LARK, _grammar(random.Random(seed)))).note)
        except Unsatisfiable:
            continue
    assert 5 < sum(map(bool, notes)) < len(notes) - 20
