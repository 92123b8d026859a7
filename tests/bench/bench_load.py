"""The rate of loading weights, against the rate at which the disk itself gives the same bytes, in one run.

    python -m tests.bench.bench_load --folder FOLDER [--gib 2] [--shards 4] [--rounds 3] [--device cpu]

Writes a checkpoint of `--gib` GiB in bfloat16 into FOLDER, on the disk to be measured, and removes it at the end. Each
round drops the files from the page cache (`posix_fadvise`), reads them with as many threads and the same chunks into
buffers that are overwritten, which is the disk's rate; drops them again and loads the decoder; and does both once more
from the cache. `tensors` are the reads without assembly, in the dtype of the files. The peak is that of one load on the
host, in a process of its own. Where files cannot be dropped (a memory file system, or pages that others hold), all
rates are those of the cache.
"""

import argparse
import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.expected_tensors import expected_shapes
from intaglio.engine.model.parallel_reads import CHUNK_BYTES, STAGING_BYTES, THREADS, ParallelReads
from intaglio.engine.model.spec import parse_spec, read_spec
from intaglio.engine.model.tensor_files import INDEX, files_by_tensor
from intaglio.engine.model.weights import load_decoder
from intaglio.kernels.dispatch import choose
from safetensors.torch import save_file

from tests.support.tiny_checkpoint import QWEN3

GIB = 1 << 30


def config_of(size: int) -> dict[str, Any]:
    """A model of about `size` bytes in bfloat16, in matrices of 16 to 48 MiB."""
    wide = {"hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 16}
    wide |= {"num_key_value_heads": 8, "head_dim": 128, "vocab_size": 8192}
    layer = 2 * (3 * 2048 * 8192 + 2048 * (2 * 2048 + 2 * 1024))
    return {**QWEN3, **wide, "num_hidden_layers": max(1, size // layer)}


def write_shards(folder: Path, config: dict[str, Any], shards: int) -> int:
    """Write the checkpoint, a shard at a time; its bytes."""
    (folder / "config.json").write_text(json.dumps(config))
    shapes = expected_shapes(parse_spec(config))
    names, total = sorted(shapes), 0
    weight_map: dict[str, str] = {}
    for number in range(shards):
        file = f"model-{number}.safetensors"
        own = names[number::shards]
        tensors = {
            name: torch.empty(shapes[name], dtype=torch.bfloat16).normal_(0, 0.02) for name in own
        }
        save_file(tensors, folder / file)
        weight_map |= dict.fromkeys(own, file)
        total += sum(tensor.nbytes for tensor in tensors.values())
    (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))
    return total


def drop(folder: Path) -> None:
    """Drop the files of a folder from the page cache."""
    for path in folder.glob("*.safetensors"):
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def read_all(folder: Path) -> None:
    """Read all files by as many threads and in the same chunks as loading does, and keep nothing."""
    with ThreadPoolExecutor(THREADS) as pool:
        jobs = [
            pool.submit(_read, path, at)
            for path in sorted(folder.glob("*.safetensors"))
            for at in range(0, path.stat().st_size, CHUNK_BYTES)
        ]
        for job in jobs:
            job.result()


def _read(path: Path, at: int) -> None:
    file = os.open(path, os.O_RDONLY)
    os.preadv(file, (bytearray(CHUNK_BYTES),), at)
    os.close(file)


def loaded(folder: Path, device: torch.device) -> Decoder:
    """The decoder of the checkpoint, in the dtype of its files."""
    given: dict[str, Any] = {"dtype": torch.bfloat16, "device": device, "positions": 64}
    return load_decoder(folder, read_spec(folder), kernels=choose(device), **given)


def peak_bytes(folder: Path) -> int:
    """The most memory that a load took on the host, weights included. For a new process."""
    with torch.inference_mode():
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        loaded(folder, torch.device("cpu"))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return most - pages * os.sysconf("SC_PAGE_SIZE")


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    kept = work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    taken = time.perf_counter() - began
    del kept
    return taken


def measure(folder: Path, rounds: int, device: torch.device, total: int) -> dict[str, list[float]]:
    """The rates of each round, in GB/s."""

    def load() -> object:
        return loaded(folder, device)

    def tensors() -> object:
        with closing(ParallelReads(device)) as reads:
            files = files_by_tensor(folder)
            return [reads.tensor(file.span(name), torch.bfloat16) for name, file in files.items()]

    rates: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, work, cold in (
            ("disk", lambda: read_all(folder), True),
            ("tensors", tensors, True),
            ("load", load, True),
            ("disk, cached", lambda: read_all(folder), False),
            ("load, cached", load, False),
        ):
            if cold:
                drop(folder)
            rates.setdefault(name, []).append(total / seconds(work) / 1e9)
            print(f"{name}: {rates[name][-1]:.2f} GB/s", flush=True)
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--gib", type=float, default=2.0)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=given.folder))
    try:
        total = write_shards(folder, config_of(int(given.gib * GIB)), given.shards)
        with torch.inference_mode():
            rates = measure(folder, given.rounds, torch.device(given.device), total)
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            peak = process.submit(peak_bytes, folder).result()
    finally:
        shutil.rmtree(folder)
    print(f"{total / 1e9:.2f} GB in {given.shards} files, {given.rounds} rounds, median GB/s:")
    for name, found in rates.items():
        print(f"  {name}: {sorted(found)[len(found) // 2]:.2f}")
    print(
        f"peak of a load on the host: {peak / 1e9:.2f} GB; staging at most {STAGING_BYTES >> 20} MiB"
    )


if __name__ == "__main__":
    main()
