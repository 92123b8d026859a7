"""Prompts on one GPU and outputs on another: the bits of blocks, the tokens of one engine, and kills in mid-transfer.

The parts that need no GPU are tested in `tests/engine/memory/test_leased_blocks.py`.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from intaglio.engine.api import (
    EngineConfig,
    Engines,
    EngineState,
    Request,
    SamplingParams,
    launches,
)
from intaglio.engine.config import visible_gpus
from intaglio.engine.model.checkpoint import model_folder
from intaglio.service.routing.router import EngineRouter

from tests.gpu.block_owner import BLOCKS
from tests.gpu.divided_engines import Progress
from tests.gpu.test_engine import agreement

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs"),
]

ROOT = Path(__file__).parents[2]
KILLS = 20  # of processes that lease
ENGINE_KILLS = 3  # of an engine, whose restart takes seconds
PATIENCE_S = 120


class Child:
    """A process of `block_owner` that sees these GPUs, with a line in for each line out after the first."""

    def __init__(self, visible: str, *arguments: str) -> None:
        command = [sys.executable, "-m", "tests.gpu.block_owner", *arguments]
        # The checkout comes last: its folder `kernels` must not shadow a package of that name.
        path = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(ROOT)])
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": visible, "PYTHONPATH": path}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        found = self.process.stdout.readline()
        assert found, f"the process has ended: {self.process.poll()}"
        return found

    def send(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def ask(self, text: str) -> dict[str, Any]:
        self.send(text)
        found: dict[str, Any] = json.loads(self.line())
        return found

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def child(visible: str, *arguments: str) -> Iterator[Child]:
    found = Child(visible, *arguments)
    try:
        found.line()
        yield found
    finally:
        found.close()


@pytest.mark.parametrize("sees_both", [True, False])
def test_blocks_keep_every_bit_whichever_gpus_a_process_sees(
    sees_both: bool, tmp_path: Path
) -> None:
    """The owner sees its own GPU only. A reader sees both, as an engine for outputs does, or its own only."""
    say, address = Progress(), str(tmp_path / "blocks")
    own, other = visible_gpus()[:2]
    visible = f"{own},{other}" if sees_both else own
    with child(other, "lease", address, "5"), child(visible, "read") as reader:
        found = reader.ask(f"once {address} 5")
        say(f"CUDA_VISIBLE_DEVICES={visible}: {found}")
    assert found["taken"] == found["right"] == BLOCKS, found
    assert found["done"]
    assert found["faults"] == {}


def test_a_process_killed_in_mid_transfer_costs_its_blocks_only(tmp_path: Path) -> None:
    """The reader copies all the time, so that most kills fall into a copy. It goes on with the next owner."""
    say, dice = Progress(), Random(3)
    own, other = visible_gpus()[:2]
    addresses = [str(tmp_path / f"blocks{number}") for number in range(KILLS)]
    with ExitStack() as stack:
        owners = [Child(other, "lease", name, str(n)) for n, name in enumerate(addresses)]
        for owner in owners:
            stack.callback(owner.close)
        reader = stack.enter_context(child(f"{own},{other}", "read"))
        for number, (address, owner) in enumerate(zip(addresses, owners, strict=True)):
            owner.line()
            found = reader.ask(f"once {address} {number}")
            assert found["taken"] == found["right"] == BLOCKS, found
            reader.send(f"until_lost {address} {number}")
            time.sleep(dice.uniform(0.02, 0.2))
            owner.process.kill()
            ended = json.loads(reader.line())
            say(f"kill {number}: {found}; then {ended}")
            assert ended["lost"]
            assert not ended["partly"]


def prompt(seed: int, tokens: int) -> tuple[int, ...]:
    dice = Random(seed)
    return tuple(dice.randrange(300, 4000) for _ in range(tokens))


def request(name: str, tokens: tuple[int, ...], salt: str = "") -> Request:
    sampling = SamplingParams(max_tokens=24, temperature=1.0, seed=7, ignore_eos=True)
    return Request(id=name, prompt=tokens, sampling=sampling, cache_salt=salt)


async def answers(router: EngineRouter, asked: Sequence[Request]) -> dict[str, list[int]]:
    """The tokens of requests that run together."""

    async def one(each: Request) -> list[int]:
        return [token async for delta in router.generate(each) for token in delta.tokens]

    found = await asyncio.wait_for(asyncio.gather(*map(one, asked)), PATIENCE_S)
    return {each.id: tokens for each, tokens in zip(asked, found, strict=True)}


async def all_ready(router: EngineRouter) -> None:
    while any(one.state is not EngineState.READY for one in router.engines):
        await asyncio.sleep(0.02)
        assert router.fault is None, router.fault


async def restarted(router: EngineRouter, pid: int) -> None:
    """Wait until another process than `pid` computes prompts."""
    while (info := router.engines[0].info) is None or info.pid == pid:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    await all_ready(router)


async def fetched(router: EngineRouter) -> tuple[int, dict[str, int]]:
    """Tokens that the engine for outputs took from the other one, and its faults, as its next beat tells."""
    await asyncio.sleep(1)
    metrics = router.engines[1].metrics
    assert metrics is not None
    return metrics.offloaded.decided.get("fetch_peer", 0), metrics.offloaded.faults


async def compare_and_kill(say: Progress) -> None:
    given = {
        "model": str(model_folder()),
        "device": "cuda",
        "dtype": "float32",
        "max_running": 16,
        "max_batched_tokens": 1024,
        "max_context": 2048,
        "num_blocks": 1200,
        "grammar_store": "off",
    }
    prompts = {f"r{number}": prompt(number, 300 + 37 * number) for number in range(12)}
    asked = [request(name, tokens) for name, tokens in prompts.items()]
    config = EngineConfig.load(given, {})
    router = EngineRouter(Engines.owned(launches(config)))
    try:
        await router.start()
        await all_ready(router)
        expected = await answers(router, asked)
        say("one engine has answered")
    finally:
        await router.close()
    router = EngineRouter(Engines.owned(launches(config, 2, 1)))
    try:
        await router.start()
        await all_ready(router)
        roles = [one.info.kv_role for one in router.engines if one.info is not None]
        assert roles == ["prefill", "decode"]
        found = await answers(router, asked)
        tokens, faults = await fetched(router)
        say(f"two engines have answered; {tokens} tokens fetched, faults {faults}")
        differing = [name for name in expected if found[name] != expected[name]]
        assert agreement(found, expected) >= 0.9, f"more than a near tie differs: {differing}"
        assert tokens == sum((len(one) - 1) // 16 * 16 for one in prompts.values())
        assert faults == {}
        await _kill(router, say, Random(4))
    finally:
        await router.close()


async def _kill(router: EngineRouter, say: Progress, dice: Random) -> None:
    """Kill the engine for prompts while requests run; all are answered with their own tokens."""
    for number in range(ENGINE_KILLS):
        prompts = {f"k{number}.{n}": prompt(1000 * number + n, 500 + n) for n in range(8)}
        asked = [request(name, tokens) for name, tokens in prompts.items()]
        answering = asyncio.create_task(answers(router, asked))
        await asyncio.sleep(dice.uniform(0.0, 0.1))
        info = router.engines[0].info
        assert info is not None
        os.kill(info.pid, signal.SIGKILL)
        disturbed = await answering
        say(f"kill {number}: all are answered")
        await restarted(router, info.pid)
        say(f"kill {number}: the engine for prompts is ready again")
        again = [request(name, tokens, "again") for name, tokens in prompts.items()]
        undisturbed = await answers(router, again)
        assert agreement(disturbed, undisturbed) >= 0.75
        assert all(len(tokens) == 24 for tokens in disturbed.values())
    report = await router.check()
    assert report.fault is None
    assert report.used == 0
    before, _ = await fetched(router)
    await answers(router, [request("last", prompt(77, 800))])
    after, _ = await fetched(router)
    assert after - before == 784  # the engine that was started anew leases as well


def test_two_engines_give_the_tokens_of_one_and_a_killed_one_costs_time_only() -> None:
    asyncio.run(compare_and_kill(Progress()))
