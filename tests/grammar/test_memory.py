"""What grammars hold is counted, bounded, and let go; a grammar that was let go is made again, the same."""

import gc
import json
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import ref

import numpy as np
import pytest
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    GrammarCache,
    GrammarError,
    Kind,
    empty_rows,
)
from intaglio.grammar.automata import Dfa, literal
from intaglio.grammar.automata.automaton_cache import automaton_bytes, size_bounded_cache
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.base.growing_array import LEAST_BYTES, empty, held_bytes, roomier
from intaglio.grammar.compiler.automata_budget import automata_bytes, shrink_automata

from tests.support.distinct_schemas import schema
from tests.support.tokens import small

MIB = 1 << 20


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    made = small()
    return Compiler(made.vocabulary(), made.canonical, 8 * MIB)


def constraint(number: int) -> Constraint:
    return Constraint(Kind.JSON_SCHEMA, json.dumps(schema(number)))


def follow(grammar: CompiledGrammar) -> list[bytes]:
    """The masks along a short output."""
    matcher, masks = grammar.matcher(), []
    assert isinstance(grammar, NativeGrammar)
    row = empty_rows(1, grammar.index.vocabulary.width)[0]
    for token in matcher.closing() or ():
        matcher.fill(row)
        masks.append(row.tobytes())
        matcher.accept(token)
    return masks


@contextmanager
def without_collections() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def test_hundreds_of_schemas_stay_within_a_small_bound(compiler: Compiler) -> None:
    limit = 6 * MIB
    cache = GrammarCache(compiler, limit_bytes=limit, account_s=0.0)
    made: list[ref[CompiledGrammar]] = []
    with without_collections():
        for number in range(120):
            grammar = cache.submit(constraint(number)).result(60)
            follow(grammar)
            made.append(ref(grammar))
            del grammar
            stats = cache.stats
            assert stats.held_bytes <= limit
            assert stats.shared["automata"] <= 4 * MIB
            assert stats.shared["leaf_masks"] <= 4 * MIB
        assert stats.evictions > 50
        alive = sum(grammar() is not None for grammar in made)
        # One more: the thread that compiled last may still hold its grammar.
        assert alive <= stats.entries + 1, "the others went at once, not when cycles are looked for"
    cache.close()


def test_a_grammar_that_is_let_go_leaves_no_work_for_the_collector(compiler: Compiler) -> None:
    follow(compiler.compile(constraint(0)))
    with without_collections():
        for number in range(1, 25):
            follow(compiler.compile(constraint(number)))
        assert gc.collect() == 0


def test_a_grammar_that_was_evicted_is_made_again_the_same(compiler: Compiler) -> None:
    cache = GrammarCache(compiler, limit_bytes=1)
    for number in range(12):
        first = follow(cache.submit(constraint(number)).result(60))
        assert cache.stats.entries == 0
        assert follow(cache.submit(constraint(number)).result(60)) == first
    assert cache.stats.evictions == 24
    cache.close()


def test_a_grammar_in_use_outlives_its_place_in_the_cache_and_is_told_of(
    compiler: Compiler,
) -> None:
    cache = GrammarCache(compiler, limit_bytes=1, account_s=0.0)
    grammar = cache.submit(constraint(1)).result(60)
    matcher = grammar.matcher()
    del grammar
    cache.submit(constraint(2)).result(60)
    assert cache.stats.shared["evicted"] > 0
    for token in matcher.closing() or ():
        matcher.accept(token)
    assert matcher.finished
    cache.close()


def test_masks_go_with_their_grammar(compiler: Compiler) -> None:
    grammar = compiler.compile(constraint(3))
    assert isinstance(grammar, NativeGrammar)
    index = grammar.index
    with without_collections():
        follow(grammar)
        held, others = (
            grammar.generation.rows.nbytes,
            index.rows.nbytes - grammar.generation.rows.nbytes,
        )
        assert held > 0
        del grammar
        assert index.rows.nbytes == others


def test_the_size_of_a_grammar_is_about_what_it_takes(compiler: Compiler) -> None:
    numbers = range(1000, 1016)
    follow(compiler.compile(constraint(999)))
    gc.collect()
    shared = automata_bytes()
    tracemalloc.start()
    try:
        grammars = [compiler.compile(constraint(number)) for number in numbers]
        for grammar in grammars:
            follow(grammar)
        gc.collect()
        traced, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    counted = sum(grammar.size_bytes for grammar in grammars)
    # Tables in pages of their own are not traced; automata that are shared are not the grammars'.
    traced += sum(
        grammar.machine._growing.held_bytes
        for grammar in grammars
        if isinstance(grammar, NativeGrammar)
    )
    assert traced - (automata_bytes() - shared) <= 1.25 * counted
    assert counted <= 4 * traced


def test_automata_that_are_remembered_are_bounded_in_bytes_not_in_number() -> None:
    asked: list[int] = []

    @size_bounded_cache(100_000, automaton_bytes)
    def long_text(size: int) -> Dfa:
        asked.append(size)
        if size < 0:
            raise GrammarError("none")
        return literal(b"a" * size)

    for size in (1000, 1001, 1000, 1002, 1003, 1000):
        long_text(size)
    assert long_text.nbytes <= 100_000
    assert asked == [1000, 1001, 1002, 1003], "the one that was used most stays"
    for size in range(2000, 2050):
        long_text(size)
        assert long_text.nbytes <= 100_000
    for _ in range(2):
        with pytest.raises(GrammarError):
            long_text(-1)
    assert asked[-2:] == [-1, -1]
    long_text.shrink(0)
    assert long_text.nbytes == 0


def test_shared_automata_are_given_up_in_proportion(compiler: Compiler) -> None:
    for number in range(30):
        compiler.compile(constraint(5000 + number))
    held = automata_bytes()
    shrink_automata(held // 3)
    assert 0 < automata_bytes() <= held // 3
    shrink_automata(held)
    assert automata_bytes() <= held // 3


def _maps() -> int:
    """Mappings without a file of this process, in bytes."""
    total = 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, *rest = line.split()
        low, high = (int(end, 16) for end in place.split("-"))
        total += high - low if len(rest) == 4 else 0
    return total


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
def test_a_large_array_goes_back_to_the_system_with_its_last_view() -> None:
    size = 256 * MIB
    before = _maps()
    array = empty((size // 1024, 256))
    view = array[:10]
    view[:] = 7
    assert _maps() >= before + size // 2
    assert held_bytes(array, 10) < 64 * 1024
    assert held_bytes(array, len(array)) == array.nbytes == size
    del array
    assert (view == np.full((10, 256), 7)).all()
    del view
    assert _maps() < before + size // 2


def test_an_array_that_grows_keeps_its_rows_and_reserves_room_that_takes_no_memory() -> None:
    array, used, copies = empty((4, 5)), 0, 0
    for count in range(1, 40_000, 37):
        if count > len(array):
            array, copies = roomier(array, used, count), copies + 1
        array[used:count] = np.arange(used, count)[:, None]
        used = count
    assert (array[:used] == np.arange(used)[:, None]).all()
    assert copies <= 12
    assert held_bytes(array, used) < array[:used].nbytes + 8192


def test_a_small_array_is_the_allocators() -> None:
    array = empty((8, 256))
    assert array.nbytes < LEAST_BYTES
    assert held_bytes(array, 0) == array.nbytes
