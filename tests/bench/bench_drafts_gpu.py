"""Decode steps with drafts and without, on one GPU.

    python -m tests.bench.bench_drafts_gpu [--shape 8b] [--decode 1 8 64 512] [--kinds free text hostile] [--out FILE]

Random weights, the included model's tokenizer. Since nothing that such a model writes can be foreseen, drafts are
accepted at the `--rates` by position, whatever is sampled (`drafts=replay:RATES`): the time of a step is that of real
drafts, and the gain is that of these rates. "free" has no constraint; "text" is an array of strings of letters, whose
masks are made on the host while drafts are made; "hostile" one of strings of three letters after a prompt of the same
letters, with the sources `document,rows`: they find a match for each token, and what follows it is seldom sampled.

Each setting is an engine in a process of its own. `--shape tiny --device cpu` tries the script on a host.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.host.process import SWITCH_INTERVAL_S
from intaglio.engine.loop import Engine
from intaglio.engine.model.checkpoint import model_folder
from intaglio.engine.text.tokenizer import Tokenizer

from tests.bench.bench_extract import SHAPES, SPAN, Bench, Item, Span, compact

KINDS = ("free", "text", "hostile")
FEW = Span(4, 20, 4, 4)
RATES = "0.85/0.75/0.65/0.55"
PROMPT = 64
TEXT = "the order was placed by the buyer in spring, and the goods left the harbour in good time. "


def strings_of(letters: str) -> str:
    """A schema of many strings of these letters, a part of a character class."""
    string = {"type": "string", "pattern": f"^[{letters}]{{20,60}}$"}
    return json.dumps({"type": "array", "items": string, "minItems": 40})


GRAMMARS = {"free": None, "text": strings_of("a-z ,."), "hostile": strings_of("abc")}


def prompts(kind: str, count: int, tokenizer: Tokenizer) -> list[Item]:
    """Prompts of `PROMPT` tokens, each with a beginning of its own."""
    found = []
    for number in range(count):
        dice = random.Random(number)
        if kind == "hostile":
            text = "".join(dice.choice("abc") for _ in range(8 * PROMPT))
        else:
            words = TEXT.split()
            text = " ".join(dice.choice(words) for _ in range(4 * PROMPT))
        found.append(Item(str(number), tuple(tokenizer.encode(text)[:PROMPT]), ""))
    return found


def measured(args: argparse.Namespace, drafts: str) -> dict[str, Any]:
    """The figures of one setting of `drafts`."""
    on_gpu = args.device == "cuda"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
            shutil.copy(model_folder() / name, folder / name)
        (folder / "config.json").write_text(json.dumps(SHAPES[args.shape]))
        settings = {
            "model": str(folder),
            "weights": "random",
            "device": args.device,
            "max_running": max(64, *args.decode),
            "max_context": 2048,
            "grammar_store": "off",
            "overlap": "on",
            "drafts": drafts,
        }
        assembly = build(EngineConfig.load(settings, {}))
        tokenizer = Tokenizer.load(folder)
    engine = assembly.engine
    assert isinstance(engine, Engine)
    sys.setswitchinterval(SWITCH_INTERVAL_S)  # as a server does
    found: dict[str, Any] = {}
    for kind in args.kinds:
        items = prompts(kind, max(args.decode), tokenizer)
        bench = Bench(engine, items, SPAN if on_gpu else FEW)
        schema = GRAMMARS[kind]
        grammar = None if schema is None else compact(schema)
        bench.decode(1, lambda _, it=grammar: it)  # type: ignore[misc]
        for count in args.decode:
            before = engine.metrics().drafts
            figures = bench.decode(count, lambda _, it=grammar: it)  # type: ignore[misc]
            after = engine.metrics().drafts
            for what in ("drafted", "accepted"):
                then, now = (sum(getattr(each, what).values()) for each in (before, after))
                figures[what] = now - then
            found[f"{kind}-{count}"] = figures
            shown = {key: round(value, 3) for key, value in figures.items()}
            print(drafts, kind, count, shown, flush=True)
    assembly.close()
    return found


def run_apart(args: argparse.Namespace, drafts: str, kinds: list[str]) -> dict[str, Any]:
    """`measured` in a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "figures.json"
        command = [sys.executable, "-m", "tests.bench.bench_drafts_gpu", "--drafts", drafts]
        command += ["--shape", args.shape, "--device", args.device, "--out", str(out)]
        command += ["--kinds", *kinds, "--decode", *map(str, args.decode)]
        subprocess.run(command, check=True)
        found: dict[str, Any] = json.loads(out.read_text())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=SHAPES, default="8b")
    parser.add_argument("--decode", type=int, nargs="+", default=[1, 8, 64, 512])
    parser.add_argument("--kinds", choices=KINDS, nargs="+", default=list(KINDS))
    parser.add_argument("--rates", default=RATES)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--drafts", help="measure this setting alone")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.drafts is not None:
        figures = measured(args, args.drafts)
        if args.out:
            args.out.write_text(json.dumps(figures, indent=1))
        return
    off = run_apart(args, "off", args.kinds)
    drafted: dict[str, Any] = {}
    foreseen = [kind for kind in args.kinds if kind != "hostile"]
    if foreseen:
        drafted |= run_apart(args, f"replay:{args.rates}", foreseen)
    if "hostile" in args.kinds:
        drafted |= run_apart(args, "document,rows", ["hostile"])
    for name, figures in drafted.items():
        ratio = off[name]["token_ms"] / figures["token_ms"]
        took = f"{figures['token_ms']:.3f} ms a token, {off[name]['token_ms']:.3f} without drafts"
        print(f"{name}: {took}, {ratio:.2f} times as fast", flush=True)
    if args.out:
        device = torch.cuda.get_device_name() if args.device == "cuda" else "host"
        found = {"shape": args.shape, "device": device, "rates": args.rates}
        args.out.write_text(json.dumps(found | {"off": off, "drafted": drafted}, indent=1))


if __name__ == "__main__":
    main()
