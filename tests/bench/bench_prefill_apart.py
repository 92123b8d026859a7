"""Prefill and decode apart against engines that do both: delays of tokens, rates, hand-over, kills.

    python -m tests.bench.bench_prefill_apart [--kills 20] [--out FILE]
    python -m tests.bench.bench_prefill_apart --device cuda [--shape 8b] [--kills N] [--out FILE]

Two engines with `--prefill-engines 1`, then as `--engines 2`. On a CPU each has the included model and one thread; on
two GPUs random weights of a shape, and each row is printed when it is measured. While streams of tokens run, prompts of
other requests arrive in bursts; the time between two tokens is compared with that of the undisturbed streams of the
same layout. Rates are those of requests that come all at once. Hand-over is the time to the first token of a prompt of
about 1,000 tokens that the other engine has computed, less that of a prompt in the engine's own cache; on GPUs beside
the streams as well. At the end the engine for prompts is killed under load; all tokens are compared with those of the
undisturbed run.

`--device cpu --shape tiny` tries the sizes of GPUs on a host: its figures mean nothing.
"""

import argparse
import asyncio
import json
import os
import platform
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import torch
from intaglio.engine.api import (
    EngineConfig,
    Engines,
    EngineState,
    Request,
    SamplingParams,
    Watch,
    launches,
    model_folder,
)
from intaglio.service.routing.router import EngineRouter

from tests.bench.bench_extract import SHAPES

PROMPT = 1000
LONGER = 1004
"""Prompts that leave 12 tokens after their whole blocks, rather than 8: more than a captured step computes of one
sequence on a GPU."""


@dataclass(frozen=True, slots=True)
class Load:
    """Numbers of streams, of their tokens, of bursts and of their prompts; and requests at once: how many, of how many
    tokens, with how many tokens of output."""

    streams: int
    stream_tokens: int
    bursts: int
    burst: int
    mixes: tuple[tuple[int, int, int], ...]


ON_CPU = Load(4, 256, 6, 4, ((24, PROMPT // 2, 64),))
ON_GPU = Load(32, 700, 6, 4, ((192, PROMPT, 400), (128, PROMPT, 64)))
TINY = Load(4, 80, 2, 4, ((8, 200, 20),))


@contextmanager
def settings(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The settings of an engine."""
    if args.shape is None:
        folder = str(model_folder(None))
        yield {"model": folder, "device": "cpu", "threads": 1, "deterministic": True}
        return
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
            shutil.copy(model_folder(None) / name, Path(scratch) / name)
        (Path(scratch) / "config.json").write_text(json.dumps(SHAPES[args.shape]))
        on_gpu = args.device == "cuda"
        yield {
            "model": scratch,
            "weights": "random",
            "device": args.device,
            "max_context": 2048,
            "num_blocks": 16_384 if on_gpu else 2048,
            "grammar_store": "off",
        }


@asynccontextmanager
async def engines(given: dict[str, Any], prefill: int, kills: int) -> AsyncIterator[EngineRouter]:
    """Two engines, of which so many compute prompts for the other; others stand by if some will be killed."""
    watch = Watch(standby="auto" if kills else "off")
    group = Engines.owned(launches(EngineConfig.load(given, {}), 2, prefill), watch)
    router = EngineRouter(group)
    try:
        await router.start()
        await all_ready(router)
        yield router
    finally:
        await router.close()


async def all_ready(router: EngineRouter) -> None:
    """Wait until both engines are."""
    while any(one.state is not EngineState.READY for one in router.engines):
        if router.fault is not None:
            raise router.fault
        await asyncio.sleep(0.02)


def request(name: str, tokens: int, output: int, dice: Random) -> Request:
    """A request with a random prompt."""
    prompt = tuple(dice.randrange(300, 4000) for _ in range(tokens))
    sampling = SamplingParams(max_tokens=output, temperature=1.0, seed=1, ignore_eos=True)
    return Request(id=name, prompt=prompt, sampling=sampling)


async def times(router: EngineRouter, asked: Request) -> list[float]:
    """The time at which each token of a request arrived, and before it that at which it was sent."""
    found = [time.perf_counter()]
    async for delta in router.generate(asked):
        found += [time.perf_counter()] * len(delta.tokens)
    return found


def gaps(streams: Sequence[Sequence[float]]) -> list[float]:
    """Milliseconds between two tokens, ascending, without the first token of a stream."""
    return sorted(
        1000 * (after - before) for stream in streams for before, after in pairwise(stream[1:])
    )


class Bench:
    """One layout under a load. Every figure is printed when it is measured."""

    def __init__(self, router: EngineRouter, layout: str, load: Load) -> None:
        self._router = router
        self._layout = layout
        self._load = load
        self._dice = Random(5)

    def say(self, row: dict[str, Any]) -> dict[str, Any]:
        print(self._layout, json.dumps(row), flush=True)
        return row

    async def measure(self) -> dict[str, Any]:
        """Streams alone, then with bursts of prompts, then requests all at once."""
        for tokens in (PROMPT, LONGER):
            await asyncio.gather(self.streams(), self._bursts(1, tokens))
        p50, p99 = _quantiles(gaps(await self.streams()))
        row: dict[str, Any] = {"alone_p50": p50, "alone_p99": p99}
        self.say({"ms between tokens, alone": {"p50": p50, "p99": p99}})
        step = p50
        for name, tokens in (("disturbed", PROMPT), ("longer", LONGER)):
            pushing = asyncio.create_task(self._bursts(self._load.bursts, tokens))
            streams = await self.streams()
            ended = await pushing
            streams = [[at for at in stream if at < ended] for stream in streams]
            p50, p99 = _quantiles(gaps(streams))
            row |= {f"{name}_p50": p50, f"{name}_p99": p99}
            ratio = {"p50": p50, "p99": p99, "p99 / step": round(p99 / step, 2)}
            self.say({f"ms between tokens, prompts of {tokens} tokens arrive": ratio})
        for count, tokens, output in self._load.mixes:
            asked = [request(f"m{n}", tokens, output, self._dice) for n in range(count)]
            began = time.perf_counter()
            await asyncio.gather(*(times(self._router, each) for each in asked))
            rate = count / (time.perf_counter() - began)
            row[f"requests_per_s_{tokens}_{output}"] = round(rate, 2)
            self.say({f"requests/s of {count} with {tokens} + {output} tokens": round(rate, 2)})
        return {"layout": self._layout, **row}

    async def streams(self) -> list[list[float]]:
        """The times of the tokens of all streams."""
        load = self._load
        asked = (request(f"s{n}", 32, load.stream_tokens, self._dice) for n in range(load.streams))
        return await asyncio.gather(*(times(self._router, each) for each in asked))

    async def _bursts(self, count: int, tokens: int) -> float:
        """Bursts of prompts, each after the answers to the one before; the time of the last answer."""
        for _ in range(count):
            asked = [request(f"b{n}", tokens, 8, self._dice) for n in range(self._load.burst)]
            await asyncio.gather(*(times(self._router, each) for each in asked))
        return time.perf_counter()

    async def hand_over(self, kind: str) -> dict[str, float]:
        """Milliseconds to the first token, the medians of nine: of a prompt, of its hand-over, of one in the cache."""
        prefill, decode = self._router._engines
        info = prefill.status.info
        assert info is not None
        found: dict[str, list[float]] = {"prefill": [], "handed_over": [], "cached": []}
        for number in range(9):
            one = request(f"h{number}", PROMPT, 1, self._dice)
            begun = time.perf_counter()
            async for _ in prefill.generate(replace(one, exports=True)):
                pass
            found["prefill"].append(time.perf_counter() - begun)
            for name in ("handed_over", "cached"):
                begun = time.perf_counter()
                async for _ in decode.generate(replace(one, id=name, kv_peer=info.kv_address)):
                    pass
                found[name].append(time.perf_counter() - begun)
        row = {name: round(1000 * median(values), 2) for name, values in found.items()}
        self.say({f"ms to the first token, {kind}": row})
        return row


def _quantiles(values: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile of ascending values."""
    return round(values[len(values) // 2], 2), round(values[int(0.99 * len(values))], 2)


async def killed(router: EngineRouter, kills: int, dice: Random) -> dict[str, int]:
    """How many requests gave their own tokens although the engine for prompts was killed meanwhile.

    Each kill has requests of its own: one that is in flight at three deaths is refused.
    """

    async def tokens(asked: Sequence[Request]) -> list[list[int]]:
        async def one(each: Request) -> list[int]:
            return [token async for delta in router.generate(each) for token in delta.tokens]

        return await asyncio.gather(*map(one, asked))

    requests = right = answered = 0
    for number in range(kills):
        asked = [request(f"k{number}-{n}", 400 + n, 24, dice) for n in range(8)]
        answers = asyncio.create_task(tokens(asked))
        await asyncio.sleep(dice.uniform(0.0, 1.0))
        info = router.engines[0].info
        assert info is not None
        os.kill(info.pid, signal.SIGKILL)
        disturbed = await answers
        while (now := router.engines[0].info) is None or now.pid == info.pid:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await all_ready(router)
        undisturbed = await tokens([replace(each, cache_salt="other") for each in asked])
        requests += len(asked)
        answered += sum(len(each) == 24 for each in disturbed)
        right += sum(a == b for a, b in zip(disturbed, undisturbed, strict=True))
    report = await router.check()
    return {
        "kills": kills,
        "requests": requests,
        "answered": answered,
        "right": right,
        "blocks_left_over": report.used + (report.fault is not None),
    }


async def run(args: argparse.Namespace, found: dict[str, Any]) -> None:
    """Add all figures to `found`, each when it is measured."""
    load = ON_CPU if args.shape is None else ON_GPU if args.device == "cuda" else TINY
    figures: list[dict[str, Any]] = []
    found["figures"] = figures
    with settings(args) as given:
        async with engines(given, 1, args.kills) as router:
            bench = Bench(router, "--prefill-engines 1", load)
            figures.append(await bench.measure())
            found["hand_over_ms"] = await bench.hand_over("alone")
            if args.shape is not None:
                beside = asyncio.create_task(bench.streams())
                await asyncio.sleep(0.2)
                found["hand_over_beside_streams_ms"] = await bench.hand_over("beside streams")
                await beside
            metrics = router.engines[1].metrics
            assert metrics is not None
            found["fetched_tokens"] = metrics.offloaded.decided
            found["faults"] = metrics.offloaded.faults
            bench.say({"fetched": found["fetched_tokens"], "faults": found["faults"]})
            if args.kills:
                found["killed"] = bench.say(await killed(router, args.kills, Random(7)))
        async with engines(given, 0, 0) as router:
            figures.append(await Bench(router, "--engines 2", load).measure())


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Compares prefill apart with engines that do both."
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--shape", choices=SHAPES, help="random weights; on GPUs 8b by default")
    parser.add_argument("--kills", type=int, help="20 by default, 0 on GPUs")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    on_gpu = args.device == "cuda"
    args.shape = args.shape or ("8b" if on_gpu else None)
    if args.kills is None:
        args.kills = 0 if on_gpu else 20
    load = os.getloadavg()[0]
    host = f"{os.cpu_count()} cores, {platform.machine()}, load average {load:.1f} before"
    found: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python -m tests.bench.bench_prefill_apart"
        + (f" --device cuda --shape {args.shape}" if on_gpu else "")
        + f" --kills {args.kills}",
        "commit": args.commit,
        "device": f"2 x {torch.cuda.get_device_name()}" if on_gpu else host,
        "model": f"{args.shape}, random" if args.shape else "embedded, deterministic",
    }
    try:
        asyncio.run(run(args, found))
    finally:
        if args.out:
            args.out.write_text(json.dumps(found, indent=1) + "\n")
    apart, together = found["figures"]
    for name in (name for name in apart if name.startswith("requests_per_s")):
        print(f"{name}: {apart[name] / together[name]:.2f} times --engines 2")
    ends = found.get("killed", {"blocks_left_over": 0, "answered": 0, "requests": 0})
    return 0 if ends["answered"] == ends["requests"] and not ends["blocks_left_over"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
