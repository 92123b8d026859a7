"""Greedy tokens and logits against `transformers`, alone and mixed, whole and chunked, with and without preemption.

The tolerances of `parity.py` hold on every processor: logits of our own schedules are the same to the last bit only
where BLAS chooses alike.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.run.driver import Driver, Job, null_is_clean
from tests.engine.run.parity import OURS, THEIRS, prompts, runner, theirs
from tests.support.tiny_checkpoint import write_checkpoint
from tests.support.tiny_families import OLDEST as CONFIGS

OUTPUTS = 8

FAMILIES = ("llama", "qwen2", "qwen3", "gemma2")
SCHEDULES: dict[str, dict[str, Any]] = {
    "mixed": {},
    "joining": {"join": 0.3},
    "chunks of 7": {"chunk": 7},
    "chunks of 64 in a budget of 100": {"chunk": 64, "budget": 100},
    "preempted": {"preempt": 0.08, "join": 0.7},
    "preempted in chunks": {"preempt": 0.05, "chunk": 50, "join": 0.7},
}


def asked_prompts(count: int, longest: int = 300) -> list[tuple[int, ...]]:
    dice = random.Random(1)
    return prompts(
        ([1, 2, 16, 17, 65, longest] + [dice.randint(1, longest) for _ in range(count)])[:count]
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("models")

    def make(name: str) -> Path:
        path = root / name
        if not path.exists():
            write_checkpoint(path, CONFIGS[name], shards=1 + sorted(CONFIGS).index(name) % 3)
        return path

    return make


@pytest.mark.parametrize("name", CONFIGS)
def test_logits_and_greedy_tokens_equal_transformers(
    name: str, folder: Callable[[str], Path]
) -> None:
    path = folder(name)
    (job,) = Driver(runner(path), chunk=100).run([Job(asked_prompts(6)[-1], OUTPUTS)])
    logits = theirs(path, tuple(job.tokens))[len(job.prompt) - 1 : -1]
    torch.testing.assert_close(torch.stack(job.logits), logits, atol=THEIRS, rtol=0)
    assert job.generated == logits.argmax(-1).tolist()


@pytest.mark.parametrize("name", FAMILIES)
def test_generation_equals_transformers_generate(name: str, folder: Callable[[str], Path]) -> None:
    import transformers

    path = folder(name)
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    jobs = Driver(runner(path), chunk=40, preempt=0.05).run([Job(p, 12) for p in asked_prompts(4)])
    for job in jobs:
        ids = torch.tensor([job.prompt])
        out = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=12,
            min_new_tokens=12,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
        assert job.generated == out[0, len(job.prompt) :].tolist()


@pytest.mark.parametrize("name", FAMILIES)
def test_no_schedule_changes_tokens_or_logits(name: str, folder: Callable[[str], Path]) -> None:
    engine = runner(folder(name))
    asked = asked_prompts(10)
    alone = [Driver(engine).run([Job(p, OUTPUTS)])[0] for p in asked]
    for schedule, options in SCHEDULES.items():
        for seed in range(2):
            jobs = Driver(engine, seed=seed, **options).run([Job(p, OUTPUTS) for p in asked])
            for job, reference in zip(jobs, alone, strict=True):
                assert job.generated == reference.generated, schedule
                assert len(job.logits) == OUTPUTS
                torch.testing.assert_close(
                    torch.stack(job.logits), torch.stack(reference.logits), atol=OURS, rtol=0
                )
    assert null_is_clean(engine.cache)


def test_bfloat16_agrees_with_float32_as_far_as_it_can(folder: Callable[[str], Path]) -> None:
    """8 bits of mantissa through two layers: logits within 3% of their spread, and the same best token for most."""
    wide, narrow = (runner(folder("qwen3"), dtype) for dtype in ("float32", "bfloat16"))
    same = 0
    for prompt in asked_prompts(10):
        (a,), (b,) = (Driver(engine).run([Job(prompt, 1)]) for engine in (wide, narrow))
        spread = a.logits[0].max() - a.logits[0].min()
        assert (a.logits[0] - b.logits[0]).abs().max() < 0.03 * spread
        same += a.generated == b.generated
    assert same >= 8
