"""Steps of the embedded model on a CPU in compiled loops (`engine/run/host`), beside the same in torch.

    python -m tests.bench.bench_loops [--model FOLDER] [--rounds 15] [--threads 1]

Times are of the processor, of this process, by turns: the least of all rounds. `torch` is what this CPU would run
without loops; `packed` multiplies by packed weights in torch, as CPUs without instructions for bfloat16 would.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from intaglio.engine.api import model_folder
from intaglio.engine.build_runner import model_dtype
from intaglio.engine.config import CacheConfig
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.spec import read_spec
from intaglio.engine.model.weights import load_decoder
from intaglio.engine.run.host.looped_kernels import LoopedKernels
from intaglio.engine.run.kv import HOST, KVCache
from intaglio.kernels.codes import Codes
from intaglio.kernels.contracts import Kernels, Ragged, Weight
from intaglio.kernels.dispatch import choose
from intaglio.kernels.linear.packed import PackedInt8, PackedWeight
from intaglio.kernels.reference_kernels import ReferenceKernels
from torch import Tensor

POSITIONS = 2048
STEPS = {
    "1 token": [(1, 350)],
    "6 tokens of one sequence": [(6, 350)],
    "1 token of 16": [(1, 350)] * 16,
    "4 tokens of 16": [(4, 350)] * 16,
    "a prompt of 320": [(320, 320)],
    "a prompt of 2048": [(2048, 2048)],
}
"""Sequences as (tokens of this step, context)."""


class PackedKernels(ReferenceKernels):
    """`ReferenceKernels` with packed weights."""

    def coded(
        self, blocks: Sequence[Codes], bias: Tensor | None, dtype: torch.dtype
    ) -> Weight | None:
        return PackedWeight(PackedInt8(blocks), bias)


@dataclass(frozen=True)
class Model:
    """A decoder and its cache."""

    decoder: Decoder
    cache: KVCache

    @classmethod
    def load(cls, folder: Path, kernels: Kernels) -> "Model":
        spec = read_spec(folder)
        dtype = model_dtype("auto", spec, HOST)
        decoder = load_decoder(
            folder, spec, kernels=kernels, dtype=dtype, device=HOST, positions=POSITIONS
        )
        size = CacheConfig().block_size
        blocks = 1 + max(
            -(-length // size) * len(each) for each in STEPS.values() for _, length in each
        )
        return cls(decoder, KVCache(spec, blocks, size, dtype))

    def run(self, sequences: Sequence[tuple[int, int]]) -> Tensor:
        """Logits of every token, but for a prompt of its last ones."""
        size = self.cache.block_size
        width = -(-max(length for _, length in sequences) // size)
        starts, positions, slots = [0], list[int](), list[int]()
        for i, (count, length) in enumerate(sequences):
            starts.append(starts[-1] + count)
            new = range(length - count, length)
            positions += new
            slots += [(1 + i * width) * size + at for at in new]
        tables = 1 + torch.arange(len(sequences) * width, dtype=torch.int32).view(-1, width)
        lengths = torch.tensor([length for _, length in sequences], dtype=torch.int32)
        ragged = Ragged(torch.tensor(starts, dtype=torch.int32), lengths, tables)
        rows = max(starts[-1], 2)  # a single row is doubled, as in an engine
        at = torch.tensor((positions * 2)[:rows])
        layers = self.cache.layers
        step = self.decoder.step(ragged, at, torch.tensor(slots), layers[0].shape)
        logits_indices = torch.arange(rows)[-64:]
        hidden = self.decoder.hidden(10 + at % 8000, layers, step, logits_indices)
        return self.decoder.logits(hidden)


def spent(work: Callable[[], object]) -> float:
    """Milliseconds of processor time."""
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args(arguments)
    torch.set_num_threads(args.threads)
    folder = model_folder(args.model and str(args.model))
    with torch.inference_mode():
        models = {
            "torch": Model.load(folder, choose(HOST)),
            "packed": Model.load(folder, PackedKernels()),
            "loops": Model.load(folder, LoopedKernels()),
        }
        print(f"{'processor time of a step, ms':30}" + "".join(f"{name:>10}" for name in models))
        for name, sequences in STEPS.items():
            times: dict[str, list[float]] = {each: [] for each in models}
            for _ in range(args.rounds):
                for each, model in models.items():
                    times[each].append(spent(partial(model.run, sequences)))
            found = {each: min(some) for each, some in times.items()}
            print(f"{name:30}" + "".join(f"{each:10.1f}" for each in found.values()))


if __name__ == "__main__":
    main()
