"""Random requests to the real engine, with drafts and without: the same tokens.

    python -m tests.property.drafts --count 2000

Random schemas, documents, sampling at temperatures 0 and 1, truncation, penalties, log-probabilities, stop tokens,
budgets, a pool that is too small, prefix caching, aborts, drafts of all sources; on a small checkpoint with random
weights, or with `--model`. The engines are deterministic, so that answers and log-probabilities must be the same bits.
With `--plain-kernels` they are not: logits of several rows at once may differ from those of one row in the last bits,
so a draw between two nearly equal tokens may differ, rarely. Equality over scripted logits is proved
in `test_drafts.py`.
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from intaglio.engine.build_runner import PLAIN_LAYERS, Built, build_runner
from intaglio.engine.config import CacheConfig, GrammarConfig, ModelConfig, SchedulerConfig
from intaglio.engine.drafts.document import DocumentSource
from intaglio.engine.drafts.draft_tables import DraftTables
from intaglio.engine.drafts.drafted_or_ahead import DraftedOrAhead
from intaglio.engine.drafts.earlier_answers import RowsSource
from intaglio.engine.drafts.free_answer import FreeAnswerSource
from intaglio.engine.drafts.head import HeadModel, HeadSource
from intaglio.engine.drafts.lengths import DraftLengths
from intaglio.engine.drafts.likely import LikelySource
from intaglio.engine.drafts.model import DraftModel, ModelSource
from intaglio.engine.drafts.pipeline_seconds import PipelineSeconds
from intaglio.engine.drafts.proposals import Proposals
from intaglio.engine.drafts.replayed_draws import ReplayedDraws
from intaglio.engine.drafts.source import DraftSource, Guess, Lookahead
from intaglio.engine.drafts.verified_steps import VerifiedSteps
from intaglio.engine.embedded.model_files import folder as embedded_folder
from intaglio.engine.executor import Executor
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.grammars.schema_gate import CompilerService, shared_bytes
from intaglio.engine.host.build_drafts import MOST_AHEAD
from intaglio.engine.host.build_head import heads_in
from intaglio.engine.loop import Engine
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.metrics import Snapshot
from intaglio.engine.model.head_files import load_head
from intaglio.engine.model.head_spec import is_head, read_head_spec
from intaglio.engine.model.layer_settings import LayerSettings
from intaglio.engine.model.spec import read_spec
from intaglio.engine.pipeline import OneAhead, Pipeline, Serial
from intaglio.engine.run.head_executor import head_executor
from intaglio.engine.run.kept_streams import KeptStreams
from intaglio.engine.run.runner import RunnerLimits
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.sequence import Sequence as EngineSequence
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.engine.types import Finish, OutputLimits, Request, SamplingParams, TokenLogprob
from intaglio.grammar.api import Compiler, Constraint, Kind

from tests.support.draft_heads import TARGET, write_head
from tests.support.tiny_checkpoint import write_checkpoint

CONTEXT = 192
BLOCK = 8
CROWD = 20  # requests at once
MOST_DRAFTED = 4  # sequences with rows of a draft head
CLOSE = 1e-3  # of log-probabilities computed in batches of different shapes

SCHEMAS = (
    {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}}},
    {
        "type": "object",
        "properties": {
            "kind": {"enum": ["invoice", "receipt", "reminder"]},
            "total": {"type": "integer"},
            "paid": {"type": "boolean"},
        },
        "required": ["kind", "total", "paid"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"type": "string", "pattern": "^[a-c]{1,4}$"}, "maxItems": 5},
)
REGEXES = ("(ab|ba|abc){1,6}", "[0-9]{3}-[0-9]{4}", "(yes|no|perhaps), (sir|madam)")
TEXT = 'Invoice "4711": name Ada, total 12, abcabc paid true, 555-0100 yes, sir. '


@dataclass(frozen=True)
class Answer:
    """The outcome of a request."""

    tokens: tuple[int, ...]
    finish: Finish | None
    logprobs: tuple[TokenLogprob, ...]


@dataclass(frozen=True)
class Result:
    """What a comparison found: the requests that differ, and the metrics of the engine with drafts."""

    count: int
    different: tuple[str, ...]
    snapshot: Snapshot


class Foresight:
    """A source that proposes the answers computed without drafts, with occasional errors; else it copies."""

    name = "foresight"
    chances = tuple(at / 12 for at in range(12))

    def __init__(self, rng: Random) -> None:
        self.outputs: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._rng = rng

    def guess(self, seq: EngineSequence, most: int, /) -> Guess | None:
        output = self.outputs.get(seq.request.prompt)
        if output is None or self._rng.random() < 0.5:
            return None
        rest = list(output[seq.output_tokens :][:most])
        if rest and self._rng.random() < 0.4:
            rest[self._rng.randrange(len(rest))] = self._rng.randrange(256)
        return Guess(tuple(rest), tuple(self._rng.randrange(12) for _ in rest))

    def verified(self, seq_id: int, drafted: int, accepted: int, /) -> None:
        pass

    def forget(self, seq: EngineSequence, _finish: Finish, /) -> None:
        pass


class Whimsical:
    """A source that seldom proposes anything, so that other sources are asked."""

    def __init__(self, source: DraftSource, rng: Random) -> None:
        self.name, self.chances = source.name, source.chances
        self.verified, self.forget = source.verified, source.forget
        self._source, self._rng = source, rng

    def guess(self, seq: EngineSequence, most: int, /) -> Guess | None:
        return self._source.guess(seq, most) if self._rng.random() < 0.3 else None


class CheckedEngine:
    """A real engine over a checkpoint in `folder`, checked after every step; with drafts of `sources`, if given.

    `drafters`: folders of draft models and draft heads, each one more source. `lengths` chooses how many tokens are
    drafted. With `ahead`, steps without drafts are computed one step ahead. With `rates`, drafts
    are accepted at these rates whatever is sampled, which is a fault.
    """

    def __init__(
        self,
        folder: Path,
        blocks: int,
        sources: Sequence[DraftSource] = (),
        drafters: Sequence[Path] = (),
        lengths: DraftLengths | None = None,
        rates: Sequence[float] = (),
        deterministic: bool = False,
        ahead: bool = False,
    ) -> None:
        tokenizer = Tokenizer.load(folder)
        config = SchedulerConfig(max_running=48, max_batched_tokens=160, max_preemptions=4)
        model = ModelConfig(
            model=str(folder), max_context=CONTEXT, threads=1, deterministic=deterministic
        )
        cache = CacheConfig(num_blocks=blocks, block_size=BLOCK)
        heads = [each for each in drafters if is_head(each)]
        layers = PLAIN_LAYERS
        if heads:
            layers = LayerSettings(streams=read_head_spec(heads[0], read_spec(folder)).layers)
        built = build_runner(model, cache, config, vocab=tokenizer.size, layers=layers)
        self._runner = built.runner
        executor: Executor[Any] = built.runner
        width = self._runner.decoder.spec.vocab_size
        vocabulary = tokenizer.vocabulary(width)
        grammar = GrammarConfig(grammar_store="off")
        compiler = Compiler(vocabulary, tokenizer.canonical, shared_bytes(grammar))
        self._service = CompilerService(grammar, compiler)
        ends = frozenset(vocabulary.end_ids)
        rows = self._runner.mask_buffer(2 * config.max_running, width)
        constraints = Constraints(
            self._service.cache, end_tokens=ends, rows=rows, texts=vocabulary.tokens
        )
        proposals, given = None, list(sources)
        if sources:
            given += [DocumentSource(), RowsSource()]
            given.append(FreeAnswerSource(constraints.ahead, width))
            given.append(LikelySource(constraints.ahead, vocabulary.tokens, width))
        for drafter in drafters:
            drawn: DraftSource
            if drafter in heads:
                assert built.streams is not None
                executor = kept = KeptStreams(executor, built.streams, MOST_DRAFTED)
                drawn = head_source(drafter, built, kept, constraints.ahead)
            else:
                drawn = model_source(drafter, constraints, width)
            given.append(Whimsical(drawn, Random(1)) if sources else drawn)
        if given:
            lengths = lengths or DraftLengths(lambda tokens: 1.0 + tokens / 128)
            proposals = Proposals(given, lengths, constraints, MOST_AHEAD if ahead else CROWD)
        memory = KVManager(BlockPool(blocks), BLOCK, PrefixCache(BLOCK))
        limits = RequestLimits(CONTEXT, width, ends)
        scheduler = Scheduler(config, memory, limits, lambda: 0.0, drafter=proposals)
        if rates:
            executor = ReplayedDraws(executor, rates)
        pipeline: Callable[..., Pipeline] = Serial
        if proposals is not None and ahead:
            seconds = PipelineSeconds(1 / 128)
            pipeline = partial(DraftedOrAhead, plain=OneAhead, proposals=proposals, seconds=seconds)
        elif proposals is not None:
            pipeline = partial(VerifiedSteps, proposals=proposals)
        self.engine = Engine(scheduler, constraints, executor, pipeline=pipeline)

    def close(self) -> None:
        self._service.close()

    def answers(self, requests: Sequence[Request], aborts: Mapping[str, int]) -> dict[str, Answer]:
        """The answers; those of `aborts` end after so many steps."""
        found = {request.id: Answer((), None, ()) for request in requests}
        for request in requests:
            self.engine.submit(request)
        step = 0
        while self.engine.open_requests:
            for name, at in aborts.items():
                if at == step:
                    self.engine.abort(name)
            for delta in self.engine.step():
                before = found[delta.request_id]
                found[delta.request_id] = Answer(
                    before.tokens + delta.tokens, delta.finish, before.logprobs + delta.logprobs
                )
            self.engine.check()
            self._runner.check()
            step += 1
            if self.engine.open_requests:
                self.engine.wait()
        return found


def model_source(folder: Path, constraints: Constraints, width: int) -> ModelSource:
    """Drafts of a checkpoint, as if a draft cost a twentieth of a step; with a cache for few sequences."""
    tokenizer, blocks = Tokenizer.load(folder), 1 + 3 * CONTEXT // BLOCK
    config = SchedulerConfig(max_running=4, max_batched_tokens=48)
    built = build_runner(
        ModelConfig(model=str(folder), max_context=CONTEXT, threads=1),
        CacheConfig(num_blocks=blocks, block_size=BLOCK),
        config,
        vocab=tokenizer.size,
    )
    model = DraftModel(
        executor=built.runner,
        end_tokens=frozenset(tokenizer.end_ids),
        max_context=CONTEXT,
        max_batched_tokens=config.max_batched_tokens,
        width=width,
        seconds=lambda _: 1.0,
        clock=count(step=0.05).__next__,
    )
    return ModelSource(model, DraftTables(blocks, BLOCK, config.max_running), constraints.ahead)


def head_source(
    folder: Path,
    built: Built,
    kept: KeptStreams,
    ahead: Callable[[int], AbstractContextManager[Lookahead | None]],
) -> HeadSource:
    """Drafts of a head, as if a draft cost a twentieth of a step; with a cache for few sequences."""
    target, blocks = built.runner.decoder, 1 + 3 * CONTEXT // BLOCK
    head = load_head(folder, read_head_spec(folder, target.spec), target, CONTEXT)
    limits = RunnerLimits(48, MOST_DRAFTED, CONTEXT, built.runner.limits.vocab)
    executor = head_executor(head, kept, CacheConfig(num_blocks=blocks, block_size=BLOCK), limits)
    model = HeadModel(
        executor=executor,
        end_tokens=frozenset(Tokenizer.load(Path(folder).parent).end_ids),
        max_context=CONTEXT,
        max_batched_tokens=limits.max_batched_tokens,
        block_size=BLOCK,
        width=built.spec.vocab_size,
        seconds=lambda _: 1.0,
        clock=count(step=0.05).__next__,
    )
    return HeadSource(model, DraftTables(blocks, BLOCK, MOST_DRAFTED), ahead)


def random_schema(rng: Random, depth: int = 0) -> dict[str, object]:
    """A schema with short answers: scalars, arrays, and objects of up to three properties."""
    kind = rng.randrange(6 if depth else 8)
    if kind == 0:
        return {"type": "string", "maxLength": rng.randint(1, 12)}
    if kind == 1:
        return {"type": rng.choice(("integer", "boolean", "null"))}
    if kind == 2:
        words = TEXT.replace('"', "").split()
        return {"enum": rng.sample(words, rng.randint(2, 5))}
    if kind == 3:
        return {"type": "string", "pattern": rng.choice(("^[a-c]{1,4}$", "^[0-9]{2}-[0-9]$"))}
    if kind == 4:
        return {"type": "integer", "minimum": rng.randint(0, 9), "maximum": rng.randint(10, 999)}
    if kind == 5:
        items = {"enum": ["ab", "abc", "b"]} if depth else random_schema(rng, 2)
        return {"type": "array", "items": items, "maxItems": rng.randint(1, 3)}
    names = rng.sample(("n", "id", "ab", "total"), rng.randint(1, 3))
    return {
        "type": "object",
        "properties": {name: random_schema(rng, depth + 1) for name in names},
        "required": names[: rng.randint(0, len(names))],
        "additionalProperties": False,
    }


def random_request(name: str, rng: Random, tokenizer: Tokenizer) -> Request:
    """Any combination of what a request may ask for."""
    words = TEXT.split()
    prompt = " ".join(rng.choices(words, k=rng.randint(1, 14))) + f" {name}"
    kind = rng.randrange(3)
    constraint = None
    if kind == 1:
        schema = rng.choice(SCHEMAS) if rng.random() < 0.3 else random_schema(rng)
        constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(schema))
    elif kind == 2:
        constraint = Constraint(Kind.REGEX, rng.choice(REGEXES))
    return Request(
        id=name,
        prompt=tokenizer.encode(prompt),
        sampling=SamplingParams(
            max_tokens=rng.randint(45, 60) if kind == 1 else rng.randint(16, 40),
            temperature=rng.choice((0, 0, 1.0, 1.0, 0.7)),
            top_k=rng.choice((0, 0, 20)),
            top_p=rng.choice((1.0, 1.0, 0.9)),
            seed=rng.randrange(1 << 40),
            repetition_penalty=rng.choice((1.0, 1.0, 1.3)),
            presence_penalty=rng.choice((0.0, 0.0, 0.5)),
            logprobs=rng.choice((None, None, 0, 3)),
            stop_token_ids=tuple(rng.sample(range(97, 123), 2)) if rng.random() < 0.2 else (),
            ignore_eos=rng.random() < 0.3,
        ),
        constraint=constraint,
        limits=OutputLimits(rng.choice((None, 4, 12)))
        if kind == 1 and rng.random() < 0.5
        else None,
        priority=rng.randint(-1, 1),
    )


def with_draft(request: Request, output: tuple[int, ...], rng: Random) -> Request:
    """`request`, perhaps with a draft: its output with parts lost, doubled and changed, or anything."""
    if rng.random() < 0.4:
        return request
    if rng.random() < 0.2:
        return replace(request, draft=tuple(rng.randrange(256) for _ in range(30)))
    draft: list[int] = []
    for token in output:
        copies = rng.choice((0, 1, 1, 1, 1, 1, 1, 2))
        draft += [token if rng.random() < 0.9 else rng.randrange(256)] * copies
    return replace(request, draft=tuple(draft))


def same(one: Answer, other: Answer, close: float) -> bool:
    """The same tokens, end, and log-probabilities up to `close`."""
    return (
        (one.tokens, one.finish) == (other.tokens, other.finish)
        and len(one.logprobs) == len(other.logprobs)
        and all(
            a.token == b.token and abs(a.logprob - b.logprob) <= close
            for a, b in zip(one.logprobs, other.logprobs, strict=True)
        )
    )


def compare(
    folder: Path, count: int, first: int = 0, *, deterministic: bool = True, ahead: bool = False
) -> Result:
    """Run `count` random requests to the model in `folder` twice, in crowds of `CROWD`.

    With `ahead` the engine with drafts computes other steps one ahead. A draft head is used if the folder has one, but
    not with `ahead`.

    Raises:
        AssertionError: an aborted request went another way with drafts.
        EngineError: an invariant does not hold.
    """
    tokenizer, rng = Tokenizer.load(folder), Random(first)
    source = Foresight(rng)
    blocks = 1 + 2 * CONTEXT // BLOCK  # for two of the longest requests
    plain = CheckedEngine(folder, blocks, deterministic=deterministic)
    drafters = [folder, *([] if ahead else heads_in(folder))]
    drafted = CheckedEngine(
        folder, blocks, [source], drafters, deterministic=deterministic, ahead=ahead
    )
    different: list[str] = []
    try:
        for begin in range(first, first + count, CROWD):
            names = [f"r{number}" for number in range(begin, min(begin + CROWD, first + count))]
            requests = [random_request(name, rng, tokenizer) for name in names]
            expected = plain.answers(requests, {})
            requests = [with_draft(r, expected[r.id].tokens, rng) for r in requests]
            source.outputs = {r.prompt: expected[r.id].tokens for r in requests}
            aborts = {name: rng.randrange(20) for name in names if rng.random() < 0.05}
            found = drafted.answers(requests, aborts)
            for name in names:
                if found[name].finish is Finish.ABORT:
                    tokens = found[name].tokens
                    assert tokens == expected[name].tokens[: len(tokens)], name
                elif not same(found[name], expected[name], 0 if deterministic else CLOSE):
                    different.append(name)
    finally:
        plain.close()
        drafted.close()
    return Result(count, tuple(different), drafted.engine.metrics())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--model", type=Path, help="a checkpoint, or `embedded`")
    parser.add_argument("--plain-kernels", action="store_true")
    parser.add_argument("--ahead", action="store_true", help="other steps one step ahead")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = given.model
        if model is None:
            model = write_checkpoint(Path(folder), TARGET)
            write_head(model / "head")
        if model == Path("embedded"):
            model = embedded_folder()
        exact = not given.plain_kernels
        result = compare(model, given.count, given.first, deterministic=exact, ahead=given.ahead)
    snapshot = result.snapshot
    print(f"{result.count} requests, {len(result.different)} differ: {result.different}")
    print(f"ends {snapshot.finished}, preemptions {snapshot.preemptions}")
    print(f"drafted {snapshot.drafts.drafted}, accepted {snapshot.drafts.accepted}")


if __name__ == "__main__":
    main()
