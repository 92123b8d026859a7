"""Steps whose tokens are divided among ranks: the tokens of one process, in any mix with steps that are not.

Ranks are threads here; `tests/engine/ranks` has processes.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.model.layers import GatedMlp
from intaglio.engine.model.row_parallel import RowParallelWeight
from intaglio.engine.model.sequence_weights import refuse_undivided_tokens
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.parallel.parallel_config import ParallelConfig
from intaglio.engine.parallel.parallel_layout import TensorParallel

from tests.engine.model.test_published import write
from tests.engine.parallel.test_tensor_parallel import OPTIONS, built, driven, jobs
from tests.engine.run.driver import Job
from tests.engine.run.parity import OURS
from tests.support.threaded_ranks import ThreadedCommunicator, on_ranks
from tests.support.tiny_checkpoint import LLAMA
from tests.support.tiny_families import CONFIGS, DIVISIBLE

LEAST = 20
"""Tokens from which a step is divided here: chunks of prompts are, decode steps are not."""
FAMILIES = [name for name in DIVISIBLE if parse_spec(CONFIGS[name]).experts is None]
EXPERTS = [name for name in DIVISIBLE if name not in FAMILIES]


def divided(
    path: Path,
    size: int,
    asked: Callable[[], list[Job]] = jobs,
    least: int = LEAST,
    model: Mapping[str, object] | None = None,
    **schedule: float,
) -> list[tuple[list[Job], int]]:
    """The jobs of each rank, and how often its steps exchanged tokens for heads."""

    def run(parallel: TensorParallel) -> tuple[list[Job], int]:
        engine = built(path, replace(parallel, divided_from=least), **(model or {}))
        done = driven(engine, asked(), **schedule)
        assert isinstance(parallel.communicator, ThreadedCommunicator)
        return done, parallel.communicator.crossings

    return on_ranks(size, run)


@pytest.mark.parametrize("name", FAMILIES)
def test_two_ranks_sample_the_tokens_of_one_process(
    name: str, folder: Callable[[str], Path]
) -> None:
    whole = driven(built(folder(name)), jobs())
    ranks = divided(folder(name), 2)
    for rank, crossings in ranks:
        assert [job.generated for job in rank] == [job.generated for job in whole]
        assert crossings == ranks[0][1] > 0
    for one, *parts in zip(whole, *[rank for rank, _ in ranks], strict=True):
        logits = torch.cat([torch.stack(job.logits) for job in parts], 1)
        torch.testing.assert_close(
            logits[:, : one.logits[0].shape[0]], torch.stack(one.logits), atol=10 * OURS, rtol=0
        )


@pytest.mark.parametrize("options", ["greedy", "drawn", "reported"])
@pytest.mark.parametrize(("size", "least"), [(2, 4), (2, 21), (4, 8), (4, 45)])
def test_steps_of_both_kinds_follow_each_other_in_any_order(
    size: int, least: int, options: str, folder: Callable[[str], Path]
) -> None:
    """Prompts and outputs in one step, sequences that are preempted, numbers of tokens that are no multiple of the
    ranks; four ranks share two key heads."""
    path, asked = folder("llama"), OPTIONS[options]
    whole = driven(built(path), jobs(asked), preempt=0.1, join=0.7)
    ranks = divided(path, size, lambda: jobs(asked), least, preempt=0.1, join=0.7)
    for rank, crossings in ranks:
        assert [job.generated for job in rank] == [job.generated for job in whole]
        assert crossings


def test_a_step_of_fewer_tokens_is_divided_by_matrices(folder: Callable[[str], Path]) -> None:
    path = folder("llama")
    whole = [job.generated for job in driven(built(path), jobs())]
    for rank, crossings in divided(path, 2, least=129):
        assert [job.generated for job in rank] == whole
        assert crossings == 0


def test_each_layer_exchanges_twice_and_the_last_one_once(folder: Callable[[str], Path]) -> None:
    path = folder("llama")
    one_step = [Job(tuple(range(1, 31)), 1, OPTIONS["greedy"])]
    layers = LLAMA["num_hidden_layers"]
    for _, crossings in divided(path, 2, lambda: [replace(job) for job in one_step]):
        assert crossings == 2 * layers - 1


def test_a_rank_holds_the_matrices_of_all_and_its_own_once(folder: Callable[[str], Path]) -> None:
    path = folder("llama")

    def check(parallel: TensorParallel) -> None:
        decoder = built(path, replace(parallel, divided_from=LEAST)).decoder
        assert decoder.divided is not None
        for layer, all_ranks in zip(decoder.layers, decoder.divided.matrices, strict=True):
            mlp, own = layer.mlp, parallel.layout.rank
            assert isinstance(mlp, GatedMlp)
            assert all_ranks.qkv[own] is layer.attention.qkv
            assert all_ranks.gate_up[own] is mlp.gate_up
            for parts, weight in (
                (all_ranks.output, layer.attention.output),
                (all_ranks.down, mlp.down),
            ):
                assert isinstance(weight, RowParallelWeight)
                assert parts[own] is weight.part
                assert sum(part.inputs for part in parts) == 2 * weight.inputs

    on_ranks(2, check)


def test_random_weights_are_those_of_one_process(folder: Callable[[str], Path]) -> None:
    """Each matrix is drawn once, for all ranks."""
    path = folder("llama")
    whole = driven(built(path, weights="random"), jobs())
    for rank, _ in divided(path, 2, model={"weights": "random"}):
        assert [job.generated for job in rank] == [job.generated for job in whole]


@pytest.mark.parametrize("form", ["gptq-4", "awq", "fp8-tensor"])
def test_quantised_checkpoints_have_the_tokens_of_one_process(form: str, tmp_path: Path) -> None:
    path, _ = write(tmp_path, form)
    whole = driven(built(path), jobs())
    for rank, crossings in divided(path, 2):
        assert [job.generated for job in rank] == [job.generated for job in whole]
        assert crossings


def test_weights_quantised_while_they_are_loaded_are_those_of_tensor_parallelism(
    folder: Callable[[str], Path],
) -> None:
    """Ranks round their parts apart, and every rank rounds the parts of all."""
    path = folder("llama")
    by_matrices = on_ranks(2, lambda own: driven(built(path, own, quantization="int8"), jobs()))
    by_tokens = divided(path, 2, model={"quantization": "int8"})
    for (rank, crossings), expected in zip(by_tokens, by_matrices, strict=True):
        assert [job.generated for job in rank] == [job.generated for job in expected]
        assert crossings


@pytest.mark.parametrize("name", EXPERTS)
def test_mixtures_of_experts_are_refused_by_name(name: str) -> None:
    with pytest.raises(ConfigError, match="mixtures of experts") as refused:
        refuse_undivided_tokens(parse_spec(CONFIGS[name]))
    assert (refused.value.where, refused.value.hint) == ("sp", "leave sp at false")


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"sp": True}, "sp"),
        ({"sp": True, "tp": 2, "pp": 2}, "sp"),
        ({"sp": True, "tp": 2, "deterministic": True}, "sp"),
        ({"sp": True, "tp": 2, "sp_tokens": 3}, "sp_tokens"),
        ({"sp": True, "tp": 2, "sp_tokens": 1 << 31}, "sp_tokens"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    settings: dict[str, object], where: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        EngineConfig.load({"model": "any", **settings}, environ={})
    assert refused.value.where == where


def test_steps_are_divided_from_2048_tokens_of_each_rank_on_or_as_set() -> None:
    assert ParallelConfig(tp=2).divided_from is None
    assert ParallelConfig(tp=2, sp_tokens=100).divided_from is None
    assert ParallelConfig(tp=4, sp=True).divided_from == 8192
    assert ParallelConfig(tp=4, sp=True, sp_tokens=100).divided_from == 100
