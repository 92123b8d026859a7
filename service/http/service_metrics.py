"""The metrics of a server in Prometheus text format: its requests and the counters of the engine.

Does: maintain one registry for each server. Does not: use the global registry, or labels with values that a user can
choose.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from intaglio.engine.api import Lives, Snapshot
from intaglio.grammar.api import CacheStats
from intaglio.schemas.problem import Code
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from ..extraction.extract import EngineOutput, Prepared
from .backend import Backend
from .limits import RequestGate
from .problems import problem_response

LATENCY_S = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144)


class Metrics:
    """The metrics of one server."""

    def __init__(self, backend: Backend, gate: RequestGate) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "intaglio_requests",
            "Requests answered, by route and outcome (ok, or the error's code).",
            ("route", "outcome"),
            registry=self._registry,
        )
        self._latency = Histogram(
            "intaglio_request_seconds",
            "From the request's headers to the end of its response.",
            ("route",),
            buckets=LATENCY_S,
            registry=self._registry,
        )
        self._first_token = Histogram(
            "intaglio_time_to_first_token_seconds",
            "Time to first token, from the hand-over to the engine.",
            buckets=LATENCY_S,
            registry=self._registry,
        )
        self._prompt = Histogram(
            "intaglio_request_prompt_tokens",
            "Prompt tokens of a request.",
            buckets=TOKENS,
            registry=self._registry,
        )
        self._output = Histogram(
            "intaglio_request_output_tokens",
            "EngineOutput tokens of a request.",
            buckets=TOKENS,
            registry=self._registry,
        )
        self._rows = Counter(
            "intaglio_job_rows",
            "Attempts at rows of this server's jobs, by outcome (ok, or the error's code).",
            ("outcome",),
            registry=self._registry,
        )
        Gauge(
            "intaglio_requests_in_hand",
            "Extractions in flight.",
            registry=self._registry,
        ).set_function(lambda: gate.in_flight)
        self._registry.register(_EngineCollector(backend))
        ProcessCollector(registry=self._registry)
        ProcessCollector(
            namespace="intaglio_engine", pid=lambda: _engine_pid(backend), registry=self._registry
        )

    def answered(self, route: str, outcome: str, seconds: float) -> None:
        """Count one response."""
        self._requests.labels(route, outcome).inc()
        self._latency.labels(route).observe(seconds)

    def generated(self, prepared: Prepared, output: EngineOutput) -> None:
        """Count one generation, whatever its end."""
        self._prompt.observe(len(prepared.request.prompt))
        self._output.observe(len(output.tokens))
        if output.first_token_s is not None:
            self._first_token.observe(output.first_token_s)

    @contextmanager
    def row_tried(self) -> Iterator[None]:
        """Count one attempt at a job's row by its outcome."""
        outcome = Code.CANCELLED.value
        try:
            yield
            outcome = "ok"
        except Exception as error:
            outcome = problem_response(error).problem.code.value
            raise
        finally:
            self._rows.labels(outcome).inc()

    def exposition(self) -> bytes:
        """All metrics in Prometheus text format."""
        return generate_latest(self._registry)


def _engine_pid(backend: Backend) -> int:
    """The process id of the engine; 0, which no process has, before it was ready once."""
    return 0 if backend.info is None else backend.info.pid


class _EngineCollector:
    """Exports the latest snapshot of the engine at each scrape. A restarted engine counts from zero."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def collect(self) -> Iterator[Metric]:
        snapshot, info = self._backend.metrics, self._backend.info
        yield GaugeMetricFamily(
            "intaglio_engine_up",
            "1 while the engine accepts requests.",
            value=float(self._backend.state == "ready"),
        )
        yield from _engine_lives(self._backend.lives)
        if snapshot is None or info is None:
            return
        yield from _gauges(snapshot, info.blocks)
        yield from _counters(snapshot)
        if self._backend.grammars is not None:
            yield from _grammars(self._backend.grammars)


def _engine_lives(lives: Lives) -> Iterator[Metric]:
    for name, text, value in (
        ("engine_deaths", "Deaths of the engine process.", lives.deaths),
        ("engine_restarts", "Restarts of the engine process.", lives.restarts),
    ):
        yield CounterMetricFamily(f"intaglio_{name}", text, value=float(value))
    yield GaugeMetricFamily(
        "intaglio_quarantined_requests",
        "Requests refused because they were in flight at two deaths of the engine.",
        value=float(lives.quarantined),
    )


def _gauges(snapshot: Snapshot, blocks: int) -> Iterator[Metric]:
    last = snapshot.last_step
    for name, text, value in (
        ("num_requests_running", "Sequences that hold KV blocks.", snapshot.running),
        ("num_requests_waiting", "Sequences that wait to be scheduled.", snapshot.waiting),
        ("num_requests_parked", "Sequences that wait for their grammar.", snapshot.parked),
        (
            "kv_cache_usage_ratio",
            "Share of the KV blocks in use.",
            1 - snapshot.free_blocks / blocks if snapshot.steps else 0.0,
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
            "prefix_cache_hit_tokens",
            "Prompt tokens found in the prefix cache.",
            snapshot.cached_tokens,
        ),
        (
            "generation_tokens",
            "EngineOutput tokens of requests that ended.",
            snapshot.output_tokens,
        ),
        (
            "constraint_forced_tokens",
            "Tokens forced by the grammar, without sampling.",
            snapshot.forced_tokens,
        ),
        ("preemptions", "Sequences preempted.", snapshot.preemptions),
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
