"""Compile and mask times of our matcher and of other libraries: one thread, one tokenizer, the same texts.

Run: `nice python -m tests.bench.bench_masks [--schemas 400] [--engines intaglio,llguidance,xgrammar] [--cold]`. Needs
../shared; of the other libraries those that are installed take part. Times are CPU times of the thread. Each schema is
compiled once, and all its valid instances, written compactly, are walked along with it; an engine that refuses one is
timed up to there. What an engine keeps between schemas it keeps for the whole run, as a server would. The
shortest output, which only budgets ask for, is not searched: other engines have no such search. Nothing is compared
with a bound.

Between the first mask and the walks ours is warmed up, as a server does beside the prompt of the first request; the
time for that is a column of its own. With `--cold` it is not. A step accepts a token and asks for the forced ones.
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
from intaglio.engine.host.garbage import GarbageCollector
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    GrammarError,
    KeyOrder,
    Kind,
    Violation,
    empty_rows,
)

from tests.support.tokens import data, large

Fill = Callable[[], None]
Step = Callable[[int], bool]
Begin = Callable[[], tuple[Fill, Step]]


class Refused(Exception):
    """The engine does not take the schema."""


class Engine(Protocol):
    """`open(schema)` compiles: what makes a fresh matcher's two verbs each time it is called, and what warms it up."""

    def open(self, schema: str) -> tuple[Begin, Callable[[], None]]: ...

    @property
    def rows_bytes(self) -> int:
        """Memory of the masks kept, 0 where it cannot be told."""
        ...


def _nothing() -> None:
    """Engines that make nothing ahead of time."""


class Ours:
    """Keys in any order, as the instances have them."""

    def __init__(self, tokenizer: Tokenizer, width: int) -> None:
        self.compiler = Compiler(tokenizer.vocabulary(width), tokenizer.canonical)
        self.row = empty_rows(1, width)[0]

    @property
    def rows_bytes(self) -> int:
        return self.compiler.shared().get("leaf_masks", 0)

    def open(self, schema: str) -> tuple[Begin, Callable[[], None]]:
        constraint = Constraint(Kind.JSON_SCHEMA, schema, key_order=KeyOrder.ANY)
        try:
            grammar = self.compiler.compile(constraint)
        except GrammarError as error:
            raise Refused(str(error)) from error

        def begin() -> tuple[Fill, Step]:
            matcher = grammar.matcher()

            def step(token: int) -> bool:
                try:
                    matcher.accept(token)
                except Violation:
                    return False
                matcher.forced()
                return True

            return lambda: matcher.fill(self.row), step

        return begin, lambda: self.compiler.warm_up(grammar, constraint)


class LLGuidance:
    """Compact white space."""

    rows_bytes = 0

    def __init__(self, tokenizer: Tokenizer, width: int) -> None:
        import llguidance
        import llguidance.numpy

        self.lib = llguidance
        source = data("tokenizers", "qwen", "tokenizer.json").read_text()
        self.tokenizer = llguidance.LLTokenizer(source, n_vocab=width)
        self.rows = llguidance.numpy.allocate_token_bitmask(1, width)

    def open(self, schema: str) -> tuple[Begin, Callable[[], None]]:
        grammar = self.lib.LLMatcher.grammar_from_json_schema(
            schema, overrides={"whitespace_flexible": False}
        )
        first = self.lib.LLMatcher(self.tokenizer, grammar)
        if first.is_error():
            raise Refused(first.get_error())
        fill = self.lib.numpy.fill_next_token_bitmask

        def begin() -> tuple[Fill, Step]:
            matcher = first.deep_copy()

            def step(token: int) -> bool:
                taken: bool = matcher.consume_token(token)
                matcher.compute_ff_tokens()
                return taken

            return lambda: fill(matcher, self.rows, 0), step

        return begin, _nothing


class XGrammar:
    """Compact white space, no cache, keys in any order."""

    rows_bytes = 0

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

    def open(self, schema: str) -> tuple[Begin, Callable[[], None]]:
        try:
            compiled = self.compiler.compile_json_schema(
                schema, any_whitespace=False, separators=(",", ":")
            )
        except RuntimeError as error:
            raise Refused(str(error)) from error

        def begin() -> tuple[Fill, Step]:
            matcher = self.lib.GrammarMatcher(compiled)

            def step(token: int) -> bool:
                taken: bool = matcher.accept_token(token)
                matcher.find_jump_forward_string()
                return taken

            return lambda: matcher.fill_next_token_bitmask(self.rows, 0), step

        return begin, _nothing


ENGINES: dict[str, Callable[[Tokenizer, int], Engine]] = {
    "intaglio": Ours,
    "llguidance": LLGuidance,
    "xgrammar": XGrammar,
}
WARMING = {  # of compiled code, formats, strings near their bound, as a server does when it starts
    '{"type": "object"}': b'{"a":1}',
    '{"items": {"type": "string", "maxLength": 40, "pattern": "^.*$"}, "type": "array"}': b'["a b"]',
    '{"additionalProperties": {"type": "string", "minLength": 1, "maxLength": 99}}': b'{"a":"bc","d":"e"}',
    '{"patternProperties": {"^[ab]{1,8}$": {}}, "additionalProperties": false}': b'{"ab":1,"b":2}',
    '{"items": {"type": ["integer", "null"]}, "uniqueItems": true, "type": "array"}': b"[1,2,null]",
    '{"type": "string", "format": "date-time"}': b'"2020-01-02T03:04:05Z"',
    '{"type": "string", "format": "date"}': b'"2020-01-02"',
    '{"type": "string", "format": "email"}': b'"a@b.c"',
    '{"type": "string", "format": "hostname"}': b'"a.b"',
    '{"type": "string", "format": "ipv4"}': b'"1.2.3.4"',
    '{"type": "string", "format": "uri"}': b'"a:b"',
    '{"type": "string", "maxLength": 12}': b'"' + b"1" * 12,
    '{"type": "string", "maxLength": 48}': b'"' + b"1" * 48,
    '{"type": "string", "maxLength": 20000}': b'"a',
    '{"type": "string", "format": "uuid"}': b'"01234567-89ab-cdef-0123-456789abcdef"',
}
WIDTH = 151_936  # of the model whose tokenizer it is


@dataclass
class Times:
    """Nanoseconds of one engine."""

    first: list[int] = field(default_factory=list)
    warming: list[int] = field(default_factory=list)
    masks: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    refused: int = 0
    stopped: int = 0
    worst: list[tuple[int, str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Figures:
    """One engine over one set of schemas. First masks in ms, from the schema's text; the others in us.

    `refused`: schemas it does not take; `stopped`: valid instances it refuses. `rows_bytes`: masks kept at the end.
    """

    engine: str
    schemas: int
    refused: int
    stopped: int
    first_p50: float
    first_p99: float
    first_max: float
    masks: int
    mask_mean: float
    mask_p50: float
    mask_p99: float
    mask_p999: float
    mask_max: float
    step_mean: float
    step_p50: float
    warming_mean: float  # ms
    rows_bytes: int
    worst: tuple[
        tuple[int, str, int], ...
    ] = ()  # (nanoseconds, schema, place in its instances; -1: the first mask)


def _follow(
    engine: Engine, times: Times, record: tuple[str, str, list[list[int]]], *, cold: bool = False
) -> None:
    """Compile, warm up, then walk the instances of a record (name, schema, tokens of each instance)."""
    clock = time.thread_time_ns
    name, schema, texts = record
    begun = clock()
    try:
        begin, warm_up = engine.open(schema)
        begin()[0]()
    except Refused:
        times.refused += 1
        return
    times.first.append(clock() - begun)
    times.worst.append((times.first[-1], name, -1))
    begun = clock()
    if not cold:
        warm_up()
    times.warming.append(clock() - begun)
    place = 0
    for tokens in texts:
        fill, step = begin()
        for token in tokens:
            begun = clock()
            fill()
            times.masks.append(clock() - begun)
            times.worst.append((times.masks[-1], name, place))
            place += 1
            begun = clock()
            taken = step(token)
            times.steps.append(clock() - begun)
            if not taken:
                times.stopped += 1
                break
    times.worst = sorted(times.worst, reverse=True)[:40]


def _figures(name: str, times: Times, rows_bytes: int) -> Figures:
    first, masks = np.array(times.first) / 1e6, np.array(times.masks) / 1e3
    f50, f99, most = np.percentile(first, [50, 99, 100]).tolist()
    m50, m99, m999, slowest = np.percentile(masks, [50, 99, 99.9, 100]).tolist()
    return Figures(
        engine=name,
        schemas=len(first) + times.refused,
        refused=times.refused,
        stopped=times.stopped,
        first_p50=f50,
        first_p99=f99,
        first_max=most,
        masks=len(masks),
        mask_mean=float(masks.mean()),
        mask_p50=m50,
        mask_p99=m99,
        mask_p999=m999,
        mask_max=slowest,
        step_mean=float(np.mean(times.steps) / 1e3),
        step_p50=float(np.median(times.steps) / 1e3),
        warming_mean=float(np.mean(times.warming) / 1e6),
        rows_bytes=rows_bytes,
        worst=tuple(times.worst),
    )


def measure(
    records: list[dict[str, Any]],
    engines: tuple[str, ...] = tuple(ENGINES),
    width: int = WIDTH,
    *,
    cold: bool = False,
) -> list[Figures]:
    """All engines that are installed over the same records ({"id", "schema", "tests": [{"data", "valid"}]})."""
    tokenizer, collector = large(), GarbageCollector()
    found = []
    for name in engines:
        try:
            engine = ENGINES[name](tokenizer, width)
        except ImportError:
            continue
        times = Times()
        # Code is loaded at its first use.
        for schema, text in WARMING.items():
            _follow(engine, Times(), ("warm", schema, [list(tokenizer.canonical(text))]))
        collector.start()
        for record in records:
            texts = [
                json.dumps(test["data"], ensure_ascii=False, separators=(",", ":")).encode()
                for test in record["tests"]
                if test["valid"]
            ]
            tokens = [list(tokenizer.canonical(text)) for text in texts]
            collector.between_steps(idle=True)
            asked = record["id"], json.dumps(record["schema"]), tokens
            _follow(engine, times, asked, cold=cold)
        found.append(_figures(name, times, engine.rows_bytes))
    return found


def sample(count: int) -> list[dict[str, Any]]:
    """Schemas with a valid instance, by a seeded draw."""
    with lzma.open(data("jsonschemabench", "open.jsonl.xz"), "rt") as lines:
        records = [json.loads(line) for line in lines]
    usable = [r for r in records if any(t["valid"] for t in r["tests"])]
    return random.Random(0).sample(usable, min(count, len(usable)))


def table(found: list[Figures]) -> str:
    """One table."""
    columns = (
        "",
        "schemas",
        "refused",
        "instances refused",
        "first mask ms p50 / p99 / max",
        "warming ms avg",
        "masks",
        "us avg",
        "p50 / p99 / p99.9 / max",
        "step us avg / p50",
        "rows kept, MiB",
    )
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += [
        f"| {f.engine} | {f.schemas} | {f.refused} ({f.refused / f.schemas:.1%}) | {f.stopped} "
        f"| {f.first_p50:.2f} / {f.first_p99:.1f} / {f.first_max:.0f} "
        f"| {f.warming_mean:.1f} | {f.masks} | {f.mask_mean:.1f} "
        f"| {f.mask_p50:.1f} / {f.mask_p99:.0f} / {f.mask_p999:.0f} / {f.mask_max:.0f} "
        f"| {f.step_mean:.1f} / {f.step_p50:.1f} | {f.rows_bytes / 2**20:.1f} |"
        for f in found
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schemas", type=int, default=400)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--cold", action="store_true", help="no masks ahead of time")
    parser.add_argument("--worst", type=int, default=0, help="also list so many slowest places")
    options = parser.parse_args()
    found = measure(sample(options.schemas), tuple(options.engines.split(",")), cold=options.cold)
    print(table(found))
    for figures in found if options.worst else ():
        print(figures.engine)
        for nanoseconds, name, place in figures.worst[: options.worst]:
            print(f"{nanoseconds / 1e3:10.0f} us  {name} {place}")


if __name__ == "__main__":
    main()
