"""The masked output head against the full head: the cost of reading masks, and the time saved.

    python -m tests.bench.bench_head [--out FILE] [--candidates]

Run on a GPU, under a minute. bfloat16, 151,936 outputs, the inputs of a small and a large model. `64`, `5%`, `half`:
so many tokens are legal for each row, others for every row, at random; `same 64`: the same for all rows, as where all
sequences are in the same place of a schema; `all`: every token. `share` is how much of the matrix is legal for some
row. Each figure is the median of graph replays over several masks; the rows of few tokens may then stand in the L2
cache. `--candidates`: other shapes of the kernel of one row.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple, dataclass
from functools import partial
from pathlib import Path

import torch
from intaglio.kernels.contracts import Logits, RmsNorm
from intaglio.kernels.gpu import COUNTERS
from intaglio.kernels.linear.linear import DenseWeight
from intaglio.kernels.linear.masked_head import HeadShape, legal_row, legal_words
from intaglio.kernels.runtime.precompile import compile_ahead
from intaglio.kernels.sampling_contracts import Legal

DEVICE = torch.device("cuda")
OUTPUTS = 151_936
INPUTS = (1024, 4096)
ROWS = (1, 2, 4, 16, 64)
SHARES = {"64": 64 / OUTPUTS, "same 64": 64 / OUTPUTS, "5%": 0.05, "half": 0.5, "all": 1.0}
SETS = 8
REPLAYS = 9


@dataclass(frozen=True)
class Figure:
    """One line, microseconds: the head with masks and without, and what is legal for some row."""

    inputs: int
    rows: int
    legal: str
    shape: str
    share: float
    us: float
    whole_us: float


def masks(rows: int, legal: str) -> Legal:
    """Random masks, and which of them is whose."""
    count = 1 if legal == "same 64" else rows
    bits = torch.rand((count, OUTPUTS), device=DEVICE) < SHARES[legal]
    words = (bits.view(count, -1, 32) << torch.arange(32, device=DEVICE)).sum(-1).to(torch.int32)
    which = torch.arange(rows, dtype=torch.int32, device=DEVICE) % count
    return Legal(words, which)


def share(legal: Legal, rows: int) -> float:
    """How much is legal for some row."""
    words = legal_words(legal, rows, OUTPUTS)
    bits = (words[:, None] >> torch.arange(32, device=DEVICE)) & 1
    return float(bits.float().mean())


def microseconds(call: Callable[[int], object], count: int) -> float:
    """Median time of one of `count` calls, from replays of a graph of all of them."""
    call(0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(count):
            call(i)
    times: list[float] = []
    for _ in range(REPLAYS + 2):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / count)
    return statistics.median(times[2:])


def candidates(inputs: int) -> Iterator[HeadShape]:
    """Shapes of the kernel of one row around the one that is used."""
    warps = 4 if inputs <= 1024 else 8
    for span, block_out, stages in (
        (32, 4, 1), (32, 4, 2), (32, 4, 3), (32, 4, 4), (32, 2, 4), (32, 8, 3), (16, 4, 3), (8, 4, 3),
        (4, 4, 1),
    ):  # fmt: skip
        yield HeadShape(span, block_out, inputs, stages, warps)


class Heads:
    """A head of so many inputs, and what is made of it."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        weight = torch.empty((OUTPUTS, inputs), device=DEVICE, dtype=torch.bfloat16)
        counters = torch.zeros(COUNTERS, dtype=torch.int32, device=DEVICE)
        self._matrix = DenseWeight(weight.normal_(0, 0.02), None, counters)
        self._norm = RmsNorm(torch.ones(inputs, device=DEVICE, dtype=torch.bfloat16), 1e-5)
        self._x = torch.randn((64, inputs), device=DEVICE, dtype=torch.bfloat16)

    def make(self, rows: int, legal: Legal | None) -> torch.Tensor:
        """Logits of `rows` rows."""
        return self._matrix.matmul(self._x[:rows], self._norm, Logits(legal))

    def make_one(self, legal: Legal, shape: HeadShape) -> torch.Tensor:
        """Logits of a row by that shape."""
        out = torch.empty((1, OUTPUTS), device=DEVICE, dtype=torch.bfloat16)
        words = legal_words(legal, 1, OUTPUTS)
        legal_row(self._x[:1], self._norm, self._matrix.matrix, None, words, out, shape)
        return out

    def _make_all(self, rows: int, _number: int) -> torch.Tensor:
        return self.make(rows, None)

    def _make_of(self, rows: int, given: list[Legal], number: int) -> torch.Tensor:
        return self.make(rows, given[number])

    def _make_one_of(self, shape: HeadShape, given: list[Legal], number: int) -> torch.Tensor:
        return self.make_one(given[number], shape)

    def compile(self, *, others: bool) -> None:
        """All that will be launched."""

        def passes() -> None:
            for rows in ROWS:
                self.make(rows, None)
                self.make(rows, masks(rows, "64"))
            for shape in candidates(self.inputs) if others else ():
                self.make_one(masks(1, "64"), shape)

        compile_ahead(passes)

    def figures(self, *, others: bool) -> Iterator[Figure]:
        """All lines."""
        for rows in ROWS:
            whole = microseconds(partial(self._make_all, rows), SETS)
            for legal in SHARES:
                given = [masks(rows, legal) for _ in range(SETS)]
                least = share(given[0], rows)
                us = microseconds(partial(self._make_of, rows, given), SETS)
                yield Figure(self.inputs, rows, legal, "default", least, us, whole)
                if rows > 1 or legal == "same 64" or not others:
                    continue
                for shape in candidates(self.inputs):
                    us = microseconds(partial(self._make_one_of, shape, given), SETS)
                    name = "/".join(map(str, astuple(shape)))
                    yield Figure(self.inputs, rows, legal, name, least, us, whole)


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--candidates", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    print(
        f"{'inputs':>6} {'rows':>5} {'legal':>8} {'shape':>16} {'share':>7} {'us':>8} {'whole':>8}"
    )
    rows = []
    for inputs in INPUTS:
        heads = Heads(inputs)
        heads.compile(others=options.candidates)
        for one in heads.figures(others=options.candidates):
            rows.append(asdict(one))
            print(
                f"{one.inputs:>6} {one.rows:>5} {one.legal:>8} {one.shape:>16} {one.share:>7.1%}"
                f" {one.us:>8.1f} {one.whole_us:>8.1f} {one.us / one.whole_us:>7.0%}",
                flush=True,
            )
        del heads
    if options.out:
        device = torch.cuda.get_device_name()
        options.out.write_text(json.dumps({"device": device, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
