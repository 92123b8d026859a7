"""The state of an engine as a document for people and scripts.

Does: convert the engine's latest report to the wire type. Does not: ask the engine; a report is at most a second old.
"""

from intaglio.engine.api import EngineInfo, ExpertCounts, Lives, Snapshot
from intaglio.grammar.api import CacheStats
from intaglio.schemas.engine_state import (
    EngineFacts,
    EngineLives,
    EngineMemory,
    EngineQueue,
    EngineReport,
    EngineTokens,
    ExpertLayer,
    GrammarCacheState,
)

from .engine_source import EngineSource


def engine_report(engine: EngineSource) -> EngineReport:
    """The report of one engine."""
    info, snapshot, grammars = engine.info, engine.metrics, engine.grammars
    return EngineReport(
        state=engine.state.value,
        lives=_lives(engine.lives),
        facts=None if info is None else _facts(info),
        queue=None if snapshot is None else _queue(snapshot),
        memory=None if snapshot is None else _memory(snapshot),
        tokens=None if snapshot is None else _tokens(snapshot),
        grammars=None if grammars is None else _grammars(grammars),
        steps=None if snapshot is None else snapshot.steps,
        finished=None if snapshot is None else dict(snapshot.finished),
        step_seconds=None
        if snapshot is None
        else {part: round(seconds, 6) for part, seconds in snapshot.seconds.items()},
        experts=None if snapshot is None else _experts(snapshot.experts),
    )


def _lives(lives: Lives) -> EngineLives:
    return EngineLives(
        deaths=lives.deaths,
        restarts=lives.restarts,
        last_reason=lives.reason,
        last_lost=lives.lost,
    )


def _facts(info: EngineInfo) -> EngineFacts:
    return EngineFacts(
        model=info.model,
        device=info.device,
        dtype=info.dtype,
        parameters=info.parameters,
        vocabulary=info.vocabulary,
        context_length=info.context_length,
        blocks=info.blocks,
        block_size=info.block_size,
        kv_role=info.kv_role,
        pid=info.pid,
        start_seconds=dict(info.start_s),
    )


def _queue(snapshot: Snapshot) -> EngineQueue:
    return EngineQueue(
        running=snapshot.running,
        waiting=snapshot.waiting,
        parked=snapshot.parked,
        preemptions=snapshot.preemptions,
        most_running=snapshot.most_sequences,
    )


def _memory(snapshot: Snapshot) -> EngineMemory:
    used = snapshot.blocks - snapshot.free_blocks
    return EngineMemory(
        blocks=snapshot.blocks,
        free=snapshot.free_blocks,
        used_share=_share(used, snapshot.blocks) or 0.0,
    )


def _tokens(snapshot: Snapshot) -> EngineTokens:
    return EngineTokens(
        prompt=snapshot.prompt_tokens,
        cached=snapshot.cached_tokens,
        output=snapshot.output_tokens,
        forced=snapshot.forced_tokens,
        computed=snapshot.computed_tokens,
        prefix_hit_share=_share(snapshot.cached_tokens, snapshot.prompt_tokens),
        forced_share=_share(snapshot.forced_tokens, snapshot.output_tokens),
    )


def _experts(counts: ExpertCounts) -> tuple[ExpertLayer, ...] | None:
    if not counts.layers:
        return None
    return tuple(
        ExpertLayer(
            layer=layer,
            tokens=tokens,
            recent=recent,
            imbalance=None if imbalance is None else round(imbalance, 4),
        )
        for layer, tokens, recent, imbalance in zip(
            counts.layers, counts.tokens, counts.recent, counts.imbalances(), strict=True
        )
    )


def _grammars(stats: CacheStats) -> GrammarCacheState:
    return GrammarCacheState(
        entries=stats.entries,
        bytes=stats.held_bytes,
        hits=stats.hits,
        misses=stats.misses,
        hit_share=_share(stats.hits, stats.hits + stats.misses),
        failures=stats.failures,
        timeouts=stats.timeouts,
        evictions=stats.evictions,
        warming=stats.warming,
    )


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None
