"""Mixtures of experts divided among two GPUs: the tokens of one GPU."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.types import Request, SamplingParams

from tests.gpu.divided_engines import Progress, engine
from tests.gpu.test_engine import agreement, run
from tests.support.tiny_checkpoint import write_checkpoint
from tests.support.tiny_families import CONFIGS
from tests.support.tiny_mxfp4 import write_coded_gpt_oss

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs"),
    # Said once where a capture begins within 0.1 s of an exchange; it is what is wanted.
    pytest.mark.filterwarnings("ignore:Waiting for pending NCCL work"),
]

BYTES = 256
VOCABULARY = {"vocab_size": 320}
"""Halves of whole words of masks."""
LIMITS = {"max_context": 1024, "num_blocks": 400}
LENGTHS = (3, 40, 129, 300, 620)
"""Tokens of prompts: one row of a step, some, more than windows hold, and more than two steps of 256."""


def requests() -> list[Request]:
    """Prompts of random bytes; greedy and drawn."""
    dice = random.Random(5)
    return [
        Request(
            id=str(i),
            prompt=tuple(dice.randrange(BYTES) for _ in range(LENGTHS[i % len(LENGTHS)])),
            sampling=SamplingParams(
                max_tokens=6 + i, temperature=float(i % 3 > 0), seed=i, ignore_eos=True
            ),
        )
        for i in range(20)
    ]


def compare(folder: Path, **divided: Any) -> None:
    say, asked = Progress(), requests()
    with engine(say, model=str(folder), **LIMITS) as whole:
        expected = run(whole, asked)
    lengths = {request.id: request.sampling.max_tokens for request in asked}
    assert {name: len(tokens) for name, (tokens, _) in expected.items()} == lengths
    with engine(say, model=str(folder), **LIMITS, **divided) as several:
        for turn in ("cold", "with prompts from the cache"):
            found = run(several, asked)
            differing = [name for name in expected if found[name] != expected[name]]
            say(f"{len(found)} requests ended on two GPUs, {turn}; {len(differing)} differ")
            assert agreement(found, expected) >= 0.9, f"more than near ties differ: {differing}"


@pytest.mark.parametrize("name", ["qwen3-moe", "mixtral", "gpt-oss"])
def test_two_ranks_give_the_tokens_of_one_gpu(name: str, tmp_path: Path) -> None:
    compare(write_checkpoint(tmp_path / name, CONFIGS[name] | VOCABULARY, seed=3), tp=2)


def test_two_ranks_with_experts_in_mxfp4_give_the_tokens_of_one_gpu(tmp_path: Path) -> None:
    """Each rank has two of four groups of every row of the down projections."""
    coded, _ = write_coded_gpt_oss(
        tmp_path / "coded", tmp_path / "plain", intermediate_size=128, **VOCABULARY
    )
    compare(coded, tp=2)
