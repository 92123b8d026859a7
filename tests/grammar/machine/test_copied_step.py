"""Reading along a document: the same places as through states, byte by byte."""

import json
import random
from typing import Any

import numpy as np
import pytest
from intaglio.grammar.api import Compiler, Constraint, Kind, TablesFull
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.base.array_types import Bytes
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.machine import Machine, state_of

from tests.grammar.machine.test_copied_row import DOCUMENT, SCHEMAS, VERBATIM
from tests.support.tokens import small

_BYTES = [np.array([byte], np.uint8) for byte in range(256)]


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(small().vocabulary(), small().canonical)


def compiled(compiler: Compiler, schema: Any) -> NativeGrammar:
    asked = Constraint(
        Kind.JSON_SCHEMA, json.dumps(schema), document=DOCUMENT, extra_properties=False
    )
    found = compiler.compile(asked)
    assert isinstance(found, NativeGrammar)
    return found


def array(text: bytes) -> Bytes:
    return np.frombuffer(bytearray(text), np.uint8)


def place(cursor: Cursor) -> tuple[Any, bytes]:
    """The state as its rule names it, and the stack as far as it shows which states follow."""
    named = cursor.machine.name(cursor.state)
    return None if named is None else named[1], bytes(cursor.output)


def legal_bytes(cursor: Cursor) -> int:
    """How many bytes may come next."""
    memories = len(cursor.memories)
    found = 0
    for byte in _BYTES:
        found += cursor.read(byte)
        cursor.memories.cut(memories)
    return found


def pieces(choose: random.Random) -> list[bytes]:
    """A substring of the document as it is written, in pieces of any bytes, with the ends of strings in between."""
    start = choose.randrange(len(DOCUMENT) - 20)
    text = json.dumps(DOCUMENT[start : start + 20], ensure_ascii=False)[1:-1].encode()
    found = []
    while text:
        size = choose.randint(1, 6)
        found.append(text[:size])
        text = text[size:]
        if choose.random() < 0.2:
            found[-1] += choose.choice([b'"', b'","', b'","a', b'"]', b"x", b"\\", b'","b":"'])
    return found


@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_tokens_lead_to_the_places_that_their_bytes_lead_to(
    compiler: Compiler, schema: Any
) -> None:
    grammar, choose = compiled(compiler, schema), random.Random(4)
    opening = b'{"a":"' if schema["type"] == "object" else b'["'
    moved = refused = chosen = 0
    for _ in range(150):
        quick, plain = Cursor(grammar.machine), Cursor(Machine(grammar.machine.root))
        texts = pieces(choose)
        texts[:1] = [opening + texts[0]] if choose.random() < 0.5 else [opening, texts[0]]
        for text in map(array, texts):
            before, versions = (*place(quick), quick.stack), len(plain.memories)
            step = quick.advance(text)
            assert (step is not None) == plain.read(text)
            if step is None:
                plain.memories.cut(versions)
                assert (*place(quick), quick.stack) == before
                refused += 1
                continue
            plain.commit(text, versions)
            assert place(quick) == place(plain)
            assert len(quick.stack) == len(plain.stack)
            assert not quick.chooses or legal_bytes(plain) > 1
            chosen += quick.chooses
            moved += 1
    assert min(moved, refused, chosen) > 100


def test_a_step_along_the_document_is_taken_back(compiler: Compiler) -> None:
    grammar = compiled(compiler, {"type": "array", "items": VERBATIM})
    cursor = Cursor(grammar.machine)
    for text in map(array, (b'["', b"an", b"d   bl", b'anks","e', b"nd")):
        before = cursor.state, cursor.stack, bytes(cursor.output)
        step = cursor.advance(text)
        assert step is not None
        cursor.undo(step)
        assert (cursor.state, cursor.stack, bytes(cursor.output)) == before
        assert cursor.advance(text) is not None


def test_a_text_makes_one_state(compiler: Compiler) -> None:
    grammar = compiled(compiler, {"type": "array", "items": VERBATIM})
    cursor = Cursor(grammar.machine)
    assert cursor.advance(array(b'["an')) is not None
    made = grammar.machine.states
    assert cursor.advance(array(b"d   blanks")) is not None
    assert grammar.machine.states == made + 1


def test_new_states_stop_where_the_tables_are_full(compiler: Compiler) -> None:
    full = Machine(compiled(compiler, VERBATIM).machine.root, most_bytes=1)
    named = full.name(full.start)
    assert named is not None
    with pytest.raises(TablesFull):
        state_of(full, named[0], "new")
