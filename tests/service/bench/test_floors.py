"""Roofline bounds of a model and a device with simple numbers, and measured figures compared with them."""

from typing import Any

import pytest
from intaglio.engine.api import Cost, ModelCosts
from intaglio.service.bench.devices import DEVICES, Device
from intaglio.service.bench.floors import (
    RequestShape,
    UnreadableFigures,
    bench_standing,
    engine_standing,
    floor,
    request_floor,
)

DEVICE = Device("easy", bandwidth=1000.0, operations=100_000.0)
COSTS = ModelCosts(
    parameters=500,
    weight_bytes=1000,
    kv_bytes_per_token=1,
    token_operations=1000,
    head_operations=0,
    pair_operations=0,
)


def test_the_longer_of_memory_and_arithmetic_counts() -> None:
    assert floor(Cost(1000, 100), DEVICE).seconds == 1.0
    assert floor(Cost(1000, 100), DEVICE).by_memory
    assert floor(Cost(10, 200_000), DEVICE).seconds == 2.0
    assert not floor(Cost(10, 200_000), DEVICE).by_memory


def test_a_request_alone_is_its_prompt_and_its_steps() -> None:
    shape = RequestShape(prompt=100, output=20, sequences=1)
    prompt = max(1100 / 1000, 100_000 / 100_000)
    step = (1000 + 111) / 1000
    assert request_floor(COSTS, DEVICE, shape) == pytest.approx(prompt + 20 * step)


def test_requests_at_once_share_the_weights_and_cached_prompts_are_not_computed() -> None:
    alone = RequestShape(prompt=100, output=20, sequences=1)
    many = RequestShape(prompt=100, output=20, sequences=10)
    cached = RequestShape(prompt=100, output=20, sequences=10, cached=0.9)
    times = [request_floor(COSTS, DEVICE, shape) for shape in (alone, many, cached)]
    assert times == sorted(times, reverse=True)
    step = (1000 + 10 * 111) / 1000
    assert times[2] == pytest.approx((100 + 100) / 1000 + 20 * step / 10)


def bench(**plan: Any) -> dict[str, Any]:
    return {
        "plan": {"clients": 10, "rate": None, **plan},
        "summary": {
            "requests_per_s": 0.1,
            "prompt_tokens": 100,
            "output_tokens": 20,
            "latency": {"p50": 50_000},
        },
    }


def test_figures_of_bench_stand_beside_the_floor_of_their_shape() -> None:
    shape = RequestShape(prompt=100, output=20, sequences=10)
    standing = bench_standing(bench(), COSTS, DEVICE)
    assert standing.measured_s == 10.0
    assert standing.floor_s == request_floor(COSTS, DEVICE, shape)
    assert standing.share == standing.floor_s / 10
    opened = bench_standing(bench(rate=0.1), COSTS, DEVICE)  # 0.1 a second, 50 s each: 5 at once
    assert "5 at once" in opened.what


def test_an_engine_stands_beside_its_mean_step() -> None:
    report = {"steps": 4, "tokens": {"computed": 400}, "step_seconds": {"a": 6.0, "b": 2.0}}
    standing = engine_standing(report, COSTS, DEVICE)
    assert standing.measured_s == 2.0
    assert standing.floor_s == 1.0
    assert standing.share == 0.5


def test_other_documents_are_refused() -> None:
    documents: tuple[Any, ...] = ({}, [], None, {"summary": {}, "plan": {}})
    for document in documents:
        with pytest.raises(UnreadableFigures):
            bench_standing(document, COSTS, DEVICE)
    failed = bench()
    failed["summary"]["requests_per_s"] = 0
    with pytest.raises(UnreadableFigures, match="no request"):
        bench_standing(failed, COSTS, DEVICE)
    for report in ({"steps": None}, {"steps": 0, "tokens": {"computed": 0}, "step_seconds": {}}):
        with pytest.raises(UnreadableFigures):
            engine_standing(report, COSTS, DEVICE)


def test_devices_are_in_base_units() -> None:
    assert all(1e11 < device.bandwidth < 1e14 for device in DEVICES.values())
    assert all(1e13 < device.operations < 1e16 for device in DEVICES.values())
