"""A model that several ranks would slow down is refused, and says by how much."""

import pytest
from intaglio.engine.config import EngineConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.parallel.parallel_config import ParallelConfig
from intaglio.engine.ranks.parallel_gain import CPUS, GPUS, refuse_slower, step_times


def test_a_large_model_gains_and_a_small_one_does_not() -> None:
    refuse_slower(16e9, 32, 2, GPUS)  # 8 billion weights in bfloat16
    with pytest.raises(ConfigError, match="too small for tp 2") as refused:
        refuse_slower(1.2e9, 28, 2, GPUS)
    assert refused.value.where == "tp"
    assert "0.3 ms on one rank (1.2 GB of weights at 4,000 GB/s)" in refused.value.message
    assert "59 exchanges of 3.1 us" in refused.value.message
    assert "tp_any_size" in refused.value.hint


def test_more_ranks_gain_less_and_less() -> None:
    ranks = (2, 4, 8)
    times = [step_times(16e9, 32, tp, GPUS) for tp in ranks]
    assert all(time.one == times[0].one for time in times)
    gains = [time.one / time.several for time in times]
    assert gains == sorted(gains)
    shares = [gain / tp for gain, tp in zip(gains, ranks, strict=True)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.75


def test_on_a_cpu_the_exchange_costs_more() -> None:
    with pytest.raises(ConfigError, match="processes on CPUs"):
        refuse_slower(75e6, 10, 2, CPUS)
    refuse_slower(4e9, 32, 2, CPUS)


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"tp": 0}, "tp"), ({"tp": 65}, "tp"), ({"tp_timeout_s": 0.5}, "tp_timeout_s")],
)
def test_settings_out_of_range_are_refused(settings: dict[str, float], name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ParallelConfig(**settings)  # type: ignore[arg-type]
    assert refused.value.where == name


def test_the_settings_are_read_like_all_others() -> None:
    environ = {"INTAGLIO_ENGINE_TP": "2", "INTAGLIO_ENGINE_TP_ANY_SIZE": "yes"}
    config = EngineConfig.load({"model": "m"}, environ)
    assert config.parallel == ParallelConfig(tp=2, tp_any_size=True)
