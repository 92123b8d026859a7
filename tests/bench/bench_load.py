"""The rate of loading weights, against the rates of the disk and of the link to the device, in one run.

    python -m tests.bench.bench_load --folder FOLDER [--shape 8b | --gib 2] [--quantised fp8] [--shards 4]
        [--rounds 3] [--device cpu] [--threads 8 16] [--keep] [--out FILE]

Writes a checkpoint in bfloat16, or with layers in 8 bits, into FOLDER, on the disk to be measured, and removes it at
the end unless it is to be kept (for `tests.bench.bench_restart`); a checkpoint that an earlier run kept is read again.
Each round drops the files from the page cache (`posix_fadvise`) and reads them into buffers that are overwritten, past
the page cache ("disk, direct") and, dropped again, through it ("disk"), with as many threads and the same chunks as
loading; drops them again and loads the decoder; and reads and loads them once more from the cache. `link` is the rate
of copies from pinned memory to the device. `rank of 2` is the load of one rank's part from the cache; its bytes are
those that the rank keeps. `pin` is the rate of registering shared memory with the driver, which a copy of the weights
that outlives engines would have to pay at each start. The peak is that of one load on the host, in a process of its
own. Where files cannot be dropped (a memory file system, or pages that others hold), all rates are those of the cache.
"""

import argparse
import json
import mmap
import os
import resource
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from math import prod
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import torch
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.expected_tensors import expected_shapes, expected_tensors
from intaglio.engine.model.file_tensors import FileTensors
from intaglio.engine.model.parallel_reads import (
    CHUNK_BYTES,
    SPARE_BUFFERS,
    STAGING_BYTES,
    THREADS,
    ParallelReads,
)
from intaglio.engine.model.schemes.scheme import Uniform
from intaglio.engine.model.spec import parse_spec, read_spec
from intaglio.engine.model.tensor_files import INDEX, files_by_tensor
from intaglio.engine.model.weights import assemble, load_decoder
from intaglio.engine.parallel.parallel_layout import Parallel, ParallelLayout, TensorParallel
from intaglio.kernels.contracts import Kernels
from intaglio.kernels.dispatch import choose

from tests.bench.bench_extract import QUANTISED, SHAPES
from tests.support.kept_weights import KeepingKernels
from tests.support.tiny_checkpoint import QWEN3

GIB = 1 << 30
TILE = 64 << 20
PINNED = 256 << 20
NAME = "bench-load"
BF16 = ("BF16", 2)
DTYPES: dict[torch.dtype | None, tuple[str, int]] = {
    torch.float8_e4m3fn: ("F8_E4M3", 1),
    torch.int8: ("I8", 1),
}
Rates = dict[str, list[float]]


def config_of(size: int) -> dict[str, Any]:
    """A model of about `size` bytes in bfloat16, in matrices of 16 to 48 MiB."""
    wide = {"hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 16}
    wide |= {"num_key_value_heads": 8, "head_dim": 128, "vocab_size": 8192}
    layer = 2 * (3 * 2048 * 8192 + 2048 * (2 * 2048 + 2 * 1024))
    return {**QWEN3, **wide, "num_hidden_layers": max(1, size // layer)}


def write_shards(folder: Path, config: dict[str, Any], shards: int) -> None:
    """Write the checkpoint: its tensors in order, about as many bytes in each shard, all from one tile of values."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    stored = expected_tensors(parse_spec(config))
    tensors = {
        name: (DTYPES.get(each.dtype, BF16), each.shape)
        for name, each in stored.items()
        if not each.optional
    }
    share = -(-sum(size * prod(shape) for (_, size), shape in tensors.values()) // shards)
    weight_map: dict[str, str] = {}
    values = torch.empty(TILE // 2, dtype=torch.bfloat16).normal_(0, 0.02)
    tile = values.view(torch.uint8).numpy().data
    own: dict[str, Any] = {}
    at = 0
    for number, (name, ((dtype, size), shape)) in enumerate(tensors.items(), 1):
        offsets = [at, at + size * prod(shape)]
        own[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": offsets}
        at = offsets[1]
        if at >= share or number == len(tensors):
            file = f"model-{len(set(weight_map.values()))}.safetensors"
            weight_map |= dict.fromkeys(own, file)
            _write(folder / file, own, at, tile)
            own, at = {}, 0
    (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))


def _write(path: Path, tensors: dict[str, Any], size: int, tile: memoryview) -> None:
    header = json.dumps(tensors).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb", buffering=0) as file:
        file.write(len(header).to_bytes(8, "little") + header)
        left = size
        while left:
            left -= file.write(tile[: min(left, TILE)]) or 0
        os.fsync(file.fileno())


def paths(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors"))


def drop(folder: Path) -> None:
    """Drop the files of a folder from the page cache."""
    for path in paths(folder):
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def read_all(folder: Path, threads: int, *, direct: bool = False) -> None:
    """Read all files by as many threads and in the same chunks as loading does, into buffers that are overwritten."""
    jobs = iter(
        [(path, at) for path in paths(folder) for at in range(0, path.stat().st_size, CHUNK_BYTES)]
    )
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(_read, jobs, direct=direct) for _ in range(threads)]:
            done.result()


def _read(jobs: Iterator[tuple[Path, int]], *, direct: bool) -> None:
    buffer = mmap.mmap(-1, CHUNK_BYTES)  # aligned, as direct reads need it
    for path, at in jobs:  # a list's iterator gives each once, whichever thread asks
        file = os.open(path, os.O_RDONLY | (os.O_DIRECT if direct else 0))
        os.preadv(file, (buffer,), at)
        os.close(file)


def kernels_of(device: torch.device) -> Kernels:
    """The kernels of a GPU; on a host some that do not pack matrices, which takes longer than to read them."""
    return KeepingKernels() if device.type == "cpu" else choose(device)


def loaded(folder: Path, device: torch.device) -> Decoder:
    """The decoder of the checkpoint, in the dtype of its files."""
    given: dict[str, Any] = {"dtype": torch.bfloat16, "device": device, "positions": 64}
    return load_decoder(folder, read_spec(folder), kernels=kernels_of(device), **given)


def loaded_by(
    folder: Path, device: torch.device, threads: int, parallel: Parallel | None, kernels: Kernels
) -> Decoder:
    """The decoder, or the part of a rank, read by so many threads."""
    spec = read_spec(folder)
    with closing(ParallelReads(device, threads=threads)) as reads:
        files = files_by_tensor(folder, spec.family.prefixes)
        source = FileTensors(files, expected_tensors(spec), torch.bfloat16, reads)
        decoder = assemble(spec, source, kernels, 64, parallel)
        source.settle()
    return decoder


def first_of_two() -> Parallel:
    """The place of a rank that never talks to the other one."""
    return Parallel(TensorParallel(ParallelLayout(2, 0), cast("Any", None)))


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


def link_rate(device: torch.device, total: int) -> float:
    """GB/s of copies from pinned memory to the device."""
    source = torch.ones(PINNED, dtype=torch.uint8).pin_memory()
    place = torch.empty(PINNED, dtype=torch.uint8, device=device)
    copies = max(1, min(total, 16 * GIB) // PINNED)

    def copy() -> None:
        for _ in range(copies):
            place.copy_(source, non_blocking=True)

    copy()
    torch.cuda.synchronize()
    return copies * PINNED / seconds(copy) / 1e9


def pin_rate() -> float:
    """GB/s of registering shared memory, all of it in use, with the driver."""
    shared = mmap.mmap(-1, 2 * GIB)
    memory = torch.frombuffer(shared, dtype=torch.uint8)
    memory.fill_(1)
    runtime = torch.cuda.cudart()
    taken = seconds(lambda: runtime.cudaHostRegister(memory.data_ptr(), memory.nbytes, 0))
    runtime.cudaHostUnregister(memory.data_ptr())
    return memory.nbytes / taken / 1e9


def measure(
    folder: Path, rounds: int, device: torch.device, threads: Sequence[int], rates: Rates
) -> None:
    """Add the rates of each round, in GB/s, to `rates`."""
    total = sum(path.stat().st_size for path in paths(folder))
    kernels, kept = kernels_of(device), kept_by_a_rank(folder)
    works: list[tuple[str, Callable[[], object], bool]] = [
        ("disk, direct", partial(read_all, folder, THREADS, direct=True), True),
        ("disk", partial(read_all, folder, THREADS), True),
        ("load", partial(loaded, folder, device), True),
    ]
    for count in threads:
        label = f"cached, {count} threads"
        by = partial(loaded_by, folder, device, count, kernels=kernels)
        works += [
            (f"read, {label}", partial(read_all, folder, count), False),
            (f"load, {label}", partial(by, None), False),
        ]
        if kept:
            works.append((f"rank of 2, {label}", partial(by, first_of_two()), False))
    loaded(folder, device)  # the first one also makes the context, and fills the allocator
    for _ in range(rounds):
        for name, work, cold in works:
            if cold:
                drop(folder)
            moved = kept if name.startswith("rank") else total
            rates.setdefault(name, []).append(moved / seconds(work) / 1e9)
            print(f"{name}: {rates[name][-1]:.2f} GB/s", flush=True)
        if device.type == "cuda":
            for name, rate in (("link", link_rate(device, total)), ("pin", pin_rate())):
                rates.setdefault(name, []).append(rate)
                print(f"{name}: {rate:.2f} GB/s", flush=True)


def kept_by_a_rank(folder: Path) -> int:
    """The bytes of one rank's part of two: half of all matrices, and of the vocabulary. 0 for quantised ones."""
    spec = read_spec(folder)
    if spec.schemes != Uniform():
        return 0
    shapes = expected_shapes(spec)
    return sum(2 * prod(shape) // (2 if len(shape) == 2 else 1) for shape in shapes.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--gib", type=float, default=2.0)
    parser.add_argument("--shape", choices=SHAPES, help="that of a model, in place of a size")
    parser.add_argument("--quantised", choices=("fp8", "int8"), help="the form of the layers")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, nargs="+", default=[THREADS])
    parser.add_argument("--keep", action="store_true", help="leave the checkpoint for another run")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    folder, device = given.folder / NAME, torch.device(given.device)
    peak = None
    try:
        if not folder.exists():
            began = time.perf_counter()
            config = SHAPES[given.shape] if given.shape else config_of(int(given.gib * GIB))
            if given.quantised:
                config = {**config, "quantization_config": QUANTISED[given.quantised]}
            write_shards(folder, config, given.shards)
            print(f"written in {time.perf_counter() - began:.1f} s", flush=True)
        rates: Rates = {}
        with torch.inference_mode():
            measure(folder, given.rounds, device, given.threads, rates)
        if device.type == "cpu":
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                peak = process.submit(peak_bytes, folder).result()
        total = sum(path.stat().st_size for path in paths(folder))
        shards = len(paths(folder))
    finally:
        if not given.keep:
            shutil.rmtree(folder, ignore_errors=True)
    report(given, rates, total, shards, peak)


def report(
    given: argparse.Namespace, rates: Rates, total: int, shards: int, peak: int | None
) -> None:
    """Print the medians, each with its share of what bounds it, and write them to the file that was asked for."""
    medians = {name: sorted(found)[len(found) // 2] for name, found in rates.items()}
    print(f"{total / 1e9:.2f} GB in {shards} files, {given.rounds} rounds, median GB/s:")
    shares = {}
    for name, rate in medians.items():
        bound = "disk" if name == "load" else name.replace("load", "read")
        if name.startswith(("load,", "rank")) and "link" in medians:
            bound = "link"
        if name.startswith("load") or bound == "link":
            shares[name] = rate / max(
                medians[bound], medians["disk, direct"] if bound == "disk" else 0
            )
            print(f"  {name}: {rate:.2f}, {shares[name]:.0%} of the {bound.partition(',')[0]}'s")
        else:
            print(f"  {name}: {rate:.2f}")
    staging = (max(given.threads) + SPARE_BUFFERS) * CHUNK_BYTES
    if peak is not None:
        print(f"peak of a load on the host: {peak / 1e9:.2f} GB")
    print(f"staging at most {STAGING_BYTES >> 20} MiB, with most threads {staging >> 20} MiB")
    if given.out:
        cuda = given.device != "cpu"
        found = {
            "date": datetime.now(UTC).date().isoformat(),
            "command": f"python -m tests.bench.bench_load --shape {given.shape} --device {given.device}",
            "quantised": given.quantised,
            "device": torch.cuda.get_device_name() if cuda else "cpu",
            "cores": len(os.sched_getaffinity(0)),
            "bytes": total,
            "shards": shards,
            "rates_gb_s": rates,
            "medians_gb_s": medians,
            "shares": shares,
        }
        given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
