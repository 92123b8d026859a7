"""`python -m tests.bench.bench_deterministic`: the price of a deterministic engine on a CPU, as ratios of one run.

Runs the same requests with the setting and without it, in turn, at several numbers of requests at once. Prints the
processor time of each as a ratio to the plain engine; absolute times are an indication.
"""

import argparse
import json
import random
import statistics
import time
from pathlib import Path

from intaglio.engine.config import EngineConfig
from intaglio.engine.embedded.model_files import folder
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.build_engine import build
from intaglio.engine.types import Request, SamplingParams

PROMPT, OUTPUT = 256, 48


def engine(model: Path, deterministic: bool) -> Assembly:
    settings = {"model": str(model), "deterministic": deterministic, "threads": 1}
    more = {"grammar_isolation": "never", "grammar_store": "off", "prefix_caching": False}
    return build(EngineConfig.load({**settings, **more}, environ={}))


def seconds(assembly: Assembly, at_once: int, seed: int) -> float:
    """Processor time of `at_once` requests together."""
    rng = random.Random(seed)
    for number in range(at_once):
        prompt = tuple(rng.randrange(300, 8000) for _ in range(PROMPT))
        sampling = SamplingParams(max_tokens=OUTPUT, temperature=0, ignore_eos=True)
        assembly.engine.submit(Request(id=str(number), prompt=prompt, sampling=sampling))
    began = time.process_time()
    while assembly.engine.open_requests:
        assembly.engine.step()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8, 64])
    asked = parser.parse_args()
    engines = {name: engine(asked.model or folder(), name) for name in (False, True)}
    for at_once in asked.at_once:
        ratios, plain = [], []
        for turn in range(asked.rounds + 1):
            took = {name: seconds(each, at_once, turn) for name, each in engines.items()}
            if turn:  # the first one warms up
                ratios.append(took[True] / took[False])
                plain.append(took[False])
        found = {
            "at_once": at_once,
            "ratio": round(statistics.median(ratios), 3),
            "ratios": [round(ratio, 3) for ratio in ratios],
            "plain_s": round(statistics.median(plain), 3),
        }
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
