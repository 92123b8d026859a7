"""The numbers of several engines added up."""

from dataclasses import fields, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.api import (
    BlockReport,
    DraftCounts,
    ExpertCounts,
    Lives,
    OffloadCounts,
    Snapshot,
)
from intaglio.grammar.api import CacheStats
from intaglio.service.routing.totals import blocks_of, grammars_of, lives_of, metrics_of

from tests.support.snapshots import snapshot

NUMBERS = st.integers(0, 10**9)
ZEROES: dict[str, Any] = {f.name: 0 for f in fields(Snapshot) if f.type in ("int", int)}
SNAPSHOT = Snapshot(**ZEROES, finished={}, seconds={}, last_step=None)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    names = [f.name for f in fields(Snapshot) if f.type in ("int", int)]
    values: dict[str, Any] = {name: draw(NUMBERS) for name in names}
    finished = draw(st.dictionaries(st.sampled_from(["stop", "length"]), NUMBERS))
    return Snapshot(**values, finished=finished, seconds={"plan": 0.5}, last_step=None)


@given(st.lists(snapshots(), min_size=1, max_size=4))
def test_every_counter_is_added(parts: list[Snapshot]) -> None:
    total = metrics_of(parts)
    assert total is not None
    for name in ("steps", "output_tokens", "running", "blocks", "free_blocks", "preemptions"):
        assert getattr(total, name) == sum(getattr(part, name) for part in parts)
    assert total.most_sequences == max(part.most_sequences for part in parts)
    for end in ("stop", "length"):
        expected = sum(part.finished.get(end, 0) for part in parts)
        assert total.finished.get(end, 0) == expected
    assert total.seconds["plan"] == 0.5 * len(parts)


def test_drafts_and_tiers_are_added() -> None:
    first = DraftCounts({"document": 5}, {"document": 3}, (3, 2), (2, 1))
    second = DraftCounts({"document": 1, "model": 4}, {"model": 1}, (5,), (1,))
    prefill = OffloadCounts({"exported": 4}, {"exported": 64}, {"compute": 9.0}, {}, {})
    decode = OffloadCounts(
        {"host": 1},
        {"host": 16},
        {"compute": 3.0, "host": 7.0},
        {"fetch_peer": 64},
        {"exchange": 1},
    )
    total = metrics_of(
        [
            replace(SNAPSHOT, drafts=first, offloaded=prefill),
            replace(SNAPSHOT, drafts=second, offloaded=decode),
        ]
    )
    assert total is not None
    assert total.drafts == DraftCounts(
        {"document": 6, "model": 4}, {"document": 3, "model": 1}, (8, 2), (3, 1)
    )
    assert total.offloaded == OffloadCounts(
        {"exported": 4, "host": 1},
        {"exported": 64, "host": 16},
        {"compute": 9.0, "host": 7.0},
        {"fetch_peer": 64},
        {"exchange": 1},
    )


def test_experts_of_engines_are_added() -> None:
    counts = ExpertCounts((1,), ((5, 7),), ((3, 1),))
    parts = [snapshot(experts=each) for each in (ExpertCounts(), counts, counts, ExpertCounts())]
    total = metrics_of(parts)
    assert total is not None
    assert total.experts == ExpertCounts((1,), ((10, 14),), ((6, 2),))


def test_nothing_adds_up_to_nothing() -> None:
    assert metrics_of([]) is None
    assert grammars_of([]) is None


def test_one_cache_that_warms_up_is_told() -> None:
    cold = CacheStats(hits=1, shared={"rows": 5})
    total = grammars_of([cold, replace(cold, warming=True)])
    assert total is not None
    assert total.warming
    assert (total.hits, total.shared) == (2, {"rows": 10})


def test_the_reason_shown_is_that_of_an_engine_that_is_down() -> None:
    up = Lives(deaths=1, restarts=1, reason="long ago", pid=7, quarantined=2)
    down = Lives(deaths=3, restarts=2, reason="just now", lost=5, quarantined=2)
    total = lives_of([up, down])
    assert (total.deaths, total.restarts, total.quarantined) == (4, 3, 2)
    assert (total.reason, total.lost, total.pid) == ("just now", 5, 0)


def test_a_fault_of_one_engine_is_a_fault() -> None:
    clean = BlockReport(free=3, used=1, open_requests=1)
    broken = BlockReport(free=1, used=0, open_requests=0, fault="lost a block")
    total = blocks_of([clean, broken])
    assert (total.free, total.used, total.open_requests) == (4, 1, 1)
    assert total.fault == "lost a block"
