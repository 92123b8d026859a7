"""One model in stages: the logits of one process, to the last bit, for every family, and each stage's own layers only.

Stages are threads here; `tests/engine/ranks` has processes, and `tests/property/test_schedules` steps in flight.
"""

import queue
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.model.staged_layers import refuse_unstageable
from intaglio.engine.parallel.parallel_layout import PipelineStage, StageLayout
from intaglio.engine.plan import Plan
from intaglio.engine.run.runner import ModelRunner, Pass
from intaglio.engine.types import SamplingParams

from tests.engine.run.driver import Driver, Job
from tests.engine.run.parity import prompts
from tests.support.threaded_ranks import on_stages
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint
from tests.support.tiny_families import CONFIGS, OLDEST

LENGTHS = (2, 40, 90)
DRAWN = SamplingParams(temperature=1.1, seed=3, top_p=0.9, repetition_penalty=1.2)


@dataclass
class Led:
    """The runner of the last stage, which tells the others of every plan; None at the end."""

    runner: ModelRunner
    others: list["queue.Queue[Plan | None]"]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.runner, name)

    def forward(self, plan: Plan) -> Pass:
        for other in self.others:
            other.put(plan)
        return self.runner.forward(plan)


def built(folder: Path, stage: PipelineStage | None = None) -> ModelRunner:
    return build_runner(
        ModelConfig(model=str(folder), device="cpu", dtype="float32"),
        CacheConfig(num_blocks=200),
        SchedulerConfig(max_running=8, max_batched_tokens=128),
        parallel=stage,
    ).runner


def driven(runner: ModelRunner) -> list[Job]:
    jobs = [Job(prompt, 6, DRAWN) for prompt in prompts(LENGTHS)]
    return Driver(runner, chunk=33, preempt=0.1, join=0.7).run(jobs)


def in_stages(folder: Path, size: int) -> tuple[list[Job], list[ModelRunner]]:
    """What `driven` gives with so many stages, and their runners by rank."""
    plans: list[queue.Queue[Plan | None]] = [queue.Queue() for _ in range(1, size)]

    def work(stage: PipelineStage) -> tuple[list[Job], ModelRunner]:
        runner = built(folder, stage)
        if stage.layout.is_last:
            try:
                return driven(cast("ModelRunner", Led(runner, plans))), runner
            finally:
                for each in plans:
                    each.put(None)
        while (plan := plans[stage.layout.rank - 1].get(timeout=60)) is not None:
            runner.forward(plan)
        return [], runner

    found = on_stages(size, work)
    return found[0][0], [runner for _, runner in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    root = tmp_path_factory.mktemp("staged")

    def make(name: str, layers: int | None = None) -> Path:
        path = root / f"{name}-{layers}"
        if not path.exists():
            config = {**OLDEST, **CONFIGS}[name]
            deeper = {} if layers is None else {"num_hidden_layers": layers}
            write_checkpoint(path, {**config, **deeper}, shards=2, seed=0)
        return path

    return make


@pytest.mark.parametrize("name", CONFIGS)
def test_stages_have_the_bits_of_one_process(name: str, folder: Callable[..., Path]) -> None:
    whole = driven(built(folder(name)))
    staged, _ = in_stages(folder(name), 2)
    for one, other in zip(whole, staged, strict=True):
        assert one.generated == other.generated
        assert len(one.logits) == len(other.logits) > 0
        assert torch.equal(torch.stack(one.logits), torch.stack(other.logits))


def test_a_stage_has_its_own_layers_and_only_what_it_needs_of_the_vocabulary(
    folder: Callable[..., Path],
) -> None:
    path = folder("qwen3-untied", 4)
    whole = built(path)
    _, ranks = in_stages(path, 3)
    last, first, middle = ranks
    layers = [len(runner.decoder.layers) for runner in (first, middle, last)]
    assert layers == [2, 1, 1]
    kept = [len(runner.cache.layers) for runner in (first, middle, last)]
    assert kept == layers
    assert sum(runner.cache.nbytes for runner in ranks) == whole.cache.nbytes
    assert [runner.decoder.samples for runner in (first, middle, last)] == [False, False, True]
    rows = [runner.decoder.embedding.shape[0] for runner in (first, middle, last)]
    assert rows == [whole.decoder.embedding.shape[0], 0, 0]


def test_a_tied_head_is_read_by_the_first_and_the_last_stage(
    folder: Callable[..., Path],
) -> None:
    path = folder("qwen3")
    _, (last, first) = in_stages(path, 2)
    assert torch.equal(last.decoder.embedding, first.decoder.embedding)
    assert last.decoder.samples


@pytest.mark.parametrize(("layers", "pp"), [(2, 2), (7, 3), (80, 8), (5, 4)])
def test_layers_are_divided_in_order_and_no_stage_has_two_more_than_another(
    layers: int, pp: int
) -> None:
    places = sorted((StageLayout(pp, rank) for rank in range(pp)), key=lambda place: place.stage)
    parts = [place.layers(layers) for place in places]
    assert [i for part in parts for i in part] == list(range(layers))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert (places[0].is_first, places[-1].is_last) == (True, True)


def test_more_stages_than_layers_are_refused() -> None:
    spec = parse_spec(LLAMA)
    refuse_unstageable(spec, spec.layers)
    with pytest.raises(ConfigError, match="too few") as refused:
        refuse_unstageable(spec, spec.layers + 1)
    assert refused.value.where == "pp"


@pytest.mark.parametrize(
    ("settings", "where"),
    [({"pp": 2, "tp": 2}, "pp"), ({"pp": 0}, "pp"), ({"pp": 2, "pp_batches": 65}, "pp_batches")],
)
def test_settings_out_of_range_are_refused(settings: dict[str, int], where: str) -> None:
    with pytest.raises(ConfigError) as refused:
        EngineConfig.load({"model": "m", **settings}, environ={})
    assert refused.value.where == where
