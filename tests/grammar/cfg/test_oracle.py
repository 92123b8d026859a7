"""Random grammars against Lark's own Earley parser, which tries every way to cut a text into terminals."""

import random

import lark
import pytest
from intaglio.grammar.api import Constraint, GrammarError, Kind, Unsatisfiable, screen

from tests.support.grammars import random_lark
from tests.support.texts import Fate, fate


def _texts(draw: random.Random) -> list[str]:
    texts = {"", "a", "b", "ab", "ba", "x"}
    while len(texts) < 24:
        texts.add("".join(draw.choice("aabbcCx") for _ in range(draw.randint(1, 7))))
    return sorted(texts)


@pytest.mark.parametrize("seed", range(60))
def test_lark_takes_the_same_texts(seed: int) -> None:
    draw = random.Random(seed)
    source = random_lark(draw)
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
            notes.append(screen(Constraint(Kind.LARK, random_lark(random.Random(seed)))).note)
        except Unsatisfiable:
            continue
    assert 5 < sum(map(bool, notes)) < len(notes) - 20
