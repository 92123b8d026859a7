"""Runners of small checkpoints, and the logits of `transformers` for the same checkpoints."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.run.runner import ModelRunner

# Bounds of differences in float32, for logits of size up to 30. Libraries choose other kernels, and so other orders of
# sums, by processor; 2.4e-4 from `transformers` was measured on one of them.
OURS = 3e-4
THEIRS = 1e-3


def prompts(lengths: Sequence[int]) -> list[tuple[int, ...]]:
    """Prompts of random bytes, of these lengths."""
    dice = random.Random(1)
    return [tuple(dice.randrange(256) for _ in range(n)) for n in lengths]


def runner(
    path: Path, dtype: Any = "auto", max_context: int | None = None, device: Any = "cpu"
) -> ModelRunner:
    """A runner with one thread."""
    return build_runner(
        ModelConfig(
            model=str(path), dtype=dtype, threads=1, max_context=max_context, device=device
        ),
        CacheConfig(num_blocks=400),
        SchedulerConfig(max_running=16, max_batched_tokens=1024),
    ).runner


def theirs(path: Path, tokens: tuple[int, ...]) -> torch.Tensor:
    """Logits [len(tokens), vocab] of `transformers`."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModelForCausalLM.from_pretrained(
        path, dtype=torch.float32, attn_implementation="eager"
    )
    with torch.inference_mode():
        logits: torch.Tensor = model(torch.tensor([tokens])).logits[0]
    return logits
