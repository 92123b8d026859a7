"""Deterministic engines on a GPU: the same tokens and log-probabilities, to the last bit, in every batch."""

from pathlib import Path

import pytest
import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.host.build_engine import build

from tests.property import invariance
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint
from tests.support.tiny_families import CONFIGS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]
WIDE = {"head_dim": 64, "hidden_size": 256, "intermediate_size": 640}


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_a_request_has_the_same_bits_in_any_company(dtype: str, tmp_path: Path) -> None:
    model = write_checkpoint(tmp_path, {**QWEN3, **WIDE})
    tally = invariance.compare(model, seed=2, checks=200, prompts=50, dtype=dtype)
    assert tally.differ == []
    assert tally.tokens > 2500
    assert tally.cached > 500


def test_windows_do_not_change_bits(tmp_path: Path) -> None:
    model = write_checkpoint(tmp_path, CONFIGS["gemma3"])
    tally = invariance.compare(model, seed=3, checks=100, prompts=50)
    assert tally.differ == []


def test_mixtures_are_refused(tmp_path: Path) -> None:
    model = write_checkpoint(tmp_path, CONFIGS["qwen3-moe"])
    settings = {"model": str(model), "device": "cuda", "deterministic": True}
    with pytest.raises(ConfigError, match="does not support mixtures of experts"):
        build(EngineConfig.load(settings, environ={}))
