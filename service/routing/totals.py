"""The numbers of several engines as those of one.

Does: add up counters, gauges and block reports; state what holds for all engines together. Does not: collect them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from intaglio.engine.api import BlockReport, EngineState, Lives, Snapshot
from intaglio.grammar.api import CacheStats

T = TypeVar("T", Snapshot, CacheStats)

_BEST_FIRST = (
    EngineState.READY,
    EngineState.LOADING,
    EngineState.DRAINING,
    EngineState.DOWN,
    EngineState.UNUSABLE,
    EngineState.CLOSED,
)


def state_of(states: Iterable[EngineState]) -> EngineState:
    """The state of the best engine: one that serves is enough to serve."""
    return min(states, key=_BEST_FIRST.index)


def lives_of(all_lives: Sequence[Lives]) -> Lives:
    """Deaths and restarts of all; the reason and the process of the engine that has no process, else of the first."""
    shown = next((lives for lives in all_lives if lives.deaths and not lives.pid), all_lives[0])
    return Lives(
        deaths=sum(lives.deaths for lives in all_lives),
        restarts=sum(lives.restarts for lives in all_lives),
        quarantined=max(lives.quarantined for lives in all_lives),  # one quarantine for all
        reason=shown.reason,
        lost=shown.lost,
        pid=shown.pid,
    )


def metrics_of(snapshots: Sequence[Snapshot]) -> Snapshot | None:
    """The sums of all counters and gauges; the largest batch and the last step of one of them. None without any."""
    if len(snapshots) < 2:
        return snapshots[0] if snapshots else None
    total = snapshots[0]
    for other in snapshots[1:]:
        total = replace(
            _added(total, other),
            most_sequences=max(total.most_sequences, other.most_sequences),
            last_step=other.last_step or total.last_step,
        )
    return total


def grammars_of(stats: Sequence[CacheStats]) -> CacheStats | None:
    """The sums of the statistics of all grammar caches; warming if one is. None without any."""
    if len(stats) < 2:
        return stats[0] if stats else None
    total = stats[0]
    for other in stats[1:]:
        total = replace(_added(total, other), warming=total.warming or other.warming)
    return total


def blocks_of(reports: Sequence[BlockReport]) -> BlockReport:
    """The blocks of all engines; the first fault."""
    return BlockReport(
        free=sum(report.free for report in reports),
        used=sum(report.used for report in reports),
        open_requests=sum(report.open_requests for report in reports),
        fault=next((report.fault for report in reports if report.fault), None),
    )


def _added(one: T, other: T) -> T:
    """The sums of all numbers, and of those in dicts; everything else as in `one`."""
    changes: dict[str, Any] = {}
    for member in fields(one):
        a, b = getattr(one, member.name), getattr(other, member.name)
        if isinstance(a, dict):
            changes[member.name] = {key: a.get(key, 0) + b.get(key, 0) for key in {**a, **b}}
        elif isinstance(a, int | float) and not isinstance(a, bool):
            changes[member.name] = a + b
    return replace(one, **changes)
