"""`GET /v1/engine/state` shows exactly what the engine reported."""

from intaglio.engine.api import EngineState, ExpertCounts
from intaglio.grammar.api import CacheStats
from intaglio.service.observability.engine_report import engine_report

from tests.support.backend_double import INFO, BackendDouble
from tests.support.snapshots import snapshot


def test_an_engine_that_loads_has_a_state_only() -> None:
    report = engine_report(BackendDouble(state=EngineState.LOADING, info=None))
    assert report.state == "loading"
    assert report.lives.deaths == 0
    told = report.model_dump(exclude={"state", "lives"})
    assert set(told.values()) == {None}


def test_an_engine_that_ran_has_its_counts_and_shares() -> None:
    counted = snapshot(
        prompt_tokens=200,
        cached_tokens=150,
        output_tokens=40,
        forced_tokens=10,
        running=3,
        waiting=2,
        parked=1,
        preemptions=4,
        blocks=16,
        free_blocks=12,
        finished={"stop": 9},
        seconds={"forward": 1.5},
    )
    report = engine_report(
        BackendDouble(metrics=counted, grammars=CacheStats(hits=3, misses=1, entries=2))
    )
    assert report.facts is not None
    assert (report.facts.model, report.facts.pid) == (INFO.model, INFO.pid)
    assert report.queue is not None
    assert (report.queue.running, report.queue.waiting, report.queue.parked) == (3, 2, 1)
    assert report.memory is not None
    assert (report.memory.free, report.memory.used_share) == (12, 0.25)
    assert report.tokens is not None
    assert (report.tokens.prefix_hit_share, report.tokens.forced_share) == (0.75, 0.25)
    assert report.grammars is not None
    assert (report.grammars.hit_share, report.grammars.entries) == (0.75, 2)
    assert report.finished == {"stop": 9}
    assert report.step_seconds == {"forward": 1.5}


def test_experts_are_reported_by_layer() -> None:
    counts = ExpertCounts((1, 2), ((5, 7), (0, 0)), ((3, 1), (0, 0)))
    report = engine_report(BackendDouble(metrics=snapshot(experts=counts)))
    assert report.experts is not None
    assert [each.layer for each in report.experts] == [1, 2]
    assert (report.experts[0].tokens, report.experts[0].recent) == ((5, 7), (3, 1))
    assert [each.imbalance for each in report.experts] == [1.5, None]
    assert engine_report(BackendDouble(metrics=snapshot())).experts is None


def test_shares_of_nothing_are_null() -> None:
    report = engine_report(BackendDouble(metrics=snapshot(), grammars=CacheStats()))
    assert report.tokens is not None
    assert report.tokens.prefix_hit_share is None
    assert report.grammars is not None
    assert report.grammars.hit_share is None
