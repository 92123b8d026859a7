"""Sequences that a benchmark times together begin together: their grammars are compiled and prompts cached before."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.build_engine import build
from intaglio.engine.loop import Engine

from tests.bench.bench_extract import Bench, Item, Span, compact, of_its_own
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

COUNT = 4
PROMPT = 40


@pytest.fixture
def assembly(tmp_path: Path) -> Iterator[Assembly]:
    model = write_checkpoint(tmp_path / "model", {**LLAMA, "max_position_embeddings": 2048})
    settings = {"model": str(model), "max_running": COUNT, "threads": 1, "grammar_store": "off"}
    made = build(EngineConfig.load(settings, environ={}))
    yield made
    made.close()


def bench_of(assembly: Assembly) -> tuple[Engine, Bench]:
    engine = assembly.engine
    assert isinstance(engine, Engine)
    items = [Item(str(i), tuple(range(i, i + PROMPT)), "") for i in range(COUNT)]
    return engine, Bench(engine, items, Span(32, 64, COUNT, COUNT))


def test_timed_requests_find_their_grammars_compiled_and_their_prompts_cached(
    assembly: Assembly,
) -> None:
    engine, bench = bench_of(assembly)
    assert bench.decode(COUNT, of_its_own)["steps"] > 0
    stats = assembly.grammar_stats()
    assert (stats.misses, stats.hits) == (COUNT, COUNT)
    assert engine.open_requests == 0
    _, told = bench.run(
        bench.requests(COUNT, salt="d", limits=[1] * COUNT, constraint=lambda _: None)
    )
    usages = [deltas[-1].usage for deltas in told.values()]
    assert [usage and usage.cached_tokens for usage in usages] == [32] * COUNT


def test_a_request_that_cannot_be_prepared_stops_the_benchmark(assembly: Assembly) -> None:
    _, bench = bench_of(assembly)
    nonsense = compact('{"type": "nonsense"}')
    requests = bench.requests(2, salt="d", limits=[512] * 2, constraint=lambda _: nonsense)
    with pytest.raises(RuntimeError, match="type must be one of"):
        bench.prepare(requests)
