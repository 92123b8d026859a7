"""Blocks leave a GPU's cache and come back as they were, beside steps; an engine with tiers gives the same tokens."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.metrics import Snapshot
from intaglio.engine.model.checkpoint import model_folder
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.run.kv import KVCache
from intaglio.engine.types import Request, SamplingParams

from tests.support.tiny_checkpoint import QWEN3

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

BLOCKS, SLOTS = 40, 24


def filled(dtype: torch.dtype, block_size: int) -> KVCache:
    """A cache of random bits."""
    cache = KVCache(parse_spec(QWEN3), BLOCKS, block_size, dtype, torch.device("cuda"))
    cache.tensor.view(torch.uint8).random_(0, 256)
    return cache


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn])
@pytest.mark.parametrize("block_size", [1, 16])
def test_random_moves_keep_every_bit(dtype: torch.dtype, block_size: int) -> None:
    """Against copies made by torch, with few slots, parts of contents dropped at once, and blocks overwritten at once.

    What is overwritten right after `read`, or right before `write`, shows a copy that is ordered wrongly.
    """
    from intaglio.engine.run.cuda.device_blocks import BUFFERS, DeviceBlocks
    from intaglio.engine.run.cuda.pinned_slots import PinnedContent

    dice, cache = Random(7), filled(dtype, block_size)
    bits = cache.tensor.view(torch.uint8)
    copies = DeviceBlocks(cache, SLOTS, gathered_bytes=2 * cache.block_bytes)
    kept: list[tuple[Any, torch.Tensor]] = []
    read = most_parts = 0
    for _ in range(400):
        kind = dice.random()
        if kind < 0.5:
            blocks = dice.sample(range(BLOCKS), dice.randint(1, copies.most_read))
            right = bits[:, :, blocks].clone()
            contents = copies.read(blocks, overlapped=kind < 0.25)
            assert len(contents) <= len(blocks)
            copies.await_reads(blocks)
            bits[:, :, blocks] = bits[:, :, blocks].bitwise_not()
            kept += [(content, right[:, :, at]) for at, content in enumerate(contents)]
            read += len(contents)
        elif kind < 0.6 and kept:
            content, right = dice.choice(kept)
            held = copies.hold(content.tobytes())
            if held is not None:
                kept.append((held, right))
        elif kept:
            chosen = dice.sample(kept, dice.randint(1, min(12, len(kept))))
            blocks = dice.sample(range(BLOCKS), len(chosen))
            bits[:, :, blocks] = 0
            transfer = copies.write(blocks, [content for content, _ in chosen])
            most_parts = max(most_parts, -(-len(blocks) // copies.most_read))
            for at in range(0, len(blocks), copies.most_read):
                leaving = blocks[at : at + copies.most_read]
                before = bits[:, :, leaving].clone()
                left = copies.read(leaving, overlapped=True)
                kept += [(content, before[:, :, at]) for at, content in enumerate(left)]
            if dice.random() < 0.5:
                transfer.join()
            else:
                while not transfer.advance():
                    pass
                transfer.join()
                assert transfer.seconds > 0
            assert transfer.blocks == len(chosen)
            for block, (content, right) in zip(blocks, chosen, strict=True):
                assert torch.equal(bits[:, :, block], right)
                assert isinstance(content, PinnedContent)
                assert content.nbytes == copies.block_bytes == len(content.tobytes())
        while len(kept) > dice.randrange(1, 24):
            kept.pop(dice.randrange(len(kept)))
    assert most_parts > BUFFERS  # buffers were used again within a transfer
    assert read > 4 * SLOTS  # and slots, of contents dropped while they were on their way
    kept.clear()
    copies.close()


def answers(**settings: object) -> tuple[dict[str, tuple[int, ...]], Snapshot]:
    """The tokens of prompts that share prefixes, three times, in a pool that holds a part of them."""
    given = {
        "model": str(model_folder()),
        "device": "cuda",
        "dtype": "float32",
        "max_running": 8,
        "max_context": 640,
        "max_batched_tokens": 512,
        "num_blocks": 121,
        "grammar_store": "off",
    }
    assembly = build(EngineConfig.load(given | settings, {}))
    engine = assembly.engine
    sampling = SamplingParams(max_tokens=12, temperature=0, ignore_eos=True)
    found: dict[str, tuple[int, ...]] = {}
    for turn in range(3):
        for number in range(12):
            prompt = (*(300 + (number * 31 + at * 7) % 7000 for at in range(400)), 5, turn)
            engine.submit(Request(id=f"{turn}.{number}", prompt=prompt, sampling=sampling))
        while engine.open_requests:
            for delta in engine.step():
                assert delta.error is None
                found[delta.request_id] = found.get(delta.request_id, ()) + delta.tokens
            engine.check()
    metrics = engine.metrics()
    assembly.close()
    return found, metrics


def test_an_engine_with_tiers_gives_the_same_tokens_and_a_restart_finds_its_prefixes(
    tmp_path: Path,
) -> None:
    expected, plain = answers()
    assert plain.offloaded.decided == {}
    found, metrics = answers(kv_host_bytes=1 << 28)
    assert found == expected
    assert metrics.offloaded.decided["fetch_host"] > 400
    assert metrics.offloaded.rates["host"] > 0
    disk: dict[str, object] = {"kv_host_bytes": 1 << 23, "kv_disk": str(tmp_path)}
    assert answers(**disk)[0] == expected
    again, restarted = answers(**disk)
    assert again == expected
    assert restarted.offloaded.decided["fetch_disk"] > 0
    assert not any(restarted.offloaded.faults.values())
