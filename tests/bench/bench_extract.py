"""The engine on a GPU over the 512 extraction requests that a peer was measured on, constrained and free.

    python -m tests.bench.bench_extract --tokenizer FOLDER --workload extract512.jsonl [--shape 8b|0.6b] [--out FILE]

Random weights of the two shapes (norms 1, all else N(0, 0.02)), those of the layers in another form with `--quantised`.
Decode: every sequence goes from its 32nd to its 160th token of output, prompts cached; constrained by an array of
objects that cannot end before; a step is the wall time over the tokens of one sequence, so what the grammar forces
counts as the tokens it is; "different" gives each sequence a grammar of its own. Workload: all requests at once, T = 1,
with an empty prefix cache and with all prompts cached; free runs have the token counts of their constrained twins, and
every constrained output is validated. The floor is the bytes of weights, in bfloat16 in every form, and of keys and
values at the mean context over the measured copy bandwidth.

`--shape tiny` runs on a host, to try the script: its figures mean nothing.
"""

import argparse
import copy
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jsonschema
import tokenizers
import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.host.garbage import GarbageCollector
from intaglio.engine.host.process import SWITCH_INTERVAL_S
from intaglio.engine.loop import Engine
from intaglio.engine.model.spec import read_spec
from intaglio.engine.types import Delta, Request, SamplingParams
from intaglio.grammar.api import Constraint, Kind, Whitespace

from tests.bench.roofline import copy_bandwidth, floor_ms

COMMON: dict[str, Any] = {
    "vocab_size": 151_936,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 4096,
    "torch_dtype": "bfloat16",
}
SHAPES: dict[str, dict[str, Any]] = {
    "8b": COMMON
    | {
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "tie_word_embeddings": False,
    },
    "0.6b": COMMON
    | {
        "architectures": ["Qwen3ForCausalLM"],
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "tie_word_embeddings": True,
    },
    "tiny": COMMON
    | {
        "architectures": ["Qwen3ForCausalLM"],
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 8,
        "head_dim": 16,
        "tie_word_embeddings": True,
    },
}
QUANTISED: dict[str, dict[str, Any]] = {
    "fp8": {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic"},
    "int8": {
        "quant_method": "compressed-tensors",
        "format": "int-quantized",
        "config_groups": {
            "all": {
                "targets": ["Linear"],
                "weights": {"num_bits": 8, "strategy": "channel"},
                "input_activations": {"num_bits": 8, "strategy": "token"},
            }
        },
        "ignore": ["lm_head"],
    },
    "w4": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True},
}
"""`quantization_config` of each form of weights."""
ENDLESS: dict[str, Any] = {
    "type": "array",
    "minItems": 12,
    "items": {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 0, "maximum": 99999},
            "kind": {"enum": ["alpha", "beta", "gamma", "delta"]},
            "text": {"type": "string", "maxLength": 24},
        },
        "required": ["n", "kind", "text"],
        "additionalProperties": False,
    },
}


@dataclass(frozen=True)
class Span:
    """The tokens of output between which a decode step is timed, the largest batch and how many requests there are."""

    begin: int
    end: int
    most: int
    items: int


SPAN, TINY = Span(32, 160, 512, 512), Span(3, 6, 4, 4)


@dataclass(frozen=True)
class Item:
    """One request of the workload."""

    name: str
    prompt: tuple[int, ...]
    schema: str


@dataclass
class Bench:
    """One engine, and what is asked of it."""

    engine: Engine
    items: list[Item]
    span: Span = SPAN
    runs: int = 0
    collector: GarbageCollector = field(default_factory=GarbageCollector)

    def __post_init__(self) -> None:
        self.collector.start()

    def requests(
        self, count: int, *, salt: str, limits: Sequence[int], constraint: Callable[[int], Any]
    ) -> list[Request]:
        self.runs += 1
        found = []
        for i in range(count):
            item, grammar = self.items[i % len(self.items)], constraint(i)
            sampling = SamplingParams(
                max_tokens=limits[i], temperature=1.0, seed=i, ignore_eos=grammar is None
            )
            found.append(
                Request(
                    id=f"{self.runs}-{i}",
                    prompt=item.prompt,
                    sampling=sampling,
                    constraint=grammar,
                    cache_salt=salt,
                )
            )
        return found

    def run(self, requests: Sequence[Request]) -> tuple[float, dict[str, list[Delta]]]:
        """Seconds from the first submission to the last end, and all deltas by request."""
        told: dict[str, list[Delta]] = {request.id: [] for request in requests}
        began = time.perf_counter()
        for request in requests:
            self.engine.submit(request)
        for delta in self._until_idle():
            told[delta.request_id].append(delta)
        seconds = time.perf_counter() - began
        wrong = [d.error for deltas in told.values() for d in deltas if d.error is not None]
        if wrong:
            raise RuntimeError(f"{len(wrong)} requests failed, the first with {wrong[0]}")
        return seconds, told

    def decode(self, count: int, grammar: Callable[[int], Any]) -> dict[str, float]:
        """Milliseconds a token of one sequence, a step, and the host's parts of it, with `count` running."""
        requests, have = self._begun(count, grammar)
        before, tokens = self.engine.metrics(), sum(have.values())
        began = time.perf_counter()
        self._until(have, self.span.end)
        seconds = time.perf_counter() - began
        after, tokens = self.engine.metrics(), sum(have.values()) - tokens
        steps = after.steps - before.steps
        for request in requests:
            self.engine.abort(request.id)
        for _ in self._until_idle():
            pass
        parts = {
            part: 1e3 * (after.seconds[part] - before.seconds[part]) / steps
            for part in after.seconds
        }
        return {
            "token_ms": 1e3 * seconds * count / tokens,
            "step_ms": 1e3 * seconds / steps,
            "steps": steps,
            **parts,
        }

    def idle(self, count: int, grammar: Callable[[int], Any]) -> dict[str, float]:
        """Share of the time in which the GPU did nothing, over 40 decode steps of `count` sequences."""
        # What an earlier profile left behind is not the engine's to look through while it is measured.
        self.collector.start()
        requests, _ = self._begun(count, grammar)
        before = self.engine.metrics().seconds
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
            for _ in range(40):
                self._step()
        after = self.engine.metrics().seconds
        spans = sorted(
            (e.time_range.start, e.time_range.end)
            for e in profiler.events() or ()
            if e.device_type.name == "CUDA"
        )
        for request in requests:
            self.engine.abort(request.id)
        for _ in self._until_idle():
            pass
        busy, last = 0.0, spans[0][0]
        for begin, end in spans:
            busy += max(0.0, end - max(begin, last))
            last = max(last, end)
        return {
            "idle": 1 - busy / (last - spans[0][0]),
            "launches_a_step": len(spans) / 40,
            "profiled_step_ms": (last - spans[0][0]) / 40e3,
            **{part: 1e3 * (after[part] - before[part]) / 40 for part in after},
        }

    def prepare(self, requests: Sequence[Request]) -> None:
        """Compile the grammars of all requests and cache their prompts: a copy of each runs to its first token.

        Then they begin together, however long a host compiles.
        """
        waiting = {f"w{request.id}" for request in requests}
        for request in requests:
            self.engine.submit(replace(request, id=f"w{request.id}"))
        for delta in self._until_idle():
            if delta.error is not None:
                raise RuntimeError(f"a request failed: {delta.error}")
            if delta.request_id in waiting:
                waiting.remove(delta.request_id)
                self.engine.abort(delta.request_id)

    def _begun(
        self, count: int, grammar: Callable[[int], Any]
    ) -> tuple[list[Request], dict[str, int]]:
        """Requests that all run and have come to the span's beginning, and the tokens that each has by then."""
        requests = self.requests(count, salt="d", limits=[1024] * count, constraint=grammar)
        self.prepare(requests)
        have = dict.fromkeys((request.id for request in requests), 0)
        for request in requests:
            self.engine.submit(request)
        self._until(have, self.span.begin)
        return requests, have

    def _until(self, have: dict[str, int], tokens: int) -> None:
        while min(have.values()) < tokens:
            for delta in self._step():
                if delta.finish is not None:
                    raise RuntimeError(f"a request ended early: {delta}")
                have[delta.request_id] += len(delta.tokens)

    def _until_idle(self) -> Iterator[Delta]:
        while self.engine.open_requests:
            yield from self._step()

    def _step(self) -> list[Delta]:
        """One step and what the engine's process does between two of them."""
        deltas = self.engine.step()
        idle = not self.engine.has_work
        if idle and self.engine.open_requests:
            self.engine.wait()
        self.collector.between_steps(idle=idle)
        return deltas

    def mean_context(self, count: int) -> float:
        """Keys a decode step reads of one sequence, on average."""
        prompts = [len(self.items[i % len(self.items)].prompt) for i in range(count)]
        return sum(prompts) / count + (self.span.begin + self.span.end) / 2


def read_items(path: Path, tokenizer: tokenizers.Tokenizer) -> list[Item]:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Item(r["id"], tuple(tokenizer.encode(r["prompt"]).ids), json.dumps(r["schema"]))
        for r in records
    ]


def is_valid(text: str, schema: str) -> bool:
    """Whether an output is JSON and meets its schema, by a validator that shares nothing with the masks."""
    try:
        jsonschema.Draft202012Validator(json.loads(schema)).validate(json.loads(text))
    except (json.JSONDecodeError, jsonschema.ValidationError):
        return False
    return True


def workload(
    bench: Bench,
    names: Sequence[str],
    out: dict[str, Any],
    spell: Callable[[Iterable[Sequence[int]]], str],
) -> dict[str, list[Delta]]:
    """All requests at once; the last constrained run's deltas. `spell`: the text of some tokens."""
    count = len(bench.items)
    last: dict[str, list[Delta]] = {}
    grammars = [compact(item.schema) for item in bench.items]
    lengths = [256] * count
    for name in names:
        kind, cache = name.split("-")
        free = kind == "free"
        requests = bench.requests(
            count,
            salt=f"{bench.runs}" if cache in ("cold", "first") else "warm",
            limits=lengths if free else [256] * count,
            constraint=(lambda i: None) if free else grammars.__getitem__,
        )
        before = bench.engine.metrics()
        seconds, told = bench.run(requests)
        after = bench.engine.metrics()
        ends = [told[r.id][-1].usage for r in requests]
        tokens = [u.output_tokens for u in ends if u is not None]
        if not free:
            lengths, last = [max(1, t) for t in tokens], told
        out[name] = {
            "seconds": seconds,
            "requests_per_s": count / seconds,
            "tokens": sum(tokens),
            "tokens_per_s": sum(tokens) / seconds,
            "cached": sum(u.cached_tokens for u in ends if u is not None),
            "forced": sum(u.forced_tokens for u in ends if u is not None),
            "steps": after.steps - before.steps,
            "parts": {p: after.seconds[p] - before.seconds[p] for p in after.seconds},
        }
        if not free:
            out[name]["valid"] = sum(
                is_valid(spell(d.tokens for d in told[r.id]), item.schema)
                for r, item in zip(requests, bench.items, strict=True)
            )
        print(name, json.dumps(out[name]), flush=True)
    return last


def compact(schema: str) -> Constraint:
    """The schema, written without spaces."""
    return Constraint(Kind.JSON_SCHEMA, schema, whitespace=Whitespace.COMPACT)


def of_its_own(number: int) -> Constraint:
    """A grammar like the endless one that no other sequence has."""
    schema = copy.deepcopy(ENDLESS)
    schema["items"]["properties"]["kind"]["enum"].append(f"kind {number}")
    return compact(json.dumps(schema))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--workload", type=Path, required=True)
    parser.add_argument("--shape", choices=SHAPES, default="0.6b")
    parser.add_argument("--quantised", choices=QUANTISED, help="the form of the weights of layers")
    parser.add_argument("--decode", type=int, nargs="*", default=[1, 64, 256, 512])
    parser.add_argument(
        "--runs",
        nargs="*",
        default=[
            "schema-first",
            "schema-cold",
            "free-cold",
            "schema-warm",
            "schema-warm",
            "free-warm",
        ],
    )
    parser.add_argument("--set", nargs="*", default=[], help="engine settings, name=value")
    parser.add_argument("--idle", action="store_true", help="also profile 40 decode steps")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--texts", type=Path, help="write the last constrained outputs here")
    args = parser.parse_args()
    began = time.perf_counter()
    tiny = args.shape == "tiny"
    span = TINY if tiny else SPAN
    if not tiny:
        torch.cuda.init()
    bandwidth = 1e11 if tiny else copy_bandwidth()
    if not tiny:
        torch.cuda.empty_cache()
    out: dict[str, Any] = {
        "shape": args.shape,
        "quantised": args.quantised,
        "device": "host" if tiny else torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "bandwidth": bandwidth,
        "before_s": time.perf_counter() - began,
    }
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for file in args.tokenizer.iterdir():
            shutil.copy(file, folder / file.name)
        config = SHAPES[args.shape]
        if args.quantised:
            config = config | {"quantization_config": QUANTISED[args.quantised]}
        (folder / "config.json").write_text(json.dumps(config))
        settings = {
            "model": str(folder),
            "weights": "random",
            "device": "cpu" if tiny else "cuda",
            "max_running": span.most,
            "max_batched_tokens": 16384,
            "grammar_store": "off",
            "grammar_bytes": 4 << 30,  # holds one for each sequence
        }
        texts = {f"INTAGLIO_ENGINE_{k.upper()}": v for k, v in (s.split("=") for s in args.set)}
        given = {k: v for k, v in settings.items() if f"INTAGLIO_ENGINE_{k.upper()}" not in texts}
        began = time.perf_counter()
        assembly = build(EngineConfig.load(given, texts))
        out["start_s"] = time.perf_counter() - began
        spec = read_spec(folder)
    tokenizer = tokenizers.Tokenizer.from_file(str(args.tokenizer / "tokenizer.json"))
    engine = assembly.engine
    assert isinstance(engine, Engine)
    sys.setswitchinterval(SWITCH_INTERVAL_S)  # as a server does
    out["blocks"] = assembly.info.blocks
    print("ready", out, flush=True)
    bench = Bench(engine, read_items(args.workload, tokenizer)[: span.items], span)
    batches = [count for count in args.decode if count <= span.most]
    endless = compact(json.dumps(ENDLESS))
    kinds: dict[str, Callable[[int], Any]] = {
        "free": lambda i: None,
        "schema": lambda i: endless,
        "different": of_its_own,
    }
    # The code of grammars is loaded first, because loading would slow the host down.
    if batches or args.runs:
        bench.decode(1, kinds["schema"])
        while assembly.grammar_stats().warming:
            time.sleep(0.1)
    out["decode"] = {}
    for count in batches:
        for name, grammar in kinds.items():
            if name == "different":
                bench.decode(count, grammar)  # compiled, and exported
            found = bench.decode(count, grammar)
            found["floor_ms"] = floor_ms(spec, count, bench.mean_context(count), bandwidth)
            out["decode"][f"{name}-{count}"] = found
            print(name, count, {k: round(v, 3) for k, v in found.items()}, flush=True)
            if args.out:
                args.out.write_text(json.dumps(out, indent=1))
    if args.idle:
        out["idle"] = {}
        bench.idle(batches[0], kinds["free"])  # the profiler sets itself up
        for count in batches:
            for name, grammar in kinds.items():
                out["idle"][f"{name}-{count}"] = found = bench.idle(count, grammar)
                print("idle", name, count, found, flush=True)
    out["workload"] = {}

    def spell(parts: Iterable[Sequence[int]]) -> str:
        return tokenizer.decode([token for part in parts for token in part])

    told = workload(bench, args.runs, out["workload"], spell)
    if args.texts and told:
        texts_of = [spell(d.tokens for d in deltas) for deltas in told.values()]
        args.texts.write_text(json.dumps(texts_of))
    if args.out:
        args.out.write_text(json.dumps(out, indent=1))
    assembly.close()


if __name__ == "__main__":
    main()
