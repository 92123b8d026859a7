"""The attention of prompts by every back end there is: ours, FlashInfer where it is installed, torch's flash attention.

    python -m tests.bench.bench_attention [--out table.json] [--commit ID]

Ours and FlashInfer place the new tokens (rotate, store) and read the paged cache; torch's gets keys and values side by
side, already in place, and is left out where contexts are longer than what is new. Milliseconds are medians of ten
passes; "plan" is what the host does for a step before. Operations count the causal half of the products.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from intaglio.kernels.attention.flashinfer import FlashInfer
from intaglio.kernels.contracts import Attend, HostRagged, Places, Ragged
from intaglio.kernels.dispatch import choose

from tests.bench.figures import keep

DEVICE = torch.device("cuda")
TYPE = torch.bfloat16
BLOCK = 16
PASSES = 10

HEADS = {"8B": (32, 8, 128), "0.6B": (16, 8, 128), "embedded": (6, 2, 64)}
STEPS = {
    "one prompt of 8,192": ([8192], [8192]),
    "8 prompts of 1,024": ([1024] * 8, [1024] * 8),
    "64 prompts of 128": ([128] * 64, [128] * 64),
    "the last 2,048 of 16,384": ([16384], [2048]),
    "2,048 beside 256 tokens at 800": ([2048, *([800] * 256)], [2048, *([1] * 256)]),
}
"""Context lengths and new tokens of the sequences of a step."""


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    heads: str
    step: str
    backend: str
    ms: float
    plan_ms: float
    tflops: float


@dataclass(frozen=True)
class Case:
    """A step on the device and on the host, in shuffled blocks."""

    ragged: Ragged
    places: Places
    fused: torch.Tensor
    cache: torch.Tensor
    lengths: list[int]
    counts: list[int]


def case(lengths: list[int], counts: list[int], heads: tuple[int, int, int]) -> Case:
    query, kv, dim = heads
    needs = [-(-length // BLOCK) for length in lengths]
    tables = torch.zeros((len(lengths), max(needs)), dtype=torch.int32)
    blocks = torch.randperm(sum(needs)).int() + 1
    positions, slots, begin = [], [], 0
    for s, (length, count, need) in enumerate(zip(lengths, counts, needs, strict=True)):
        mine = blocks[begin : begin + need]
        tables[s, :need], begin = mine, begin + need
        at = torch.arange(length - count, length)
        positions.append(at)
        slots.append(mine[at // BLOCK] * BLOCK + at % BLOCK)
    starts = torch.tensor([0, *np.cumsum(counts).tolist()], dtype=torch.int32)
    host = HostRagged(
        starts.numpy().astype(np.int64), np.array(lengths), np.arange(len(lengths)), tables.numpy()
    )
    ragged = Ragged(
        starts.to(DEVICE), torch.tensor(lengths).int().to(DEVICE), tables.to(DEVICE), host=host
    )
    angles = torch.randn((max(lengths), dim), device=DEVICE)
    places = Places(
        angles.cos().to(TYPE),
        angles.sin().to(TYPE),
        torch.cat(positions).int().to(DEVICE),
        torch.cat(slots).int().to(DEVICE),
    )
    fused = torch.randn((sum(counts), query + 2 * kv, dim), device=DEVICE).to(TYPE)
    cache = torch.randn((2, sum(needs) + 1, BLOCK, kv, dim), device=DEVICE).to(TYPE)
    return Case(ragged, places, fused, cache, lengths, counts)


def timed(call: Callable[[], object]) -> float:
    """Median milliseconds on the device."""
    times: list[float] = []
    for _ in range(PASSES + 2):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(1_000_000)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[2:])


def paged(attend: Attend, step: Case, heads: int) -> tuple[float, float]:
    """Milliseconds of a pass, and of its preparation on the host."""
    plans = []
    for _ in range(PASSES + 2):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        attention = attend(step.ragged, step.places, heads, step.cache.shape)
        plans.append((time.perf_counter() - begin) * 1000)
    return timed(lambda: attention.run(step.fused, None, step.cache)), statistics.median(plans[2:])


def side_by_side(step: Case, heads: tuple[int, int, int]) -> float:
    """Milliseconds of torch's flash attention over sequences of different lengths."""
    query, kv, dim = heads
    q, k, v = (part.contiguous() for part in step.fused.split((query, kv, kv), 1))
    starts, longest = step.ragged.query_starts, max(step.counts)
    flash = partial(
        torch.ops.aten._flash_attention_forward,
        dropout_p=0.0,
        is_causal=True,
        return_debug_mask=False,
        scale=dim**-0.5,
    )
    return timed(lambda: flash(q, k, v, starts, starts, longest, longest))


def figures() -> Iterator[Figure]:
    ours = choose(DEVICE).attend
    for name, heads in HEADS.items():
        query, kv, dim = heads
        backends: dict[str, Callable[..., Any]] = {"ours": ours}
        if find_spec("flashinfer") is not None:
            backends["flashinfer"] = FlashInfer(DEVICE, TYPE, query, kv, dim).attend
        for title, (lengths, counts) in STEPS.items():
            step = case(lengths, counts, heads)
            seen = sum(
                count * (length - count) + count * (count + 1) // 2
                for length, count in zip(lengths, counts, strict=True)
            )
            work = 4 * seen * query * dim / 1e9
            for backend, attend in backends.items():
                ms, plan = paged(attend, step, query)
                yield Figure(name, title, backend, ms, plan, work / ms)
            if lengths == counts:
                ms = side_by_side(step, heads)
                yield Figure(name, title, "torch", ms, 0.0, work / ms)


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--commit", default="unknown")
    arguments = parser.parse_args()
    rows = []
    for figure in figures():
        rows.append(figure)
        print(
            f"{figure.heads:<10}{figure.step:<32}{figure.backend:<12}{figure.ms:>9.3f} ms"
            f"{figure.plan_ms:>8.2f} ms to plan{figure.tflops:>7.0f} TFLOP/s",
            flush=True,
        )
    if arguments.out is not None:
        keep(arguments.out, rows, arguments.commit)


if __name__ == "__main__":
    main()
