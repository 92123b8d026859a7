"""Throughput of the whole engine on this machine's CPU, and where a step's time goes, constrained and free.

    python tests/bench/bench_engine.py [--model FOLDER] [--threads N] [--out table.json]

Runs on the model in the package; where a checkout has none, on random weights of its shape. Writes nothing unless
asked. The floor is the time to read all weights once, measured in the same run: no decode step is faster at batch 1.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.loop import Engine
from intaglio.engine.model.checkpoint import model_folder
from intaglio.engine.model.expected_tensors import expected_shapes
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.engine.types import Request, SamplingParams
from intaglio.grammar.api import Constraint, Kind
from rich.console import Console
from rich.table import Table
from safetensors.torch import save_file

SHAPE: dict[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"],
    "hidden_size": 384,
    "intermediate_size": 1152,
    "num_hidden_layers": 10,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": True,
}
# No end in sight: what is measured is steps, not when a model stops.
SCHEMA = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
PARTS = {
    "model": ("forward",),
    "mask": ("mask", "advance"),
    "sample": ("sample",),
    "scheduling": ("deliver", "plan", "commit", "tell"),
}


@dataclass(frozen=True)
class Result:
    """One cell of the table. `shares` are of the time in steps; `step_ms` is the mean step."""

    concurrency: int
    constrained: bool
    tokens_per_s: float
    step_ms: float
    shares: dict[str, float]


def random_model(folder: Path) -> Path:
    """Random weights of the embedded model's shape under its own tokenizer."""
    embedded = model_folder()
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(embedded / file, folder / file)
    config = SHAPE | {"vocab_size": -(-Tokenizer.load(folder).size // 64) * 64}
    (folder / "config.json").write_text(json.dumps(config))
    generator = torch.Generator().manual_seed(0)
    weights = {
        name: torch.randn(shape, generator=generator) * 0.02
        if len(shape) > 1
        else torch.ones(shape)
        for name, shape in expected_shapes(parse_spec(config)).items()
    }
    save_file(weights, folder / "model.safetensors")
    return folder


def measure(
    engine: Engine, end_ids: Sequence[int], *, concurrency: int, constrained: bool, args: Any
) -> Result:
    """Run `concurrency` requests together, from empty to empty."""
    before = engine.metrics()
    constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(SCHEMA)) if constrained else None
    for i in range(concurrency):
        prompt = tuple((7 * i + 13 * k) % 250 + 1 for k in range(args.prompt))
        sampling = SamplingParams(
            max_tokens=args.outputs,
            temperature=0,
            ignore_eos=True,
            logit_bias=dict.fromkeys(end_ids, -100.0) if constrained else {},
        )
        request = Request(
            id=f"{constrained}-{concurrency}-{i}-{time.monotonic_ns()}",
            prompt=prompt,
            sampling=sampling,
            constraint=constraint,
        )
        engine.submit(request)
    began = time.perf_counter()
    failures = [delta.error for delta in engine.run_until_idle() if delta.error is not None]
    elapsed = time.perf_counter() - began
    if failures:
        raise RuntimeError(f"{len(failures)} requests failed, the first with {failures[0]}")
    after = engine.metrics()
    seconds = {part: after.seconds[part] - before.seconds[part] for part in after.seconds}
    total = sum(seconds.values())
    return Result(
        concurrency,
        constrained,
        (after.output_tokens - before.output_tokens) / elapsed,
        1e3 * total / (after.steps - before.steps),
        {name: sum(seconds[part] for part in parts) / total for name, parts in PARTS.items()},
    )


def weight_floor(nbytes: int) -> float:
    """Seconds to read `nbytes` once, the best of ten."""
    memory = torch.ones(nbytes // 4)
    best = float("inf")
    for _ in range(10):
        began = time.perf_counter()
        memory.sum()
        best = min(best, time.perf_counter() - began)
    return best


def show(results: Sequence[Result], floor_s: float, title: str) -> None:
    table = Table(title=title, caption=f"reading the weights once takes {floor_s * 1e3:.1f} ms")
    for column in ("concurrency", "output", "tokens/s", "ms/step", *PARTS):
        table.add_column(column, justify="right")
    for result in results:
        table.add_row(
            str(result.concurrency),
            "constrained" if result.constrained else "free",
            f"{result.tokens_per_s:.0f}",
            f"{result.step_ms:.2f}",
            *(f"{result.shares[name]:.1%}" for name in PARTS),
        )
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--model", type=Path)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--prompt", type=int, default=200, help="tokens a prompt")
    parser.add_argument("--outputs", type=int, default=64, help="tokens an output")
    parser.add_argument("--out", type=Path, help="also write the table here, as JSON")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.model or model_folder()
        if not (folder / "config.json").exists():
            folder = random_model(Path(scratch))
        built = build(EngineConfig.load({"model": str(folder), "num_blocks": 4096}, {}))
        end_ids = Tokenizer.load(folder).end_ids
    engine, info = built.engine, built.info
    if not isinstance(engine, Engine):
        raise TypeError("an engine of this process is needed, for its metrics")
    measure(engine, end_ids, concurrency=1, constrained=True, args=args)  # compiles the grammar
    results = [
        measure(engine, end_ids, concurrency=concurrency, constrained=constrained, args=args)
        for concurrency in args.concurrency
        for constrained in (False, True)
    ]
    built.close()
    floor_s = weight_floor(4 * info.parameters)
    title = f"{info.model}: {info.parameters / 1e6:.1f} M parameters, {args.threads} threads"
    show(results, floor_s, title)
    if args.out:
        rows = [asdict(result) for result in results]
        args.out.write_text(json.dumps({"floor_s": floor_s, "results": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
