"""A mask stays right when another thread drops the leaf's row that the mask is expressed relative to."""

import json

import numpy as np
import pytest
from intaglio.grammar.api import MaskRow, empty_rows
from intaglio.grammar.backends.native import NativeGrammar, NativeMatcher
from intaglio.grammar.backends.token_spelling import Speller
from intaglio.grammar.contract.vocabulary import Vocabulary
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.mask.compute_masks import Scratch, TokenIndex

BYTES = tuple(bytes([byte]) for byte in range(256))
VOCABULARY = Vocabulary((*BYTES, b'"a', b"ab", b'b"', None), (259,), 260)
# Strings that share no row. A cache without room drops all earlier rows while their masks are made.
OTHERS = [{"type": "string", "pattern": f"^[{letters}]*$"} for letters in ("A-Z", "a-z", "!#-@")]


def grammar_of(schema: object, index: TokenIndex) -> NativeGrammar:
    root = Language(read(json.dumps(schema)), Options(any_order=False)).root
    return NativeGrammar(Machine(root), index, Speller(VOCABULARY, tuple))


def mask(matcher: NativeMatcher) -> MaskRow:
    row: MaskRow = empty_rows(1, VOCABULARY.width)[0]
    row.fill(-1)  # as if an earlier mask had allowed every token
    matcher.fill(row)
    return row


class Contended(TokenIndex):
    """An index without room for rows, in which `others` make masks during each computation, as another thread might."""

    def __init__(self) -> None:
        super().__init__(VOCABULARY, 0)
        self.others: list[NativeMatcher] = []

    def release(self, scratch: Scratch) -> None:
        super().release(scratch)
        others, self.others = self.others, []  # nobody makes masks after theirs
        for matcher in others:
            mask(matcher)
        self.others = others


@pytest.mark.parametrize(
    "schema", [{"type": "string"}, {"type": "string", "maxLength": 3}, *OTHERS]
)
def test_a_mask_is_whole_although_its_base_was_dropped_before_it_was_written(
    schema: object,
) -> None:
    contended = Contended()
    for other in OTHERS:
        matcher = grammar_of(other, contended).matcher()
        matcher.accept(ord('"'))
        contended.others.append(matcher)
    one = grammar_of(schema, contended).matcher()
    roomy = grammar_of(schema, TokenIndex(VOCABULARY, 1 << 20)).matcher()
    assert np.array_equal(mask(one), mask(roomy))
    for matcher in (one, roomy):
        matcher.accept(ord('"'))
    assert np.array_equal(mask(one), mask(roomy))
