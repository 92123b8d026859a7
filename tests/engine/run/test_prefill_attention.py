"""The choice of the attention back end, and refusals before a model is loaded."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.model.spec import ModelSpec, parse_spec
from intaglio.engine.run.prefill_attention import attention_of_prompts

from tests.support.tiny_checkpoint import GEMMA2, LLAMA, write_checkpoint

CPU, GPU = torch.device("cpu"), torch.device("cuda")


def spec(head_dim: int = 64) -> ModelSpec:
    return parse_spec({**LLAMA, "head_dim": head_dim})


def chosen(
    name: Any,
    *,
    head_dim: int = 64,
    dtype: torch.dtype = torch.bfloat16,
    device: torch.device = GPU,
    **cache: Any,
) -> object:
    model = ModelConfig(model="/m", attention=name)
    return attention_of_prompts(model, CacheConfig(**cache), spec(head_dim), dtype, device)


@pytest.mark.parametrize(("name", "device"), [("auto", CPU), ("auto", GPU), ("triton", GPU)])
def test_the_device_has_an_attention_of_its_own(name: str, device: torch.device) -> None:
    assert chosen(name, device=device) is None


@pytest.mark.parametrize(
    ("name", "asked", "why"),
    [
        ("triton", {"device": CPU}, "'triton' needs a GPU"),
        ("flashinfer", {"device": CPU}, "'flashinfer' needs a GPU"),
        ("flashinfer", {"head_dim": 80}, "heads of 64, 128, 256, the model's have 80"),
        ("flashinfer", {"dtype": torch.float32}, "dtype is float32"),
        ("flashinfer", {"kv_dtype": "fp8"}, "in bfloat16, not fp8"),
    ],
)
def test_what_a_back_end_cannot_do_is_refused(name: str, asked: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        chosen(name, **asked)
    assert refused.value.where == "attention"
    assert "leave attention at auto" in refused.value.hint


def test_capped_scores_are_refused_for_flashinfer() -> None:
    model = ModelConfig(model="x", attention="flashinfer")
    gemma2 = parse_spec({**GEMMA2, "head_dim": 64})
    with pytest.raises(ConfigError, match=r"gemma2 .* soft-cap") as caught:
        attention_of_prompts(model, CacheConfig(), gemma2, torch.bfloat16, torch.device("cuda"))
    assert caught.value.where == "attention"


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flashinfer", None)
    with pytest.raises(ConfigError, match="not installed") as refused:
        chosen("flashinfer")
    assert refused.value.where == "attention"
    assert "pip install 'intaglio[server,flashinfer]'" in refused.value.hint


def test_an_installation_that_does_not_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ModuleType("flashinfer")
    broken.__spec__ = ModuleSpec("flashinfer", None)
    monkeypatch.setitem(sys.modules, "flashinfer", broken)
    with pytest.raises(ConfigError, match="cannot be initialised: cannot import") as refused:
        chosen("flashinfer")
    assert refused.value.where == "attention"
    assert "nvcc" in refused.value.hint


def test_a_runner_is_not_built_with_another_attention_than_asked_for(tmp_path: Any) -> None:
    write_checkpoint(tmp_path, LLAMA)
    model = ModelConfig(model=str(tmp_path), device="cpu", attention="flashinfer")
    with pytest.raises(ConfigError, match="needs a GPU"):
        build_runner(model, CacheConfig(num_blocks=100), SchedulerConfig())
