"""Streamed and unstreamed extractions, compared over random documents: `python -m tests.conformance.streams 10000`.

An engine that says what it is told answers with random JSON. Each request is sent twice, at once and as a stream. The
result of the stream must be that of the answer, and its last `field.completed` of each value that value.
"""

import json
import random
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.support.events import events
from tests.support.live_service import EXAMINING, Live, live
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

LETTERS = 'aé"\\\n😀 /~\u2028'


def value(rng: random.Random, depth: int = 0) -> Any:
    """A random JSON value."""
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind == 1:
        return rng.randrange(-(10**9), 10**9)
    if kind == 2:
        return rng.uniform(-1e6, 1e6)
    if kind < 6:
        return "".join(rng.choices(LETTERS, k=rng.randrange(6)))
    if kind == 6:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {f"k{n}": value(rng, depth + 1) for n in range(rng.randrange(4))}


def settled(result: dict[str, Any]) -> str:
    """A result without what differs from run to run."""
    return json.dumps(
        {name: part for name, part in result.items() if name not in ("id", "timings")}
    )


def compare(service: Live, seed: int) -> str:
    """The outcome of one document."""
    rng = random.Random(seed)
    data = {"v": value(rng)}
    written = json.dumps(data, ensure_ascii=rng.random() < 0.5, separators=(",", ":"))
    body = {"schema": {"type": "object"}, "text": f"<<echo {written}>>"}
    body |= {"options": {"seed": seed, "extra_properties": True}}
    whole = service.http.post("/v1/extract", json=body)
    streamed = service.http.post("/v1/extract", json={**body, "stream": True})
    if whole.status_code != 200:
        return f"refused: {whole.text[:80]}"
    found = events(streamed.content.decode().split("\n"))
    (completed,) = [event for event in found if event.name == "object.completed"]
    if settled(completed.data["result"]) != settled(whole.json()):
        return f"another result: seed {seed}"
    fields = [event.data for event in found if event.name == "field.completed"]
    if [field["value"] for field in fields if field["pointer"] == "/v"] != [data["v"]]:
        return f"another field: seed {seed}"
    return "equal"


def main(count: int) -> int:
    folder = write_checkpoint(Path(tempfile.mkdtemp()) / "scripted", LLAMA)
    with live(launch(), folder, grammar=EXAMINING) as service, ThreadPoolExecutor(8) as pool:
        outcomes = Counter(pool.map(lambda seed: compare(service, seed), range(count)))
    for outcome, times in outcomes.most_common():
        print(f"{times:>7,} {outcome}")
    return 0 if outcomes == {"equal": count} else 1


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
