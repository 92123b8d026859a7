"""Masks of the large vocabulary, bit for bit, on a sample of the report's grammars; and no dead end behind them."""

from itertools import islice

import pytest
from intaglio.grammar.api import Compiler, Constraint, GrammarError, Kind
from intaglio.grammar.backends.native import NativeGrammar

from tests.conformance import masks, samples
from tests.conformance.cases import data_folder
from tests.conformance.oracle import Interpreter, Tokens
from tests.conformance.tokens import shared

FOLDER = data_folder()
EVERY = 200  # grammars
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(FOLDER is None, reason="needs ../shared"),
]


@pytest.mark.parametrize("part", range(2))
def test_masks_equal_the_oracle_and_lead_to_an_end(part: int) -> None:
    assert FOLDER is not None
    spelling = shared()
    tokens = Tokens(spelling.vocabulary.tokens)
    compiler = Compiler(spelling.vocabulary, spelling.spell)
    pairs = places = 0
    for name, constraint in islice(samples.grammars(FOLDER), part * 100, None, EVERY):
        try:
            grammar = compiler.compile(constraint)
        except GrammarError:
            continue
        if not isinstance(grammar, NativeGrammar):
            continue
        found = masks.compare(grammar, spelling, tokens, name, 1, 12)
        assert not found.wrong, name
        pairs += found.pairs
        places += found.states
    assert pairs > 15
    assert places > pairs


def test_the_oracle_reads_what_the_machine_reads() -> None:
    """A check of the oracle itself, on a text whose answer is known."""
    assert FOLDER is not None
    spelling = shared()
    compiler = Compiler(spelling.vocabulary, spelling.spell)
    grammar = compiler.compile(Constraint(Kind.JSON_SCHEMA, '{"enum":[12,"a"]}'))
    assert isinstance(grammar, NativeGrammar)
    oracle = Interpreter(grammar.machine.root)
    tokens = Tokens(spelling.vocabulary.tokens)
    legal = {
        tokens.texts[t] for part in oracle.masks(oracle.start, b"", tokens).legal for t in part
    }
    assert legal == {t for t in tokens.texts if t and any(w.startswith(t) for w in (b"12", b'"a"'))}
    assert oracle.read(oracle.start, b"", b"12")[0]
    assert not oracle.read(oracle.start, b"", b"13")[0]
    taken, at = oracle.read(oracle.start, b"", b'"a"')
    assert taken
    assert oracle.can_end(at, b'"a"')
    assert not oracle.can_end(oracle.start, b"")
