"""Counters and histograms of requests, of one API process.

Does: declare them and count into them. Does not: add up processes (`worker_metrics`) or know HTTP. No label has a value
that a client can choose.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from .generations import Generation

SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
STEP_SECONDS = (
    *(0.0005, 0.001, 0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.08),
    *(0.16, 0.32, 0.64, 1.28, 2.56),
)
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144)

_ABANDONED = "abandoned"

# name -> meaning, buckets. Each has the label `route`.
_HISTOGRAMS: Mapping[str, tuple[str, tuple[float, ...]]] = MappingProxyType(
    {
        "request_seconds": ("From a request's headers to the end of its response.", SECONDS),
        "time_to_first_token_seconds": (
            "From the hand-over to the engine to the first token.",
            SECONDS,
        ),
        "inter_token_latency_seconds": (
            "From tokens to the next tokens of a streamed generation.",
            STEP_SECONDS,
        ),
        "time_per_output_token_seconds": (
            "Mean time per output token after the first, of a generation.",
            STEP_SECONDS,
        ),
        "request_queue_seconds": ("From arrival at the engine to the first step.", SECONDS),
        "request_prefill_seconds": ("From the first step to the first token.", SECONDS),
        "request_decode_seconds": ("From the first token to the last.", SECONDS),
        "request_prompt_tokens": ("Prompt tokens of a generation.", TOKENS),
        "request_output_tokens": ("Output tokens of a generation.", TOKENS),
    }
)

# name -> meaning, labels.
_COUNTERS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "requests": (
            "Requests answered, by route and outcome (ok, or the error's code).",
            ("route", "outcome"),
        ),
        "job_rows": (
            "Attempts at rows of this server's jobs, by outcome (ok, or the error's code).",
            ("outcome",),
        ),
        "generations": (
            "Generations, by route and end: as the engine ended it, or abandoned by its reader.",
            ("route", "finish"),
        ),
        "output_cuts": (
            "Values ended early, by reason: budget_forced or looped.",
            ("reason",),
        ),
    }
)


class RequestMetrics:
    """The counters of one API process; a `GenerationObserver`. `registry` gets them all."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._counters = {
            name: Counter(f"intaglio_{name}", text, labels, registry=registry)
            for name, (text, labels) in _COUNTERS.items()
        }
        self._histograms = {
            name: Histogram(
                f"intaglio_{name}", text, ("route",), buckets=buckets, registry=registry
            )
            for name, (text, buckets) in _HISTOGRAMS.items()
        }
        self._in_hand = Gauge(
            "intaglio_requests_in_hand",
            "Requests in flight.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        # One metric for each combination of labels: to look it up in the library takes longer than to count.
        self._counter = cache(self._counter_of)
        self._histogram = cache(self._histogram_of)

    def answered(self, route: str, outcome: str, seconds: float) -> None:
        """Count one response."""
        self._count("requests", route, outcome)
        self._observe("request_seconds", route, seconds)

    def row_tried(self, outcome: str) -> None:
        """Count one attempt at a job's row."""
        self._count("job_rows", outcome)

    def in_hand(self, count: int) -> None:
        """Set the number of requests in flight in this process."""
        self._in_hand.set(count)

    def tokens_followed(self, route: str, seconds: float) -> None:
        """See `GenerationObserver`."""
        self._observe("inter_token_latency_seconds", route, seconds)

    def generation_ended(self, generation: Generation) -> None:
        """See `GenerationObserver`."""
        route, usage = generation.route, generation.usage
        finish = _ABANDONED if generation.finish is None else generation.finish.value
        self._count("generations", route, finish)
        self._observe("request_prompt_tokens", route, generation.prompt_tokens)
        self._observe("request_output_tokens", route, generation.output_tokens)
        self._observe("time_to_first_token_seconds", route, generation.first_token_s)
        self._observe("time_per_output_token_seconds", route, generation.seconds_per_token)
        if usage is None:
            return
        self._observe("request_queue_seconds", route, usage.queue_s)
        self._observe("request_prefill_seconds", route, usage.prefill_s)
        self._observe("request_decode_seconds", route, usage.decode_s)
        for cut in usage.cuts:
            self._count("output_cuts", cut.reason.value)

    def _count(self, name: str, *labels: str) -> None:
        self._counter(name, *labels).inc()

    def _observe(self, name: str, route: str, value: float | None) -> None:
        if value is not None:
            self._histogram(name, route).observe(value)

    def _counter_of(self, name: str, *labels: str) -> Counter:
        return self._counters[name].labels(*labels)

    def _histogram_of(self, name: str, route: str) -> Histogram:
        return self._histograms[name].labels(route)
