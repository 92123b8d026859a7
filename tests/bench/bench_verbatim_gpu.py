"""Decode steps in which every sequence copies from a document of its own, against ordinary and free ones, on a GPU.

    python -m tests.bench.bench_verbatim_gpu [--data ../shared/data] [--shape 8b] [--sequences 64] [--out FILE]
    python -m tests.bench.bench_verbatim_gpu --device cpu --tiny     (on a host: tries the script)

Random weights, T = 1, one engine. Each sequence has a prompt that is its document: passages of real documents in an
order of its own, `--characters` long. Its output is an array of objects with two strings, bounded in length, and an
integer: free, constrained by that schema, or with strings that are verbatim. Random weights choose among the legal
tokens as if all were equally good, so most strings begin in many places of the document and continue in few. The three
kinds take turns, `--rounds` times, with prompts cached. For each round the documents of the constraints get a new last
line, so the tables and masks of no round are there before; grammars are compiled before the steps are timed, as the
service does off the step.

A step is one call of the engine's loop. The table has medians, 99th percentiles and means of all rounds, the wall time
for one token of one sequence, and ratios to free; then the host's parts of the steps, in milliseconds. `inside`: the
share of tokens that were sampled within a string. Every complete verbatim string is looked up in its document.
"""

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import tokenizers
import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.build_engine import build
from intaglio.engine.host.process import SWITCH_INTERVAL_S
from intaglio.engine.loop import Engine
from intaglio.engine.types import Request, SamplingParams
from intaglio.grammar.api import Constraint
from rich.console import Console
from rich.table import Table

from tests.bench.bench_extract import SHAPES, Bench, Item, compact
from tests.bench.bench_verbatim import document

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("free", "schema", "verbatim")
POSITIONS = 16_384
BEGIN = 24  # tokens of output before the steps that are timed
_STRING = re.compile(r'"(?:name|quote)":"((?:[^"\\]|\\.)*)"')
_RUN = re.compile(r"\s+")


@dataclass(frozen=True)
class Steps:
    """The timed steps of one round: seconds of each, and all tokens of the time, by sequence.

    `before`: the tokens of each sequence before them. `parts`: seconds of the engine's parts over all steps.
    """

    seconds: tuple[float, ...]
    before: tuple[tuple[int, ...], ...]
    tokens: tuple[tuple[int, ...], ...]
    parts: dict[str, float]


@dataclass(frozen=True)
class Figure:
    """A row of the table; times in milliseconds."""

    kind: str
    steps: int
    median_ms: float
    p99_ms: float
    mean_ms: float
    token_ms: float
    inside: float
    parts_ms: dict[str, float]


def schema(*, verbatim: bool) -> str:
    """An array of objects with two strings that does not end within the timed steps."""
    marks = {"x-intaglio": {"verbatim": True}} if verbatim else {}
    fields = {
        "name": {"type": "string", "minLength": 1, "maxLength": 60, **marks},
        "quote": {"type": "string", "minLength": 20, "maxLength": 200, **marks},
        "page": {"type": "integer", "minimum": 0, "maximum": 99},
    }
    item = {"type": "object", "properties": fields, "required": [*fields]}
    items = {"items": item | {"additionalProperties": False}, "minItems": 12}
    return json.dumps({"type": "array", **items})


def documents(data: Path, count: int, characters: int) -> list[str]:
    """Documents of that length: passages of real documents in random order, or words where there are none."""
    file = data / "real-docs/dev.jsonl"
    if not file.exists():
        return [document(random.Random(seed), characters) for seed in range(count)]
    lines = file.read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    found = []
    for seed in range(count):
        random.Random(seed).shuffle(texts)
        found.append("\n\n".join(texts)[:characters])
    return found


class VerbatimBench:
    """One engine, and the documents of its sequences."""

    def __init__(self, engine: Engine, texts: Sequence[str], core: tokenizers.Tokenizer) -> None:
        prompts = [tuple(core.encode(text).ids) for text in texts]
        items = [Item(f"{i}", prompt, "") for i, prompt in enumerate(prompts)]
        self.bench = Bench(engine, items)
        self.texts = texts

    def constraint(self, kind: str, number: int, turn: int) -> Constraint | None:
        """The constraint of one sequence."""
        if kind == "free":
            return None
        asked = compact(schema(verbatim=kind == "verbatim"))
        about = self.about(number, turn)
        return replace(asked, document=about) if kind == "verbatim" else asked

    def about(self, number: int, turn: int) -> str:
        """The document of a constraint, which no other round has."""
        return f"{self.texts[number]}\n{turn}"

    def requests(self, kind: str, turn: int, limit: int) -> list[Request]:
        """One for each document."""
        count = len(self.texts)
        made = self.bench.requests(
            count,
            salt="v",
            limits=[limit] * count,
            constraint=lambda i: self.constraint(kind, i, turn),
        )
        draws = [
            SamplingParams(max_tokens=limit, temperature=1.0, seed=1000 * turn + i, ignore_eos=True)
            for i in range(count)
        ]
        # An end is illegal under the schema, so `ignore_eos` matters to free outputs only.
        return [
            replace(r, sampling=d if r.constraint is None else replace(d, ignore_eos=False))
            for r, d in zip(made, draws, strict=True)
        ]

    def compile(self, kind: str, turn: int, limit: int) -> float:
        """Seconds until all grammars are compiled, and all prompts cached."""
        began = time.perf_counter()
        self.bench.prepare(self.requests(kind, turn, limit))
        return time.perf_counter() - began

    def timed(self, kind: str, turn: int, steps: int, limit: int) -> Steps:
        """Run all sequences to `BEGIN` tokens, and time the next steps."""
        engine = self.bench.engine
        requests = self.requests(kind, turn, limit)
        have: dict[str, list[int]] = {request.id: [] for request in requests}
        for request in requests:
            engine.submit(request)
        while min(map(len, have.values())) < BEGIN:
            self._take(have)
        begun, before = {name: len(tokens) for name, tokens in have.items()}, engine.metrics()
        seconds = []
        for _ in range(steps):
            began = time.perf_counter()
            self._take(have)
            seconds.append(time.perf_counter() - began)
        after = engine.metrics()
        for request in requests:
            engine.abort(request.id)
        self.drain()
        return Steps(
            tuple(seconds),
            tuple(tuple(tokens[: begun[name]]) for name, tokens in have.items()),
            tuple(tuple(tokens[begun[name] :]) for name, tokens in have.items()),
            {part: after.seconds[part] - before.seconds[part] for part in after.seconds},
        )

    def step(self) -> list[Any]:
        """One step and what the engine's process does between two of them."""
        return self.bench._step()

    def drain(self) -> None:
        """Step until all requests have ended."""
        while self.bench.engine.open_requests:
            self.step()

    def _take(self, have: dict[str, list[int]]) -> None:
        for delta in self.step():
            if delta.finish is not None:
                raise RuntimeError(f"a request ended early: {delta}")
            have[delta.request_id] += delta.tokens


def share_inside(steps: Iterable[Steps], pieces: Sequence[str | None]) -> float:
    """The share of tokens that begin within the value of a string; `pieces`: the spelling of each token."""
    inside = count = 0
    for round_ in steps:
        for before, tokens in zip(round_.before, round_.tokens, strict=True):
            place = Place()
            for token in before:
                place.read(pieces[token] or "")
            for token in tokens:
                inside += place.in_value
                count += 1
                place.read(pieces[token] or "")
    return inside / max(count, 1)


class Place:
    """A place in JSON text: within a string or not, and whether it is the value of a member."""

    def __init__(self) -> None:
        self.in_value = False
        self._in_string = self._escaped = self._after_colon = False

    def read(self, text: str) -> None:
        """Read some characters more."""
        for char in text:
            if self._in_string:
                if self._escaped or char == "\\":
                    self._escaped = not self._escaped
                elif char == '"':
                    self._in_string = self.in_value = False
            elif char == '"':
                self._in_string, self.in_value = True, self._after_colon
            if not self._in_string:
                self._after_colon = char == ":"


def wrong_strings(
    bench: VerbatimBench, steps: Steps, turn: int, core: tokenizers.Tokenizer
) -> tuple[int, int]:
    """(complete verbatim strings, those of them that are not in the document)."""
    count = wrong = 0
    for number, parts in enumerate(zip(steps.before, steps.tokens, strict=True)):
        text = bench.about(number, turn)
        folded = _RUN.sub(" ", text)
        for found in _STRING.findall(core.decode([token for part in parts for token in part])):
            value = json.loads(f'"{found}"')
            count += 1
            wrong += value not in text and value not in folded
    return count, wrong


def figure(kind: str, rounds: Sequence[Steps], inside: float) -> Figure:
    """The row of one kind."""
    ordered = sorted(1e3 * seconds for each in rounds for seconds in each.seconds)
    tokens = sum(len(tokens) for each in rounds for tokens in each.tokens)
    sequences, steps = len(rounds[0].tokens), len(ordered)
    parts = {
        part: 1e3 * sum(each.parts[part] for each in rounds) / steps for part in rounds[0].parts
    }
    return Figure(
        kind,
        steps,
        median(ordered),
        ordered[min(steps - 1, steps * 99 // 100)],
        fmean(ordered),
        sum(ordered) * sequences / tokens,
        inside,
        parts,
    )


def show(figures: Sequence[Figure], title: str) -> None:
    """Print the table."""
    free = figures[0]
    table = Table(title=title)
    columns = ("output", "steps", "median ms", "p99 ms", "mean ms", "token ms", "inside")
    ratios = ("median / free", "p99 / free", "mean / free", "token / free")
    for column in (*columns, *ratios):
        table.add_column(column, justify="right")
    for each in figures:
        times = each.median_ms, each.p99_ms, each.mean_ms, each.token_ms
        base = free.median_ms, free.p99_ms, free.mean_ms, free.token_ms
        table.add_row(
            each.kind,
            str(each.steps),
            *(f"{value:.3f}" for value in times),
            f"{each.inside:.0%}",
            *(f"{value / of:.3f}" for value, of in zip(times, base, strict=True)),
        )
    Console(width=140).print(table)
    for each in figures:
        parts = {part: round(value, 3) for part, value in each.parts_ms.items()}
        print(f"{each.kind}: {json.dumps(parts)}")


def built(args: argparse.Namespace, folder: Path) -> Assembly:
    """The engine."""
    for file in (args.data / "tokenizers/qwen").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    shape = SHAPES["tiny" if args.tiny else args.shape]
    config = shape | {"max_position_embeddings": POSITIONS}
    (folder / "config.json").write_text(json.dumps(config))
    settings = {
        "model": str(folder),
        "weights": "random",
        "device": args.device,
        "max_running": args.sequences,
        "max_batched_tokens": 16384,
        "grammar_store": "off",
        "grammar_bytes": 4 << 30,
    }
    given = {f"INTAGLIO_ENGINE_{k.upper()}": v for k, v in (s.split("=") for s in args.set)}
    kept = {k: v for k, v in settings.items() if f"INTAGLIO_ENGINE_{k.upper()}" not in given}
    return build(EngineConfig.load(kept, given))


def main() -> None:
    """Print the figures, and write them to `--out`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--shape", choices=("8b", "0.6b"), default="8b")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a tiny shape, a few short documents")
    parser.add_argument("--sequences", type=int)
    parser.add_argument("--characters", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--set", nargs="*", default=[], help="engine settings, name=value")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    args.sequences = args.sequences or (4 if args.tiny else 64)
    args.characters = args.characters or (2_000 if args.tiny else 20_000)
    args.steps = args.steps or (16 if args.tiny else 128)
    core = tokenizers.Tokenizer.from_file(str(args.data / "tokenizers/qwen/tokenizer.json"))
    texts = documents(args.data, args.sequences, args.characters)
    with tempfile.TemporaryDirectory() as scratch:
        assembly = built(args, Path(scratch))
    engine = assembly.engine
    assert isinstance(engine, Engine)
    sys.setswitchinterval(SWITCH_INTERVAL_S)  # as a server does
    bench = VerbatimBench(engine, texts, core)
    prompts = [len(item.prompt) for item in bench.bench.items]
    limit = min(4096, POSITIONS - max(prompts) - 8)
    about = f"{args.sequences} documents of {args.characters:,} characters"
    print(f"{about}: {min(prompts)} to {max(prompts)} tokens; {assembly.info.blocks} blocks")
    # All prompts are cached, kernels compiled, tables of the ordinary schema on the device.
    for kind in KINDS:
        print(f"{kind}: {bench.compile(kind, 0, limit):.1f} s to its first tokens", flush=True)
        bench.timed(kind, 0, args.steps // 4, limit)
    while assembly.grammar_stats().warming:
        time.sleep(0.1)
    rounds: dict[str, list[Steps]] = {kind: [] for kind in KINDS}
    looked_up = unfound = 0
    for turn in range(1, args.rounds + 1):
        for kind in KINDS:
            compiled = bench.compile(kind, turn, limit)
            steps = bench.timed(kind, turn, args.steps, limit)
            rounds[kind].append(steps)
            mean = 1e3 * fmean(steps.seconds)
            print(f"round {turn}, {kind}: {mean:.3f} ms, compiled in {compiled:.1f} s", flush=True)
            if kind == "verbatim":
                count, wrong = wrong_strings(bench, steps, turn, core)
                looked_up, unfound = looked_up + count, unfound + wrong
    pieces = [core.id_to_token(token) for token in range(core.get_vocab_size())]
    pieces += [None] * (SHAPES["tiny"]["vocab_size"] - len(pieces))
    figures = [
        figure(kind, found, share_inside(found, pieces) if kind != "free" else 0.0)
        for kind, found in rounds.items()
    ]
    device = torch.cuda.get_device_name() if args.device == "cuda" else "host"
    show(figures, f"{'tiny' if args.tiny else args.shape} on {device}: {about}")
    print(f"{looked_up} verbatim strings, {unfound} of them not in their document")
    assembly.close()
    if args.out:
        table = {
            "commit": args.commit,
            "command": "python -m tests.bench.bench_verbatim_gpu " + " ".join(sys.argv[1:]),
            "device": device,
            "torch": torch.__version__,
            "shape": "tiny" if args.tiny else args.shape,
            "characters": args.characters,
            "prompt_tokens": prompts,
            "strings": looked_up,
            "strings_not_in_document": unfound,
            "figures": [asdict(each) for each in figures],
        }
        args.out.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    if unfound:
        sys.exit(1)


if __name__ == "__main__":
    main()
