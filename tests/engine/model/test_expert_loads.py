"""The counted tokens of experts: exactly those that steps compute, without padding, over all and over recent steps."""

from pathlib import Path

import pytest
import torch
from intaglio.engine.api import ExpertCounts, Snapshot
from intaglio.engine.build_runner import Built, build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.model.expert_loads import WINDOW, ExpertLoads
from intaglio.service.observability import engine_metrics
from intaglio.service.observability.engine_metrics import EngineCollector

from tests.engine.run.driver import Driver, Job
from tests.support.backend_double import BackendDouble
from tests.support.snapshots import snapshot
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint
from tests.support.tiny_families import CONFIGS


def build(folder: Path, name: str) -> Built:
    config = CONFIGS.get(name, QWEN3)
    return build_runner(
        ModelConfig(model=str(write_checkpoint(folder, config)), device="cpu", threads=1),
        CacheConfig(num_blocks=80),
        SchedulerConfig(max_running=4, max_batched_tokens=256),
    )


@pytest.mark.parametrize(
    ("name", "layers", "per_token"),
    [
        ("mixtral", (0, 1), 2),
        ("qwen3-moe", (0, 2), 3),
        ("gpt-oss", (0, 1, 2), 3),
        ("deepseek-v3", (1, 2), 3),
    ],
)
def test_every_token_of_a_step_is_counted_once(
    name: str, layers: tuple[int, ...], per_token: int, tmp_path: Path
) -> None:
    """A prompt of 50 tokens and 5 steps of a single one, which is computed with a row of padding."""
    built = build(tmp_path, name)
    assert built.experts is not None
    assert not any(map(any, built.experts.counts().tokens))
    Driver(built.runner).run([Job(tuple(range(60, 110)), 6)])
    counts = built.experts.counts()
    assert counts.layers == layers
    last = built.spec.layers - 1
    for layer, tokens, recent in zip(counts.layers, counts.tokens, counts.recent, strict=True):
        assert sum(tokens) == per_token * (6 if layer == last else 55)
        assert recent == tokens


def test_models_without_experts_count_none(tmp_path: Path) -> None:
    assert build(tmp_path, "qwen3").experts is None


def test_recent_counts_forget_old_steps() -> None:
    loads = ExpertLoads((0,), 4, last=1)
    count = loads.tally(0)
    loads.begin(1, 1)
    count(torch.tensor([[3], [0]]))
    assert loads.counts() == ExpertCounts((0,), ((0, 0, 0, 1),), ((0, 0, 0, 1),))
    for _ in range(2 * WINDOW):
        loads.begin(1, 1)
        count(torch.tensor([[1]]))
    counts = loads.counts()
    assert counts.tokens == ((0, 2 * WINDOW, 0, 1),)
    assert counts.recent[0][3] == 0
    assert WINDOW <= counts.recent[0][1] <= 2 * WINDOW
    assert counts.imbalances() == (4.0,)
    loads.clear()
    assert loads.counts().imbalances() == (None,)


def exported(counted: Snapshot) -> dict[tuple[str, ...], float]:
    """The samples of experts, by name and labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in EngineCollector(BackendDouble(metrics=counted)).collect()
        for sample in family.samples
        if "expert" in sample.name
    }


def test_prometheus_has_tokens_and_imbalance() -> None:
    counts = ExpertCounts((1, 2), ((5, 7), (0, 0)), ((3, 1), (0, 0)))
    assert exported(snapshot(experts=counts)) == {
        ("intaglio_expert_imbalance_ratio", "1"): 1.5,
        ("intaglio_expert_tokens_total", "1", "0"): 5,
        ("intaglio_expert_tokens_total", "1", "1"): 7,
        ("intaglio_expert_tokens_total", "2", "0"): 0,
        ("intaglio_expert_tokens_total", "2", "1"): 0,
    }
    assert exported(snapshot()) == {}


def test_thousands_of_experts_have_no_series_each() -> None:
    row = (1,) * (engine_metrics.MOST_EXPERT_SERIES + 1)
    assert exported(snapshot(experts=ExpertCounts((0,), (row,), (row,)))) == {
        ("intaglio_expert_imbalance_ratio", "0"): 1.0
    }
