"""Tokens found by their text, against a search of every token."""

import numpy as np
import pytest
from intaglio.grammar.contract.vocabulary import Vocabulary
from intaglio.grammar.mask.token_texts import TextIndex

TOKENS = (b"a", b"ab", b'"ab', None, b"b", b'\\"', b"a\\", b"bab", b"cab\\x", b"abab")
VOCABULARY = Vocabulary(TOKENS, (len(TOKENS),), len(TOKENS) + 3)


@pytest.mark.parametrize("text", [b"a", b"ab", b"ba", b"\\", b"bab", b"bb", b"ababab", b'a"'])
def test_tokens_that_contain_a_text_are_found_with_their_texts(text: bytes) -> None:
    texts = TextIndex(VOCABULARY)
    for _ in range(2):  # the second time from the cache
        found = texts.containing(text)
        expected = [i for i, token in enumerate(TOKENS) if token is not None and text in token]
        assert sorted(found.tokens.tolist()) == expected
        for i, token in enumerate(found.tokens.tolist()):
            assert found.blob[found.starts[i] : found.starts[i + 1]].tobytes() == TOKENS[token]
    assert texts.nbytes > 0


def test_a_text_that_spans_two_tokens_is_in_neither() -> None:
    texts = TextIndex(Vocabulary((b"xy", b"z"), (2,), 3))
    assert texts.containing(b"yz").tokens.tolist() == []


def test_each_token_has_a_node_and_each_node_its_text() -> None:
    texts = TextIndex(VOCABULARY)
    assert len(texts.nodes) == VOCABULARY.width
    for token, node in enumerate(texts.nodes.tolist()):
        text = VOCABULARY.text(token)
        assert (node == 0) == (text is None)
        if text is not None:
            assert texts.at_node(node).tobytes() == text == texts.by_token[token].tobytes()
    for node in range(1, len(texts.trie.byte)):
        text = texts.at_node(node).tobytes()
        assert texts.prefixes.node_of(text) == node
        assert texts.escaped[node] == (b"\\" in text)


def test_tokens_with_a_whole_needless_escape_are_listed() -> None:
    tokens = (rb"\u0061b", rb"\u006", rb"\/", rb"\n", rb'","\u0041', b"/")
    texts = TextIndex(Vocabulary(tokens, (len(tokens),), len(tokens) + 1))
    assert sorted(texts.respelled.tolist()) == [0, 2, 4]


def test_crossings_know_beginnings_whose_spelling_matters() -> None:
    tokens = (rb'","\u', b"],[1.", b"],[-", b"1,1", b'","a', b"],[10")
    crossings = TextIndex(Vocabulary(tokens, (len(tokens),), len(tokens) + 1)).crossings
    found = crossings.matches.tokens[crossings.respelled].tolist()
    assert sorted(found) == [0, 1, 2]
    chosen = np.ones(len(crossings.matches.tokens), np.bool_)
    legal = np.ones(len(crossings.commas), np.bool_)
    assert crossings.kept(chosen, legal, with_respelled=True).sum() == 3
    assert not crossings.kept(chosen, legal, with_respelled=False).any()
