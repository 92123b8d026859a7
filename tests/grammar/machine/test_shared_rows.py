"""Rows are kept by what they depend on: where only some names of a leaf count, others do not come back from a row."""

import json

from intaglio.grammar.api import Compiler, Constraint, Kind, allowed_tokens, empty_rows
from intaglio.grammar.vocabulary import Vocabulary

# No token is long enough to leave the leaf of names, so that only the place of its call tells which of them count.
TOKENS = (*(bytes([byte]) for byte in range(256)), b'{"', b"{},")


def test_names_that_were_passed_over_do_not_come_back() -> None:
    compiler = Compiler(Vocabulary((*TOKENS, None), (len(TOKENS),), len(TOKENS) + 1), list)
    schema = {
        "type": "object",
        "properties": {name: {"const": {}} for name in ("history", "keyboard", "window")},
        "additionalProperties": False,
    }
    grammar = compiler.compile(Constraint(Kind.JSON_SCHEMA, json.dumps(schema)))
    matcher = grammar.matcher()
    row = empty_rows(1, compiler.vocabulary.width)[0]
    seen = []
    for text in (b'{"', b'keyboard":{},"'):
        for byte in text:
            matcher.accept(byte)
        matcher.fill(row)
        seen.append(bytes(allowed_tokens(row, 256).astype("u1")))
    assert seen == [b"hkw", b"w"]
