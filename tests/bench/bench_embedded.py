"""The embedded model on a CPU as its users meet it, over HTTP: one request, the first field, many requests at once.

    python -m tests.bench.bench_embedded [--model FOLDER] [--requests 20] [--at-once 16] [--only one first many load]

Letters of about 300 tokens with an answer of about 60, no two the same; the engine in a process of its own, with its
default settings. Beside the times stand what they cannot fall below on this machine: the matrices are read once for
each token of one sequence, at the measured rate of a copy, and multiplied at the measured rate of torch's float32
product. Times are of this machine and moment; compare their ratios to the floor.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import torch
from intaglio.engine.api import EngineConfig, Launch, model_folder

from tests.support.live_service import EXAMINING, live

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order_number": {"type": "string"},
        "customer": {"type": "string"},
        "total": {"type": "number", "minimum": 0},
        "currency": {"enum": ["EUR", "USD", "GBP"]},
        "delivery_date": {"type": ["string", "null"], "format": "date"},
        "carrier": {"type": "string"},
        "payment_method": {"type": "string"},
    },
    "required": [
        "order_number",
        "customer",
        "total",
        "currency",
        "delivery_date",
        "carrier",
        "payment_method",
    ],
    "additionalProperties": False,
}
NAMES = ("Ada Okafor", "Jonas Weber", "Marta Ruiz", "Priya Nair", "Luc Moreau")
CLOSING = (
    "The parcel is packed in two boxes, and the driver will call half an hour ahead. Please have someone at the door "
    "who can sign for it. Returns are accepted within thirty days if the seal is unbroken, and we refund the price by "
    "the way it was paid. Our opening hours are Monday to Friday from nine to five; outside of them the mailbox takes "
    "messages, and we answer on the next working day."
)
GOALS = {"one": "<= 0.8 s", "first": "<= 0.25 s", "many": ">= 400", "load": "<= 1.5 s"}


@dataclass(frozen=True)
class Answer:
    """What one request took, in seconds, and its tokens."""

    took_s: float
    prompt_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Machine:
    """What this machine can do: bytes per second of a copy, and float32 operations per second of a product."""

    bytes_per_s: float
    operations_per_s: float

    @classmethod
    def measured(cls) -> "Machine":
        source = torch.ones(64 << 20, dtype=torch.uint8)
        target = torch.empty_like(source)
        left, right = torch.ones(512, 1024), torch.ones(1024, 1024)
        copy = _best(lambda: target.copy_(source))
        product = _best(lambda: torch.mm(left, right))
        return cls(2 * source.numel() / copy, 2 * left.numel() * right.shape[1] / product)


def _best(work: Any) -> float:
    times = []
    for _ in range(12):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def letter(number: int) -> str:
    """A letter of about 300 tokens; `number` gives its values."""
    return (
        f"Dear {NAMES[number % len(NAMES)]},\nthank you for your order no. A-{20417 + 37 * number}. {CLOSING}\n"
        f"Total: {129.9 + number:.2f} EUR, paid by credit card\nDelivery date: {1 + number % 28} June 2026 "
        "with Nordpost\n"
        f"Kind regards, your team {number % 89}"
    )


async def extract(http: httpx2.AsyncClient, number: int) -> Answer:
    """One request and its answer. Raises RuntimeError where it is not right."""
    began = time.perf_counter()
    response = await http.post("/v1/extract", json={"schema": SCHEMA, "text": letter(number)})
    took = time.perf_counter() - began
    response.raise_for_status()
    answer = response.json()
    if answer["data"]["order_number"] != f"A-{20417 + 37 * number}":
        raise RuntimeError(f"letter {number} was answered with {answer['data']}")
    return Answer(took, answer["usage"]["prompt_tokens"], answer["usage"]["output_tokens"])


async def first_field(http: httpx2.AsyncClient, number: int) -> float:
    """Seconds until the first field of a streamed answer is complete."""
    began, found = time.perf_counter(), 0.0
    body = {"schema": SCHEMA, "text": letter(number), "stream": True}
    async with http.stream("POST", "/v1/extract", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("event: field.completed") and not found:
                found = time.perf_counter() - began
    return found


async def measured(url: str, args: argparse.Namespace) -> dict[str, Any]:
    """The figures that `--only` names."""
    figures: dict[str, Any] = {}
    limits = httpx2.Limits(max_connections=args.at_once)
    async with httpx2.AsyncClient(base_url=url, timeout=600, limits=limits) as http:
        for number in range(3):
            await extract(http, number)  # the schema becomes known
        if "one" in args.only:
            figures["one"] = [await extract(http, 100 + i) for i in range(args.requests)]
        if "first" in args.only:
            figures["first"] = [await first_field(http, 500 + i) for i in range(args.requests)]
        if "many" in args.only:
            numbers = iter(range(1000, 1000 + 6 * args.at_once))

            async def client() -> list[Answer]:
                return [await extract(http, number) for number in numbers]

            began = time.perf_counter()
            answers = await asyncio.gather(*(client() for _ in range(args.at_once)))
            wall = time.perf_counter() - began
            figures["many"] = (wall, [answer for found in answers for answer in found])
    return figures


def load_seconds(folder: Path) -> float:
    """Seconds that a process of its own takes to load the weights, imports not counted."""
    script = (
        "import sys, time; from pathlib import Path\n"
        "from intaglio.engine.config import EngineConfig\n"
        "from intaglio.engine.host.build_engine import build\n"
        "began = time.perf_counter(); build(EngineConfig.load({'model': sys.argv[1]}))\n"
        "print(time.perf_counter() - began)"
    )
    command = [sys.executable, "-P", "-c", script, str(folder)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def rows(
    figures: dict[str, Any], folder: Path, machine: Machine
) -> list[tuple[str, str, str, str]]:
    """Name, measured, floor and goal of each figure."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    size = config["hidden_size"]
    heads = config["num_attention_heads"] + config["num_key_value_heads"]
    layer = 2 * size * heads * config["head_dim"] + 3 * size * config["intermediate_size"]
    layers, head = config["num_hidden_layers"] * layer, config["vocab_size"] * size
    step = (layers + 2 * head) / machine.bytes_per_s  # int8 matrices, and a head of bfloat16
    prompt = 2 * layers / machine.operations_per_s
    found = []
    if "one" in figures:
        some: list[Answer] = figures["one"]
        tokens = statistics.median(answer.output_tokens for answer in some)
        read = statistics.median(answer.prompt_tokens for answer in some)
        took = statistics.median(answer.took_s for answer in some)
        least = f"{tokens * step + read * prompt:.2f} without drafts"
        found.append(
            (
                f"one request, {read:.0f} + {tokens:.0f} tokens, s",
                f"{took:.2f}",
                least,
                GOALS["one"],
            )
        )
    if "first" in figures:
        first = statistics.median(figures["first"])
        found.append(("first field streamed, s", f"{first:.2f}", "", GOALS["first"]))
    if "many" in figures:
        wall, answers = figures["many"]
        written = sum(answer.output_tokens for answer in answers)
        read = sum(answer.prompt_tokens for answer in answers)
        most = f"{written / ((read + written) * prompt):.0f}"
        found.append(
            ("output tokens/s, many at once", f"{written / wall:.0f}", most, GOALS["many"])
        )
        found.append(
            (
                "prompt tokens/s beside them",
                f"{read / wall:.0f}",
                f"{1 / prompt:.0f} alone",
                ">= 5000",
            )
        )
    if "load" in figures:
        found.append(("load, s", f"{figures['load']:.2f}", "", GOALS["load"]))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--requests", type=int, default=20)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--only", nargs="*", default=list(GOALS), choices=list(GOALS))
    args = parser.parse_args(arguments)
    folder = model_folder(args.model and str(args.model))
    machine = Machine.measured()
    launch = Launch.of(EngineConfig.load({"model": str(folder)}, environ={}))
    with live(launch, folder, grammar=EXAMINING) as service:
        figures = asyncio.run(measured(service.url, args))
    if "load" in args.only:
        figures["load"] = load_seconds(folder)
    cores, copy = torch.get_num_threads(), machine.bytes_per_s / 1e9
    print(
        f"{cores} threads, copy {copy:.1f} GB/s, float32 product {machine.operations_per_s / 1e9:.0f} GFLOP/s"
    )
    print(f"{'':42}{'measured':>10}{'floor':>24}{'goal':>12}")
    for name, value, floor, goal in rows(figures, folder, machine):
        print(f"{name:42}{value:>10}{floor:>24}{goal:>12}")


if __name__ == "__main__":
    main()
