"""The share of a host's memory that keys and values take by default."""

import os
from collections.abc import Mapping

import pytest
from intaglio.engine.config import CacheConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.model.spec import ModelSpec, parse_spec
from intaglio.engine.run.kv import count_blocks
from torch import float32

from tests.support.tiny_checkpoint import QWEN3

MIB = 1 << 20
SMALL = {**QWEN3, "num_hidden_layers": 10, "head_dim": 64, "num_key_value_heads": 2}
HEADS = {"num_attention_heads": 16, "num_key_value_heads": 8}
LARGE = {**QWEN3, "num_hidden_layers": 28, "head_dim": 128, **HEADS}


def taken(config: Mapping[str, object], max_context: int, cache: CacheConfig | None = None) -> int:
    """Bytes of the cache of a model, in float32, for 256 sequences at once."""
    spec: ModelSpec = parse_spec(config)
    cache = cache or CacheConfig()
    count = count_blocks(
        cache, spec, dtype=float32, max_running=256, max_context=max_context, free_bytes=None
    )
    return count * spec.kv_block_bytes(cache.block_size, 4)


@pytest.fixture(autouse=True)
def much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", lambda name: 1 << (24 if "PAGES" in name else 12))


def test_a_small_model_takes_384_mebibytes_however_many_may_run() -> None:
    assert 383 * MIB < taken(SMALL, 2048) <= 384 * MIB


def test_a_large_one_takes_room_for_eight_sequences_up_to_four_gibibytes() -> None:
    sequence = taken(LARGE, 512, CacheConfig(num_blocks=1 + 512 // 16))
    assert 7.5 * sequence < taken(LARGE, 512) <= 8 * sequence
    assert taken(LARGE, 512) > 384 * MIB
    assert 4090 * MIB < taken(LARGE, 16_384) <= 4096 * MIB


def test_what_is_asked_for_is_taken() -> None:
    assert taken(SMALL, 2048, CacheConfig(cache_bytes=2048 * MIB)) > 2047 * MIB


def test_a_small_machine_gives_no_more_than_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", lambda name: 1 << (16 if "PAGES" in name else 12))
    assert taken(SMALL, 2048) <= 0.9 * 256 * MIB
    with pytest.raises(ConfigError, match="one sequence of 16384 tokens"):
        taken(LARGE, 16_384)
