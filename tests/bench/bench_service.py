"""Many concurrent clients on the embedded model, some of which disconnect: their answers, and resources left behind.

    PYTHONSAFEPATH=1 PYTHONPATH=. python tests/bench/bench_service.py [--clients 64] [--hang-up 0.2] [--max-tokens N]

Starts the whole service in this process, with the engine in its own, and talks to it over a real socket. Ends with 1
unless every client that stayed has a valid document and the engine's books are clean.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from typing import Any

import httpx2
import jsonschema
from intaglio.engine.api import EngineConfig, Launch, model_folder
from intaglio.schemas import catalogue

from tests.support.live_service import EXAMINING, Live, live


async def client(
    http: httpx2.AsyncClient, name: str, leaves_after: float | None, options: dict[str, Any]
) -> tuple[str, float]:
    """One extraction: how it ended, and after how many seconds."""
    entry = catalogue.get(name)
    body = {"schema": entry.schema, "text": entry.sample, "options": options}
    began = time.perf_counter()
    call = http.post("/v1/extract", json=body)
    try:
        response = await (call if leaves_after is None else asyncio.wait_for(call, leaves_after))
    except TimeoutError:
        return "hung up", time.perf_counter() - began
    took = time.perf_counter() - began
    if response.status_code != 200:
        return response.json()["error"]["code"], took
    document = response.json()
    jsonschema.validate(document["data"], entry.schema)
    return "cut short" if document["usage"]["budget_forced"] else "valid", took


async def everybody(service: Live, args: argparse.Namespace) -> list[tuple[str, float]]:
    """All clients at once; the ones that hang up do so at a random moment of their first `--patience` seconds."""
    dice = random.Random(args.seed)
    names = catalogue.names()
    options = {} if args.max_tokens is None else {"max_tokens": args.max_tokens}
    leavers = set(dice.sample(range(args.clients), round(args.clients * args.hang_up)))
    async with httpx2.AsyncClient(
        base_url=service.url, timeout=1800, limits=httpx2.Limits(max_connections=args.clients)
    ) as http:
        calls = [
            client(
                http,
                names[number % len(names)],
                dice.uniform(0.5, args.patience) if number in leavers else None,
                options,
            )
            for number in range(args.clients)
        ]
        return list(await asyncio.gather(*calls))


def main() -> int:
    """Run, print one table, and judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--hang-up", type=float, default=0.2)
    parser.add_argument("--patience", type=float, default=20.0)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    folder = model_folder(None)
    launch = Launch.of(EngineConfig.load({"model": str(folder)}, environ={}))
    with live(launch, folder, grammar=EXAMINING) as service:
        began = time.perf_counter()
        ends = asyncio.run(everybody(service, args))
        wall = time.perf_counter() - began
        report = service.settled()
        with httpx2.Client(base_url=service.url) as http:
            lines = http.get("/metrics").text.splitlines()
    counts = Counter(end for end, _ in ends)
    stayed = sorted(took for end, took in ends if end != "hung up")
    rows: list[tuple[str, Any]] = [
        ("clients", args.clients),
        *sorted(counts.items()),
        ("seconds in all", round(wall, 1)),
        ("latency p50 / max, s", f"{stayed[len(stayed) // 2]:.1f} / {stayed[-1]:.1f}"),
        *(
            (name, line.split()[-1])
            for name in ("batch_sequences_max", "preemptions_total", "kv_cache_usage_ratio")
            for line in lines
            if line.startswith(f"intaglio_{name} ")
        ),
        ("books clean", report.clean),
    ]
    for name, value in rows:
        print(f"{name:24} {value}")
    whole = counts.keys() <= {"valid", "cut short", "hung up"}
    return 0 if whole and report.clean else 1


if __name__ == "__main__":
    sys.exit(main())
