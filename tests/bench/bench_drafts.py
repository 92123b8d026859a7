"""Drafts on a CPU: tokens per second with and without, alternating, in one process.

    python -m tests.bench.bench_drafts --documents dev.jsonl [--drafts document,rows] [--count N] [--at-once 1 64]
        [--hostile] [--out FILE]

`--documents` has one JSON object per line with `schema` and `text`. The embedded model, temperature 0, one thread, no
prefix cache: prompts are computed and counted. The documents are split into rounds of different documents, the first of
which is not measured; both engines run a round in turn. Times are processor time of this process, since others may
share the machine. `--hostile` replaces each document by its words in random order, three times: many matches, of which
the answers follow few.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from random import Random

from intaglio.engine.embedded.model_files import folder

from tests.bench.engine_alone import EngineAlone


def bodies(file: Path, count: int, *, hostile: bool) -> list[bytes]:
    """Requests for the first `count` documents of a file, from all over it."""
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines[:: max(1, len(lines) // count)][:count]]
    texts = [
        _shuffled(row["text"], seed) if hostile else row["text"] for seed, row in enumerate(rows)
    ]
    return [
        json.dumps({"schema": row["schema"], "text": text}).encode()
        for row, text in zip(rows, texts, strict=True)
    ]


def _shuffled(text: str, seed: int) -> str:
    words, dice = text.split()[:80], Random(seed)
    return " ".join(word for _ in range(3) for word in dice.sample(words, len(words)))


def measured(engine: EngineAlone, requests: list[bytes], at_once: int) -> tuple[float, int, int]:
    """Processor seconds, output tokens and passes of one round."""
    before, began = engine.metrics, time.process_time()
    engine.run(requests, at_once)
    taken, after = time.process_time() - began, engine.metrics
    return taken, after.output_tokens - before.output_tokens, after.passes - before.passes


def compared(requests: list[bytes], drafts: str, at_once: int, rounds: int) -> dict[str, object]:
    """The ratio of tokens per second with drafts to those without, median over the rounds, and the passes per token."""
    engines = {
        mode: EngineAlone(folder(), drafts=mode, prefix_caching=False, threads=1)
        for mode in ("off", drafts)
    }
    # No request is run twice by an engine: earlier answers are a source of drafts.
    size = len(requests) // (rounds + 1)
    for engine in engines.values():  # compiles schemas, and learns how often drafts stand
        engine.run(requests[:size], at_once)
    ratios, found = [], {}
    for begin in range(size, size * (rounds + 1), size):
        new = requests[begin : begin + size]
        found = {mode: measured(engine, new, at_once) for mode, engine in engines.items()}
        rate = {mode: tokens / taken for mode, (taken, tokens, _) in found.items()}
        ratios.append(rate[drafts] / rate["off"])
    counts = engines[drafts].metrics.drafts
    return {
        "drafts": drafts,
        "at_once": at_once,
        "requests": size,
        "ratio": round(statistics.median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
        "passes_per_token": {
            mode: round(passes / tokens, 3) for mode, (_, tokens, passes) in found.items()
        },
        "drafted": dict(counts.drafted),
        "accepted": dict(counts.accepted),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, required=True)
    parser.add_argument("--drafts", default="document,rows")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--at-once", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    requests = bodies(given.documents, given.count, hostile=given.hostile)
    figures = []
    for at_once in given.at_once:
        figures.append(compared(requests, given.drafts, at_once, given.rounds))
        print(json.dumps(figures[-1]), flush=True)
    if given.out is not None:
        given.out.write_text(
            json.dumps({"hostile": given.hostile, "figures": figures}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
