"""Each engine of a machine gets its share of it."""

import json

import pytest
from intaglio.engine.config import EngineConfig, processor_cores
from intaglio.engine.errors import ConfigError
from intaglio.engine.host.launches import launches


def config(device: str = "auto") -> EngineConfig:
    return EngineConfig.load({"model": "m", "device": device}, environ={})


def test_every_engine_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2, 5,7")
    found = [dict(one.environment)["CUDA_VISIBLE_DEVICES"] for one in launches(config(), 2)]
    assert found == ["2", "5"]
    with pytest.raises(ConfigError, match="there are 3"):
        launches(config(), 4)


def test_an_engine_for_outputs_sees_the_gpus_of_those_for_prompts_behind_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
    found = [dict(one.environment)["CUDA_VISIBLE_DEVICES"] for one in launches(config(), 4, 2)]
    assert found == ["4", "5", "6,4,5", "7,4,5"]


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_without_gpus_engines_share_the_cores(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "" if device == "auto" else "0")
    found = launches(config(device), 64)
    assert len(found) == 64
    for one in found:
        assert not one.environment
        assert json.loads(one.configuration)["model"]["threads"] >= 1


def test_one_engine_has_the_whole_machine() -> None:
    (only,) = launches(config())
    assert not only.environment
    assert json.loads(only.configuration)["model"]["threads"] is None


def test_every_rank_of_every_engine_has_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3,4")
    divided = EngineConfig.load({"model": "m", "tp": 2}, environ={})
    found = [dict(one.environment)["CUDA_VISIBLE_DEVICES"] for one in launches(divided, 2)]
    assert found == ["0,1", "2,3"]
    with pytest.raises(ConfigError, match="2 GPUs each, and there are 5") as refused:
        launches(divided, 3)
    assert "at most 2 engines" in refused.value.hint


def test_ranks_of_several_engines_share_the_cores() -> None:
    divided = EngineConfig.load({"model": "m", "tp": 2, "device": "cpu"}, environ={})
    share = max(1, processor_cores() // 6)
    for one in launches(divided, 3):
        assert json.loads(one.configuration)["model"]["threads"] == share


def test_the_first_engines_compute_prompts_for_the_others() -> None:
    found = launches(config("cpu"), 3, prefill=1)
    roles = [json.loads(one.configuration)["cache"]["kv_role"] for one in found]
    assert roles == ["prefill", "decode", "decode"]
    for count, prefill in ((1, 1), (2, 2)):
        with pytest.raises(ConfigError, match="no engine for outputs") as refused:
            launches(config("cpu"), count, prefill)
        assert refused.value.where == "prefill_engines"
