"""Measures a model in stages on CPUs: several steps in flight against one, and against one process.

    python -m tests.bench.bench_stages --stages 2 --sequences 32 --rounds 5 --out FILE

The engines are built once and take turns, so that other work on the machine slows all of them alike. Every round gives
each engine the same requests: greedy, without a constraint, prompts of `--prompt` tokens, `--output` tokens each. The
figures are output tokens a second by round, and the median over rounds of the ratio within a round.
"""

import argparse
import json
import os
import platform
import random
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from intaglio.engine.api import EngineConfig, LocalEngine, Request, SamplingParams, model_folder


def requests(count: int, prompt: int, output: int, vocabulary: int, seed: int) -> list[Request]:
    """Different prompts, so that none is found in the prefix cache."""
    dice = random.Random(seed)
    sampling = SamplingParams(temperature=0, max_tokens=output, ignore_eos=True)
    return [
        Request(
            id=f"{seed}.{number}",
            prompt=tuple(dice.randrange(300, vocabulary) for _ in range(prompt)),
            sampling=sampling,
        )
        for number in range(count)
    ]


def rate(engine: LocalEngine, asked: list[Request]) -> float:
    """Output tokens a second."""
    began = time.perf_counter()
    count = sum(len(delta.tokens) for delta in engine.generate(asked))
    return count / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures a model in stages.")
    parser.add_argument("--model", type=Path, default=Path(model_folder(None)))
    parser.add_argument("--stages", type=int, default=2)
    parser.add_argument("--sequences", type=int, default=32)
    parser.add_argument("--prompt", type=int, default=64)
    parser.add_argument("--output", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    base: dict[str, Any] = {"model": str(given.model), "device": "cpu", "drafts": "off"}
    cores = len(os.sched_getaffinity(0))
    kinds: dict[str, dict[str, Any]] = {
        "one process": {"threads": cores},
        "one process, its threads": {"threads": max(1, cores // given.stages)},
        "one step in flight": {"pp": given.stages, "pp_batches": 1},
        "as many as stages": {"pp": given.stages},
    }
    found: dict[str, list[float]] = {name: [] for name in kinds}
    loads = []
    with ExitStack() as closing:
        engines = {}
        for name, settings in kinds.items():
            built = LocalEngine.build(EngineConfig.load({**base, **settings}, environ={}))
            closing.callback(built.close)
            engines[name] = built
        vocabulary = next(iter(engines.values())).info.vocabulary
        for number in range(given.rounds + 1):  # the first warms up
            asked = requests(given.sequences, given.prompt, given.output, vocabulary, number)
            for name, engine in engines.items():
                tokens = rate(engine, asked)
                if number:
                    found[name].append(round(tokens, 1))
            loads.append(os.getloadavg()[0])
    serial, filled = found["one step in flight"], found["as many as stages"]
    figures = {
        "command": f"python -m tests.bench.bench_stages --stages {given.stages} --sequences "
        f"{given.sequences} --prompt {given.prompt} --output {given.output} --rounds {given.rounds}",
        "commit": given.commit,
        "device": f"{cores} cores, {platform.machine()}",
        "load_average": [round(load, 1) for load in loads[1:]],
        "tokens_per_s": found,
        "median_tokens_per_s": {name: median(rates) for name, rates in found.items()},
        "in_flight_over_one": round(median(b / a for a, b in zip(serial, filled, strict=True)), 2),
    }
    print(json.dumps(figures, indent=1))
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
