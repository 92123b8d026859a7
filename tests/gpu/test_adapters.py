"""Engines with adapters on the device: by graph and by launches, equal to the engine on the host."""

from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.local import LocalEngine
from intaglio.engine.model.adapter_files import adapter_digest
from intaglio.engine.types import AdapterRef, Request, SamplingParams

from tests.support.tiny_adapter import write_adapter
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]


def run(folder: Path, requests: list[Request], **settings: Any) -> dict[str, tuple[int, ...]]:
    given = {"model": str(folder), "dtype": "float32", "max_context": 128, "adapter_rank": 8}
    config = EngineConfig.load({**given, "grammar_store": "off", **settings}, {})
    local = LocalEngine.build(config)
    tokens: dict[str, tuple[int, ...]] = {request.id: () for request in requests}
    try:
        for _ in range(2):  # the second time from the prefix cache, and from other places
            tokens = dict.fromkeys(tokens, ())
            for delta in local.generate(requests):
                assert delta.error is None, delta.error
                tokens[delta.request_id] += delta.tokens
        assert local.check().clean
    finally:
        local.close()
    return tokens


@pytest.mark.parametrize("places", [1, 3, 8])
@pytest.mark.parametrize("overlap", ["on", "off"])
def test_the_device_computes_adapters_as_the_host_does(
    places: int, overlap: str, tmp_path: Path
) -> None:
    folder = write_checkpoint(tmp_path / "model", QWEN3)
    refs: list[AdapterRef | None] = [None]
    for seed in range(6):
        path = write_adapter(tmp_path / f"a{seed}", QWEN3, rank=3 + seed % 5, seed=seed)
        refs.append(AdapterRef(path.name, adapter_digest(path), str(path)))
    sampling = SamplingParams(max_tokens=24, temperature=0, ignore_eos=True)
    requests = [
        Request(
            id=f"{i}.{length}",
            prompt=tuple((7 * n * n + n) % 250 for n in range(length)),
            sampling=sampling,
            adapter=ref,
        )
        for i, ref in enumerate(refs)
        for length in (5, 70)
    ]
    host = run(folder, requests, device="cpu", max_adapters=8)
    device = run(
        folder,
        requests,
        device="cuda",
        max_adapters=places,
        overlap=overlap,
        cache_bytes=1 << 26,
        max_batched_tokens=256,
        max_running=16,
    )
    assert len(set(host.values())) > len(refs)
    assert device == host
