"""`python tests/bench/bench_tenants.py`: what one tenant notices of another one that floods the server.

A scripted engine serves 16 requests at once, 140 ms each. Tenant B sends one request after the other: alone, and while
tenant A keeps 200 open. Prints the latencies of B in both cases, with the fair queue and, for comparison, with a queue
so long that it never decides. A ratio on a machine that does other work, too, is an upper bound.
"""

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2

sys.path.insert(0, str(Path(__file__).parents[2]))

from intaglio.service.keys.key_store import KeyGrant, KeyStore

from tests.support.live_service import Live, live
from tests.support.scripted_engine import Script, launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

BATCH, PACE_S, FLOOD = 16, 0.02, 200
BODY = {
    "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "text": '<<slow {"n":1}>>',
}


def latencies(service: Live, headers: dict[str, str], count: int) -> list[float]:
    """Seconds of so many requests, one after the other."""
    taken = []
    with httpx2.Client(timeout=300.0) as http:
        for _ in range(count):
            began = time.perf_counter()
            answer = http.post(f"{service.url}/v1/extract", json=BODY, headers=headers)
            taken.append(time.perf_counter() - began)
            assert answer.status_code == 200, answer.text
    return taken


def flood(service: Live, headers: dict[str, str], stop: threading.Event) -> int:
    """Send one request after the other until stopped; how many were answered."""
    answered = 0
    with httpx2.Client(timeout=300.0) as http:
        while not stop.is_set():
            answer = http.post(f"{service.url}/v1/extract", json=BODY, headers=headers)
            answered += answer.status_code == 200
            if answer.status_code == 429:
                time.sleep(0.2)
    return answered


def measure(folder: Path, places: int, count: int) -> dict[str, Any]:
    """The latencies of B, alone and beside A, with so many places at the engine."""
    model = write_checkpoint(folder / f"model-{places}", LLAMA)
    store = KeyStore(folder / f"keys-{places}", create=True)
    a, b = ({"authorization": f"Bearer {store.create(KeyGrant(tenant=t))[0]}"} for t in "ab")
    settings: dict[str, Any] = {
        "key_store": str(folder / f"keys-{places}"),
        "max_generations": places,
    }
    with live(launch(Script(pace_s=PACE_S, batch=BATCH)), model, **settings) as service:
        latencies(service, b, 5)
        alone = latencies(service, b, count)
        stop = threading.Event()
        with ThreadPoolExecutor(FLOOD) as pool:
            answered = [pool.submit(flood, service, a, stop) for _ in range(FLOOD)]
            time.sleep(5.0)
            beside = latencies(service, b, count)
            stop.set()
            total = sum(one.result() for one in answered)
    return {
        "places": places,
        "alone_p50_ms": round(statistics.median(alone) * 1000, 1),
        "flooded_p50_ms": round(statistics.median(beside) * 1000, 1),
        "flooded_p90_ms": round(statistics.quantiles(beside, n=10)[-1] * 1000, 1),
        "ratio_p50": round(statistics.median(beside) / statistics.median(alone), 2),
        "answers_to_flood": total,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="One tenant beside another that floods.")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = [measure(Path(folder), places, given.count) for places in (BATCH, 100_000)]
    text = json.dumps({"fair": figures[0], "order of arrival": figures[1]}, indent=2)
    if given.out:
        given.out.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
