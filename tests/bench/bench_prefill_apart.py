"""Prefill and decode apart against engines that do both: delays of tokens, rates, hand-over, kills. On a CPU.

    python -m tests.bench.bench_prefill_apart [--kills 20] [--out FILE]

Two engines with the included model and one thread each, as `--engines 2` and with `--prefill-engines 1`, one after the
other. While streams of tokens run, prompts of other requests arrive in bursts; the time between two tokens is compared
with that of the undisturbed streams of the same run. Hand-over is the time to the first token of a prompt of about
1,000 tokens that the other engine has computed, less that of a prompt in the engine's own cache. At the end the engine
for prompts is killed under load; all tokens are compared with those of the undisturbed run.
"""

import argparse
import asyncio
import json
import os
import platform
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median

from intaglio.engine.api import (
    EngineConfig,
    Engines,
    EngineState,
    Request,
    SamplingParams,
    launches,
    model_folder,
)
from intaglio.service.routing.router import EngineRouter

STREAMS, STREAM_TOKENS = 4, 256
BURSTS, BURST = 6, 4
PROMPT = 1000


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds between two tokens of a stream, undisturbed and while prompts arrive; requests per second."""

    layout: str
    alone_p50: float
    alone_p99: float
    disturbed_p50: float
    disturbed_p99: float
    requests_per_s: float


@asynccontextmanager
async def engines(prefill: int) -> AsyncIterator[EngineRouter]:
    """Two engines, of which so many compute prompts for the other."""
    given = {"model": str(model_folder(None)), "device": "cpu", "threads": 1, "deterministic": True}
    router = EngineRouter(Engines.owned(launches(EngineConfig.load(given, {}), 2, prefill)))
    try:
        await router.start()
        await all_ready(router)
        yield router
    finally:
        await router.close()


async def all_ready(router: EngineRouter) -> None:
    """Wait until both engines are."""
    while any(one.state is not EngineState.READY for one in router.engines):  # noqa: ASYNC110
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


async def measured(router: EngineRouter, layout: str, dice: Random) -> Figures:
    """Streams alone, then with bursts of prompts, then as many requests as there are."""

    async def streams() -> list[list[float]]:
        asked = (request(f"s{n}", 32, STREAM_TOKENS, dice) for n in range(STREAMS))
        return await asyncio.gather(*(times(router, each) for each in asked))

    async def bursts() -> None:
        for _ in range(BURSTS):
            asked = (request(f"b{n}", PROMPT, 8, dice) for n in range(BURST))
            await asyncio.gather(*(times(router, each) for each in asked))

    await streams()
    alone = gaps(await streams())
    pushing = asyncio.create_task(bursts())
    disturbed = gaps(await streams())
    await pushing
    began = time.perf_counter()
    mixed = [request(f"m{n}", PROMPT // 2, 64, dice) for n in range(24)]
    await asyncio.gather(*(times(router, each) for each in mixed))
    rate = len(mixed) / (time.perf_counter() - began)
    (alone_p50, alone_p99), (p50, p99) = (_quantiles(values) for values in (alone, disturbed))
    return Figures(layout, alone_p50, alone_p99, p50, p99, round(rate, 2))


def _quantiles(values: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile of ascending values."""
    return round(values[len(values) // 2], 2), round(values[int(0.99 * len(values))], 2)


async def hand_over(router: EngineRouter, dice: Random) -> dict[str, float]:
    """Milliseconds to the first token, the medians of nine: of a prompt, of its hand-over, and of one in the cache."""
    prefill, decode = router._engines
    info = prefill.status.info
    assert info is not None
    found: dict[str, list[float]] = {"prefill": [], "handed_over": [], "cached": []}
    for number in range(9):
        one = request(f"h{number}", PROMPT, 1, dice)
        begun = time.perf_counter()
        async for _ in prefill.generate(replace(one, exports=True)):
            pass
        found["prefill"].append(time.perf_counter() - begun)
        for name in ("handed_over", "cached"):
            begun = time.perf_counter()
            async for _ in decode.generate(replace(one, id=name, kv_peer=info.kv_address)):
                pass
            found[name].append(time.perf_counter() - begun)
    return {name: round(1000 * median(values), 2) for name, values in found.items()}


async def killed(router: EngineRouter, kills: int, dice: Random) -> dict[str, int]:
    """How many requests gave their own tokens although the engine for prompts was killed meanwhile.

    Each kill has requests of its own: one that is in flight at three deaths is refused.
    """

    async def tokens(asked: Sequence[Request]) -> list[list[int]]:
        async def one(each: Request) -> list[int]:
            return [token async for delta in router.generate(each) for token in delta.tokens]

        return await asyncio.gather(*map(one, asked))

    requests = right = 0
    for number in range(kills):
        asked = [request(f"k{number}-{n}", 400 + n, 24, dice) for n in range(8)]
        answers = asyncio.create_task(tokens(asked))
        await asyncio.sleep(dice.uniform(0.0, 1.0))
        info = router.engines[0].info
        assert info is not None
        os.kill(info.pid, signal.SIGKILL)
        disturbed = await answers
        await all_ready(router)
        undisturbed = await tokens([replace(each, cache_salt="other") for each in asked])
        requests += len(asked)
        right += sum(a == b for a, b in zip(disturbed, undisturbed, strict=True))
    report = await router.check()
    return {
        "kills": kills,
        "requests": requests,
        "right": right,
        "blocks_left_over": report.used + (report.fault is not None),
    }


async def run(kills: int) -> tuple[list[Figures], dict[str, float], dict[str, int]]:
    """All figures."""
    async with engines(0) as router:
        together = await measured(router, "--engines 2", Random(5))
    async with engines(1) as router:
        apart = await measured(router, "--prefill-engines 1", Random(5))
        handed = await hand_over(router, Random(6))
        ends = await killed(router, kills, Random(7))
    return [together, apart], handed, ends


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Compares prefill apart with engines that do both."
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    load = os.getloadavg()[0]
    figures, handed, ends = asyncio.run(run(given.kills))
    print(
        f"{'ms between tokens':22}{'p50':>8}{'p99':>8}   prompts arrive:{'p50':>8}{'p99':>8}  requests/s"
    )
    for each in figures:
        print(
            f"{each.layout:22}{each.alone_p50:8}{each.alone_p99:8}{each.disturbed_p50:24}"
            f"{each.disturbed_p99:8}{each.requests_per_s:12}"
        )
    print(f"ms to the first token after {PROMPT} tokens: {handed}\n{ends}")
    if given.out:
        about = {
            "date": datetime.now(UTC).date().isoformat(),
            "command": f"python -m tests.bench.bench_prefill_apart --kills {given.kills}",
            "commit": given.commit,
            "device": f"{os.cpu_count()} cores, {platform.machine()}, load average {load:.1f} before",
            "model": "embedded, deterministic",
        }
        table = [asdict(each) for each in figures]
        whole = {**about, "figures": table, "hand_over_ms": handed, "killed": ends}
        given.out.write_text(json.dumps(whole, indent=1) + "\n")
    return 0 if ends["right"] == ends["requests"] and not ends["blocks_left_over"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
