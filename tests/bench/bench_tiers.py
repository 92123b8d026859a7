"""Keys and values that come back from memory of the host, against computing them again, on one GPU.

    python -m tests.bench.bench_tiers [--shape 8b|0.6b] [--out FILE]

Random weights. Each row is printed, and written to FILE, as soon as it is measured:
- copies: plain copies of pinned memory, and blocks that arrive, leave, or do both at once, in GB a second;
- prefix: milliseconds to the first token of a prompt of 8,192 tokens that nothing else runs beside: computed; found in
  the pool; fetched from the host; fetched while the blocks that it replaces leave;
- beside: milliseconds between two tokens of eight streams: alone; beside prompts found in the pool; beside prompts
  fetched from the host;
- working set: requests a second over prompts that take three times the pool;
- fresh: requests a second over prompts that are never seen again, whose blocks leave for the host for nothing;
- rule: the measured rates, in tokens a second, and the tokens decided either way, after each part.
The working set and the fresh prompts are measured with the tier and without it.

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
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.types import Request, SamplingParams

from tests.bench.bench_extract import SHAPES
from tests.bench.measure_copies import copy_rates

GIB = 1 << 30
BLOCK = 16  # tokens
WARM_UPS = 2
STREAMS = 8


class Sizes:
    """The lengths of prompts in tokens, and how many.

    Prompts have four tokens more than whole blocks, which a captured step computes after the blocks have come back.
    """

    def __init__(self, *, tiny: bool) -> None:
        self.prefix = (8192 if not tiny else 256) + 4
        self.document = (2048 if not tiny else 128) + 4
        self.pool_documents = 16 if not tiny else 6
        self.repeats = 6 if not tiny else 2
        self.stream = 400 if not tiny else 30
        self.host_bytes = 16 * GIB if not tiny else 1 << 26
        self.blocks = 1 + self.pool_documents * (self.document // BLOCK + 2)
        self.fills = -(-self.blocks // (self.prefix // BLOCK))


class Table:
    """The rows measured so far."""

    def __init__(self, shape: str, device: str, out: Path | None) -> None:
        self._began = time.perf_counter()
        self._out = out
        self.found: dict[str, Any] = {"shape": shape, "device": device, "rows": {}}
        print(f"{shape} on {device}")

    def row(self, name: str, value: object, unit: str = "") -> None:
        """Print a row, and write all of them."""
        seconds = time.perf_counter() - self._began
        shown = f"{value:.4g}" if isinstance(value, float) else str(value)
        print(f"{seconds:6.0f} s  {name:52} {shown} {unit}".rstrip(), flush=True)
        self.found["rows"][name] = value
        if self._out is not None:
            self._out.write_text(json.dumps(self.found, indent=1) + "\n")

    def ratio(self, name: str, of: str, to: str) -> None:
        """A row with the ratio of two rows."""
        self.row(name, round(self.found["rows"][of] / self.found["rows"][to], 3), "times")

    def rule(self, engine: Engine, part: str) -> None:
        """The rates and decisions of the rule."""
        offloaded = engine.metrics().offloaded
        rates = {name: round(rate) for name, rate in offloaded.rates.items()}
        self.row(f"rule after {part}: rates", rates, "tokens/s")
        self.row(f"rule after {part}: decided", dict(offloaded.decided), "tokens")


@contextmanager
def engine(args: argparse.Namespace, sizes: Sizes, host_bytes: int) -> Iterator[Engine]:
    """An engine with random weights of a shape."""
    config = shape_of(args)
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
            "num_blocks": sizes.blocks,
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


def fill(engine: Engine, sizes: Sizes, seed: int) -> None:
    """Fill the pool with other prompts."""
    for number in range(sizes.fills):
        name = f"fill{seed}.{number}.{time.perf_counter()}"
        first_token_s(engine, name, prompt(sizes.prefix, -seed * 31 - number - 1))


def keep_nothing_ahead(engine: Engine) -> Any:
    """Let blocks be read when they are evicted; a function that undoes this."""
    ahead = engine._scheduler._memory._openings._early
    most, ahead._most = ahead._most, 0

    def undo() -> None:
        ahead._most = most

    return undo


def prefix(engine: Engine, sizes: Sizes, table: Table) -> None:
    """Times to the first token of a prompt. The pool is filled with known prompts, or with new ones."""
    names = ("computed", "in the pool", "from the host", "from the host, as others leave")
    found: dict[str, list[float]] = {name: [] for name in names}
    for number in range(sizes.repeats + WARM_UPS):
        tokens = prompt(sizes.prefix, number + 1)
        times = [first_token_s(engine, f"computed{number}", tokens)]
        times.append(first_token_s(engine, f"pool{number}", tokens))
        fill(engine, sizes, 0)
        times.append(first_token_s(engine, f"host{number}", tokens))
        fill(engine, sizes, 0)
        undo = keep_nothing_ahead(engine)
        fill(engine, sizes, number + 1)
        times.append(first_token_s(engine, f"exchanged{number}", tokens))
        undo()
        for name, seconds in zip(names, times, strict=True):
            found[name].append(1e3 * seconds)
    for name in names:
        measured = found[name][WARM_UPS:]
        table.row(f"prefix: first token, {name}", round(median(measured), 2), "ms")
        table.row(f"prefix: first token, {name}, all", [round(each, 2) for each in measured], "ms")


def gaps_ms(engine: Engine, sizes: Sizes, kind: str, others: list[tuple[int, ...]]) -> list[float]:
    """Gaps between the tokens of the streams, while `others` are submitted, one after every twelve steps."""
    for number in range(STREAMS):
        engine.submit(request(f"{kind}{number}", prompt(32, number), sizes.stream))
    last: dict[str, float] = {}
    gaps: list[float] = []
    step = ended = 0
    while ended < STREAMS:
        step += 1
        if others and step > 20 and step % 12 == 0:
            engine.submit(request(f"other {kind}{step}", others[step // 12 % len(others)], 1))
        deltas = engine.step()
        now = time.perf_counter()
        for delta in deltas:
            if delta.error is not None:
                raise RuntimeError(f"a request failed: {delta.error}")
            if delta.tokens and delta.request_id.startswith(kind):
                if delta.request_id in last:
                    gaps.append(1e3 * (now - last[delta.request_id]))
                last[delta.request_id] = now
            ended += delta.finish is not None and delta.request_id.startswith(kind)
    finish(engine)
    return gaps[10 * STREAMS :]


def beside(engine: Engine, sizes: Sizes, table: Table) -> None:
    """Gaps between the tokens of streams: alone, beside prompts in the pool, beside prompts from the host."""
    count = 3 * sizes.pool_documents // 2
    documents = [prompt(sizes.document, 40_000 + number) for number in range(count)]
    for turn in range(2):  # the second time all of them are on the host
        for number, tokens in enumerate(documents):
            first_token_s(engine, f"known{turn}.{number}", tokens)
    kinds = {"alone": [], "in the pool": documents[-1:], "from the host": documents}
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    before: dict[str, int] = {}
    for turn in range(4):  # by turns; the first warms up
        for kind, others in kinds.items():
            before = dict(engine.metrics().offloaded.decided)
            gaps = gaps_ms(engine, sizes, kind, others)
            found[kind] += gaps if turn else []
    moved = engine.metrics().offloaded.decided.get("fetch_host", 0) - before.get("fetch_host", 0)
    table.row("beside: tokens fetched in a turn of 'from the host'", moved)
    for kind, gaps in found.items():
        cuts = quantiles(gaps, n=100)
        table.row(f"beside: median gap, {kind}", round(cuts[49], 3), "ms")
        table.row(f"beside: p99 gap, {kind}", round(cuts[98], 3), "ms")
    p99 = "beside: p99 gap, "
    table.ratio("beside: p99, from the host to alone", p99 + "from the host", p99 + "alone")
    table.ratio(
        "beside: p99, from the host to in the pool", p99 + "from the host", p99 + "in the pool"
    )


def working_set(engine: Engine, sizes: Sizes, name: str, table: Table) -> None:
    """Requests a second, of prompts that take three times the pool, in random order, eight at once."""
    documents = [prompt(sizes.document, 90_000 + n) for n in range(3 * sizes.pool_documents)]
    dice = Random(5)
    rates = []
    for turn in range(4):
        order = list(range(len(documents)))
        dice.shuffle(order)
        tails = [(*documents[number], 301 + turn, 302 + number) for number in order]
        rate = requests_per_s(engine, f"{name} {turn}", tails)
        rates += [rate] if turn else []  # the first computes all of them
    table.row(f"working set: {name}", round(median(rates), 2), "requests/s")
    table.row(f"working set: {name}, all", [round(rate, 2) for rate in rates])


def fresh(engine: Engine, sizes: Sizes, name: str, table: Table) -> None:
    """Requests a second, of prompts that were never seen before, eight at once."""
    rates = []
    for turn in range(4):
        first = 200_000 + 1000 * turn
        documents = [prompt(sizes.document, first + n) for n in range(2 * sizes.pool_documents)]
        rates.append(requests_per_s(engine, f"fresh {name} {turn}", documents))
    table.row(f"fresh: {name}", round(median(rates[1:]), 2), "requests/s")
    table.row(f"fresh: {name}, all", [round(rate, 2) for rate in rates[1:]])


def requests_per_s(engine: Engine, name: str, prompts: list[tuple[int, ...]]) -> float:
    """Requests a second, with eight tokens of output, in rounds of eight requests."""
    began = time.perf_counter()
    for begin in range(0, len(prompts), 8):
        for number in range(begin, min(begin + 8, len(prompts))):
            engine.submit(request(f"{name}.{number}", prompts[number], 8))
        finish(engine)
    return len(prompts) / (time.perf_counter() - began)


def shape_of(args: argparse.Namespace) -> dict[str, Any]:
    """The configuration of the model."""
    config: dict[str, Any] = SHAPES[args.shape] | {"max_position_embeddings": 16_384}
    return config


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
    table = Table(args.shape, torch.cuda.get_device_name() if on_gpu else "host", args.out)
    if on_gpu:
        for name, rate in copy_rates(parse_spec(shape_of(args))):
            table.row(f"copies: {name}", round(rate / 1e9, 1), "GB/s")
        torch.cuda.empty_cache()
    with engine(args, sizes, sizes.host_bytes) as built:
        table.row("the engine with the tier is built", "")
        for part, measure in (("prefix", prefix), ("beside", beside)):
            measure(built, sizes, table)
            table.rule(built, part)
        working_set(built, sizes, "with the tier", table)
        table.rule(built, "the working set")
        fresh(built, sizes, "with the tier", table)
    with engine(args, sizes, 0) as built:
        table.row("the engine without it is built", "")
        working_set(built, sizes, "without", table)
        table.ratio("working set: ratio", "working set: with the tier", "working set: without")
        fresh(built, sizes, "without", table)
        table.ratio("fresh: ratio", "fresh: with the tier", "fresh: without")


if __name__ == "__main__":
    main()
