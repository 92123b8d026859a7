"""Models that read images on a GPU: the tokens of the CPU, whole and in chunks that split images."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.run.driver import Driver, Job
from tests.engine.run.parity import runner
from tests.support.tiny_vision import CONFIGS, FACTORS, prompt_with_images, write_vision_checkpoint

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

SHAPES: tuple[tuple[int | tuple[int, int], ...], ...] = (
    (5, (3, 5), 7),
    ((6, 9), 3, (1, 1), 20, (4, 4), 2),
    (90,),
)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_greedy_tokens_are_those_of_the_cpu(config: dict[str, Any], tmp_path: Path) -> None:
    folder = write_vision_checkpoint(tmp_path / "model", config, seed=3)
    factor = FACTORS[config["architectures"][0]]
    found = []
    for device, chunk in (("cpu", 10**6), ("cuda", 10**6), ("cuda", 7)):
        jobs = []
        for shape in SHAPES:
            tokens, images = prompt_with_images(shape, factor=factor)
            jobs.append(Job(tokens, 8, images=images))
        made = Driver(runner(folder, "float32", device=device), chunk=chunk).run(jobs)
        found.append([token for job in made for token in job.generated])
    right, *others = found
    for tokens_of_gpu in others:
        same = sum(a == b for a, b in zip(right, tokens_of_gpu, strict=True))
        assert same >= 22, f"{same} of 24 tokens are equal"
