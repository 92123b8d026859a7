"""Logits and greedy tokens of each model family against `transformers`, in chunks, with preemption and in bfloat16.

Tolerances: see `test_parity`.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from intaglio.engine.build_runner import context_limit, refuse_experts
from intaglio.engine.errors import ConfigError
from intaglio.engine.model.schemes import AT_LOADING
from intaglio.engine.model.schemes.scheme import Uniform
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.parallel.parallel_layout import Parallel
from intaglio.engine.run.runner import ModelRunner

from tests.engine.run.driver import Driver, Job, null_is_clean
from tests.engine.run.parity import OURS, THEIRS, prompts, runner, theirs
from tests.support.threaded_ranks import on_grid
from tests.support.tiny_checkpoint import write_checkpoint
from tests.support.tiny_families import CONFIGS, WITHOUT_CHOICE

OUTPUTS = 8
LENGTHS = (2, 129, 300)
SEEDS = {"qwen3-moe": 3, "qwen3-moe-sparse": 1, "olmoe": 1}
"""Seeds of weights with which no token's choice of experts is a near tie: other sums would choose others."""

MIXTURE = 10.0
"""Mixtures amplify differences of rounding: factor of the tolerances."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("families")

    def make(name: str) -> Path:
        path = root / name
        if not path.exists():
            write_checkpoint(path, CONFIGS[name], shards=2, seed=SEEDS.get(name, 0))
        return path

    return make


@pytest.mark.parametrize("name", CONFIGS)
def test_logits_equal_those_of_transformers_in_any_schedule(
    name: str, folder: Callable[[str], Path]
) -> None:
    """The longest sequence against transformers; all of them alone against chunked, together and preempted."""
    path, slack = folder(name), MIXTURE if "num_experts_per_tok" in CONFIGS[name] else 1.0
    engine = runner(path)
    asked = prompts(LENGTHS)
    alone = [Driver(engine).run([Job(prompt, OUTPUTS)])[0] for prompt in asked]
    longest = alone[-1]
    logits = theirs(path, tuple(longest.tokens))[len(longest.prompt) - 1 : -1]
    torch.testing.assert_close(torch.stack(longest.logits), logits, atol=slack * THEIRS, rtol=0)
    assert longest.generated == logits.argmax(-1).tolist()
    mixed = Driver(engine, chunk=37, preempt=0.05, join=0.7).run(
        [Job(prompt, OUTPUTS) for prompt in asked]
    )
    for job, reference in zip(mixed, alone, strict=True):
        assert job.generated == reference.generated
        torch.testing.assert_close(
            torch.stack(job.logits), torch.stack(reference.logits), atol=slack * OURS, rtol=0
        )
    assert null_is_clean(engine.cache)


@pytest.mark.parametrize("name", WITHOUT_CHOICE)
def test_bfloat16_agrees_with_float32_as_far_as_it_can(
    name: str, folder: Callable[[str], Path]
) -> None:
    """8 bits of mantissa through a few layers: logits within 3% of their spread on average."""
    (prompt,) = prompts(LENGTHS[1:2])
    wide, narrow = (_logits(runner(folder(name), dtype), prompt) for dtype in DTYPES)
    spread = wide.max() - wide.min()
    assert (wide - narrow).abs().mean() < 0.03 * spread


DTYPES = ("float32", "bfloat16")


def _logits(engine: ModelRunner, prompt: tuple[int, ...]) -> torch.Tensor:
    (job,) = Driver(engine).run([Job(prompt, 1)])
    return job.logits[0]


def test_longrope_uses_the_short_factors_in_a_context_up_to_the_original_one(
    folder: Callable[[str], Path],
) -> None:
    """`transformers` chooses by the length of the sequence, the engine by the longest one that it may run."""
    path = folder("phi4-mini")
    (prompt,) = prompts((120,))
    (job,) = Driver(runner(path, max_context=128)).run([Job(prompt, 1)])
    logits = theirs(path, prompt)[-1]
    torch.testing.assert_close(job.logits[0], logits, atol=THEIRS, rtol=0)
    (long,) = Driver(runner(path)).run([Job(prompt, 1)])
    assert (long.logits[0] - logits).abs().max() > 0.1


def test_a_gpu_refuses_experts_that_are_quantised() -> None:
    spec, gpu = parse_spec(CONFIGS["mixtral"]), torch.device("cuda")
    refuse_experts(spec, gpu)
    quantised = replace(spec, schemes=Uniform(AT_LOADING["int8"]))
    with pytest.raises(ConfigError, match="CPU only"):
        refuse_experts(quantised, gpu)
    refuse_experts(quantised, torch.device("cpu"))


def test_a_gpu_takes_experts_in_mxfp4() -> None:
    config = {**CONFIGS["gpt-oss"], "quantization_config": {"quant_method": "mxfp4"}}
    refuse_experts(parse_spec(config), torch.device("cuda"))


@pytest.mark.parametrize("name", ["deepseek-v2", "deepseek-v3"])
def test_a_gpu_refuses_latents(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} models run on a CPU only"):
        refuse_experts(parse_spec(CONFIGS[name]), torch.device("cuda"))


@pytest.mark.parametrize(("tp", "pp"), [(1, 2), (2, 2), (2, 1)])
def test_gpus_take_experts_divided_among_ranks_and_refuse_them_in_stages(tp: int, pp: int) -> None:
    spec, gpu = parse_spec(CONFIGS["mixtral"]), torch.device("cuda")

    def refused(place: Parallel) -> str | None:
        refuse_experts(spec, torch.device("cpu"), place)
        try:
            refuse_experts(spec, gpu, place)
        except ConfigError as found:
            return found.where
        return None

    assert on_grid(tp, pp, refused) == ["pp" if pp > 1 else None] * (tp * pp)


def test_a_window_does_not_bound_the_context() -> None:
    spec = parse_spec(CONFIGS["ministral"])
    assert spec.window == 100
    assert context_limit(None, spec) == 1024
    assert context_limit(101, spec) == 101
    with pytest.raises(ConfigError, match="1024 positions") as caught:
        context_limit(1025, spec)
    assert caught.value.where == "max_context"
