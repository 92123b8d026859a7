"""One model on two GPUs: the tokens of one GPU, and no wait without an end when a rank dies."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import pytest
import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.loop import Engine
from intaglio.engine.model.checkpoint import model_folder
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.engine.types import Finish, Request, SamplingParams

from tests.gpu.test_engine import agreement, mixed, run

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs"),
]


@contextmanager
def divided(tp: int, **settings: Any) -> Iterator[tuple[Engine, Tokenizer]]:
    folder = model_folder()
    given = {"model": str(folder), "device": "cuda", "grammar_store": "off", "max_running": 64}
    given |= {"dtype": "float32", "max_batched_tokens": 512, "tp": tp, "tp_any_size": True}
    assembly = build(EngineConfig.load(given | settings, {}))
    assert isinstance(assembly.engine, Engine)
    try:
        yield assembly.engine, Tokenizer.load(folder)
    finally:
        assembly.close()


def test_two_gpus_give_the_tokens_of_one_and_a_dead_rank_ends_all_requests() -> None:
    """In float32; one engine of each size, because a start compiles all kernels."""
    with divided(1, grammar_device="off") as (whole, tokenizer):
        requests = mixed(tokenizer, 120)
        expected = run(whole, requests)
    with divided(2) as (engine, _):
        found = run(engine, requests)
        differing = [name for name in expected if found[name] != expected[name]]
        assert agreement(found, expected) >= 0.98, f"more than near ties differ: {differing}"
        free = SamplingParams(max_tokens=1500, ignore_eos=True)
        for number in range(8):
            engine.submit(Request(id=f"long{number}", prompt=(7, 8, 9), sampling=free))
        deltas = [delta for _ in range(20) for delta in engine.step()]
        (rank,) = [
            child
            for child in psutil.Process().children()
            if any("rank_process" in part for part in child.cmdline())
        ]
        rank.kill()
        began = time.monotonic()
        while engine.open_requests:
            deltas += engine.step()
        ends = [delta for delta in deltas if delta.finish is not None]
        assert {end.finish for end in ends} == {Finish.ERROR}
        assert len(ends) == 8
        print(f"all requests ended {time.monotonic() - began:.2f} s after a rank was killed")
