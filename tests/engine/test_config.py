from pathlib import Path

import pytest
from intaglio.engine.config import EngineConfig, SchedulerConfig
from intaglio.engine.errors import ConfigError


def test_defaults_need_a_model_only() -> None:
    config = EngineConfig.load({"model": "/m"}, environ={})
    assert config.model.model == "/m"
    assert config.scheduler == SchedulerConfig()
    assert config.cache.num_blocks is None


def test_keywords_go_before_the_environment_and_that_before_defaults() -> None:
    environ = {
        "INTAGLIO_ENGINE_MODEL": "/env",
        "INTAGLIO_ENGINE_MAX_RUNNING": "7",
        "INTAGLIO_ENGINE_NUM_BLOCKS": "33",
        "INTAGLIO_ENGINE_MEMORY_FRACTION": "0.5",
        "INTAGLIO_ENGINE_DTYPE": "bfloat16",
        "INTAGLIO_PORT": "not ours",
        "PATH": "/bin",
    }
    config = EngineConfig.load({"max_running": 9, "ageing_s": 2}, environ)
    assert config.model.model == "/env"
    assert config.model.dtype == "bfloat16"
    assert config.scheduler.max_running == 9
    assert config.scheduler.ageing_s == 2.0
    assert config.cache.num_blocks == 33
    assert config.cache.memory_fraction == 0.5


def test_the_process_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTAGLIO_ENGINE_BLOCK_SIZE", "32")
    assert EngineConfig.load({"model": "/m"}).cache.block_size == 32


@pytest.mark.parametrize(
    ("settings", "environ", "where"),
    [
        ({}, {}, "model"),
        ({"model": "/m", "max_runing": 1}, {}, "max_runing"),
        ({"model": "/m"}, {"INTAGLIO_ENGINE_BLOCKS": "1"}, "INTAGLIO_ENGINE_BLOCKS"),
        ({"model": "/m"}, {"INTAGLIO_ENGINE_MAX_RUNNING": "x"}, "INTAGLIO_ENGINE_MAX_RUNNING"),
        ({"model": "/m"}, {"INTAGLIO_ENGINE_NUM_BLOCKS": ""}, "INTAGLIO_ENGINE_NUM_BLOCKS"),
        ({"model": "/m"}, {"INTAGLIO_ENGINE_DTYPE": "float8"}, "INTAGLIO_ENGINE_DTYPE"),
        ({"model": Path("/m")}, {}, "model"),
        ({"model": "/m", "max_running": True}, {}, "max_running"),
        ({"model": "/m", "max_running": 1.5}, {}, "max_running"),
        ({"model": "/m", "max_running": None}, {}, "max_running"),
        ({"model": "/m", "dtype": "int4"}, {}, "dtype"),
        ({"model": "/m", "attention": "flash"}, {}, "attention"),
        ({"model": "/m", "max_running": 0}, {}, "max_running"),
        ({"model": "/m", "max_context": 1}, {}, "max_context"),
        ({"model": "/m", "kv_dtype": "int4"}, {}, "kv_dtype"),
        ({"model": "/m", "block_size": 0}, {}, "block_size"),
        ({"model": "/m", "num_blocks": 1}, {}, "num_blocks"),
        ({"model": "/m", "cache_bytes": 0}, {}, "cache_bytes"),
        ({"model": "/m", "memory_fraction": 1.01}, {}, "memory_fraction"),
        ({"model": "/m", "memory_fraction": float("nan")}, {}, "memory_fraction"),
        ({"model": "/m", "ageing_s": float("inf")}, {}, "ageing_s"),
        ({"model": "/m", "ageing_s": float("nan")}, {}, "ageing_s"),
        ({"model": "/m", "max_preemptions": -1}, {}, "max_preemptions"),
    ],
)
def test_what_is_wrong_is_named(
    settings: dict[str, object], environ: dict[str, str], where: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        EngineConfig.load(settings, environ)
    assert caught.value.where == where


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        EngineConfig.load({"model": "/m", "max_runing": 1}, {})
    assert "max_running" in caught.value.hint
