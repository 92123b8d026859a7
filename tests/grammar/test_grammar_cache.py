"""One compilation a constraint, bounded memory, and an answer in time."""

import gc
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from weakref import ref

import pytest
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    CompilerBusy,
    Constraint,
    GrammarCache,
    InvalidConstraint,
    Kind,
    Matcher,
    Store,
    UnsupportedConstraint,
    Verdict,
)

from tests.support.tokens import small


class Slow(Compiler):
    """Waits for `gate` before it compiles, and counts. With `instead`, a constraint becomes what that makes of it."""

    def __init__(self) -> None:
        made = small()
        super().__init__(made.vocabulary(), made.canonical)
        self.gate = threading.Event()
        self.gate.set()
        self.compiled: list[str] = []
        self.told: list[bytes | None] = []
        self.instead: Callable[[], CompiledGrammar] | None = None
        self.loads_code = True

    def warm(self) -> None:
        if self.loads_code:
            super().warm()

    def compile(self, constraint: Constraint, shortest: bytes | None = None) -> CompiledGrammar:
        self.compiled.append(constraint.source)
        self.told.append(shortest)
        assert self.gate.wait(30)
        if self.instead is not None:
            return self.instead()
        return super().compile(constraint, shortest)


@pytest.fixture
def compiler() -> Slow:
    return Slow()


@pytest.fixture
def cache(compiler: Slow) -> Iterator[GrammarCache]:
    made = GrammarCache(compiler)
    yield made
    compiler.gate.set()
    made.close()


def regex(source: str) -> Constraint:
    return Constraint(Kind.REGEX, source)


def test_concurrent_callers_share_one_compilation(cache: GrammarCache, compiler: Slow) -> None:
    compiler.gate.clear()
    futures = []
    threads = [
        threading.Thread(target=lambda: futures.append(cache.submit(regex("a+")))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not futures[0].cancel(), "others wait for it"
    compiler.gate.set()
    assert len({id(future.result(10)) for future in futures}) == 1
    assert cache.submit(regex("a+")).result(10) is futures[0].result()
    assert compiler.compiled == ["a+"]
    stats = cache.stats
    assert (stats.misses, stats.hits, stats.entries) == (1, 8, 1)
    assert stats.compile_seconds > 0


def test_a_grammar_is_warmed_up_once_it_is_handed_out(cache: GrammarCache, compiler: Slow) -> None:
    constraint = Constraint(Kind.JSON_SCHEMA, '{"items": {"enum": ["a", [1, 2]]}, "type": "array"}')
    grammar = cache.submit(constraint).result(10)
    cache.close()
    cold = Compiler.compile(compiler, constraint)
    assert grammar.size_bytes > cold.size_bytes


def test_errors_are_delivered_and_kept(cache: GrammarCache, compiler: Slow) -> None:
    for _ in range(2):
        with pytest.raises(InvalidConstraint):
            cache.submit(regex("a(")).result(10)
    assert compiler.compiled == ["a("]
    assert cache.stats.failures == 1


def test_an_error_that_is_kept_holds_nothing_of_those_it_was_raised_to(
    cache: GrammarCache,
) -> None:
    class Held:
        """A local variable of a caller."""

    def ask() -> ref[Held]:
        held = Held()
        with suppress(InvalidConstraint):
            cache.submit(regex("a(")).result(10)
        return ref(held)

    asked = [ask() for _ in range(5)]
    gc.collect()
    assert [held() for held in asked] == [None] * 5


def test_what_was_used_least_recently_goes_first(compiler: Slow) -> None:
    size = Compiler.compile(compiler, regex("a")).size_bytes
    cache = GrammarCache(compiler, limit_bytes=2 * (size + 2000))
    for source in ("a", "b", "a", "c", "a", "b"):
        cache.submit(regex(source)).result(10)
    assert compiler.compiled == ["a", "b", "c", "b"]
    stats = cache.stats
    assert stats.evictions == 2
    assert stats.held_bytes <= 2 * (size + 2000)
    cache.close()


def test_a_caller_does_not_wait_for_ever(compiler: Slow) -> None:
    cache = GrammarCache(compiler, deadline_s=0.05)
    compiler.gate.clear()
    future = cache.submit(regex("a"))
    with pytest.raises(CompilerBusy, match="did not compile within"):
        future.result(10)
    with pytest.raises(CompilerBusy):
        cache.submit(regex("a")).result(10)
    assert compiler.compiled == ["a"], "it is not started again while it still runs"
    compiler.gate.set()
    while not cache.stats.entries:
        time.sleep(0.01)
    assert cache.submit(regex("a")).result(10).least_tokens == 2, "what came late is kept"
    assert cache.stats.timeouts == 1
    cache.close()


def test_waiting_for_other_compilations_does_not_count(compiler: Slow) -> None:
    cache = GrammarCache(compiler, workers=1, deadline_s=0.05)
    compiler.gate.clear()
    first, second = cache.submit(regex("a")), cache.submit(regex("b"))
    with pytest.raises(CompilerBusy, match="did not compile within"):
        first.result(10)
    time.sleep(0.1)
    assert not second.done(), "it has not begun"
    compiler.is_warming = True  # now that it begins, it has all the time it needs
    compiler.gate.set()
    assert second.result(10).least_tokens == 2
    cache.close()


def test_no_deadline_runs_out_while_our_own_code_is_loaded(compiler: Slow) -> None:
    cache = GrammarCache(compiler, deadline_s=3.0)
    compiler.gate.clear()
    warming = threading.Thread(target=cache.warm, args=(0,))
    warming.start()
    while not compiler.compiled:
        time.sleep(0.01)
    future = cache.submit(regex("a"))
    time.sleep(3.2)
    assert not future.done()
    compiler.gate.set()
    warming.join()
    assert future.result(10).least_tokens == 2
    cache.close()


def test_a_bug_in_a_compiler_reaches_the_caller(cache: GrammarCache, compiler: Slow) -> None:
    def fail() -> CompiledGrammar:
        raise ZeroDivisionError

    compiler.instead = fail
    with pytest.raises(ZeroDivisionError):
        cache.submit(regex("a")).result(10)


def test_another_start_begins_from_what_the_last_one_found(compiler: Slow, tmp_path: Path) -> None:
    path = tmp_path / "kept" / "v.sqlite"
    store = Store(path, limit_bytes=1 << 20)
    cache = GrammarCache(compiler, store=store)
    for source in ("a+", "b{3}", "b{3}", "c"):
        cache.submit(regex(source)).result(10)
    store.put(regex("refused"), Verdict("unsupported_constraint", "no"))
    assert compiler.told == [None, None, None]
    cache.close()
    store.close()
    again = Store(path, limit_bytes=1 << 20)
    other = GrammarCache(compiler, store=again)
    compiler.told.clear()
    assert other.submit(regex("b{3}")).result(10).least_tokens == 4
    assert compiler.told == [b"bbb"]
    with pytest.raises(UnsupportedConstraint):
        other.submit(regex("refused")).result(10)
    assert compiler.told == [b"bbb"], "nothing was compiled"
    assert other.stats.from_store == 2
    other.close()
    again.close()


def test_what_was_used_most_is_compiled_at_the_start(compiler: Slow, tmp_path: Path) -> None:
    store = Store(tmp_path / "kept" / "v.sqlite", limit_bytes=1 << 20)
    cache = GrammarCache(compiler, store=store)
    for source in ("a", "b", "b", "b", "c", "c", "d"):
        cache.submit(regex(source)).result(10)
    cache.close()
    other = GrammarCache(compiler, store=store)
    compiler.compiled.clear()
    other.warm(2)
    assert [source for source in compiler.compiled if len(source) == 1] == ["b", "c"]
    assert other.stats.entries == 2
    other.submit(regex("b")).result(10)
    assert other.stats.hits == 1
    other.close()
    other.warm(2)
    assert other.stats.entries == 2, "a closed cache is not warmed"
    store.close()


class Growing:
    """A grammar of any size."""

    size_bytes = 1000
    least_tokens = 1

    def matcher(self) -> Matcher:
        raise NotImplementedError


def test_grammars_that_grow_are_counted_as_they_are(compiler: Slow) -> None:
    made: list[Growing] = []

    def grow() -> CompiledGrammar:
        made.append(Growing())
        return made[-1]

    compiler.instead = grow
    cache = GrammarCache(compiler, limit_bytes=10_000, account_s=0.0)
    for source in ("a", "b", "c"):
        cache.submit(regex(source)).result(10)
    assert cache.stats.entries == 3
    made[0].size_bytes = 9000
    cache.submit(regex("c")).result(10)
    stats = cache.stats
    assert stats.held_bytes <= 10_000
    assert (stats.entries, stats.evictions) == (2, 1), "a, used least recently, went"
    cache.close()


def test_warming_ends_when_the_cache_is_closed(compiler: Slow, tmp_path: Path) -> None:
    compiler.loads_code = False
    store = Store(tmp_path / "kept" / "v.sqlite", limit_bytes=1 << 20)
    cache = GrammarCache(compiler, store=store)
    for source in ("a", "b"):
        cache.submit(regex(source)).result(10)
    cache.close()
    other = GrammarCache(compiler, store=store)
    compiler.gate.clear()
    compiler.compiled.clear()
    with ThreadPoolExecutor(2) as pool:
        warming = pool.submit(other.warm, 2)
        while "a" not in compiler.compiled and "b" not in compiler.compiled:
            assert not warming.done()
        closing = pool.submit(other.close)
        while not other._closed:
            assert not closing.done()
        compiler.gate.set()
        assert warming.result(10) is None
        closing.result(10)
    assert len([source for source in compiler.compiled if source in "ab"]) == 1
    store.close()


def test_a_closed_cache_takes_nothing(compiler: Slow) -> None:
    cache = GrammarCache(compiler)
    cache.close()
    with pytest.raises(RuntimeError, match="closed"):
        cache.submit(regex("a"))
