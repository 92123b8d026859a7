"""`pick` against the floor: logits and mask bits read once at the bandwidth of a large copy.

Run on a GPU: `python -m tests.bench.bench_pick [--out FILE] [--short]`. Each figure is the median of replays of a CUDA
graph that calls over several input sets, together larger than the cache. Logits are normal with deviation 2; masks
allow 64 tokens, half, or 95% of them at random; `free` has no mask.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from intaglio.kernels.contracts import Draw, PickArgs, Truncation
from intaglio.kernels.pick import Picker
from torch import Tensor

VOCAB = 151_936
BANDWIDTH = 4.277e12  # bytes a second, read and written, of a large copy on one H200
DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
DENSITIES = {"64": 64 / VOCAB, "half": 0.5, "95%": 0.95, "free": 1.0}
KINDS = ("greedy", "draw", "draw+logprob", "T=0.8+logprob", "mass", "k50,p.95", "p.95", "min-p.05")


@dataclass(frozen=True)
class Inputs:
    """One set of inputs of a call."""

    logits: Tensor
    masks: Tensor | None
    keys: Tensor


def inputs(batch: int, dtype: torch.dtype, density: float) -> Inputs:
    logits = (torch.randn(batch, VOCAB, device="cuda") * 2).to(dtype)
    masks = None
    if density < 1:
        bits = torch.rand(batch, VOCAB, device="cuda") < density
        weights = 1 << torch.arange(32, device="cuda")
        masks = (bits.view(batch, -1, 32) * weights).sum(-1).to(torch.int32)
    keys = torch.randint(0, 2**32, (batch, 2), device="cuda")
    return Inputs(logits, masks, keys)


def arguments(given: Inputs, kind: str) -> PickArgs:
    batch = given.logits.shape[0]
    ones = torch.ones(batch, device="cuda")
    draw = Draw(ones * (0.8 if kind.startswith("T") else 1.0), given.keys)
    truncation = None
    if kind == "k50,p.95":
        truncation = Truncation((ones * 50).long(), ones * 0.95, ones * 0)
    elif kind == "p.95":
        truncation = Truncation((ones * 0).long(), ones * 0.95, ones * 0)
    elif kind.startswith("min-p"):
        truncation = Truncation((ones * 0).long(), ones, ones * 0.05)
    return PickArgs(
        VOCAB,
        masks=given.masks,
        draw=None if kind == "greedy" else draw,
        truncation=truncation,
        top=0 if "logprob" in kind else None,
        mass=kind == "mass",
    )


def microseconds(calls: list[Callable[[], object]], replays: int = 15) -> float:
    """Median time of one call, over replays of a graph of all of them."""
    for call in calls[:2]:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    kept = []
    with torch.cuda.graph(graph):
        for call in calls:
            kept.append(call())  # noqa: PERF401 - outputs live as long as the graph
    times = []
    for _ in range(replays + 2):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / len(calls))
    return statistics.median(times[2:])


def measure(picker: Picker, dtype: str, batch: int, density: str, kinds: tuple[str, ...]) -> list:
    size = batch * VOCAB * DTYPES[dtype].itemsize
    sets = [
        inputs(batch, DTYPES[dtype], DENSITIES[density])
        for _ in range(min(max(2, -(-160_000_000 // size)), 200))
    ]
    read = size + (0 if density == "free" else batch * VOCAB // 8)
    rows = []
    for kind in kinds:
        prepared = [(s.logits, arguments(s, kind)) for s in sets]
        took = microseconds([lambda p=p: picker.pick(*p) for p in prepared])
        floor = read / BANDWIDTH * 1e6
        rows.append(
            {
                "dtype": dtype,
                "batch": batch,
                "mask": density,
                "kind": kind,
                "us": round(took, 2),
                "floor_us": round(floor, 2),
                "ratio": round(took / floor, 2),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--short", action="store_true", help="the cases with a target")
    options = parser.parse_args()
    torch.manual_seed(0)
    picker = Picker(torch.device("cuda"), 1024)
    rows = []
    for dtype in DTYPES:
        for batch in (256,) if options.short else (1, 32, 256, 1024):
            for density in DENSITIES:
                kinds = KINDS if density in ("half", "free") or batch == 256 else KINDS[:3]
                rows += measure(picker, dtype, batch, density, kinds)
    for row in rows:
        print(" ".join(f"{value!s:>13}" for value in row.values()))
    if options.out:
        device = torch.cuda.get_device_name()
        options.out.write_text(json.dumps({"device": device, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
