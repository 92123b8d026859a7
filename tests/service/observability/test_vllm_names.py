"""Dashboards for vLLM find its names, with its labels, and sums over labels that it does not have."""

from intaglio.engine.api import Delta, Finish, Usage
from intaglio.service.http.service_metrics import Metrics
from intaglio.service.observability.generations import GenerationWatch, serving
from intaglio.service.observability.vllm_names import NAMES
from prometheus_client.parser import text_string_to_metric_families

from tests.support.backend_double import BackendDouble
from tests.support.snapshots import snapshot

# vLLM's page "Metrics": what a dashboard or an autoscaler queries of a text model.
DOCUMENTED = {
    "num_requests_running",
    "num_requests_waiting",
    "kv_cache_usage_perc",
    "prefix_cache_queries_total",
    "prefix_cache_hits_total",
    "num_preemptions_total",
    "prompt_tokens_total",
    "generation_tokens_total",
    "request_success_total",
    "request_prompt_tokens_bucket",
    "request_generation_tokens_bucket",
    "time_to_first_token_seconds_bucket",
    "inter_token_latency_seconds_bucket",
    "request_time_per_output_token_seconds_bucket",
    "e2e_request_latency_seconds_bucket",
    "request_queue_time_seconds_bucket",
    "request_prefill_time_seconds_bucket",
    "request_decode_time_seconds_bucket",
}


def metrics() -> Metrics:
    engine = BackendDouble(metrics=snapshot(finished={"stop": 3, "deadline": 2, "abort": 1}))
    made = Metrics(engine, vllm_names=True)
    for route in ("/v1/extract", "/v1/chat/completions"):
        with serving(route):
            watch = GenerationWatch([made.generations], "double", 5)
            watch.add(Delta(request_id="a", tokens=(1,)))
            watch.add(Delta(request_id="a", tokens=(2,), finish=Finish.STOP, usage=Usage(5, 2)))
            watch.end()
            made.answered(route, "ok", 0.5)
    made.answered("/health", "ok", 0.001)
    return made


def samples(made: Metrics) -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(made.exposition().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_every_documented_name_is_there_with_its_labels() -> None:
    told = samples(metrics())
    ours = {name.removeprefix("vllm:") for name in told if name.startswith("vllm:")}
    assert ours >= DOCUMENTED
    for name in DOCUMENTED:
        for labels, _ in told[f"vllm:{name}"]:
            assert labels["model_name"] == "double"
            assert labels.keys() <= {"model_name", "engine", "le", "finished_reason"}


def test_routes_are_added_up_and_only_generations_have_a_latency() -> None:
    told = samples(metrics())
    assert [value for _, value in told["vllm:time_to_first_token_seconds_count"]] == [2]
    assert [value for _, value in told["vllm:e2e_request_latency_seconds_count"]] == [2]
    assert len(told["intaglio_request_seconds_count"]) == 3


def test_a_deadline_is_an_abort() -> None:
    told = samples(metrics())["vllm:request_success_total"]
    assert {labels["finished_reason"]: value for labels, value in told} == {"stop": 3, "abort": 3}


def test_every_name_of_ours_exists() -> None:
    made = metrics()
    families = {family.name for family in made.collect()}
    assert {f"intaglio_{name}" for name in NAMES} <= families


def test_without_the_setting_there_are_none() -> None:
    plain = Metrics(BackendDouble(metrics=snapshot()))
    assert not [name for name in samples(plain) if name.startswith("vllm")]
