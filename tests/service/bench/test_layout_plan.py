"""Layouts of a model on several GPUs, from the sizes of models that are served."""

from dataclasses import replace

import pytest
from intaglio.engine.api import ModelCosts, ParallelShape
from intaglio.service.bench.devices import DEVICES
from intaglio.service.bench.layout_plan import Demand, LayoutFigures, chosen, layouts

H200 = DEVICES["h200"]


def costs(billions: float, layers: int, heads: int) -> ModelCosts:
    """A model of heads of 128 with 8 key heads, in two bytes."""
    parameters = int(billions * 1e9)
    return ModelCosts(
        parameters=parameters,
        weight_bytes=2 * parameters,
        kv_bytes_per_token=2 * layers * 8 * 128 * 2,
        token_operations=2 * parameters,
        head_operations=2 * 152_000 * 128 * heads,
        pair_operations=4 * layers * heads * 128,
    )


SMALL = costs(8, 32, 32), ParallelShape(layers=32, hidden=4096, divisors=(1, 2, 4, 8))
LARGE = costs(70, 80, 64), ParallelShape(layers=80, hidden=8192, divisors=(1, 2, 4, 8))
EASY = Demand(rate=1, ttft_s=1.0, prompt=1000, output=200)


def of(found: list[LayoutFigures], engines: int, tp: int) -> LayoutFigures:
    (layout,) = [one for one in found if (one.engines, one.tp) == (engines, tp)]
    return layout


def test_a_model_that_fits_one_gpu_gets_one() -> None:
    best = chosen(layouts(*SMALL, H200, 8, EASY))
    assert best is not None
    assert (best.engines, best.tp) == (1, 1)


def test_a_model_that_does_not_fit_is_divided_and_the_reason_is_given() -> None:
    found = layouts(*LARGE, H200, 8, EASY)
    whole = of(found, 1, 1)
    assert whole.refused == "140 GB of weights leave no room for one request"
    assert [one.engines for one in found if one.tp == 1] == [1]
    best = chosen(found)
    assert best is not None
    assert (best.engines, best.tp) == (1, 2)


def test_more_requests_need_more_engines_and_a_sooner_token_more_ranks() -> None:
    busy = chosen(layouts(*SMALL, H200, 8, replace(EASY, rate=60)))
    soon = chosen(layouts(*SMALL, H200, 8, replace(EASY, ttft_s=0.02)))
    assert busy is not None
    assert soon is not None
    assert (busy.engines > 1, busy.tp) == (True, 1)
    assert (soon.engines, soon.tp > 1) == (1, True)


def test_what_no_layout_serves_is_refused_with_the_figures() -> None:
    found = layouts(*SMALL, H200, 2, replace(EASY, rate=10_000))
    assert chosen(found) is None
    assert all(one.refused and "not 10000" in one.refused for one in found)
    late = layouts(*SMALL, H200, 2, replace(EASY, ttft_s=1e-4))
    assert all(one.refused and "the first token takes" in one.refused for one in late)


@pytest.mark.parametrize("model", [SMALL, LARGE])
def test_engines_add_up_and_ranks_gain_less_than_their_number(
    model: tuple[ModelCosts, ParallelShape],
) -> None:
    found = layouts(*model, H200, 8, EASY)
    assert of(found, 2, 2).capacity == pytest.approx(2 * of(found, 1, 2).capacity)
    gain = of(found, 1, 4).capacity / of(found, 1, 2).capacity
    assert 1 < gain < 2
    assert of(found, 1, 4).ttft_s < of(found, 1, 2).ttft_s


def test_a_higher_rate_makes_tokens_slower() -> None:
    slow, fast = (of(layouts(*SMALL, H200, 1, replace(EASY, rate=rate)), 1, 1) for rate in (15, 1))
    assert slow.token_s > fast.token_s
    assert slow.capacity == fast.capacity
