"""Rows are cached by everything they depend on: a row for some names of a leaf never allows the others."""

import json
from collections.abc import Hashable
from dataclasses import dataclass

from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    Kind,
    allowed_tokens,
    empty_rows,
)
from intaglio.grammar.automata import Dfa, trie
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.backends.token_spelling import Speller
from intaglio.grammar.contract.vocabulary import Vocabulary
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.machine.rule import UNKNOWN, Call, End, Expansion, Goto, Target
from intaglio.grammar.mask.compute_masks import TokenIndex

# No token is long enough to leave the leaf of names, so that only the place of its call tells which of them count.
TOKENS = (*(bytes([byte]) for byte in range(256)), b'{"', b"{},")
VOCABULARY = Vocabulary((*TOKENS, None), (len(TOKENS),), len(TOKENS) + 1)


def bytes_after(grammar: CompiledGrammar, *texts: bytes) -> list[bytes]:
    """The single bytes that are legal after each of these texts, one written after the other."""
    matcher, seen = grammar.matcher(), []
    row = empty_rows(1, VOCABULARY.width)[0]
    for text in texts:
        for byte in text:
            matcher.accept(byte)
        matcher.fill(row)
        seen.append(bytes(allowed_tokens(row, 256).astype("u1")))
    return seen


def test_names_that_were_passed_over_do_not_come_back() -> None:
    compiler = Compiler(VOCABULARY, tuple)
    schema = {
        "type": "object",
        "properties": {name: {"const": {}} for name in ("history", "keyboard", "window")},
        "additionalProperties": False,
    }
    grammar = compiler.compile(Constraint(Kind.JSON_SCHEMA, json.dumps(schema)))
    assert bytes_after(grammar, b'{"', b'keyboard":{},"') == [b"hkw", b"w"]


@dataclass(frozen=True)
class Twice:
    """A word, and then one of fewer: the same leaf, of which less counts the second time."""

    words: Dfa
    start: Hashable = "all"

    def expand(self, key: Hashable) -> Expansion:
        return Expansion(call=Call(self.words, key, live=None if key == "all" else frozenset({1})))

    def resume(self, back: Hashable, outcome: int, twin: bool) -> Target | None:
        return Goto("few") if back == "all" else End(0)

    def least(self, key: Hashable) -> int | None:
        return UNKNOWN


def test_a_leaf_of_which_less_counts_shares_no_mask_with_the_whole() -> None:
    words = trie({b"history": 0, b"hotel": 1})
    grammar = NativeGrammar(
        Machine(Twice(words)), TokenIndex(VOCABULARY, 1 << 20), Speller(VOCABULARY, tuple)
    )
    assert bytes_after(grammar, b"h", b"otelh") == [b"io", b"o"]
