"""Sampling against its lower bound: one read of the logits at the bandwidth of a large copy, measured in the same run.

Run on a GPU: `python -m tests.bench.bench_pick [--out FILE] [--short]`. Each figure is the median of replays of a CUDA
graph that calls over several input sets, together larger than the cache, and often enough that the launch of the graph
does not count. Logits are normal with deviation 2; masks allow 64 tokens, half, or 95% of them at random; `free` has no
mask. `ratio` is against logits and mask bits, `/logits` against the logits alone.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from intaglio.kernels.runtime.precompile import compile_ahead
from intaglio.kernels.sample.logits_pipeline import TokenSampler
from intaglio.kernels.sampling_contracts import Draw, SampleArgs, Truncation
from torch import Tensor

from tests.bench.roofline import copy_bandwidth

VOCAB = 151_936
DEVICE = torch.device("cuda")
DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
DENSITIES = {"64": 64 / VOCAB, "half": 0.5, "95%": 0.95, "free": 1.0}
KINDS = ("greedy", "draw", "draw+logprob", "T=0.8+logprob", "k50,p.95", "p.95", "min-p.05")
CALLS = 24  # at least, in a graph
SHORT = ("greedy", "draw", "draw+logprob", "k50,p.95", "p.95")


@dataclass(frozen=True)
class Inputs:
    """One set of inputs of a call."""

    logits: Tensor
    masks: Tensor | None
    keys: Tensor


def inputs(batch: int, dtype: torch.dtype, density: float) -> Inputs:
    logits = (torch.randn(batch, VOCAB, device=DEVICE) * 2).to(dtype)
    masks = None
    if density < 1:
        bits = torch.rand(batch, VOCAB, device=DEVICE) < density
        weights = 1 << torch.arange(32, device=DEVICE)
        masks = (bits.view(batch, -1, 32) * weights).sum(-1).to(torch.int32)
    keys = torch.randint(0, 2**32, (batch, 2), device=DEVICE)
    return Inputs(logits, masks, keys)


def arguments(given: Inputs, kind: str) -> SampleArgs:
    batch = given.logits.shape[0]
    ones = torch.ones(batch, device=DEVICE)
    draw = Draw(ones * (0.8 if kind.startswith("T") else 1.0), given.keys)
    truncation = None
    if kind == "k50,p.95":
        truncation = Truncation((ones * 50).long(), ones * 0.95, ones * 0)
    elif kind == "p.95":
        truncation = Truncation((ones * 0).long(), ones * 0.95, ones * 0)
    elif kind.startswith("min-p"):
        truncation = Truncation((ones * 0).long(), ones, ones * 0.05)
    return SampleArgs(
        VOCAB,
        masks=given.masks,
        draw=None if kind == "greedy" else draw,
        truncation=truncation,
        top=0 if "logprob" in kind else None,
    )


def microseconds(calls: list[Callable[[], object]], replays: int = 15) -> float:
    """Median time of one call, over replays of a graph of all of them."""
    for call in calls[:2]:
        call()
    calls = calls * -(-CALLS // len(calls))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    kept = []
    with torch.cuda.graph(graph):
        for call in calls:
            kept.append(call())  # noqa: PERF401 - outputs live as long as the graph
    times: list[float] = []
    for _ in range(replays + 2):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / len(calls))
    return statistics.median(times[2:])


Prepared = tuple[Tensor, SampleArgs]


def prepare(batch: int, dtype: str, density: str, kinds: tuple[str, ...]) -> list[list[Prepared]]:
    """By kind, the arguments of calls that together read more than the cache holds."""
    size = batch * VOCAB * DTYPES[dtype].itemsize
    sets = [
        inputs(batch, DTYPES[dtype], DENSITIES[density])
        for _ in range(min(max(2, -(-160_000_000 // size)), 200))
    ]
    return [[(s.logits, arguments(s, kind)) for s in sets] for kind in kinds]


def _sample_each(picker: TokenSampler, prepared: list[list[Prepared]]) -> None:
    """One call of each kind."""
    for calls in prepared:
        picker.sample(*calls[0])


def figure(picker: TokenSampler, calls: list[Prepared], bandwidth: float) -> dict[str, float]:
    """Time of a call, and its floors."""
    logits, args = calls[0]
    masks = 0 if args.masks is None else args.masks.nbytes
    took = microseconds([partial(picker.sample, *call) for call in calls])
    alone, floor = (read / bandwidth * 1e6 for read in (logits.nbytes, logits.nbytes + masks))
    return {
        "us": round(took, 2),
        "floor_us": round(floor, 2),
        "ratio": round(took / floor, 3),
        "/logits": round(took / alone, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--short", action="store_true", help="the cases with a target, and a few")
    options = parser.parse_args()
    torch.manual_seed(0)
    picker, bandwidth = TokenSampler(DEVICE, 1024), copy_bandwidth()
    print(f"copy {bandwidth / 1e12:.3f} TB/s")
    rows = []
    for dtype in DTYPES:
        for batch in (256,) if options.short else (1, 32, 256, 1024):
            for density in ("64", "half") if options.short else DENSITIES:
                kinds: tuple[str, ...] = (
                    KINDS if density in ("half", "free") or batch == 256 else KINDS[:3]
                )
                kinds = SHORT if options.short else kinds
                prepared = prepare(batch, dtype, density, kinds)
                compile_ahead(partial(_sample_each, picker, prepared))
                for kind, calls in zip(kinds, prepared, strict=True):
                    case = {"dtype": dtype, "batch": batch, "mask": density, "kind": kind}
                    rows.append(case | figure(picker, calls, bandwidth))
                    print(" ".join(f"{value!s:>13}" for value in rows[-1].values()), flush=True)
    if options.out:
        found = {"device": torch.cuda.get_device_name(), "bandwidth": bandwidth, "rows": rows}
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
