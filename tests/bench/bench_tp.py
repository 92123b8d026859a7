"""Decode steps of one model on one GPU and divided among several, and the exchanges alone.

    NCCL_NVLS_ENABLE=0 python -m tests.bench.bench_tp [--tp 1 2] [--shape 8b] [--decode 1 64 512] [--out FILE]
    NCCL_NVLS_ENABLE=0 python -m tests.bench.bench_tp --tp 1 --pp 1 2 --decode 256 512 --kinds free [--out FILE]
    NCCL_NVLS_ENABLE=0 python -m tests.bench.bench_tp --tp 1 --pp 1 2 --pp-batches 2 3 --decode 256 512 768 --kinds free
    NCCL_NVLS_ENABLE=0 python -m tests.bench.bench_tp --tp 1 2 --decode 1 --prompt 8192 --kinds free [--out FILE]
    NCCL_NVLS_ENABLE=0 python -m tests.bench.bench_tp --tp 1 2 --sp off on --decode 1 --prompt 8192 --kinds free

Random weights (norms 1, all else N(0, 0.02)), the included model's tokenizer. Every sequence goes from its 32nd to its
160th token of output, prompts of 64 tokens cached; "schema" is constrained by an array that cannot end before. Each
layout, of `--tp` ranks in each of `--pp` stages, is a process of its own, so that memory and kernels of one do not
weigh on the next. The floor is the bytes of weights, and of keys and values at the mean context, over the measured copy
bandwidth and the number of ranks. `token_ms` is the time between two tokens of one sequence, and `tokens_per_s` those
of all sequences. An engine in stages divides the sequences among its steps in flight, of which `--pp-batches` gives the
number (0: the engine's own choice): `batch` is the number of sequences of one step. `--prompt` measures the time to the
first token of new prompts of so many tokens, alone and computed in one step: the median of seven.

`--sp on` has ranks divide long prompts by tokens, in layouts of several ranks and one stage; `--sp off on` both.

`--shape 30b-a3b` and `gpt-oss-20b` are mixtures of experts, those of the latter in MXFP4. `--shape
tiny --device cpu` tries the script on a host, over gloo: its figures mean nothing.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.host.process import SWITCH_INTERVAL_S
from intaglio.engine.loop import Engine
from intaglio.engine.model.checkpoint import model_folder
from intaglio.engine.model.spec import read_spec
from intaglio.engine.parallel.parallel_config import ParallelConfig
from intaglio.engine.types import Request, SamplingParams

from tests.bench.bench_extract import COMMON, ENDLESS, SHAPES, SPAN, TINY, Bench, Item, compact
from tests.bench.roofline import copy_bandwidth, floor_ms

LARGE: dict[str, Any] = COMMON | {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "tie_word_embeddings": False,
}
EXPERTS: dict[str, Any] = COMMON | {
    "architectures": ["Qwen3MoeForCausalLM"],
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "num_hidden_layers": 48,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "norm_topk_prob": True,
    "mlp_only_layers": [],
    "decoder_sparse_step": 1,
    "tie_word_embeddings": False,
}
GPT_OSS: dict[str, Any] = COMMON | {
    "architectures": ["GptOssForCausalLM"],
    "vocab_size": 201088,
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "num_hidden_layers": 24,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "sliding_window": 128,
    "attention_bias": True,
    "num_local_experts": 32,
    "num_experts_per_tok": 4,
    "tie_word_embeddings": False,
    "quantization_config": {"quant_method": "mxfp4"},
}


@dataclass(frozen=True)
class Layout:
    """One way to divide a model: `tp` ranks in each of `pp` stages; see `ParallelConfig`."""

    tp: int
    pp: int
    sp: bool
    pp_batches: int

    def __str__(self) -> str:
        batches = f" of {self.pp_batches or 'own'} steps" if self.pp > 1 else ""
        return f"tp {self.tp} pp {self.pp}{batches}{' sp' if self.sp else ''}"

    def steps(self, *, ahead: bool) -> int:
        """The steps in flight among which the sequences are divided; `ahead`: see `ParallelConfig.batches`."""
        found = ParallelConfig(tp=self.tp, pp=self.pp, pp_batches=self.pp_batches)
        return found.batches(ahead=ahead) if self.pp > 1 else 1

    @property
    def arguments(self) -> list[str]:
        """The arguments of this script that choose this layout alone."""
        return [
            *("--tp", str(self.tp), "--pp", str(self.pp), "--sp", "on" if self.sp else "off"),
            *("--pp-batches", str(self.pp_batches)),
        ]


def layouts(args: argparse.Namespace) -> list[Layout]:
    """All layouts that are asked for, those once for which a value makes no difference."""
    return [
        Layout(tp, pp, sp == "on", batches)
        for tp, pp, sp, batches in product(args.tp, args.pp, args.sp, args.pp_batches)
        if (sp == "off" or (tp > 1 and pp == 1)) and (pp > 1 or batches == args.pp_batches[0])
    ]


DIVIDED = {**SHAPES, "70b": LARGE, "30b-a3b": EXPERTS, "gpt-oss-20b": GPT_OSS}
KINDS = ("free", "schema")
PROMPT = 64
PROMPTS = 7
PROCESS_S = 540


def first_token_ms(engine: Engine, length: int) -> list[float]:
    """Milliseconds from the submission of a request with a new prompt to its only token; two warm-ups are left out."""
    found: list[float] = []
    for number in range(PROMPTS + 2):
        dice = Random(f"{length} {number}")  # no length has the beginnings of another
        tokens = tuple(dice.randrange(300, 8000) for _ in range(length))
        sampling = SamplingParams(temperature=0, max_tokens=1, ignore_eos=True)
        began = time.perf_counter()
        engine.submit(Request(id=f"prompt{length}-{number}", prompt=tokens, sampling=sampling))
        while engine.open_requests:
            for delta in engine.step():
                if delta.error is not None:
                    raise RuntimeError(f"a prompt failed: {delta.error}")
        found.append(1e3 * (time.perf_counter() - began))
    return found[2:]


def measured(args: argparse.Namespace, layout: Layout) -> dict[str, Any]:
    """The figures of one layout, in this process and those that it starts."""
    on_gpu = args.device == "cuda"
    span = SPAN if on_gpu else TINY
    bandwidth = copy_bandwidth() if on_gpu else 1e11
    if on_gpu:
        torch.cuda.empty_cache()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
            shutil.copy(model_folder() / name, folder / name)
        shape = DIVIDED[args.shape]
        layers = max(shape["num_hidden_layers"], layout.pp)
        longest = max(args.prompt, default=0)
        positions = max(shape["max_position_embeddings"], longest + 16)
        own = {"num_hidden_layers": layers, "max_position_embeddings": positions}
        (folder / "config.json").write_text(json.dumps(shape | own))
        began = time.perf_counter()
        assembly = build(
            EngineConfig.load(
                {
                    "model": str(folder),
                    "weights": "random",
                    "device": args.device,
                    "max_running": max(args.decode),
                    "max_batched_tokens": max(longest, 8192 if on_gpu else 256),
                    "max_context": max(2048, longest + 16),
                    "grammar_store": "off",
                    "tp_any_size": True,
                    **asdict(layout),
                },
                {},
            )
        )
        start_s = time.perf_counter() - began
        spec = read_spec(folder)
        parts = assembly.info.start_s
    assert isinstance(assembly.engine, Engine)
    sys.setswitchinterval(SWITCH_INTERVAL_S)  # as a server does
    items = [Item(str(i), tuple(range(i, i + PROMPT)), "") for i in range(max(args.decode))]
    bench, grammar = Bench(assembly.engine, items, span), compact(json.dumps(ENDLESS))
    steps = layout.steps(ahead=on_gpu)
    out: dict[str, Any] = {
        **asdict(layout),
        "steps_in_flight": steps,
        "start_s": start_s,
        "parts": parts,
        "decode": {},
    }
    print(layout, {"start_s": round(start_s, 1), **parts}, flush=True)
    for kind in args.kinds:
        bench.decode(1, lambda _, kind=kind: grammar if kind == "schema" else None)  # type: ignore[misc]
        for count in args.decode:
            found = bench.decode(count, lambda _, k=kind: grammar if k == "schema" else None)  # type: ignore[misc]
            context = bench.mean_context(count)
            found["floor_ms"] = floor_ms(spec, count, context, bandwidth) / (layout.tp * layout.pp)
            found["tokens_per_s"] = 1e3 * count / found["token_ms"]
            found["batch"] = -(-count // steps)
            out["decode"][f"{kind}-{count}"] = found
            print(layout, kind, count, {k: round(v, 3) for k, v in found.items()}, flush=True)
    out["first_token_ms"] = {}
    for length in args.prompt:
        times = first_token_ms(assembly.engine, length)
        out["first_token_ms"][str(length)] = {"median": median(times), "all": times}
        print(layout, f"prompt of {length}: {median(times):.2f} ms", flush=True)
    assembly.close()
    return out


def table(asked: Sequence[Layout], results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Lines that compare each layout with the first one."""
    first, base = results[0], asked[0]
    for layout, other in zip(asked, results, strict=True):
        for name, run in other["decode"].items():
            gain = first["decode"][name]["token_ms"] / run["token_ms"]
            yield (
                f"{layout} {name}, {run['batch']} sequences a step: {run['token_ms']:.3f} ms a token, "
                f"{run['tokens_per_s']:,.0f} tokens/s, {gain:.2f} times {base}"
            )
        for length, found in other["first_token_ms"].items():
            one, several = first["first_token_ms"][length]["median"], found["median"]
            yield (
                f"{layout}: {several:.2f} ms to the first token after {length}, {one:.2f} with {base}, "
                f"{one / several:.2f} times as fast"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tp", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--pp", type=int, nargs="+", default=[1])
    parser.add_argument("--pp-batches", type=int, nargs="+", default=[0])
    parser.add_argument("--sp", nargs="+", choices=("off", "on"), default=["off"])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--shape", choices=DIVIDED, default="8b")
    parser.add_argument("--decode", type=int, nargs="+", default=[1, 64, 512])
    parser.add_argument("--prompt", type=int, nargs="+", default=[])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    asked = layouts(args)
    if len(asked) == 1:
        found = {
            "shape": args.shape,
            "device": torch.cuda.get_device_name() if args.device == "cuda" else "host",
            "torch": torch.__version__,
            **measured(args, asked[0]),
        }
        if args.out:
            args.out.write_text(json.dumps(found, indent=1))
        return
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, layout in enumerate(asked):
            path = Path(scratch) / f"{number}.json"
            command = [sys.executable, "-m", "tests.bench.bench_tp", *layout.arguments]
            command += ["--kinds", *args.kinds, "--shape", args.shape]
            command += ["--device", args.device, "--out", str(path)]
            command += ["--decode", *map(str, args.decode)]
            if args.prompt:
                command += ["--prompt", *map(str, args.prompt)]
            subprocess.run(command, check=True, timeout=PROCESS_S)
            results.append(json.loads(path.read_text()))
            if args.out:
                args.out.write_text(json.dumps(results, indent=1))
    for line in table(asked, results):
        print(line)


if __name__ == "__main__":
    main()
