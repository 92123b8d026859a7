"""The counters of the engine as metrics, read at each scrape.

Does: convert the engine's latest report to metric families. Does not: count anything itself. A restarted engine counts
from zero.
"""

from collections.abc import Iterator

from intaglio.engine.api import (
    DraftCounts,
    ExpertCounts,
    ImageCounts,
    Lives,
    OffloadCounts,
    Snapshot,
)
from intaglio.grammar.api import CacheStats
from prometheus_client import ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from .engine_source import EngineSource

MOST_EXPERT_SERIES = 8192
"""The most experts of all layers that have a series each."""


class EngineCollector:
    """Exports the latest report of an engine, and the resources of its process."""

    def __init__(self, engine: EngineSource) -> None:
        self._engine = engine
        # Process id 0, which no process has, stands for an engine that was never ready.
        self._process = ProcessCollector(
            namespace="intaglio_engine",
            pid=lambda: 0 if engine.info is None else engine.info.pid,
            registry=None,
        )

    def collect(self) -> Iterator[Metric]:
        snapshot, info = self._engine.metrics, self._engine.info
        yield GaugeMetricFamily(
            "intaglio_engine_up",
            "1 while the engine accepts requests.",
            value=float(self._engine.state == "ready"),
        )
        yield from _engine_lives(self._engine.lives)
        yield from self._process.collect()
        if snapshot is None or info is None:
            return
        yield from _gauges(snapshot)
        yield from _counters(snapshot)
        if snapshot.images is not None:
            yield from _images(snapshot.images)
        if self._engine.grammars is not None:
            yield from _grammars(self._engine.grammars)


def _engine_lives(lives: Lives) -> Iterator[Metric]:
    for name, text, value in (
        ("engine_deaths", "Deaths of the engine process.", lives.deaths),
        ("engine_restarts", "Restarts of the engine process.", lives.restarts),
    ):
        yield CounterMetricFamily(f"intaglio_{name}", text, value=float(value))
    yield GaugeMetricFamily(
        "intaglio_quarantined_requests",
        "Requests refused because they were in flight at three deaths of the engine.",
        value=float(lives.quarantined),
    )


def _gauges(snapshot: Snapshot) -> Iterator[Metric]:
    last = snapshot.last_step
    for name, text, value in (
        ("num_requests_running", "Sequences that hold KV blocks.", snapshot.running),
        ("num_requests_waiting", "Sequences that wait to be scheduled.", snapshot.waiting),
        (
            "num_requests_parked",
            "Sequences that wait for a grammar or another engine.",
            snapshot.parked,
        ),
        (
            "kv_cache_usage_ratio",
            "Share of the KV blocks in use.",
            1 - snapshot.free_blocks / snapshot.blocks if snapshot.steps else 0.0,
        ),
        ("batch_sequences", "Sequences of the last step.", last.sequences if last else 0),
        (
            "batch_sequences_max",
            "Largest number of sequences in any step.",
            snapshot.most_sequences,
        ),
        ("batch_tokens", "Tokens of the last step.", last.tokens if last else 0),
    ):
        yield GaugeMetricFamily(f"intaglio_{name}", text, value=float(value))


def _counters(snapshot: Snapshot) -> Iterator[Metric]:
    for name, text, value in (
        ("engine_steps", "Steps that computed something.", snapshot.steps),
        (
            "engine_computed_tokens",
            "Tokens computed, recomputed ones included.",
            snapshot.computed_tokens,
        ),
        ("prompt_tokens", "Prompt tokens of requests that ended.", snapshot.prompt_tokens),
        (
            "prefix_cache_query_tokens",
            "Prompt tokens that were looked up in the prefix cache.",
            snapshot.prompt_tokens,
        ),
        (
            "prefix_cache_hit_tokens",
            "Prompt tokens found in the prefix cache.",
            snapshot.cached_tokens,
        ),
        (
            "generation_tokens",
            "Output tokens of requests that ended.",
            snapshot.output_tokens,
        ),
        (
            "constraint_forced_tokens",
            "Tokens forced by the grammar, without sampling.",
            snapshot.forced_tokens,
        ),
        ("preemptions", "Sequences preempted.", snapshot.preemptions),
        ("engine_passes", "Passes that sampled, one per sequence and step.", snapshot.passes),
    ):
        yield CounterMetricFamily(f"intaglio_{name}", text, value=float(value))
    ended = CounterMetricFamily(
        "intaglio_engine_requests", "Requests ended, by reason.", labels=("finish",)
    )
    for finish, count in snapshot.finished.items():
        ended.add_metric((finish,), count)
    yield ended
    parts = CounterMetricFamily(
        "intaglio_engine_step_seconds", "Time of steps, by part of the step.", labels=("part",)
    )
    for part, seconds in snapshot.seconds.items():
        parts.add_metric((part,), seconds)
    yield parts
    yield from _drafts(snapshot.drafts)
    yield from _offloaded(snapshot.offloaded)
    yield from _experts(snapshot.experts)


def _drafts(counts: DraftCounts) -> Iterator[Metric]:
    for name, text, by_source, by_position in (
        ("drafted_tokens", "Tokens drafted", counts.drafted, counts.drafted_at),
        ("draft_accepted_tokens", "Draft tokens accepted", counts.accepted, counts.accepted_at),
    ):
        sources = CounterMetricFamily(f"intaglio_{name}", f"{text}, by source.", labels=("source",))
        for source, count in by_source.items():
            sources.add_metric((source,), count)
        yield sources
        positions = CounterMetricFamily(
            f"intaglio_{name}_per_position", f"{text}, by position.", labels=("position",)
        )
        for position, count in enumerate(by_position):
            if count:
                positions.add_metric((str(position),), count)
        yield positions


def _images(counts: ImageCounts) -> Iterator[Metric]:
    needed = CounterMetricFamily(
        "intaglio_images",
        "Images that steps needed: encoded, or found among the states of earlier ones.",
        labels=("source",),
    )
    needed.add_metric(("encoder",), counts.encoded)
    needed.add_metric(("cache",), counts.reused)
    yield needed
    for name, text, value in (
        ("image_cells", "Cells that were encoded: each is a token of a prompt.", counts.cells),
        ("image_batches", "Passes of the encoder, with one or several images.", counts.batches),
    ):
        yield CounterMetricFamily(f"intaglio_{name}", text, value=float(value))
    text = "Bytes of encoded images that are kept, at most image_bytes."
    yield GaugeMetricFamily("intaglio_image_cache_bytes", text, value=float(counts.nbytes))


def _experts(counts: ExpertCounts) -> Iterator[Metric]:
    """The load of the experts of each layer; nothing where it is not counted."""
    if not counts.layers:
        return
    imbalance = GaugeMetricFamily(
        "intaglio_expert_imbalance_ratio",
        "Tokens of the busiest expert of a layer over the mean of its experts, in the last few hundred steps.",
        labels=("layer",),
    )
    for layer, ratio in zip(counts.layers, counts.imbalances(), strict=True):
        if ratio is not None:
            imbalance.add_metric((str(layer),), ratio)
    yield imbalance
    if sum(map(len, counts.tokens)) > MOST_EXPERT_SERIES:
        return
    tokens = CounterMetricFamily(
        "intaglio_expert_tokens",
        "Tokens computed, by layer and expert.",
        labels=("layer", "expert"),
    )
    for layer, by_expert in zip(counts.layers, counts.tokens, strict=True):
        for expert, count in enumerate(by_expert):
            tokens.add_metric((str(layer), str(expert)), count)
    yield tokens


def _offloaded(counts: OffloadCounts) -> Iterator[Metric]:
    """The tiers below the KV cache; nothing without tiers."""
    for name, text, label, values in (
        ("kv_tier_blocks", "KV blocks in a tier below the cache.", "tier", counts.blocks),
        ("kv_tier_bytes", "Bytes of a tier below the cache.", "tier", counts.nbytes),
        (
            "kv_tier_tokens_per_second",
            "Measured rates: computing a token of a prompt, or fetching it from a tier.",
            "source",
            counts.rates,
        ),
    ):
        if values:
            gauge = GaugeMetricFamily(f"intaglio_{name}", text, labels=(label,))
            for key, value in values.items():
                gauge.add_metric((key,), value)
            yield gauge
    for name, text, label, numbers in (
        (
            "kv_tier_decisions_tokens",
            "Tokens in a tier that were fetched or computed again, and tokens of evicted blocks kept or dropped.",
            "decision",
            counts.decided,
        ),
        ("kv_tier_faults", "Failed writes to disk, and damaged files.", "fault", counts.faults),
    ):
        if numbers:
            counter = CounterMetricFamily(f"intaglio_{name}", text, labels=(label,))
            for key, number in numbers.items():
                counter.add_metric((key,), number)
            yield counter


def _grammars(stats: CacheStats) -> Iterator[Metric]:
    for name, text, value in (
        ("grammar_cache_hits", "Constraints found in the cache.", stats.hits),
        ("grammar_cache_misses", "Constraints that had to be compiled.", stats.misses),
        (
            "grammar_cache_from_store",
            "Compilations that reused stored results.",
            stats.from_store,
        ),
        ("grammar_cache_evictions", "Grammars evicted to free memory.", stats.evictions),
        ("grammar_compile_failures", "Constraints that did not compile.", stats.failures),
        ("grammar_compile_timeouts", "Compilations that exceeded the time limit.", stats.timeouts),
        ("grammar_compile_seconds", "Total time of compilations.", stats.compile_seconds),
    ):
        yield CounterMetricFamily(f"intaglio_{name}", text, value=float(value))
    yield GaugeMetricFamily(
        "intaglio_grammar_cache_bytes", "Memory of the cached grammars.", value=stats.held_bytes
    )
    parts = GaugeMetricFamily(
        "intaglio_grammar_bytes",
        "Memory of grammars and of their shared tables, by part; evicted: removed from the cache, still in use.",
        labels=("part",),
    )
    for part, size in {"grammars": stats.held_bytes, **stats.shared}.items():
        parts.add_metric((part,), size)
    yield parts
    yield GaugeMetricFamily(
        "intaglio_grammar_warming",
        "1 while the compiled code of the grammar engine is loading.",
        value=float(stats.warming),
    )
