"""Masks read off the document: the tokens that the matcher accepts, one by one, and no others."""

import json
import random
from typing import Any

import numpy as np
import pytest
from intaglio.grammar.api import Compiler, Constraint, Kind, Matcher, Violation, empty_rows
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.machine.copied_texts import copied_place
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.mask.compute_masks import make_row
from intaglio.grammar.mask.copied_mask import fill_few
from intaglio.grammar.mask.trie import build, children, find

from tests.support.tokens import TEXT, small

DOCUMENT = (
    "\n".join([*TEXT, *reversed(TEXT)]) + '\tC:\\new "🙂🙂"\x00\x01\r\n tab\tand   blanks   end'
)
VERBATIM: dict[str, Any] = {"type": "string", "x-intaglio": {"verbatim": True}}
SCHEMAS = (
    {"type": "array", "items": VERBATIM},
    {"type": "array", "items": VERBATIM | {"minLength": 3, "maxLength": 7}, "minItems": 3},
    {"type": "array", "items": VERBATIM | {"maxLength": 4}, "uniqueItems": True},
    {"type": "object", "properties": {"a": VERBATIM, "b": VERBATIM | {"type": ["string", "null"]}}},
    {"type": "array", "items": {"anyOf": [VERBATIM | {"maxLength": 2}, {"type": "integer"}]}},
    {
        "type": "array",
        "items": VERBATIM | {"pattern": r"^([a-zA-Z ]{2})+[a-z\\\\]?$", "minLength": 3},
    },
    {"type": "array", "items": VERBATIM | {"pattern": r"^[^aeiou]*[aeiou 🙂]$", "maxLength": 9}},
)


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(small().vocabulary(), small().canonical)


def accepted(matcher: Matcher, tokens: int) -> list[int]:
    """The legal tokens, by trying each."""
    found = []
    for token in range(tokens):
        try:
            matcher.accept(token)
        except Violation:
            continue
        matcher.rollback(1)
        found.append(token)
    return found


@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_a_mask_has_the_tokens_that_are_accepted(compiler: Compiler, schema: Any) -> None:
    grammar = compiler.compile(
        Constraint(Kind.JSON_SCHEMA, json.dumps(schema), document=DOCUMENT, extra_properties=False)
    )
    choose, texts = random.Random(1), compiler.vocabulary.tokens
    row, wide = empty_rows(1, compiler.vocabulary.width)[0], 0
    for _ in range(4):
        matcher = grammar.matcher()
        for token in compiler.spelled(b'{"a":"' if schema["type"] == "object" else b'["'):
            matcher.accept(token)
        for _ in range(14):
            if matcher.finished:
                break
            matcher.fill(row)
            legal = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()
            assert legal == accepted(matcher, len(texts))
            wide += len(legal) > 40
            going_on = [token for token in legal if not {*b'"]}'} & {*(texts[token] or b"}")}]
            matcher.accept(choose.choice(going_on if going_on and choose.random() < 0.8 else legal))
    assert wide >= 2


def test_a_mask_of_few_places_equals_the_row_that_is_kept_for_many(compiler: Compiler) -> None:
    choose, texts = random.Random(2), compiler.vocabulary.tokens
    quick, kept = (empty_rows(1, compiler.vocabulary.width)[0].view(np.uint32) for _ in range(2))
    done = left = 0
    for schema in SCHEMAS:
        found = compiler.compile(
            Constraint(
                Kind.JSON_SCHEMA, json.dumps(schema), document=DOCUMENT, extra_properties=False
            )
        )
        assert isinstance(found, NativeGrammar)
        for _ in range(6):
            cursor = Cursor(found.machine)
            for token in compiler.spelled(b'{"a":"' if schema["type"] == "object" else b'["'):
                assert cursor.advance(found.index.texts[token]) is not None
            for _ in range(10):
                place = copied_place(found.machine.name(cursor.state))
                if place is None:
                    break
                make_row(cursor, found.index, kept)
                quick[:] = 0xFFFFFFFF
                before = found.machine.states
                if fill_few(cursor, found.index, quick) is None:
                    left += place.high - place.low <= 64
                else:
                    assert quick.tolist() == kept.tolist()
                    done += 1
                assert found.machine.states == before
                legal = np.flatnonzero(np.unpackbits(kept.view(np.uint8), bitorder="little"))
                within = [token for token in legal.tolist() if b'"' not in (texts[token] or b'"')]
                if not within:
                    break
                assert cursor.advance(found.index.texts[choose.choice(within)]) is not None
    assert done > 100
    assert left > 0  # where items must differ


def test_the_children_of_a_node_are_one_byte_longer() -> None:
    trie = build(small().vocabulary())
    first, byte, node = children(trie)
    assert len(byte) == len(node) == len(trie.byte) - 1
    for parent in range(len(trie.byte)):
        below = range(parent + 1, int(trie.skip[parent]))
        found = [child for child in below if trie.depth[child] == trie.depth[parent] + 1]
        assert node[first[parent] : first[parent + 1]].tolist() == found
    assert byte.tolist() == trie.byte[node].tolist()
    the = find(trie, np.frombuffer(bytearray(b"th"), np.uint8))
    assert ord("e") in byte[first[the] : first[the + 1]]
