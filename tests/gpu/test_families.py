"""Families of models on a GPU: the tokens of the CPU, past their sliding windows."""

from pathlib import Path

import pytest
import torch

from tests.engine.run.driver import Driver, Job
from tests.engine.run.parity import prompts, runner
from tests.support.tiny_checkpoint import write_checkpoint
from tests.support.tiny_families import CONFIGS
from tests.support.tiny_mxfp4 import write_coded_gpt_oss

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

NAMES = ["gemma3", "ministral", "mistral-window", "olmo3", "phi4-mini", "granite"]
MIXTURES = ["mixtral", "qwen3-moe", "olmoe", "gpt-oss", "gpt-oss-all"]


@pytest.mark.parametrize("name", NAMES + MIXTURES)
def test_greedy_tokens_are_those_of_the_cpu(name: str, tmp_path: Path) -> None:
    write_checkpoint(tmp_path / name, CONFIGS[name], shards=1, seed=3)
    assert_tokens_of_the_cpu(tmp_path / name)


def test_tokens_of_experts_in_mxfp4_are_those_of_the_cpu(tmp_path: Path) -> None:
    coded, _ = write_coded_gpt_oss(tmp_path / "coded", tmp_path / "plain")
    assert_tokens_of_the_cpu(coded)


def assert_tokens_of_the_cpu(folder: Path) -> None:
    asked = prompts((2, 40, 129, 300))
    ours = Driver(runner(folder, "float32", device="cuda")).run(
        [Job(prompt, 8) for prompt in asked]
    )
    right = Driver(runner(folder, "float32")).run([Job(prompt, 8) for prompt in asked])
    tokens = [[token for job in jobs for token in job.generated] for jobs in (ours, right)]
    same = sum(a == b for a, b in zip(*tokens, strict=True))
    assert same >= 29, f"{same} of 32 tokens are equal"
