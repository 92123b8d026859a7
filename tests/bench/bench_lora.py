"""Steps of the 8B shape with adapters against steps without, on a GPU.

    python -m tests.bench.bench_lora [--out FILE] [--layers 32] [--rank 16]

Random weights in bfloat16, adapters on all linear layers. A step is the forward pass and the logits, replayed as a CUDA
graph for 1 and 64 sequences with a context of 512 tokens, and launched for eight prompts of 1,024 tokens: medians. The
step without adapters is that of the same weights without places for them. Then 64 adapters in pinned memory take turns
in 8 places: each step of 64 sequences begins with the copy of an adapter.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from intaglio.engine.model.adapter_tables import AdapterTables, adapted_decoder
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.model.weights import random_decoder
from intaglio.kernels.gpu import GpuKernels

from tests.bench.bench_quant import (
    BLOCK,
    CONFIG,
    CONTEXT,
    DEVICE,
    PROMPT,
    PROMPTS,
    Step,
    milliseconds,
)

PLACES, SWAPPED, SWAPS = 8, 64, 192
ONE, EIGHT, SWAP = 1.04, 1.10, 2.0


@dataclass(frozen=True)
class Case:
    """A step: the tokens of each sequence, their context, and the number of adapters, which take turns by row."""

    counts: tuple[int, ...]
    context: int
    adapters: int
    most: float | None = None

    @property
    def is_prompt(self) -> bool:
        return self.counts[0] > 1


CASES = {
    "batch 1, one adapter": Case((1,), CONTEXT, 1, ONE),
    "batch 64, no row with one": Case((1,) * 64, CONTEXT, 0),
    "batch 64, one adapter": Case((1,) * 64, CONTEXT, 1, ONE),
    "batch 64, eight adapters": Case((1,) * 64, CONTEXT, 8, EIGHT),
    "prompts, eight adapters": Case((PROMPT,) * PROMPTS, PROMPT, 8),
}


def places(case: Case) -> torch.Tensor:
    """The place of each row's adapter."""
    owners = torch.arange(len(case.counts)) % max(case.adapters, 1)
    if not case.adapters:
        owners = torch.full_like(owners, -1)
    return owners.repeat_interleave(torch.tensor(case.counts)).int().to(DEVICE)


def call_of(decoder: Decoder, case: Case, cache: torch.Tensor) -> Callable[[], object]:
    adapters = None if decoder.adapters is None else places(case)
    return Step(decoder, cache, case.counts, case.context, adapters).call()


def swaps(decoder: Decoder, tables: AdapterTables, cache: torch.Tensor) -> dict[str, float]:
    """Milliseconds of steps that each begin with the copy of another adapter."""
    case = CASES["batch 64, eight adapters"]
    call = call_of(decoder, case, cache)
    call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    size = tables.layout.size
    warm = [torch.zeros(size, dtype=torch.bfloat16).pin_memory() for _ in range(SWAPPED)]
    marks = []
    for turn in range(SWAPS):
        marks.append(torch.cuda.Event(enable_timing=True))
        marks[-1].record()
        tables.fill(turn % PLACES, warm[turn % SWAPPED])
        graph.replay()
    marks.append(torch.cuda.Event(enable_timing=True))
    marks[-1].record()
    marks[-1].synchronize()
    times = [begin.elapsed_time(end) for begin, end in pairwise(marks)][PLACES:]
    return {"median": statistics.median(times), "most": max(times), "bytes": 2.0 * size}


def measured(layers: int, rank: int) -> dict[str, dict[str, float]]:
    spec = parse_spec(CONFIG | {"num_hidden_layers": layers})
    kernels = GpuKernels(DEVICE)
    decoder = random_decoder(
        spec, kernels=kernels, dtype=torch.bfloat16, device=DEVICE, positions=2048
    )
    blocks = 1 + max(len(case.counts) * -(-case.context // BLOCK) for case in CASES.values())
    shape = (2, blocks, BLOCK, spec.kv_heads, spec.head_dim)
    cache = torch.zeros(shape, dtype=torch.bfloat16, device=DEVICE)
    adapted, tables = adapted_decoder(decoder, PLACES, rank)
    drawn = torch.empty(tables.layout.size, dtype=torch.bfloat16).normal_(0, 0.01)
    for place in range(PLACES):
        tables.fill(place, drawn)
    found = {}
    for name, case in CASES.items():
        graph, replays = not case.is_prompt, 3 if case.is_prompt else 15
        plain, with_adapters = (
            milliseconds(call_of(one, case, cache), graph=graph, replays=replays)
            for one in (decoder, adapted)
        )
        found[name] = {"without": plain, "with": with_adapters, "ratio": with_adapters / plain}
    found["swaps"] = swaps(adapted, tables, cache)
    return found


def show(found: Mapping[str, Mapping[str, float]]) -> None:
    for name, case in CASES.items():
        row = found[name]
        line = f"{name:28}{row['without']:9.3f}{row['with']:9.3f} ms{row['ratio']:7.3f}"
        if case.most is not None:
            line += f"   at most {case.most}: {'met' if row['ratio'] <= case.most else 'missed'}"
        print(line)
    row = found["swaps"]
    ratio = row["most"] / row["median"]
    print(
        f"{SWAPPED} adapters of {row['bytes'] / 1e6:.0f} MB in {PLACES} places, one copied before each step: "
        f"median {row['median']:.3f} ms, most {row['most']:.3f} ms, {ratio:.2f} times   "
        f"at most {SWAP}: {'met' if ratio <= SWAP else 'missed'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--rank", type=int, default=16)
    given = parser.parse_args()
    with torch.inference_mode():
        found = measured(given.layers, given.rank)
    print(torch.cuda.get_device_name())
    show(found)
    if given.out is not None:
        given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
