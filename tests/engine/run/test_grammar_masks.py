"""Masks made on the device by the Triton kernels (interpreted where there is no GPU), in the whole engine.

Whatever is mixed, a run with residents gives the tokens of a run whose masks all come from the host.
"""

import json
import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.grammars.device_constraints import DeviceConstraints, Exports
from intaglio.engine.loop import Engine
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.pipeline import OneAhead, Serial
from intaglio.engine.plan import Replay, StepCosts
from intaglio.engine.run.compute import HostCompute
from intaglio.engine.run.cuda.grammar_masks import DeviceGrammarMasks
from intaglio.engine.run.runner import ModelRunner
from intaglio.engine.run.slots import SlotState
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Finish, OutputLimits, Request, SamplingParams
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    DeviceTables,
    HostOnly,
    Kind,
    Vocabulary,
    empty_rows,
)
from intaglio.kernels.grammar.arena import ArenaLimits

from tests.support.schedules import WatchedBatchSizer
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

WIDTH, END, ROWS = 300, 257, 8
PIECES = (
    '{"',
    '":',
    '","',
    '"}',
    '":"',
    '":[',
    "],",
    "12",
    "true",
    "null",
    "ab",
    '"name"',
    "é",
    "[[",
    "]]",
)
TOKENS: tuple[bytes | None, ...] = (
    *(bytes([byte]) for byte in range(256)),
    *(None, None, None),
    *(piece.encode() for piece in PIECES),
)
VOCABULARY = Vocabulary(TOKENS, (END,), WIDTH)
SMALL = ArenaLimits(grammars=3, cells=40_000, sites=200, returns=500)

FLAT = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 6},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "ab", None, True]}, "maxItems": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
NESTED = {"type": "array", "items": {"$ref": "#"}, "maxItems": 2}
UNIQUE = {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True}
CONSTRAINTS: tuple[Constraint | None, ...] = (
    Constraint(Kind.JSON_SCHEMA, json.dumps(FLAT)),
    Constraint(Kind.JSON_SCHEMA, json.dumps(NESTED)),
    Constraint(Kind.JSON_SCHEMA, json.dumps(UNIQUE)),
    Constraint(Kind.REGEX, "(ab|true|é){2,9}"),
    Constraint(Kind.EBNF, 'root ::= "[" (root ("," root)*)? "]" | "12"'),
    None,
)


def canonical(text: bytes) -> tuple[int, ...]:
    """The longest token first: what a tokenizer of these tokens writes."""
    tokens, at = [], 0
    while at < len(text):
        fits = [t for t, piece in enumerate(TOKENS) if piece and text.startswith(piece, at)]
        token = max(fits, key=lambda t: len(TOKENS[t] or b""))
        tokens.append(token)
        at += len(TOKENS[token] or b"")
    return tuple(tokens)


class AtOnce:
    """Compiles when asked."""

    def __init__(self) -> None:
        self._compiler = Compiler(VOCABULARY, canonical)
        self._done: dict[str, Future[CompiledGrammar]] = {}

    def submit(self, constraint: Constraint) -> Future[CompiledGrammar]:
        if constraint.key not in self._done:
            future = self._done[constraint.key] = Future()
            future.set_result(self._compiler.compile(constraint))
        return self._done[constraint.key]


class Counted(DeviceGrammarMasks):
    """Counts the masks that are made, and how often a sequence begins anew, or takes a sample back."""

    def __init__(self) -> None:
        with torch.inference_mode():  # as `build_runner` makes them
            super().__init__(VOCABULARY, torch.device("cpu"), ROWS, SMALL)
        self.counts: Counter[str] = Counter()
        self.warm_up(WIDTH)
        self.counts.clear()

    def replay(self, replays: Sequence[tuple[int, Replay]]) -> None:
        self.counts["reset"] += sum(one.reset for _, one in replays)
        self.counts["text"] += sum(bool(one.text) for _, one in replays)
        self.counts["undo_last"] += sum(one.undo_last for _, one in replays)
        super().replay(replays)

    def walk(self, rows: torch.Tensor, out: torch.Tensor) -> None:
        self.counts["masks"] += int((rows != self.padding_row).sum())
        super().walk(rows, out)


@dataclass
class Bench:
    """An engine, and what makes masks beside its logits."""

    engine: Engine
    residents: Counted | None
    exports: Exports
    portions: WatchedBatchSizer

    def run(self, requests: Sequence[Request]) -> dict[str, tuple[tuple[int, ...], Finish | None]]:
        tokens: dict[str, tuple[int, ...]] = {request.id: () for request in requests}
        ends: dict[str, Finish | None] = {}
        for request in requests:
            self.engine.submit(request)
        for delta in self.engine.run_until_idle():
            tokens[delta.request_id] += delta.tokens
            assert delta.error is None, delta
            if delta.finish is not None:
                ends[delta.request_id] = delta.finish
            self.engine.check()
        if self.residents is not None:
            self.residents.check()
        self.exports.close()
        return {name: (tokens[name], ends[name]) for name in tokens}


def bench(
    folder: Path,
    *,
    resident: bool,
    ahead: bool,
    blocks: int,
    exports: Exports,
    costs: StepCosts | None = None,
) -> Bench:
    settings = SchedulerConfig(max_running=ROWS, max_batched_tokens=64, max_preemptions=50)
    model = ModelConfig(model=str(folder), max_context=128, threads=1)
    runner = build_runner(model, CacheConfig(num_blocks=blocks), settings).runner
    residents = Counted() if resident else None
    if residents is not None:
        runner = with_masks(runner, residents)
    portions = WatchedBatchSizer(costs)
    scheduler = Scheduler(
        settings,
        KVManager(BlockPool(runner.cache.num_blocks), 16),
        RequestLimits(128, WIDTH, frozenset({END})),
        lambda: 0.0,
        portions,
    )
    rows, ends = empty_rows(2 * ROWS, WIDTH), frozenset({END})
    assert runner.makes_masks == resident
    device = None
    if resident:
        device = DeviceConstraints(runner, exports, end_tokens=ends, texts=TOKENS)
    constraints = Constraints(AtOnce(), end_tokens=ends, rows=rows, texts=TOKENS, device=device)
    engine = Engine(scheduler, constraints, runner, pipeline=OneAhead if ahead else Serial)
    return Bench(engine, residents, exports, portions)


def with_masks(runner: ModelRunner, residents: DeviceGrammarMasks) -> ModelRunner:
    """The same model and cache, with masks made by `residents`."""
    rows = SlotState(ROWS, 128, 16)
    compute = HostCompute(runner.decoder, runner.cache, rows.blocks.tables, WIDTH, residents)
    return ModelRunner(runner.decoder, runner.cache, compute, rows, runner.limits)


class Now(Exports):
    """Exports while it is asked, so that every mask that can be a resident's is one."""

    def submit(self, key: str, constraint: Constraint) -> Future[DeviceTables | HostOnly]:
        future = super().submit(key, constraint)
        future.result()
        return future


def mixed(seed: int, count: int = 7) -> list[Request]:
    """Every constraint, drawn and greedy, with budgets that suffice and budgets that end the output early."""
    dice = random.Random(seed)
    return [
        Request(
            id=str(i),
            prompt=tuple(dice.randrange(256) for _ in range(dice.choice([14, 15, 30]))),
            sampling=SamplingParams(
                max_tokens=dice.choice([18, 22]) if i % 2 else 26,
                temperature=0 if i % 3 == 0 else 1.0,
                seed=i,
                repetition_penalty=1.2 if i % 4 == 0 else 1.0,
            ),
            constraint=CONSTRAINTS[i % len(CONSTRAINTS)],
        )
        for i in range(count)
    ]


def resident(seed: int, count: int = 7) -> list[Request]:
    """Like `mixed`, without what needs the sample before: constraints of the host, and penalties."""
    sampling = SamplingParams(max_tokens=26, temperature=1.0)
    return [
        replace(
            request,
            sampling=replace(sampling, seed=i),
            constraint=CONSTRAINTS[i % 2],
        )
        for i, request in enumerate(mixed(seed, count))
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("model"), LLAMA)


@pytest.mark.parametrize(("ahead", "blocks"), [(False, 100), (True, 10)], ids=["plain", "ahead"])
def test_residents_give_the_tokens_of_host_masks(folder: Path, ahead: bool, blocks: int) -> None:
    requests = mixed(blocks)
    host = bench(folder, resident=False, ahead=False, blocks=blocks, exports=Exports())
    expected = host.run(requests)
    beside = bench(folder, resident=True, ahead=ahead, blocks=blocks, exports=Now())
    assert beside.run(requests) == expected
    assert beside.residents is not None
    counts = beside.residents.counts
    assert counts["masks"] > 40
    assert counts["reset"] >= 4
    assert counts["text"] > 0
    preemptions = beside.engine.metrics().preemptions
    assert (preemptions > 0) == (blocks == 10)


@pytest.mark.parametrize("blocks", [100, 10], ids=["roomy", "narrow"])
def test_picks_are_begun_before_those_before_were_read(folder: Path, blocks: int) -> None:
    """Tokens that a grammar forces make the sample after them stale, which the executor has followed already."""
    requests = resident(blocks)
    host = bench(folder, resident=False, ahead=False, blocks=100, exports=Exports())
    expected = host.run(requests)
    beside = bench(folder, resident=True, ahead=True, blocks=blocks, exports=Now())
    assert beside.run(requests) == expected
    assert beside.residents is not None
    assert beside.residents.counts["undo_last"] > 2
    assert (beside.engine.metrics().preemptions > 0) == (blocks == 10)


TWO_TEXTS = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "string"}},
    "required": ["name", "tags"],
    "additionalProperties": False,
}


def looping(count: int = 2) -> list[Request]:
    """Requests of a model that likes one letter more than anything."""
    return [
        Request(
            id=str(i),
            prompt=tuple(range(i, 14 + i)),
            sampling=SamplingParams(
                max_tokens=100, temperature=i % 2, seed=i, logit_bias={ord("e"): 60.0}
            ),
            constraint=Constraint(Kind.JSON_SCHEMA, json.dumps(TWO_TEXTS)),
            limits=OutputLimits(room=90),
        )
        for i in range(count)
    ]


def test_values_that_loop_are_ended_one_step_ahead_as_they_are_by_turns(folder: Path) -> None:
    host = bench(folder, resident=False, ahead=False, blocks=100, exports=Exports())
    expected = host.run(looping())
    for tokens, finish in expected.values():
        text = b"".join(TOKENS[token] or b"" for token in tokens)
        said = json.loads(text)
        assert finish is Finish.STOP
        assert said["name"].endswith("e" * 24)
        assert said["tags"].endswith("e" * 10)
        assert len(said["name"]) < 40
        assert len(said["tags"]) < 40
    beside = bench(folder, resident=True, ahead=True, blocks=100, exports=Now())
    assert beside.run(looping()) == expected
    assert beside.residents is not None
    assert beside.residents.counts["undo_last"] >= 4


@pytest.mark.parametrize(
    ("requests", "ahead", "blocks"),
    [(mixed(1), False, 100), (mixed(2), True, 10), (resident(3), True, 100)],
    ids=["plain", "narrow", "resident"],
)
def test_who_waits_for_the_next_step_gets_the_same_tokens(
    folder: Path, requests: list[Request], ahead: bool, blocks: int
) -> None:
    """Of a device on which every second token costs twice as much as all before it."""
    host = bench(folder, resident=False, ahead=False, blocks=100, exports=Exports())
    expected = host.run(requests)
    costs = StepCosts(tuple((size, 3.0 ** (size // 2)) for size in range(1, 33)), longest=8)
    beside = bench(folder, resident=True, ahead=ahead, blocks=blocks, exports=Now(), costs=costs)
    assert beside.run(requests) == expected
    assert beside.portions.left_out > 5
    assert (beside.engine.metrics().preemptions > 0) == (blocks == 10)
