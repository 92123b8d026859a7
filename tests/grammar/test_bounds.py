"""The distances to the end that rules report: mostly known, and always achievable."""

import json
import random
from typing import Any

import pytest
from intaglio.grammar.api import Compiler, Constraint, Kind, allowed_tokens, empty_rows
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.contract.vocabulary import Vocabulary

from tests.grammar.test_closing_schemas import HARD

PLAIN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "kind": {"enum": ["first", "second", "either of these"]},
        "parts": {
            "type": "array",
            "minItems": 2,
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "of": {"type": ["string", "null"]}},
                "required": ["id"],
                "additionalProperties": False,
            },
        },
        "more": {"type": "object"},
    },
    "required": ["name", "parts"],
}
SEVERAL = {"anyOf": [PLAIN, {"type": "array", "items": {"$ref": "#/anyOf/0/properties/kind"}}]}
SCHEMAS = {
    "plain": PLAIN,
    "several": SEVERAL,
    **{name: schema for name, (schema, _) in HARD.items()},
}
VOCABULARY = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)


def compiled(schema: object) -> NativeGrammar:
    source = json.dumps(schema)
    grammar = Compiler(VOCABULARY, tuple).compile(Constraint(Kind.JSON_SCHEMA, source))
    assert isinstance(grammar, NativeGrammar)
    return grammar


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_promised_can_be_kept(name: str) -> None:
    grammar, row = compiled(SCHEMAS[name]), empty_rows(1, VOCABULARY.width)[0]
    for seed in range(3):
        choose, matcher = random.Random(seed), grammar.matcher()
        for _ in range(60):
            promised = grammar.generation.bounds.of(matcher._cursor)
            if promised is not None:
                fresh = matcher.fork()
                closing = fresh.closing()
                assert closing is not None
                assert len(closing) - 1 <= 2 * promised + 64
            # Printable bytes, so that texts look like texts.
            matcher.fill(row)
            legal = allowed_tokens(row, VOCABULARY.width).tolist()
            usual = [token for token in legal if 32 <= token < 127 or token == 256]
            matcher.accept(choose.choice(usual or legal))
            if matcher.finished:
                break


def test_the_rules_of_usual_schemas_always_say() -> None:
    grammar = compiled(PLAIN)
    matcher = grammar.matcher()
    text = (
        b'{"name":"x","kind":"second","parts":[{"id":1},{"id":23,"of":null}],"more":{"a":[1,{}]}}'
    )
    said = []
    for byte in text:
        said.append(grammar.generation.bounds.of(matcher._cursor))
        matcher.accept(byte)
    assert None not in said
    assert grammar.generation.bounds.of(matcher._cursor) == 0


def test_with_ample_room_no_way_is_searched() -> None:
    grammar = compiled(PLAIN)
    matcher = grammar.matcher()
    for byte in b'{"name":"':
        matcher.accept(byte)
    held = grammar.generation.detours.nbytes
    assert matcher.closes_within(1_000)
    assert grammar.generation.detours.nbytes == held
    assert not matcher.closes_within(3)
    assert grammar.generation.detours.nbytes > held, "a search leaves the way that it found"


def test_places_before_a_value_say_what_comes_after_it() -> None:
    """Where they do not, a search goes through every text shorter than the rest of the object first."""
    text = {"type": "string", "maxLength": 300, "pattern": r"^(?:\S+\s+){0,29}\S+$"}
    names = [f"member{i}" for i in range(20)]
    grammar = compiled(
        {"type": "object", "properties": dict.fromkeys(names, text), "required": names}
    )
    for begun in (b'{"mem', b'{"member0"', b'{"member0":', b'{"member0":"a b'):
        matcher = grammar.matcher()
        for byte in begun:
            matcher.accept(byte)
        closing = matcher.closing()
        assert closing is not None
        assert len(closing) <= 20 * len('"member10":"a",')
    assert grammar.size_bytes < 1 << 24
