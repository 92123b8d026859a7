"""The kernels of a GPU against the floor: bytes that must be read over the measured copy bandwidth, or peak arithmetic.

    python -m tests.bench.bench_kernels [--out table.json] [--commit ID] [--quick]

Random weights of two shapes. Each figure is the median of graph replays over enough buffers to leave the L2 cache.
"Layers" is one decode step without sampling: the embedding, all layers, the final norm and the head, for sequences of
560 to 1,200 tokens, with prompts of their own or with beginnings in common: 192 tokens of all, 240 more of one in
eight. The floor counts every sequence's keys, shared or not. Kernels are compiled before anything is measured, side by
side: all calls are made once without them.
"""

import argparse
import random
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
import triton
from intaglio.kernels.attention.paged import split_attention, tile_attention
from intaglio.kernels.contracts import (
    Activation,
    AddTo,
    Gate,
    Kernels,
    Places,
    QKNorm,
    Ragged,
    RmsNorm,
    Weight,
)
from intaglio.kernels.dispatch import choose
from intaglio.kernels.runtime.precompile import compile_ahead
from intaglio.kernels.sampling_contracts import Sampled

from tests.bench.figures import keep

DEVICE = torch.device("cuda")
TYPE = torch.bfloat16
GATE = Gate(Activation.SILU)
BLOCK = 16
VOCAB = 151_936
REPLAYS = 9


@dataclass(frozen=True)
class Shape:
    """A model's sizes."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    dim: int
    ffn: int
    qk_norm: bool

    @property
    def linears(self) -> dict[str, tuple[int, int]]:
        """Outputs and inputs of a layer's four matrices and the head."""
        width = self.heads * self.dim
        return {
            "qkv": (width + 2 * self.kv_heads * self.dim, self.hidden),
            "output": (self.hidden, width),
            "gate_up": (2 * self.ffn, self.hidden),
            "down": (self.hidden, self.ffn),
            "head": (VOCAB, self.hidden),
        }


SHAPES = (
    Shape("Llama-3.1-8B", 32, 4096, 32, 8, 128, 14336, qk_norm=False),
    Shape("Qwen3-0.6B", 28, 1024, 16, 8, 128, 3072, qk_norm=True),
)


@dataclass(frozen=True)
class Figure:
    """One line: `us` is the time of a call, `floor_us` the least it could take."""

    model: str
    kernel: str
    rows: int
    us: float
    floor_us: float


def replay(calls: Callable[[], object], count: int) -> float:
    """Median microseconds of one of `count` calls that `calls` makes, from replays of a graph."""
    calls()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        calls()
    graph.replay()
    times: list[float] = []
    for _ in range(REPLAYS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times) * 1000 / count


def once(calls: Callable[[], object], _count: int) -> float:
    """No time at all, in place of `replay`: the calls are made once, for the kernels that they launch."""
    calls()
    return 1.0


@dataclass(frozen=True)
class Ceilings:
    """Bytes a second of a large copy (read plus written) and operations a second of a large bfloat16 product.

    `time` measures: microseconds of one of a number of calls.
    """

    bandwidth: float
    arithmetic: float
    time: Callable[[Callable[[], object], int], float] = replay


def ceilings() -> Ceilings:
    """Both ceilings of this device, on random data."""
    source = torch.randn(2**30, device=DEVICE, dtype=TYPE)
    target = torch.empty_like(source)
    copy_us = replay(lambda: torch.add(source, 0, out=target), 1)
    left, right = torch.randn((2, 8192, 8192), device=DEVICE, dtype=TYPE)
    product_us = replay(lambda: [left @ right for _ in range(5)], 5)
    return Ceilings(2 * source.nbytes / copy_us * 1e6, 2 * 8192**3 / product_us * 1e6)


def normal(*shape: int, scale: float = 1.0) -> torch.Tensor:
    return torch.empty(shape, device=DEVICE, dtype=TYPE).normal_(0, scale)


def context(count: int, *, shared: bool) -> tuple[list[int], torch.Tensor, int]:
    """Lengths, block tables and number of blocks of `count` sequences, blocks shuffled."""
    dice = random.Random(0)
    lengths = [dice.randint(560, 1200) for _ in range(count)]
    needs = [-(-length // BLOCK) for length in lengths]
    blocks = list(range(1, sum(needs) + 1))
    dice.shuffle(blocks)
    tables = torch.zeros((count, max(needs)), dtype=torch.int32)
    for s, need in enumerate(needs):
        tables[s, :need] = torch.tensor([blocks.pop() for _ in range(need)])
        if shared:
            tables[s, :12] = tables[0, :12]
            tables[s, 12:27] = tables[s % 8, 12:27]
    return lengths, tables.to(DEVICE), sum(needs) + 1


def ragged_of(lengths: list[int], tables: torch.Tensor) -> Ragged:
    starts = torch.arange(len(lengths) + 1, dtype=torch.int32, device=DEVICE)
    return Ragged(starts, torch.tensor(lengths, dtype=torch.int32, device=DEVICE), tables)


def decode_attention(shape: Shape, count: int, top: Ceilings) -> Figure:
    """One new token for each of `count` sequences."""
    lengths, tables, blocks = context(count, shared=False)
    layers = max(1, 128 // count)
    caches = normal(layers, 2, blocks, BLOCK, shape.kv_heads, shape.dim)
    query = normal(count, shape.heads, shape.dim)
    out = torch.empty_like(query)
    attention = split_attention(ragged_of(lengths, tables), shape.heads, caches[0].shape)

    def calls() -> None:
        for cache in caches:
            attention.run(query, cache, out)

    moved = sum(lengths) * 2 * shape.kv_heads * shape.dim * TYPE.itemsize
    us = top.time(calls, layers)
    return Figure(shape.name, "decode attention", count, us, moved / top.bandwidth * 1e6)


def prefill_attention(shape: Shape, tokens: int, top: Ceilings) -> Figure:
    """A prompt of `tokens`, causal; the floor is half of the full square's products."""
    need = -(-tokens // BLOCK)
    table = (torch.randperm(need) + 1).int()[None].to(DEVICE)
    ragged = Ragged(
        torch.tensor([0, tokens], dtype=torch.int32, device=DEVICE),
        torch.tensor([tokens], dtype=torch.int32, device=DEVICE),
        table,
    )
    cache = normal(2, need + 1, BLOCK, shape.kv_heads, shape.dim)
    query = normal(tokens, shape.heads, shape.dim)
    out = torch.empty_like(query)
    attention = tile_attention(ragged, query, cache.shape)
    us = top.time(lambda: attention.run(query, cache, out), 1)
    work = 2 * tokens * tokens * shape.heads * shape.dim
    return Figure(shape.name, "prompt attention", tokens, us, work / top.arithmetic * 1e6)


def linears(shape: Shape, rows: int, kernels: Kernels, top: Ceilings) -> Iterator[Figure]:
    """Each matrix of a layer with what is fused with it, and the head."""
    norm = RmsNorm(normal(shape.hidden), 1e-5)
    for name, (outputs, inputs) in shape.linears.items():
        size = outputs * inputs * TYPE.itemsize
        matrices = [
            kernels.weight(normal(outputs, inputs, scale=0.02))
            for _ in range(max(1, 4 * 10**8 // size))
        ]
        x, residual = normal(rows, inputs), normal(rows, outputs)

        def call(
            weight: Weight, name: str = name, x: torch.Tensor = x, residual: torch.Tensor = residual
        ) -> None:
            if name in ("output", "down"):
                weight.matmul(x, epilogue=AddTo(residual))
            elif name == "gate_up":
                weight.matmul(x, norm, GATE)
            else:
                weight.matmul(x, norm)

        us = top.time(partial(_each, call, matrices), len(matrices))
        work = 2 * rows * outputs * inputs / top.arithmetic
        yield Figure(shape.name, name, rows, us, max(size / top.bandwidth, work) * 1e6)


def _each(call: Callable[[Weight], None], matrices: list[Weight]) -> None:
    for matrix in matrices:
        call(matrix)


def verification(count: int, drafts: int, kernels: Kernels, top: Ceilings) -> Figure:
    """Which of `drafts` tokens stand, for each of `count` sequences."""
    rows = count * (drafts + 1)
    tokens = torch.randint(0, 2, (rows,), device=DEVICE)
    drawn = Sampled(tokens, torch.zeros_like(tokens))
    given = torch.randint(0, 2, (rows,), dtype=torch.int32, device=DEVICE)
    starts = torch.arange(0, rows + 1, drafts + 1, dtype=torch.int32, device=DEVICE)
    us = top.time(lambda: [kernels.verify(drawn, given, starts) for _ in range(20)], 20)
    moved = 2 * tokens.nbytes + given.nbytes + starts.nbytes + 20 * count
    return Figure("any", f"verify {drafts} drafts", count, us, moved / top.bandwidth * 1e6)


class Layers:
    """All weights of a model, and one decode step of them."""

    def __init__(self, shape: Shape, kernels: Kernels) -> None:
        self._shape = shape
        self._kernels = kernels
        self._norm = RmsNorm(torch.ones(shape.hidden, device=DEVICE, dtype=TYPE), 1e-5)
        ones = torch.ones(shape.dim, device=DEVICE, dtype=TYPE)
        self._qk_norm = QKNorm(ones, ones, 1e-6) if shape.qk_norm else None
        *inner, head = shape.linears.values()
        self._weights = [
            [kernels.weight(normal(*size, scale=0.02)) for size in inner]
            for _ in range(shape.layers)
        ]
        self._head = kernels.weight(normal(*head, scale=0.02))
        self._embedding = normal(VOCAB, shape.hidden, scale=0.02)
        angles = torch.randn((8192 + 1, shape.dim // 2), device=DEVICE)
        cos, sin = angles.cos(), angles.sin()
        self._cos = torch.cat((cos, cos), -1).to(TYPE)
        self._sin = torch.cat((-sin, sin), -1).to(TYPE)

    @property
    def nbytes(self) -> int:
        """Bytes that a step reads of the weights."""
        every = [weight for layer in self._weights for weight in layer]
        elements = sum(weight.inputs * weight.outputs for weight in [*every, self._head])
        return elements * TYPE.itemsize

    def run(
        self, tokens: torch.Tensor, ragged: Ragged, places: Places, caches: torch.Tensor
    ) -> None:
        """The step."""
        shape, kernels, rows = self._shape, self._kernels, tokens.shape[0]
        residual = self._embedding.index_select(0, tokens)
        attention = kernels.attend(ragged, places, shape.heads, caches[0].shape)
        for (qkv, output, gate_up, down), cache in zip(self._weights, caches, strict=True):
            fused = qkv.matmul(residual, self._norm).view(rows, -1, shape.dim)
            attended = attention.run(fused, self._qk_norm, cache)
            output.matmul(attended.view(rows, -1), epilogue=AddTo(residual))
            gated = gate_up.matmul(residual, self._norm, GATE)
            down.matmul(gated, epilogue=AddTo(residual))
        last = (ragged.query_starts[1:] - 1).long()
        self._head.matmul(residual.index_select(0, last), self._norm)

    def decode(self, count: int, top: Ceilings, *, shared: bool) -> Figure:
        """One token for each of `count` sequences."""
        shape = self._shape
        lengths, tables, blocks = context(count, shared=shared)
        caches = normal(shape.layers, 2, blocks, BLOCK, shape.kv_heads, shape.dim)
        ragged = ragged_of(lengths, tables)
        positions = ragged.context_lengths - 1
        slots = tables.gather(1, (positions // BLOCK).long()[:, None])[:, 0] * BLOCK
        places = Places(self._cos, self._sin, positions, slots + positions % BLOCK)
        tokens = torch.randint(0, VOCAB, (count,), device=DEVICE)
        us = top.time(lambda: self.run(tokens, ragged, places, caches), 1)
        keys = sum(lengths) * shape.layers * 2 * shape.kv_heads * shape.dim * TYPE.itemsize
        name = "layers, shared beginnings" if shared else "layers"
        return Figure(shape.name, name, count, us, (self.nbytes + keys) / top.bandwidth * 1e6)

    def prefill(self, tokens: int, top: Ceilings) -> Figure:
        """One prompt of `tokens` through all layers; the head for its last token."""
        shape = self._shape
        need = -(-tokens // BLOCK)
        caches = normal(shape.layers, 2, need + 1, BLOCK, shape.kv_heads, shape.dim)
        table = (torch.randperm(need) + 1).int().to(DEVICE)
        positions = torch.arange(tokens, dtype=torch.int32, device=DEVICE)
        slots = table[(positions // BLOCK).long()] * BLOCK + positions % BLOCK
        ends = torch.tensor([0, tokens], dtype=torch.int32, device=DEVICE)
        ragged = Ragged(ends, ends[1:], table[None])
        places = Places(self._cos, self._sin, positions, slots)
        ids = torch.randint(0, VOCAB, (tokens,), device=DEVICE)
        us = top.time(lambda: self.run(ids, ragged, places, caches), 1)
        matrices = sum(o * i for o, i in list(shape.linears.values())[:-1])
        work = 2 * tokens * matrices + 2 * tokens * tokens * shape.heads * shape.dim
        return Figure(shape.name, "prompt", tokens, us, shape.layers * work / top.arithmetic * 1e6)


def figures(top: Ceilings, *, quick: bool) -> Iterator[Figure]:
    kernels = choose(DEVICE)
    for count in (64,) if quick else (1, 64, 512):
        yield verification(count, 8, kernels, top)
    for shape in SHAPES:
        for count in (1, 64, 512):
            yield decode_attention(shape, count, top)
        yield prefill_attention(shape, 8192, top)
        for rows in () if quick else (1, 8, 64, 512):
            yield from linears(shape, rows, kernels, top)
        layers = Layers(shape, kernels)
        for count in (1, 64, 512) if quick else (1, 2, 8, 32, 64, 128, 256, 512):
            yield layers.decode(count, top, shared=False)
        for count in (512,) if quick else (64, 512):
            yield layers.decode(count, top, shared=True)
        yield layers.prefill(8192, top)


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    top = ceilings()
    aside = replace(top, time=once)
    compiled = compile_ahead(lambda: list(figures(aside, quick=arguments.quick)))
    print(f"{compiled.total()} kernels were compiled")
    print(f"copy {top.bandwidth / 1e12:.3f} TB/s, product {top.arithmetic / 1e12:.0f} TFLOP/s")
    print(f"{'model':<14}{'kernel':<28}{'rows':>6}{'us':>12}{'floor us':>12}{'share':>8}")
    rows = []
    for figure in figures(top, quick=arguments.quick):
        rows.append(figure)
        print(
            f"{figure.model:<14}{figure.kernel:<28}{figure.rows:>6}{figure.us:>12.1f}"
            f"{figure.floor_us:>12.1f}{figure.floor_us / figure.us:>8.0%}",
            flush=True,
        )
    if arguments.out is not None:
        keep(
            arguments.out,
            rows,
            arguments.commit,
            triton=triton.__version__,
            command="python -m tests.bench.bench_kernels" + " --quick" * arguments.quick,
            ceilings={"bandwidth": top.bandwidth, "arithmetic": top.arithmetic},
        )


if __name__ == "__main__":
    main()
