"""Figures of outcomes that are known."""

import pytest
from intaglio.service.bench.load_plan import LoadPlan
from intaglio.service.bench.load_summary import Percentiles, schema_check, summarise
from intaglio.service.bench.processes import LoadResult
from intaglio.service.bench.timed_request import TimedRequest
from intaglio.service.bench.workload import LoadTask

PLAN = LoadPlan(url="http://x", protocol="extract", requests=4, stream=True)
TASKS = (LoadTask({"type": "integer"}, "one"), LoadTask({"type": "string"}, "two"))


def outcome(
    document: int, code: str = "ok", output: str = "1", seconds: float = 1.0
) -> TimedRequest:
    return TimedRequest(
        document=document,
        at=0.0,
        seconds=seconds,
        code=code,
        output=output,
        first_s=seconds / 2,
        gaps=(0.1, 0.3),
        prompt_tokens=10,
        output_tokens=4,
    )


def test_percentiles_are_of_the_nearest_rank() -> None:
    found = Percentiles.of(number / 1000 for number in range(1, 101))
    assert found == Percentiles(50.0, 90.0, 99.0)
    assert Percentiles.of([0.5]) == Percentiles(500.0, 500.0, 500.0)
    assert Percentiles.of([]) is None


def test_rates_and_latencies_are_of_successes() -> None:
    result = LoadResult(
        (outcome(0), outcome(0, seconds=3.0), outcome(0, code="429 overloaded", seconds=99.0)), 4.0
    )
    summary = summarise(PLAN, TASKS, result, schema_check())
    assert (summary.requests, summary.succeeded) == (3, 2)
    assert summary.errors == {"429 overloaded": 1}
    assert summary.requests_per_s == 0.5
    assert summary.output_tokens_per_s == 2.0
    assert summary.latency == Percentiles(1000.0, 3000.0, 3000.0)
    assert summary.first_token == Percentiles(500.0, 1500.0, 1500.0)
    assert summary.between_tokens == Percentiles(100.0, 300.0, 300.0)


def test_every_output_is_validated_under_the_schema_of_its_document() -> None:
    outputs = (outcome(0), outcome(1), outcome(1, output='"a"'), outcome(0, output="{half"))
    summary = summarise(PLAN, TASKS, LoadResult(outputs, 1.0), schema_check())
    assert (summary.valid, summary.invalid, summary.unchecked) == (2, 2, 0)


def test_without_a_validator_outputs_must_at_least_be_json() -> None:
    outputs = (outcome(0), outcome(0, output="{half"))
    summary = summarise(PLAN, TASKS, LoadResult(outputs, 1.0), None)
    assert (summary.valid, summary.invalid, summary.unchecked) == (0, 1, 1)


def test_a_run_without_successes_has_no_figures_of_them() -> None:
    summary = summarise(PLAN, TASKS, LoadResult((outcome(0, code="500"),), 1.0), None)
    assert summary.latency is None
    assert summary.requests_per_s == 0
    assert summary.output_tokens == pytest.approx(0.0)
