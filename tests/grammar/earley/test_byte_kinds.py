"""Kinds of bytes: what a leaf is said to read for ever, it reads; and nodes of a trie name the kinds below them."""

import random

import numpy as np
import pytest
from intaglio.grammar.earley.byte_kinds import WELL_FORMED, byte_kinds, contents, stable_kinds
from intaglio.grammar.earley.rule_arrays import RuleArrays, rule_arrays
from intaglio.grammar.mask.trie import build, find

from tests.support.earley_texts import byte_form
from tests.support.tokens import small

KIND_OF = byte_kinds()
CHARACTERS = 'aZ7 _."\\\n\t(é߿ࠀ€\ud7ff\ue000\uffff\U00010000🙂\U0010ffff'
SETS = (r"[^\"\\]", "[a-z0-9]", r"[^\n]", r"[^\u00e9]", r"[ -\uffff]", r"[\u0800-\U0010ffff]", ".")


def rules_with(part: str) -> RuleArrays:
    """The arrays of a grammar with one leaf that repeats a set."""
    form = byte_form(f'root ::= "(" root ")" | "<" {part}* ">"')
    assert form is not None
    return rule_arrays(form)


def after(rules: RuleArrays, state: int, text: bytes) -> int:
    """The state of a leaf after a text, -1 if it is refused."""
    for byte in text:
        if state >= 0:
            state = int(rules.following[state * len(rules.only) + rules.class_of[byte]])
    return state


@pytest.mark.parametrize("part", SETS)
def test_a_leaf_stays_where_it_is_said_to(part: str) -> None:
    rules, draw = rules_with(part), random.Random(part)
    found = stable_kinds(rules.following, rules.class_of, KIND_OF, len(rules.only))
    assert found.tolist() == rules.stable.tolist()
    state = max(range(len(found)), key=lambda each: int(found[each]).bit_count())
    kinds = int(found[state])
    for character in CHARACTERS:
        text = character.encode("utf-8", "surrogatepass")
        if kinds >> int(KIND_OF[text[0]]) & 1:
            assert after(rules, state, text) == state
            assert all(after(rules, state, text[:end]) >= 0 for end in range(len(text)))
    for byte in range(0x21, 0x7F):  # a kind is left out only if one of its bytes leads elsewhere
        if not kinds >> int(KIND_OF[byte]) & 1:
            alike = np.flatnonzero(KIND_OF[byte] == KIND_OF)
            assert any(after(rules, state, bytes([other])) != state for other in alike)
    if kinds >> WELL_FORMED & 1:
        for _ in range(400):
            code = draw.choice((draw.randrange(0x80, 0xD800), draw.randrange(0xE000, 0x110000)))
            assert after(rules, state, chr(code).encode()) == state


@pytest.mark.parametrize(("part", "reads"), [(SETS[0], True), (SETS[3], False), (SETS[4], False)])
def test_characters_beyond_ascii_are_read_for_ever_only_if_all_are(part: str, reads: bool) -> None:
    assert any(each >> WELL_FORMED & 1 for each in rules_with(part).stable.tolist()) == reads


def test_a_node_has_the_kinds_of_the_bytes_below_it() -> None:
    trie = build(small().vocabulary())
    found = contents(trie.byte, trie.depth, trie.skip, KIND_OF)
    texts = [text for text in small().vocabulary().tokens if text]
    stray = np.uint64(1)
    for text in texts:
        for size in range(len(text)):
            node = find(trie, np.frombuffer(text[:size], np.uint8).copy())
            kinds = int(np.uint64(found[node]))
            rest = text[size:]
            try:
                text[:size].decode()
                rest.decode()
            except UnicodeDecodeError:
                whole = False
            else:
                whole = True
            if whole:
                assert all(kinds >> int(KIND_OF[byte]) & 1 for byte in rest)
            elif not _is_prefix(text):
                assert kinds & int(stray), text
    inside = find(trie, np.array([0xC3], np.uint8))
    assert inside > 0
    if trie.skip[inside] > inside + 1:
        assert int(found[inside]) & 1


def _is_prefix(text: bytes) -> bool:
    """Whether a text is whole characters, of which the last may be incomplete."""
    return any(
        _decodes(text + more) for more in (b"", b"\x80", b"\x80\x80", b"\xbf\xbf", b"\x80\x80\x80")
    )


def _decodes(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
