"""The numbers of several engines as those of one.

Does: add up counters, gauges and block reports; state what holds for all engines together. Does not: collect them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import zip_longest
from typing import Any, TypeVar

from intaglio.engine.api import (
    BlockReport,
    DraftCounts,
    EngineState,
    ImageCounts,
    Lives,
    OffloadCounts,
    Snapshot,
)
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
            experts=total.experts.added(other.experts),
            drafts=_drafts_of(total.drafts, other.drafts),
            offloaded=_tiers_of(total.offloaded, other.offloaded),
            images=_images_of(total.images, other.images),
        )
    return total


def _drafts_of(one: DraftCounts, other: DraftCounts) -> DraftCounts:
    """The sums of all counts."""
    return DraftCounts(
        drafted=_sums(one.drafted, other.drafted),
        accepted=_sums(one.accepted, other.accepted),
        drafted_at=tuple(map(sum, zip_longest(one.drafted_at, other.drafted_at, fillvalue=0))),
        accepted_at=tuple(map(sum, zip_longest(one.accepted_at, other.accepted_at, fillvalue=0))),
    )


def _images_of(one: ImageCounts | None, other: ImageCounts | None) -> ImageCounts | None:
    """The sums of all counts."""
    if one is None or other is None:
        return one or other
    return ImageCounts(
        encoded=one.encoded + other.encoded,
        cells=one.cells + other.cells,
        batches=one.batches + other.batches,
        reused=one.reused + other.reused,
        nbytes=one.nbytes + other.nbytes,
    )


def _tiers_of(one: OffloadCounts, other: OffloadCounts) -> OffloadCounts:
    """The sums of all counts, and the highest rates: engines of one machine have equal rates, once they measured."""
    return OffloadCounts(
        blocks=_sums(one.blocks, other.blocks),
        nbytes=_sums(one.nbytes, other.nbytes),
        rates={name: max(one.rates.get(name, 0), rate) for name, rate in other.rates.items()}
        or one.rates,
        decided=_sums(one.decided, other.decided),
        faults=_sums(one.faults, other.faults),
    )


def _sums(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The sums by key."""
    return {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}


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
            changes[member.name] = _sums(a, b)
        elif isinstance(a, int | float) and not isinstance(a, bool):
            changes[member.name] = a + b
    return replace(one, **changes)
