"""Our metrics under the names of vLLM, for dashboards and autoscalers that know those.

Does: rename metric families and add them up over the labels that vLLM does not have. Does not: count. The names are
from vLLM's page "Metrics" (docs/design/metrics.md, V1). Its other metrics are of features that the service does not
have.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from prometheus_client.core import Metric
from prometheus_client.samples import Sample

# ours -> theirs, without prefixes.
NAMES: Mapping[str, str] = MappingProxyType(
    {
        "num_requests_running": "num_requests_running",
        "num_requests_waiting": "num_requests_waiting",
        "kv_cache_usage_ratio": "kv_cache_usage_perc",
        "prompt_tokens": "prompt_tokens",
        "generation_tokens": "generation_tokens",
        "prefix_cache_query_tokens": "prefix_cache_queries",
        "prefix_cache_hit_tokens": "prefix_cache_hits",
        "preemptions": "num_preemptions",
        "engine_requests": "request_success",
        "request_prompt_tokens": "request_prompt_tokens",
        "request_output_tokens": "request_generation_tokens",
        "time_to_first_token_seconds": "time_to_first_token_seconds",
        "inter_token_latency_seconds": "inter_token_latency_seconds",
        "time_per_output_token_seconds": "request_time_per_output_token_seconds",
        "request_seconds": "e2e_request_latency_seconds",
        "request_queue_seconds": "request_queue_time_seconds",
        "request_prefill_seconds": "request_prefill_time_seconds",
        "request_decode_seconds": "request_decode_time_seconds",
    }
)
_OURS, _THEIRS = "intaglio_", "vllm:"
_LABELS: Mapping[str, str] = MappingProxyType({"le": "le", "finish": "finished_reason"})
_REASONS: Mapping[str, str] = MappingProxyType({"deadline": "abort"})
# Requests that were not generations have no end-to-end latency in vLLM.
_ROUTES_OF_GENERATIONS = frozenset({"e2e_request_latency_seconds"})


def renamed(families: Iterable[Metric], model: str) -> Iterator[Metric]:
    """The families that vLLM has too, with the label `model_name` and `engine`, as it labels them."""
    families = tuple(families)
    generating = _generating_routes(families)
    for family in families:
        name = NAMES.get(family.name.removeprefix(_OURS))
        if name is None:
            continue
        routes = generating if name in _ROUTES_OF_GENERATIONS else None
        yield _renamed(family, name, {"model_name": model, "engine": "0"}, routes)


def _generating_routes(families: Iterable[Metric]) -> frozenset[str]:
    return frozenset(
        sample.labels["route"]
        for family in families
        if family.name == f"{_OURS}generations"
        for sample in family.samples
    )


def _renamed(
    family: Metric, name: str, labels: Mapping[str, str], routes: frozenset[str] | None
) -> Metric:
    metric = Metric(f"{_THEIRS}{name}", f"{family.documentation} (vLLM's name)", family.type)
    sums: defaultdict[tuple[str, tuple[tuple[str, str], ...]], float] = defaultdict(float)
    for sample in family.samples:
        suffix = sample.name.removeprefix(family.name)
        if suffix == "_created" or (routes is not None and sample.labels["route"] not in routes):
            continue
        kept = tuple(
            (_LABELS[label], _REASONS.get(value, value))
            for label, value in sample.labels.items()
            if label in _LABELS
        )
        sums[f"{metric.name}{suffix}", kept] += sample.value
    metric.samples = [
        Sample(full_name, {**labels, **dict(kept)}, value)
        for (full_name, kept), value in sums.items()
    ]
    return metric
