"""The least time of a model's decode step on a GPU, compared with measured steps.

    python tests/bench/roofline.py MODEL_FOLDER [--bandwidth TB/s] [--context N] [--results FILE ...]

Every step reads all weights once (the embedding table only where it is the head, and only the experts in use) and the
keys and values of every sequence once; nothing is faster than the memory. The bandwidth is measured by a copy where
there is a GPU. With files that `bench_extract.py` wrote, measured steps stand beside their floor.
"""

import argparse
import json
from pathlib import Path

import torch
from intaglio.engine.model.expected_tensors import stored_bytes
from intaglio.engine.model.schemes.mxfp4 import Mxfp4Experts
from intaglio.engine.model.spec import ModelSpec, read_spec
from rich.console import Console
from rich.table import Table


def copy_bandwidth() -> float:
    """Bytes a second, read and written, of a copy of 4 GiB on the GPU: the best of ten."""
    source = torch.empty(1 << 32, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    best = float("inf")
    for _ in range(10):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        target.copy_(source)
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end) / 1e3)
    return 2 * source.numel() / best


def weight_bytes(spec: ModelSpec, element: int = 2) -> int:
    """Bytes of weights that a decode step reads."""
    count = sum(stored_bytes(spec, element).values())
    return count if spec.tied else count - element * spec.vocab_size * spec.hidden


def unread_bytes(spec: ModelSpec, sequences: int, element: int = 2) -> float:
    """Bytes of the experts that no sequence chooses, expected where all are chosen alike."""
    experts = spec.experts
    if experts is None:
        return 0.0
    unused = (1 - experts.rule.per_token / experts.count) ** sequences * experts.count
    each = 17 / 32 if isinstance(spec.schemes, Mxfp4Experts) else element
    return each * sum(experts.layers) * unused * 3 * experts.ffn * spec.hidden


def floor_ms(spec: ModelSpec, sequences: int, context: float, bandwidth: float) -> float:
    """Milliseconds to read the weights, and `context` keys and values of each sequence, in two-byte elements."""
    kv = spec.kv_block_bytes(1, 2) * context * sequences
    return 1e3 * (weight_bytes(spec) - unread_bytes(spec, sequences) + kv) / bandwidth


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--bandwidth", type=float, help="TB/s, if not to be measured")
    parser.add_argument("--context", type=float, default=917.0, help="mean tokens a sequence")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 64, 256, 512])
    parser.add_argument("--results", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    spec = read_spec(args.model)
    bandwidth = args.bandwidth * 1e12 if args.bandwidth else copy_bandwidth()
    table = Table(
        title=f"{args.model.name}: {weight_bytes(spec) / 1e9:.2f} GB of weights a step, "
        f"{bandwidth / 1e12:.3f} TB/s, {args.context:.0f} tokens of context"
    )
    for column in ("sequences", "floor ms", "floor tokens/s"):
        table.add_column(column, justify="right")
    for count in args.batch:
        floor = floor_ms(spec, count, args.context, bandwidth)
        table.add_row(str(count), f"{floor:.3f}", f"{1e3 * count / floor:,.0f}")
    Console().print(table)
    for path in args.results:
        found = json.loads(path.read_text(encoding="utf-8"))
        table = Table(title=f"{path.name}: {found['shape']} on {found['device']}")
        for column in ("run", "floor ms", "ms a token", "of the floor", "ms a step"):
            table.add_column(column, justify="right")
        for name, run in found["decode"].items():
            share = run["floor_ms"] / run["token_ms"]
            table.add_row(
                name,
                f"{run['floor_ms']:.3f}",
                f"{run['token_ms']:.3f}",
                f"{share:.0%}",
                f"{run['step_ms']:.3f}",
            )
        Console().print(table)


if __name__ == "__main__":
    main()
