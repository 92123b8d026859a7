"""A restarted engine finds the prefixes of the one before it and gives the same tokens; another model finds nothing."""

from pathlib import Path

import pytest
import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.host.build_engine import build
from intaglio.engine.metrics import Snapshot
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.run.host.host_blocks import HostBlocks
from intaglio.engine.run.kv import KVCache
from intaglio.engine.types import Request, SamplingParams

from tests.support.tiny_checkpoint import QWEN3, random_weights, write_checkpoint

PROMPT = tuple(range(30, 130))


def answers(folder: Path, disk: Path, **settings: object) -> tuple[list[tuple[int, ...]], Snapshot]:
    """The same prefix three times, one request after the other."""
    given = {"max_context": 200, "threads": 1, "grammar_store": "off", "kv_disk": str(disk)}
    assembly = build(EngineConfig.load({**given, "model": str(folder), **settings}, {}))
    engine, found = assembly.engine, []
    for number in range(3):
        sampling = SamplingParams(max_tokens=6, temperature=0, ignore_eos=True)
        engine.submit(Request(id=str(number), prompt=(*PROMPT, number), sampling=sampling))
        tokens: tuple[int, ...] = ()
        while engine.open_requests:
            for delta in engine.step():
                assert delta.error is None
                tokens += delta.tokens
            engine.check()
        found.append(tokens)
    metrics = engine.metrics()
    assembly.close()
    return found, metrics


def test_a_restart_keeps_shared_prefixes(tmp_path: Path) -> None:
    folder, disk = write_checkpoint(tmp_path / "model", QWEN3), tmp_path / "kv"
    expected, first = answers(folder, disk)
    assert first.cached_tokens == 2 * 96
    assert first.offloaded.decided == {}
    assert first.offloaded.rates["host"] > 0, "measured before anything comes back"
    again, second = answers(folder, disk)
    assert again == expected
    assert second.cached_tokens == 3 * 96
    assert second.offloaded.decided["fetch_disk"] == 96
    assert second.offloaded.rates["disk"] > 0


@pytest.mark.parametrize("change", ["weights", "blocks", "dtype"])
def test_other_weights_and_layouts_find_nothing(change: str, tmp_path: Path) -> None:
    folder, disk = write_checkpoint(tmp_path / "model", QWEN3), tmp_path / "kv"
    answers(folder, disk)
    settings: dict[str, object] = {}
    if change == "weights":
        folder = write_checkpoint(tmp_path / "other", QWEN3, weights=random_weights(QWEN3, seed=9))
    elif change == "blocks":
        settings["block_size"] = 8
    else:
        settings["dtype"] = "bfloat16"
    _, metrics = answers(folder, disk, **settings)
    assert metrics.offloaded.decided == {}
    assert metrics.cached_tokens == 2 * 96


def test_blocks_without_a_prefix_cache_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        EngineConfig.load({"model": "/m", "kv_host_bytes": 1, "prefix_caching": False}, {})
    assert refused.value.where == "prefix_caching"
    with pytest.raises(ConfigError) as refused:
        EngineConfig.load({"model": "/m", "kv_disk": ""}, {})
    assert refused.value.where == "kv_disk"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_block_is_read_and_written_whole(dtype: torch.dtype) -> None:
    cache = KVCache(parse_spec(QWEN3), 5, 4, dtype)
    for layer in cache.layers:
        layer[:, 2] = torch.randn(layer[:, 2].shape).to(dtype)
    copies = HostBlocks(cache)
    (content,) = copies.read([2])
    assert content.nbytes == len(content.tobytes()) == cache.block_bytes
    assert copies.write([4], [content]).advance()
    for layer in cache.layers:
        assert torch.equal(layer[:, 4], layer[:, 2])
        assert not layer[:, 3].any()
