"""Keys and values that come back from memory of the host, against computing them again, on one GPU.

    python -m tests.bench.bench_tiers [--shape 8b|0.6b] [--out FILE]

Random weights. Four measurements:
- link: bytes a second of one copy of 1 GiB from pinned memory to the device, the rate that the tier is held against;
- prefix: seconds to the first token of a prompt of 8,192 tokens that nothing else runs beside, computed and fetched;
- beside: milliseconds between two tokens of eight streams, alone, and while prompts of others are fetched;
- working set: requests a second over prompts that take three times the pool, with the tier and without it.

`--shape tiny --device cpu` tries the script on a host: its figures mean nothing.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.loop import Engine
from intaglio.engine.model.checkpoint import model_folder
from intaglio.engine.types import Request, SamplingParams

from tests.bench.bench_extract import SHAPES

GIB = 1 << 30
BLOCK = 16  # tokens
WARM_UPS = 2


class Sizes:
    """The lengths of prompts in tokens, and how many.

    Prompts have four tokens more than whole blocks, which a captured step computes after the blocks have come back.
    """

    def __init__(self, *, tiny: bool) -> None:
        self.prefix = (8192 if not tiny else 256) + 4
        self.document = (2048 if not tiny else 128) + 4
        self.pool_documents = 16 if not tiny else 6
        self.repeats = 6 if not tiny else 2
        self.stream = 400 if not tiny else 40
        self.host_bytes = 16 * GIB if not tiny else 1 << 26


@contextmanager
def engine(args: argparse.Namespace, blocks: int, host_bytes: int) -> Iterator[Engine]:
    """An engine with random weights of a shape, and a pool of `blocks`."""
    config = SHAPES[args.shape] | {"max_position_embeddings": 16_384}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
            shutil.copy(model_folder() / name, folder / name)
        (folder / "config.json").write_text(json.dumps(config))
        settings = {
            "model": str(folder),
            "weights": "random",
            "device": args.device,
            "max_running": 32,
            "max_batched_tokens": 8192 if args.device == "cuda" else 256,
            "max_context": 9000 if args.device == "cuda" else 400,
            "num_blocks": blocks,
            "kv_host_bytes": host_bytes,
            "grammar_store": "off",
        }
        assembly = build(EngineConfig.load(settings, {}))
    assert isinstance(assembly.engine, Engine)
    try:
        yield assembly.engine
    finally:
        assembly.close()


def prompt(length: int, seed: int) -> tuple[int, ...]:
    dice = Random(seed)
    return tuple(dice.randrange(300, 8000) for _ in range(length))


def request(name: str, tokens: tuple[int, ...], output: int) -> Request:
    sampling = SamplingParams(temperature=0, max_tokens=output, ignore_eos=True)
    return Request(id=name, prompt=tokens, sampling=sampling)


def first_token_s(engine: Engine, name: str, tokens: tuple[int, ...]) -> float:
    """Seconds from the submission of a request to its only token."""
    began = time.perf_counter()
    engine.submit(request(name, tokens, 1))
    finish(engine)
    return time.perf_counter() - began


def finish(engine: Engine) -> None:
    while engine.open_requests:
        for delta in engine.step():
            if delta.error is not None:
                raise RuntimeError(f"a request failed: {delta.error}")


def evict(engine: Engine, sizes: Sizes, seed: int) -> None:
    """Fill the pool with other prompts."""
    for number in range(3):
        first_token_s(engine, f"evict{seed}.{number}", prompt(sizes.prefix, -seed * 7 - number))


def prefix(engine: Engine, sizes: Sizes) -> dict[str, Any]:
    """Seconds to the first token of a prompt, computed and fetched, and the rate of fetching in tokens a second."""
    computed, fetched = [], []
    for number in range(sizes.repeats + WARM_UPS):
        tokens = prompt(sizes.prefix, number + 1)
        computed.append(first_token_s(engine, f"computed{number}", tokens))
        evict(engine, sizes, number + 1)
        fetched.append(first_token_s(engine, f"fetched{number}", tokens))
        evict(engine, sizes, number + 1000)
    rates = engine.metrics().offloaded.rates
    return {
        "computed_s": round(median(computed[WARM_UPS:]), 4),
        "fetched_s": round(median(fetched[WARM_UPS:]), 4),
        "fetched_all_s": [round(each, 4) for each in fetched],
        "tokens_per_s": {name: round(rate) for name, rate in rates.items()},
    }


def beside(engine: Engine, sizes: Sizes) -> dict[str, float]:
    """Gaps between the tokens of eight streams, in milliseconds: alone, and while prompts are fetched."""
    known = [prompt(sizes.document, 40_000 + number) for number in range(8)]
    for number, tokens in enumerate(known):
        first_token_s(engine, f"known{number}", tokens)
    evict(engine, sizes, 77)
    found = {}
    for kind in ("alone", "fetching"):
        for number in range(8):
            engine.submit(request(f"{kind}{number}", prompt(32, number), sizes.stream))
        last: dict[str, float] = {}
        gaps: list[float] = []
        for step in range(10_000):
            if kind == "fetching" and step > 20 and step % 25 == 0 and step // 25 <= len(known):
                engine.submit(request(f"f{step}", known[step // 25 - 1], 1))
            deltas = engine.step()
            now = time.perf_counter()
            for delta in deltas:
                if delta.tokens and delta.request_id.startswith(kind):
                    if delta.request_id in last:
                        gaps.append(1e3 * (now - last[delta.request_id]))
                    last[delta.request_id] = now
            if not engine.open_requests:
                break
        cuts = quantiles(gaps[80:], n=100)
        found[f"{kind}_p50_ms"], found[f"{kind}_p99_ms"] = round(cuts[49], 3), round(cuts[98], 3)
    return found


def working_set(engine: Engine, sizes: Sizes, turns: int = 3) -> float:
    """Requests a second, of prompts that take three times the pool, in random order, eight at once."""
    documents = [prompt(sizes.document, 90_000 + n) for n in range(3 * sizes.pool_documents)]
    dice = Random(5)
    seconds = 0.0
    for turn in range(turns):
        order = list(range(len(documents)))
        dice.shuffle(order)
        began = time.perf_counter()
        for begin in range(0, len(order), 8):
            for number in order[begin : begin + 8]:
                tail = (301 + turn, 302 + number)
                engine.submit(request(f"w{turn}.{number}", documents[number] + tail, 8))
            finish(engine)
        if turn:  # the first computes all of them
            seconds += time.perf_counter() - began
    return (turns - 1) * len(documents) / seconds


def link_rate() -> float:
    """Bytes a second from pinned memory to the device."""
    source = torch.empty(GIB, dtype=torch.uint8, pin_memory=True)
    target = torch.empty(GIB, dtype=torch.uint8, device="cuda")
    best = 0.0
    for _ in range(4):
        torch.cuda.synchronize()
        began = time.perf_counter()
        target.copy_(source, non_blocking=True)
        torch.cuda.synchronize()
        best = max(best, GIB / (time.perf_counter() - began))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--shape", choices=SHAPES, default="8b")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    on_gpu = args.device == "cuda"
    sizes = Sizes(tiny=not on_gpu)
    found: dict[str, Any] = {
        "shape": args.shape,
        "device": torch.cuda.get_device_name() if on_gpu else "host",
        "link_gb_per_s": round(link_rate() / 1e9, 1) if on_gpu else None,
    }
    blocks = 1 + 3 * (sizes.prefix // BLOCK + 1)
    with engine(args, blocks, sizes.host_bytes) as built:
        found["prefix"] = prefix(built, sizes)
        print(json.dumps(found), flush=True)
        found["beside"] = beside(built, sizes)
        print(json.dumps(found["beside"]), flush=True)
    small = 1 + sizes.pool_documents * (sizes.document // BLOCK + 2)
    rates = {}
    for name, host_bytes in (("without", 0), ("with", sizes.host_bytes)):
        with engine(args, max(small, 1 + 9000 // BLOCK + 1), host_bytes) as built:
            rates[name] = round(working_set(built, sizes), 2)
            if host_bytes:
                rates["decided"] = built.metrics().offloaded.decided  # type: ignore[assignment]
        print(name, rates[name], flush=True)
    found["working_set"] = rates | {"ratio": round(rates["with"] / rates["without"], 2)}
    print(json.dumps(found, indent=1))
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
