"""Compile and mask times of our matcher beside those of other libraries: one thread, one tokenizer, the same texts.

Run: `nice python -m tests.bench.bench_masks [--schemas 400] [--engines intaglio,llguidance,xgrammar]`. Needs ../shared;
of the other libraries those that are installed take part. Times are CPU times of the thread, so a busy machine shifts
them little. Every schema's first valid instance is written compactly and walked along; an engine that refuses it is
timed up to there. Nothing is compared with a bound.
"""

import argparse
import json
import lzma
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.grammar.api import GrammarError, Violation, empty_rows
from intaglio.grammar.backends.spelling import Speller
from intaglio.grammar.jsonschema.language import Language
from intaglio.grammar.jsonschema.options import Options
from intaglio.grammar.jsonschema.values import read
from intaglio.grammar.machine import Machine
from intaglio.grammar.masking import TokenIndex
from intaglio.grammar.native import NativeGrammar

from tests.support.tokens import data, large

Fill = Callable[[], None]
Accept = Callable[[int], bool]


class Refused(Exception):
    """The engine does not take the schema."""


class Engine(Protocol):
    """`open(schema)` compiles and gives the two verbs of a fresh matcher."""

    def open(self, schema: str) -> tuple[Fill, Accept]: ...


class Ours:
    """Keys in any order, as the instances have them."""

    def __init__(self, tokenizer: Tokenizer, width: int) -> None:
        vocabulary = tokenizer.vocabulary(width)
        self.index = TokenIndex(vocabulary, 1 << 27)
        self.speller = Speller(vocabulary, tokenizer.canonical)
        self.row = empty_rows(1, width)[0]

    def open(self, schema: str) -> tuple[Fill, Accept]:
        try:
            language = Language(read(schema), Options(any_order=True))
            matcher = NativeGrammar(Machine(language.root), self.index, self.speller).matcher()
        except GrammarError as error:
            raise Refused(str(error)) from error

        def accept(token: int) -> bool:
            try:
                matcher.accept(token)
            except Violation:
                return False
            return True

        return lambda: matcher.fill(self.row), accept


class LLGuidance:
    """Compact white space."""

    def __init__(self, tokenizer: Tokenizer, width: int) -> None:
        import llguidance
        import llguidance.numpy

        self.lib = llguidance
        source = data("tokenizers", "qwen", "tokenizer.json").read_text()
        self.tokenizer = llguidance.LLTokenizer(source, n_vocab=width)
        self.rows = llguidance.numpy.allocate_token_bitmask(1, width)

    def open(self, schema: str) -> tuple[Fill, Accept]:
        options = {"whitespace_flexible": False}
        grammar = self.lib.LLMatcher.grammar_from_json_schema(schema, overrides=options)
        matcher = self.lib.LLMatcher(self.tokenizer, grammar)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        fill = self.lib.numpy.fill_next_token_bitmask
        return lambda: fill(matcher, self.rows, 0), matcher.consume_token


class XGrammar:
    """Compact white space, no cache, keys in any order."""

    def __init__(self, tokenizer: Tokenizer, width: int) -> None:
        import xgrammar

        vocabulary = tokenizer.vocabulary(width)
        texts = [text or b"" for text in vocabulary.tokens]
        info = xgrammar.TokenizerInfo(
            texts, xgrammar.VocabType.RAW, vocab_size=width, stop_token_ids=list(vocabulary.end_ids)
        )
        self.lib = xgrammar
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self.rows = xgrammar.allocate_token_bitmask(1, width)

    def open(self, schema: str) -> tuple[Fill, Accept]:
        try:
            compiled = self.compiler.compile_json_schema(
                schema, any_whitespace=False, separators=(",", ":")
            )
        except RuntimeError as error:
            raise Refused(str(error)) from error
        matcher = self.lib.GrammarMatcher(compiled)
        return lambda: matcher.fill_next_token_bitmask(self.rows, 0), matcher.accept_token


ENGINES: dict[str, Callable[[Tokenizer, int], Engine]] = {
    "intaglio": Ours,
    "llguidance": LLGuidance,
    "xgrammar": XGrammar,
}


@dataclass
class Times:
    """Nanoseconds of one engine."""

    first: list[int] = field(default_factory=list)
    masks: list[int] = field(default_factory=list)
    refused: int = 0
    stopped: int = 0
    worst: list[tuple[int, str, int]] = field(default_factory=list)


def measure(engine: Engine, times: Times, name: str, schema: str, tokens: tuple[int, ...]) -> None:
    """Compile, then walk one instance."""
    clock = time.thread_time_ns
    begun = clock()
    try:
        fill, accept = engine.open(schema)
        fill()
    except Refused:
        times.refused += 1
        return
    times.first.append(clock() - begun)
    times.worst.append((times.first[-1], name, -1))
    for place, token in enumerate(tokens):
        begun = clock()
        fill()
        times.masks.append(clock() - begun)
        times.worst.append((times.masks[-1], name, place))
        if not accept(token):
            times.stopped += 1
            return


def sample(count: int) -> list[dict[str, Any]]:
    """Schemas with a valid instance, by a seeded draw."""
    with lzma.open(data("jsonschemabench", "open.jsonl.xz"), "rt") as lines:
        records = [json.loads(line) for line in lines]
    usable = [r for r in records if any(t["valid"] for t in r["tests"])]
    return random.Random(0).sample(usable, min(count, len(usable)))


def report(times: dict[str, Times]) -> str:
    """One table."""
    lines = [
        "| | schemas | refused | stopped early | first mask ms p50 / p99 / max | masks | us avg | p50, 99, 99.9, max |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, t in times.items():
        first, masks = np.array(t.first) / 1e6, np.array(t.masks) / 1e3
        f50, f99 = np.percentile(first, [50, 99])
        m50, m99, m999 = np.percentile(masks, [50, 99, 99.9])
        lines.append(
            f"| {name} | {len(first)} | {t.refused} | {t.stopped} "
            f"| {f50:.2f} / {f99:.1f} / {first.max():.0f} | {len(masks)} "
            f"| {masks.mean():.1f} | {m50:.1f} / {m99:.0f} / {m999:.0f} / {masks.max():.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schemas", type=int, default=400)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument(
        "--worst", type=int, default=0, help="also list so many slowest places of ours"
    )
    options = parser.parse_args()
    tokenizer = large()
    width = 151_936
    times: dict[str, Times] = {}
    records = sample(options.schemas)
    for name in options.engines.split(","):
        try:
            engine = ENGINES[name](tokenizer, width)
        except ImportError:
            continue
        times[name] = Times()
        measure(engine, Times(), "warm", '{"type": "object"}', tokenizer.canonical(b'{"a":1}'))
        for record in records:
            instance = next(t["data"] for t in record["tests"] if t["valid"])
            text = json.dumps(instance, ensure_ascii=False, separators=(",", ":"))
            tokens = tokenizer.canonical(text.encode())
            measure(engine, times[name], record["id"], json.dumps(record["schema"]), tokens)
    print(report(times))
    if options.worst and "intaglio" in times:
        for nanoseconds, name, place in sorted(times["intaglio"].worst, reverse=True)[
            : options.worst
        ]:
            print(f"{nanoseconds / 1e3:10.0f} us  {name} {place}")


if __name__ == "__main__":
    main()
