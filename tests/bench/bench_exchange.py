"""Time of the sum that two GPUs exchange after a matrix product, and of what follows it.

    NCCL_NVLS_ENABLE=0 python -m tests.bench.bench_exchange [--hidden 4096] [--rows 1 8 64 256 512] [--out FILE]

Microseconds of one exchange in a CUDA graph of 64. "library": NCCL's sum, then the addition to the residual. "kernel":
both by `kernels.exchange.peer_sums`. "normed" adds the norm that follows in the next product of several rows. The sums
of both are compared before. "crossing": both exchanges of a layer for so many tokens, by NCCL and not in a graph, where
two ranks divide an 8B model by tokens: queries, keys and values, then attended values.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.config import visible_gpus
from intaglio.engine.parallel.nccl_communicator import NcclCommunicator
from intaglio.kernels.contracts import AddTo, RmsNorm
from intaglio.kernels.linear.rms_norm import rms_norm

EXCHANGES = 64
REPLAYS = 50
TIMEOUT_S = 60.0


def graph_us(run: Callable[[], object]) -> float:
    """Microseconds of one of the exchanges that `run` makes, captured and replayed."""
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()
    return 1e6 * (time.perf_counter() - began) / REPLAYS / EXCHANGES


def crossing_us(communicator: NcclCommunicator, rows: int, hidden: int) -> float:
    """Microseconds of both exchanges of a layer for `rows` tokens, half of them of each rank."""
    own = max(1, rows // 2)
    parts = [
        [torch.ones(own, width, device="cuda", dtype=torch.bfloat16) for _ in range(2)]
        for width in (hidden * 3 // 4, hidden // 2)
    ]

    def run(times: int) -> float:
        began = time.perf_counter()
        for _ in range(times):
            for each in parts:
                communicator.all_to_all(each)
        torch.cuda.synchronize()
        return 1e6 * (time.perf_counter() - began) / times

    run(EXCHANGES)
    return run(REPLAYS * EXCHANGES // 4)


def figures(communicator: NcclCommunicator, rows: int, hidden: int) -> dict[str, Any]:
    """The times for `rows` rows, and the largest difference between the two sums."""
    torch.manual_seed(communicator.rank)
    terms = torch.randn(rows, hidden, device="cuda").bfloat16()
    residual = torch.zeros(rows, hidden, device="cuda", dtype=torch.bfloat16)
    norm = RmsNorm(torch.ones(hidden, device="cuda", dtype=torch.bfloat16), 1e-6)

    def library(*, normed: bool) -> None:
        for _ in range(EXCHANGES):
            residual.add_(communicator.all_reduce(terms))
            if normed:
                rms_norm(residual, norm)

    def kernel(*, normed: bool) -> None:
        for _ in range(EXCHANGES):
            if not communicator.add_sum(terms, AddTo(residual)):
                raise SystemExit("the GPUs do not share memory")
            if normed:
                rms_norm(residual, norm)

    communicator.add_sum(terms, AddTo(residual))
    gap = (residual - communicator.all_gather(terms).float().sum(0)).abs().max()
    found: dict[str, Any] = {"rows": rows, "bytes": terms.nbytes, "difference": float(gap)}
    found["crossing"] = crossing_us(communicator, rows, hidden)
    for name, run in (("library", library), ("kernel", kernel)):
        for normed in (False, True):
            label = f"{name}, normed" if normed else name
            found[label] = graph_us(partial(run, normed=normed))
            terms.normal_()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 8, 64, 256, 512])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--meeting", type=Path)
    args = parser.parse_args()
    if args.meeting is None:
        with tempfile.TemporaryDirectory() as scratch:
            for_all = [sys.executable, "-m", "tests.bench.bench_exchange", *sys.argv[1:]]
            for_all += ["--meeting", f"{scratch}/meeting"]
            processes = [
                subprocess.Popen(
                    [*for_all, "--rank", str(rank)],
                    env=os.environ | {"CUDA_VISIBLE_DEVICES": gpu},
                )
                for rank, gpu in enumerate(visible_gpus()[:2])
            ]
            raise SystemExit(max(process.wait() for process in processes))
    communicator = NcclCommunicator(args.meeting, args.rank, 2, TIMEOUT_S, torch.device("cuda"))
    found = [figures(communicator, rows, args.hidden) for rows in args.rows]
    if args.rank == 0:
        for each in found:
            print({k: round(v, 4) if isinstance(v, float) else v for k, v in each.items()})
        if args.out:
            args.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
