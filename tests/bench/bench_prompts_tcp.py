"""Prompts computed by another server over TCP: hand-over, and kills of that server's engine, over HTTP.

    python -m tests.bench.bench_prompts_tcp [--kills 20] [--out FILE]
    python -m tests.bench.bench_prompts_tcp --device cuda --model FOLDER [--gpus 0 1] [--out FILE]

Starts two servers as a user would: `intaglio serve --kv-listen`, and one with `--kv-peer`, to which all requests go.
Hand-over is the time of a request with one token of output and a prompt of 1,000 tokens that neither has seen, less
that of such a prompt which the first server computes for itself: by turns, the medians of so many rounds. Then the
engine of the first server is killed at random times under requests to the second one, again and again; all answers are
compared with those of a server alone.
"""

import argparse
import asyncio
import json
import os
import platform
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import httpx2

from tests.support.free_port import free_port

PROMPT = 1000
OUTPUT = 24
BURST = 6


@contextmanager
def server(args: argparse.Namespace, gpu: int, *options: str) -> Iterator[httpx2.AsyncClient]:
    """A server of its own; a client of it."""
    port = free_port()
    command = [sys.executable, "-P", "-m", "intaglio", "serve", "--port", str(port)]
    command += ["--max-context", "2048", "--deterministic", *options]
    if args.model:
        command += ["--model", args.model]
    environment = {**os.environ, "INTAGLIO_ENGINE_GRAMMAR_STORE": "off"}
    if args.device == "cuda":
        environment["CUDA_VISIBLE_DEVICES"] = str(args.gpus[gpu])
    else:
        environment |= {"INTAGLIO_ENGINE_DEVICE": "cpu", "INTAGLIO_ENGINE_THREADS": "1"}
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            yield httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120)
        finally:
            child.send_signal(signal.SIGTERM)
            child.wait(60)


async def ready(client: httpx2.AsyncClient) -> None:
    """Wait until a server answers."""
    for _ in range(600):
        try:
            if (await client.get("/ready")).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        await asyncio.sleep(0.2)
    raise TimeoutError(f"{client.base_url} does not start")


async def asked(client: httpx2.AsyncClient, prompt: Sequence[int], tokens: int) -> str:
    """The text of an answer."""
    body = {"prompt": list(prompt), "max_tokens": tokens, "temperature": 0, "ignore_eos": True}
    body["model"] = (await engine_of(client))["facts"]["model"]
    answer = await client.post("/v1/completions", json=body)
    answer.raise_for_status()
    text: str = answer.json()["choices"][0]["text"]
    return text


async def engine_of(client: httpx2.AsyncClient) -> dict[str, Any]:
    """The state of a server's engine."""
    engines = (await client.get("/v1/engine/state")).json()["engines"]
    found: dict[str, Any] = engines[0]
    return found


async def hand_over(
    first: httpx2.AsyncClient, second: httpx2.AsyncClient, rounds: int, dice: Random
) -> dict[str, float]:
    """Milliseconds of a request with one token: computed there, handed over, and from the second server's cache."""
    times: dict[str, list[float]] = {"computed": [], "handed_over": [], "cached": []}
    for number in range(rounds + 3):
        own, other = random_prompt(PROMPT, dice), random_prompt(PROMPT, dice)
        turns = [("computed", first, own), ("handed_over", second, other)]
        for name, client, prompt in (*turns[:: 1 - 2 * (number % 2)], ("cached", second, other)):
            began = time.perf_counter()
            await asked(client, prompt, 1)
            if number >= 3:
                times[name].append(1000 * (time.perf_counter() - began))
    found = {name: round(median(values), 1) for name, values in times.items()}
    return {**found, "beyond_the_prompt": round(found["handed_over"] - found["computed"], 1)}


def random_prompt(tokens: int, dice: Random) -> list[int]:
    return [dice.randrange(300, 4000) for _ in range(tokens)]


async def killed(
    first: httpx2.AsyncClient, second: httpx2.AsyncClient, kills: int, dice: Random
) -> dict[str, int]:
    """How many answers are those of a server alone, although the engine for prompts was killed meanwhile."""
    requests = right = 0
    slowest = 0.0
    for _ in range(kills):
        prompts = [random_prompt(400 + number, dice) for number in range(BURST)]
        pid = (await engine_of(first))["facts"]["pid"]
        began = time.perf_counter()
        answers = asyncio.gather(*(asked(second, prompt, OUTPUT) for prompt in prompts))
        await asyncio.sleep(dice.uniform(0.0, 1.2))
        os.kill(pid, signal.SIGKILL)
        disturbed = await answers
        slowest = max(slowest, time.perf_counter() - began)
        while not (now := await engine_of(first)).get("facts") or now["facts"]["pid"] == pid:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await ready(first)
        alone = [await asked(first, prompt, OUTPUT) for prompt in prompts]
        requests += len(prompts)
        right += sum(one == other for one, other in zip(disturbed, alone, strict=True))
    return {"kills": kills, "requests": requests, "right": right, "slowest_s": round(slowest)}


async def measured(
    first: httpx2.AsyncClient, second: httpx2.AsyncClient, args: argparse.Namespace
) -> dict[str, Any]:
    """All figures, each printed when it is measured."""
    await asyncio.gather(ready(first), ready(second))
    found: dict[str, Any] = {"ms": await hand_over(first, second, args.rounds, Random(5))}
    print(json.dumps(found), flush=True)
    if args.kills:
        found["killed"] = await killed(first, second, args.kills, Random(7))
        print(json.dumps(found["killed"]), flush=True)
    metrics = (await second.get("/metrics")).text.splitlines()
    found["tiers"] = [
        line for line in metrics if "fetch_peer" in line or "tier_faults_total{" in line
    ]
    print("\n".join(found["tiers"]))
    for client in (first, second):
        await client.aclose()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures prompts computed by another server.")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--model", help="folder of a checkpoint; the included model by default")
    parser.add_argument("--gpus", type=int, nargs=2, default=(0, 1))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder) / "key"
        key.touch(0o600)
        key.write_text(secrets.token_hex(32))
        port, shared = str(free_port()), ("--kv-key-file", str(key))
        with (
            server(args, 0, "--kv-listen", port, *shared) as first,
            server(args, 1, "--kv-peer", f"127.0.0.1:{port}", *shared) as second,
        ):
            figures = asyncio.run(measured(first, second, args))
    if args.out:
        found = {
            "date": datetime.now(UTC).date().isoformat(),
            "command": f"python -m tests.bench.bench_prompts_tcp --device {args.device} --rounds {args.rounds} "
            f"--kills {args.kills}",
            "commit": args.commit,
            "device": f"{os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f}",
            "model": Path(args.model).name if args.model else "embedded",
            "figures": figures,
        }
        args.out.write_text(json.dumps(found, indent=1) + "\n")
    ends = figures.get("killed", {"requests": 0, "right": 0})
    return 0 if ends["requests"] == ends["right"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
