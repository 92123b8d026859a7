"""One model in stages: the logits of one process, to the last bit, for every family, and each stage's own layers only;
the tokens of one process where each stage is a group of ranks with parts of its matrices.

Stages are threads here; `tests/engine/ranks` has processes, and `tests/property/test_schedules` steps in flight.
"""

import queue
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.model.staged_layers import refuse_unstageable, stage_layers
from intaglio.engine.parallel.parallel_layout import Parallel, StageLayout
from intaglio.engine.plan import Plan
from intaglio.engine.run.runner import ModelRunner, Pass
from intaglio.engine.types import SamplingParams

from tests.engine.run.driver import Driver, Job
from tests.engine.run.parity import OURS, prompts
from tests.support.threaded_ranks import on_grid
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint
from tests.support.tiny_families import CONFIGS, DIVISIBLE, OLDEST

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


def built(folder: Path, place: Parallel | None = None) -> ModelRunner:
    return build_runner(
        ModelConfig(model=str(folder), device="cpu", dtype="float32"),
        CacheConfig(num_blocks=200),
        SchedulerConfig(max_running=8, max_batched_tokens=128),
        parallel=place,
    ).runner


def driven(runner: ModelRunner) -> list[Job]:
    jobs = [Job(prompt, 6, DRAWN) for prompt in prompts(LENGTHS)]
    return Driver(runner, chunk=33, preempt=0.1, join=0.7).run(jobs)


def in_stages(
    folder: Path,
    size: int,
    tp: int = 1,
    build: Callable[[Path, Parallel], ModelRunner] = built,
    drive: Callable[[ModelRunner], list[Job]] = driven,
) -> tuple[list[list[Job]], list[ModelRunner]]:
    """What `drive` gives with so many stages of `tp` ranks on each of the last stage, and all runners by rank."""
    plans: dict[tuple[int, int], queue.Queue[Plan | None]] = {
        place: queue.Queue() for place in product(range(tp), range(size))
    }

    def work(place: Parallel) -> tuple[list[Job], ModelRunner]:
        runner, stage = build(folder, place), place.stage
        assert stage is not None
        part = 0 if place.matrices is None else place.matrices.layout.rank
        if stage.layout.is_last:
            others = [plans[part, number] for number in range(1, size)]
            try:
                return drive(cast("ModelRunner", Led(runner, others))), runner
            finally:
                for each in others:
                    each.put(None)
        while (plan := plans[part, stage.layout.rank].get(timeout=60)) is not None:
            runner.forward(plan)
        return [], runner

    found = on_grid(tp, size, work)
    return [jobs for jobs, _ in found[:tp]], [runner for _, runner in found]


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
    (staged,), _ = in_stages(folder(name), 2)
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


@pytest.mark.parametrize("name", DIVISIBLE)
def test_stages_of_two_ranks_sample_the_tokens_of_one_process(
    name: str, folder: Callable[..., Path]
) -> None:
    whole = driven(built(folder(name)))
    staged, _ = in_stages(folder(name), 2, tp=2)
    for jobs in staged:
        assert [job.generated for job in jobs] == [job.generated for job in whole]
    for one, *parts in zip(whole, *staged, strict=True):
        logits = torch.cat([torch.stack(job.logits) for job in parts], 1)
        torch.testing.assert_close(
            logits[:, : one.logits[0].shape[0]], torch.stack(one.logits), atol=10 * OURS, rtol=0
        )


def test_a_rank_of_a_stage_has_its_part_of_its_own_layers(folder: Callable[..., Path]) -> None:
    path = folder("qwen3-untied", 3)
    whole = built(path)
    _, ranks = in_stages(path, 2, tp=2)
    assert [len(runner.decoder.layers) for runner in ranks] == [1, 1, 2, 2]
    assert {runner.decoder.spec.heads for runner in ranks} == {whole.decoder.spec.heads // 2}
    assert sum(runner.cache.nbytes for runner in ranks) == whole.cache.nbytes
    assert [runner.decoder.samples for runner in ranks] == [True, True, False, False]
    rows = [runner.decoder.embedding.shape[0] for runner in ranks]
    assert rows[:2] == [0, 0]
    assert sum(rows[2:]) == whole.decoder.embedding.shape[0]


@pytest.mark.parametrize("least", range(4))
def test_all_ranks_of_all_stages_agree_on_the_least_of_their_numbers(least: int) -> None:
    given = [torch.tensor([20 + rank]) for rank in range(4)]
    given[least] = torch.tensor([7])

    def found(place: Parallel) -> int:
        assert place.matrices is not None
        assert place.stage is not None
        return int(place.least(given[2 * place.stage.layout.rank + place.matrices.layout.rank]))

    assert on_grid(2, 2, found) == [7] * 4


@pytest.mark.parametrize(
    ("layers", "hidden", "expected"), [(32, 4096, [17, 15]), (36, 2560, [20, 16]), (4, 64, [3, 1])]
)
def test_stages_read_about_as_many_bytes_and_the_last_one_reads_the_head(
    layers: int, hidden: int, expected: list[int]
) -> None:
    shape = {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "intermediate_size": 7 * hidden // 2,
        "num_attention_heads": hidden // 64,
        "num_key_value_heads": 1,
        "vocab_size": 152_000,
    }
    for tied in (False, True):
        spec = parse_spec({**LLAMA, **shape, "tie_word_embeddings": tied})
        parts = [stage_layers(spec, StageLayout(2, rank)) for rank in (1, 0)]
        assert [len(part) for part in parts] == expected
        assert [i for part in parts for i in part] == list(range(layers))


def test_more_stages_than_layers_are_refused() -> None:
    spec = parse_spec(LLAMA)
    refuse_unstageable(spec, spec.layers)
    with pytest.raises(ConfigError, match="too few") as refused:
        refuse_unstageable(spec, spec.layers + 1)
    assert refused.value.where == "pp"


@pytest.mark.parametrize(
    ("settings", "where"),
    [({"pp": 9, "tp": 8}, "pp"), ({"pp": 0}, "pp"), ({"pp": 2, "pp_batches": 65}, "pp_batches")],
)
def test_settings_out_of_range_are_refused(settings: dict[str, int], where: str) -> None:
    with pytest.raises(ConfigError) as refused:
        EngineConfig.load({"model": "m", **settings}, environ={})
    assert refused.value.where == where
