"""Blocks behind sliding windows on a GPU: freeing them changes no token, in graphs, in prompts and in packs."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.types import Request, SamplingParams

from tests.support.tiny_checkpoint import GEMMA2, write_checkpoint
from tests.support.tiny_families import CONFIGS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

DEVICE = "cuda"
SHAPES = {
    "gemma2": {**GEMMA2, "sliding_window": 60},
    **{name: CONFIGS[name] for name in ("gemma3", "gpt-oss", "mistral-window", "olmo3")},
}
OUTPUTS = 40


def requests(count: int, longest: int) -> list[Request]:
    """Prompts of up to several windows, most with a beginning that others have as well."""
    dice = random.Random(5)
    shared = tuple(dice.randrange(256) for _ in range(300))
    found = []
    for i in range(count):
        own = tuple(dice.randrange(256) for _ in range(dice.choice((1, 30, 120, longest - 300))))
        prompt = shared[: dice.choice((0, 100, 300))] + own
        sampling = SamplingParams(max_tokens=OUTPUTS, temperature=i % 2, seed=i, ignore_eos=True)
        found.append(Request(id=str(i), prompt=prompt, sampling=sampling))
    return found


def answers(folder: Path, asked: list[Request], **settings: Any) -> tuple[list[list[int]], int]:
    """The tokens of each request, and the most sequences that ran at once."""
    given = {"model": str(folder), "device": DEVICE, "grammar_store": "off", "max_running": 32}
    given |= {"max_context": 1024, "max_batched_tokens": 128, "threads": 1}
    assembly = build(EngineConfig.load(given | settings, {}))
    engine = assembly.engine
    try:
        tokens: dict[str, list[int]] = {request.id: [] for request in asked}
        for request in asked:
            engine.submit(request)
        most = 0
        while engine.has_work:
            for delta in engine.step():
                assert delta.error is None, delta.error
                tokens[delta.request_id] += delta.tokens
            engine.check()
            most = max(most, engine.metrics().running)
        assert (assembly.info.kv_tokens is None) == (settings["kv_windows"] == "keep")
        return [tokens[request.id] for request in asked], most
    finally:
        assembly.close()


@pytest.mark.parametrize("name", SHAPES)
def test_tokens_are_those_of_an_engine_that_keeps_all_blocks(name: str, tmp_path: Path) -> None:
    """Sums may be added in another order where tokens share a prefix in one block group only."""
    folder = write_checkpoint(tmp_path / name, SHAPES[name], seed=3)
    asked = requests(24, 700)
    settings = {"dtype": "float32", "cache_bytes": 64 << 20}
    kept, _ = answers(folder, asked, kv_windows="keep", **settings)
    freed, _ = answers(folder, asked, kv_windows="free", **settings)
    same = sum(a == b for a, b in zip(kept, freed, strict=True))
    assert same >= 21, f"{same} of {len(asked)} answers are equal"


@pytest.mark.parametrize("name", ["gemma2", "gemma3", "olmo3"])
def test_more_sequences_run_at_once_in_the_same_memory(name: str, tmp_path: Path) -> None:
    """A deterministic engine has the same tokens, to the last bit, whatever runs at once and is preempted."""
    folder = write_checkpoint(tmp_path / name, SHAPES[name], seed=3)
    asked = requests(24, 900)
    # Room for three sequences of the longest context that keep all blocks.
    layers, heads, size = SHAPES[name]["num_hidden_layers"], *kv_shape(SHAPES[name])
    settings = {
        "dtype": "float32",
        "deterministic": True,
        "cache_bytes": 3 * 1024 * layers * 2 * heads * size * 4,
    }
    kept, few = answers(folder, asked, kv_windows="keep", **settings)
    freed, many = answers(folder, asked, kv_windows="free", **settings)
    assert freed == kept
    assert many > few


def kv_shape(config: dict[str, Any]) -> tuple[int, int]:
    """Key heads, and elements of a head."""
    heads = config["num_attention_heads"]
    size = config.get("head_dim", config["hidden_size"] // heads)
    return config["num_key_value_heads"], size
