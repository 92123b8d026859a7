"""Outputs that need more states than one machine may have: new machines take over, and no output is affected."""

import gc
import json
import random
import weakref

import numpy as np
import pytest
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    ConstraintTooLarge,
    KeyOrder,
    Kind,
    MaskRow,
    TablesFull,
    empty_rows,
)
from intaglio.grammar.backends.native import NativeGrammar, NativeMatcher
from intaglio.grammar.cache.grammar_cache import GrammarCache
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine

from tests.grammar.machine.test_compute_masks import index
from tests.support.tokens import small

NAMES = 14
SCHEMA = {
    "type": "object",
    "properties": {f"name_{number}": {"type": "integer"} for number in range(NAMES)},
    "required": [f"name_{number}" for number in range(NAMES)],
    "additionalProperties": False,
}
ROOM = 30_000  # bytes of rows: a few outputs, each with the names in an order of its own


def grammar(most_bytes: int) -> NativeGrammar:
    root = Language(read(json.dumps(SCHEMA)), Options(any_order=True)).root
    return NativeGrammar(Machine(root, most_bytes), *index())


def output(seed: int) -> tuple[int, ...]:
    order = list(range(NAMES))
    random.Random(seed).shuffle(order)
    text = json.dumps({f"name_{number}": number for number in order}, separators=(",", ":"))
    return (*small().canonical(text.encode()), *index()[0].vocabulary.end_ids[:1])


def mask(matcher: NativeMatcher) -> MaskRow:
    row: MaskRow = empty_rows(1, index()[0].vocabulary.width)[0]
    matcher.fill(row)
    return row


def test_outputs_in_ever_new_orders_have_the_masks_of_an_unbounded_machine() -> None:
    bounded, unbounded = grammar(ROOM), grammar(1 << 28)
    machines = set()
    for seed in range(16):
        matcher, twin = bounded.matcher(), unbounded.matcher()
        for token in output(seed):
            assert np.array_equal(mask(matcher), mask(twin))
            assert matcher.forced() == twin.forced()
            matcher.accept(token)
            twin.accept(token)
        assert matcher.finished
        machines.add(id(bounded.machine))
    assert len(machines) > 1


def test_an_output_continues_in_the_machine_that_replaces_its_own() -> None:
    """Two outputs take turns; tokens before and after a move can be taken back."""
    one = grammar(ROOM)
    tokens, begun = output(1), 20
    matcher, twin = one.matcher(), grammar(1 << 28).matcher()
    matcher.skip(tokens[:8])
    twin.skip(tokens[:8])
    for token in tokens[8:begun]:
        matcher.accept(token)
        twin.accept(token)
    first = one.machine
    for seed in range(2, 16):
        other = one.matcher()
        for token in output(seed):
            mask(other)
            other.accept(token)
    assert one.machine is not first
    for token in tokens[begun:]:
        assert np.array_equal(mask(matcher), mask(twin))
        matcher.accept(token)
        twin.accept(token)
    assert matcher.finished
    matcher.rollback(len(tokens) - 12)
    twin.rollback(len(tokens) - 12)
    assert np.array_equal(mask(matcher), mask(twin))
    assert matcher.closing() is not None


def test_a_full_machine_is_given_back_once_no_output_needs_it() -> None:
    one = grammar(ROOM)
    first = weakref.ref(one.machine)
    for seed in range(12):
        matcher = one.matcher()
        for token in output(seed):
            mask(matcher)
            matcher.accept(token)
    del matcher
    gc.collect()
    assert first() is None
    assert one.machine.size_bytes < 8 * ROOM


def test_an_output_too_large_for_a_machine_of_its_own_is_refused() -> None:
    matcher = grammar(2_000).matcher()
    with pytest.raises(ConstraintTooLarge):
        matcher.skip(output(0)[:-1])


def test_a_schema_whose_shortest_output_fills_a_machine_is_not_compiled() -> None:
    """Not only its outputs are refused, when they look for their ends."""
    names = [f"{number}_{'x' * 40}" for number in range(1500)]
    schema = {
        "properties": {name: {"type": "integer"} for name in names},
        "required": names,
        "additionalProperties": False,
        "type": "object",
    }
    compiler = Compiler(small().vocabulary(), small().canonical)
    with pytest.raises(TablesFull):
        compiler.compile(Constraint(Kind.JSON_SCHEMA, json.dumps(schema), key_order=KeyOrder.ANY))


def test_the_rest_of_a_forced_text_is_what_a_new_matcher_finds() -> None:
    one, checked = grammar(1 << 28), 0
    matcher = one.matcher()
    for token in output(3):
        fresh = one.matcher()
        fresh.skip(matcher.tokens)
        forced = matcher.forced()
        assert forced == fresh.forced()
        checked += len(forced) > 1
        matcher.accept(token)
    assert checked
    matcher.rollback(4)
    fresh = one.matcher()
    fresh.skip(matcher.tokens)
    assert matcher.forced() == fresh.forced()


def test_a_short_end_is_searched_when_it_is_asked_for() -> None:
    compiler = Compiler(small().vocabulary(), small().canonical)
    grammar = compiler.compile(
        Constraint(Kind.JSON_SCHEMA, '{"required": ["a"], "type": "object"}')
    )
    assert isinstance(grammar, NativeGrammar)
    before, least, after = grammar.generation.found, grammar.least_tokens, grammar.generation.found
    assert before is None
    assert least is not None
    assert after is not None
    assert after.startswith(b'{"a":')


def test_a_cache_hands_out_grammars_whose_shortest_output_is_known() -> None:
    """Requests ask for it in the step loop, which must not wait for a search."""
    cache = GrammarCache(Compiler(small().vocabulary(), small().canonical))
    try:
        grammar = cache.submit(Constraint(Kind.JSON_SCHEMA, '{"type": "array"}')).result(60)
    finally:
        cache.close()
    assert isinstance(grammar, NativeGrammar)
    assert grammar.generation.found is not None


def test_forced_text_is_found_once_whatever_texts_the_outputs_hold() -> None:
    root = Language(
        read('{"properties": {"a": {"const": "one and only"}}}'), Options(any_order=True)
    ).root
    made, found = NativeGrammar(Machine(root, 1 << 28), *index()), set()
    for name in "xyz":  # seen names must not come again
        matcher = made.matcher()
        matcher.skip(small().canonical(f'{{"{name}":1,"a":"on'.encode()))
        found.add(matcher.forced())
    assert len(found) == 1
    assert found != {()}
    assert len(made.generation.forces) == 1
