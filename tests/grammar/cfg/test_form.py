"""Products of many terminals with a common beginning."""

from intaglio.grammar.automata import Dfa, Spelling, encode, words
from intaglio.grammar.cfg.form import ByteGrammar, GrammarLeaf


def leaf(*texts: str) -> GrammarLeaf:
    return GrammarLeaf(encode(words(dict.fromkeys(texts, 0)), Spelling.UTF8))


def grammar(*leaves: GrammarLeaf) -> ByteGrammar:
    return ByteGrammar("root", False, leaves, {})  # noqa: FBT003


def members(dfa: Dfa, sets: tuple[frozenset[int], ...], text: str) -> frozenset[int]:
    outcome = dfa.judge(text.encode())
    return frozenset() if outcome < 0 else sets[outcome]


def test_the_outcome_of_a_product_tells_the_leaves_of_a_text() -> None:
    texts = ["a", "b", "ab", "abc", "c"]
    leaves = [leaf(*texts[:n], f"x{n}") for n in range(1, 6)]
    product, sets = grammar(*leaves).joint((0, 1, 2, 3, 4))
    for at, text in enumerate(texts):
        assert members(product.dfa, sets, text) == frozenset(range(at, 5))
    assert members(product.dfa, sets, "x4") == {3}
    assert not members(product.dfa, sets, "x")


def test_a_thousand_terminals_are_joined_in_few_steps() -> None:
    """One after the other, they were refused as nested too deeply."""
    names = [f"alt{number}" for number in range(1200)]
    joined = grammar(*map(leaf, names))
    product, sets = joined.joint(tuple(range(len(names))))
    assert members(product.dfa, sets, "alt1199") == {1199}
    assert members(product.dfa, sets, "alt7") == {7}
    assert not members(product.dfa, sets, "alt")
