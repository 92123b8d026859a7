"""The engine over the real runner gives each request the same tokens as a run of that request alone."""

import random
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.drafts.drafted_or_ahead import DraftedOrAhead
from intaglio.engine.drafts.lengths import DraftLengths
from intaglio.engine.drafts.pipeline_seconds import PipelineSeconds
from intaglio.engine.drafts.proposals import Proposals
from intaglio.engine.drafts.source import Guess
from intaglio.engine.drafts.verified_steps import VerifiedSteps
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.loop import Engine
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.model.layer_settings import LayerSettings
from intaglio.engine.pipeline import OneAhead, Pipeline, Serial
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Finish, Request, SamplingParams
from intaglio.grammar.api import empty_rows

from tests.engine.run.driver import Driver, Job, null_is_clean
from tests.support.scripted import ScriptedCompiler
from tests.support.tiny_checkpoint import LLAMA, QWEN3, write_checkpoint
from tests.support.tiny_families import CONFIGS, OLDEST

OUTPUTS = 20


@pytest.mark.parametrize("config", [LLAMA, QWEN3], ids=["llama", "qwen3"])
@pytest.mark.parametrize(("budget", "blocks"), [(512, 200), (33, 200), (64, 26)])
def test_any_pressure_gives_the_tokens_of_a_lone_run(
    config: dict[str, object], budget: int, blocks: int, tmp_path: Path
) -> None:
    """Small budgets chunk prompts; 25 blocks for 12 requests of up to 180 tokens preempt."""
    dice = random.Random(4)
    folder = write_checkpoint(tmp_path, config)
    settings = SchedulerConfig(max_running=8, max_batched_tokens=budget)
    model = ModelConfig(model=str(folder), max_context=256, threads=1)
    runner = build_runner(model, CacheConfig(num_blocks=blocks), settings).runner
    requests = [
        Request(
            id=str(i),
            prompt=tuple(dice.randrange(256) for _ in range(dice.choice([1, 16, 40, 90, 160]))),
            sampling=SamplingParams(
                max_tokens=OUTPUTS,
                temperature=0 if i % 3 else 1.0,
                seed=i,
                repetition_penalty=1.0 if i % 4 else 1.3,
                ignore_eos=True,
            ),
        )
        for i in range(12)
    ]
    scheduler = Scheduler(
        settings,
        KVManager(BlockPool(runner.cache.num_blocks), 16),
        RequestLimits(256, 300, frozenset({257})),
        lambda: 0.0,
    )
    constraints = Constraints(
        ScriptedCompiler(), end_tokens=frozenset({257}), rows=empty_rows(16, 300)
    )
    engine = Engine(scheduler, constraints, runner)
    for request in requests:
        engine.submit(request)
    tokens: dict[str, list[int]] = {request.id: [] for request in requests}
    for delta in engine.run_until_idle():
        tokens[delta.request_id] += delta.tokens
        assert delta.finish in (None, Finish.LENGTH), delta
        engine.check()
        runner.check()
    if blocks == 26:
        assert engine.metrics().preemptions > 0
    roomy = build_runner(model, CacheConfig(num_blocks=200), settings).runner
    for request in requests:
        job = Job(request.prompt, OUTPUTS, request.sampling)
        (lone,) = Driver(roomy).run([job])
        assert tokens[request.id] == lone.generated


@pytest.mark.parametrize(
    "name",
    ["gemma3", "phi4-mini", "olmo3", "smollm3", "mixtral-window", "deepseek-v2", "deepseek-v3"],
)
def test_a_cached_prefix_changes_nothing_in_any_family(name: str, tmp_path: Path) -> None:
    """Windows shorter than the prefix, layers without rotation, mixtures: the second request computes only its end."""
    folder = write_checkpoint(tmp_path, CONFIGS[name])
    settings = SchedulerConfig(max_running=4, max_batched_tokens=64)
    model = ModelConfig(model=str(folder), max_context=512, threads=1)
    runner = build_runner(model, CacheConfig(num_blocks=100), settings).runner
    dice = random.Random(5)
    shared = tuple(dice.randrange(256) for _ in range(200))
    ends = [tuple(dice.randrange(256) for _ in range(n)) for n in (30, 7)]
    scheduler = Scheduler(
        settings,
        KVManager(BlockPool(runner.cache.num_blocks), 16, PrefixCache(16)),
        RequestLimits(512, 300, frozenset({257})),
        lambda: 0.0,
    )
    constraints = Constraints(
        ScriptedCompiler(), end_tokens=frozenset({257}), rows=empty_rows(16, 300)
    )
    engine = Engine(scheduler, constraints, runner)
    sampling = SamplingParams(max_tokens=OUTPUTS, temperature=0, ignore_eos=True)
    found = []
    for i, end in enumerate(ends):
        engine.submit(Request(id=str(i), prompt=shared + end, sampling=sampling))
        found.append([token for delta in engine.run_until_idle() for token in delta.tokens])
    assert engine.metrics().cached_tokens == 192  # the whole blocks of 200 tokens
    fresh = build_runner(model, CacheConfig(num_blocks=100), settings).runner
    for end, tokens in zip(ends, found, strict=True):
        (lone,) = Driver(fresh).run([Job(shared + end, OUTPUTS, sampling)])
        assert tokens == lone.generated


WINDOWED = {
    "gemma2": {**OLDEST["gemma2"], "sliding_window": 60},
    **{name: CONFIGS[name] for name in ("gemma3", "gpt-oss", "mistral-window", "olmo3")},
}


FEWER = 16  # outputs of each of many requests


class Told:
    """A source of drafts that knows the answer to each prompt, with a wrong token now and then."""

    name = "told"
    chances = (0.9,)

    def __init__(self) -> None:
        self.answers: dict[str, list[int]] = {}

    def guess(self, seq: Sequence, most: int, /) -> Guess | None:
        rest = self.answers[seq.request.id][seq.output_tokens :][: min(most, 4)]
        if seq.output_tokens % 5 == 0 and rest:
            rest[-1] = 300 - 1 - rest[-1]
        return Guess(tuple(rest), (0,) * len(rest))

    def verified(self, _seq_id: int, _drafted: int, _accepted: int, /) -> None: ...

    def forget(self, seq: Sequence, _finish: Finish, /) -> None: ...


class Windowed:
    """An engine whose layers with and without a window have blocks of their own, and a runner that keeps all blocks."""

    def __init__(self, folder: Path, longest: int, pipeline: str) -> None:
        """The pool has a few blocks more than one sequence of the `longest` tokens needs."""
        settings = SchedulerConfig(max_running=8, max_batched_tokens=48)
        model = ModelConfig(model=str(folder), max_context=512, threads=1)
        layers = LayerSettings(grouped=True)
        built = build_runner(model, CacheConfig(num_blocks=200), settings, layers=layers)
        assert built.groups is not None
        self.groups = built.groups
        self.runner = built.runner
        self.memory = KVManager(
            BlockPool(1 + built.groups.needed(longest) + 6),
            16,
            PrefixCache(16, groups=built.groups),
            groups=built.groups,
        )
        limits = RequestLimits(512, 300, frozenset({257}))
        constraints = Constraints(
            ScriptedCompiler(), end_tokens=frozenset({257}), rows=empty_rows(16, 300)
        )
        self.told = Told()
        proposals = Proposals([self.told], DraftLengths(lambda _: 1.0), constraints)
        drafter = proposals if "drafts" in pipeline else None
        scheduler = Scheduler(settings, self.memory, limits, lambda: 0.0, drafter=drafter)
        pipelines: dict[str, Callable[..., Pipeline]] = {
            "serial": Serial,
            "ahead": OneAhead,
            "drafts": partial(VerifiedSteps, proposals=proposals),
            "drafts or ahead": partial(
                DraftedOrAhead,
                plain=OneAhead,
                proposals=proposals,
                seconds=PipelineSeconds(0.01),
            ),
        }
        self.engine = Engine(scheduler, constraints, self.runner, pipeline=pipelines[pipeline])
        self.plain = build_runner(model, CacheConfig(num_blocks=200), settings).runner

    def alone(self, request: Request) -> list[int]:
        """The tokens of a lone run that keeps all blocks."""
        job = Job(request.prompt, request.sampling.max_tokens, request.sampling)
        (lone,) = Driver(self.plain).run([job])
        return lone.generated

    def check(self, requests: list[Request], expected: Mapping[str, list[int]]) -> None:
        """Run requests together; each has the tokens that are expected."""
        self.told.answers.update(expected)
        for request in requests:
            self.engine.submit(request)
        tokens: dict[str, list[int]] = {request.id: [] for request in requests}
        while self.engine.has_work:
            for delta in self.engine.step():
                tokens[delta.request_id] += delta.tokens
                assert delta.finish in (None, Finish.LENGTH), delta
            self.engine.check()
            self.runner.check()
        assert tokens == {request.id: expected[request.id] for request in requests}
        assert null_is_clean(self.runner.cache)


def turns_of_requests() -> Iterator[list[Request]]:
    """Twice seven requests, most of which begin alike."""
    dice = random.Random(7)
    shared = tuple(dice.randrange(256) for _ in range(150))
    for turn in range(2):
        requests = []
        for i in range(7):
            own = tuple(dice.randrange(256) for _ in range(dice.choice([1, 40, 90, 200])))
            sampling = SamplingParams(max_tokens=FEWER, temperature=i % 2, seed=i, ignore_eos=True)
            begin = dice.choice([0, 40, 150])
            prompt = shared[:begin] + own
            requests.append(Request(id=f"{turn}.{i}", prompt=prompt, sampling=sampling))
        yield requests


@pytest.mark.parametrize("name", WINDOWED)
def test_blocks_behind_windows_are_freed_and_no_token_changes(name: str, tmp_path: Path) -> None:
    """Prompts are chunked, sequences are preempted, and later prompts continue earlier ones."""
    folder = write_checkpoint(tmp_path, WINDOWED[name])
    turns = list(turns_of_requests())
    expected: dict[str, list[int]] = {}
    for pipeline in ("serial", "ahead", "drafts", "drafts or ahead"):
        windowed = Windowed(folder, 350 + FEWER, pipeline)
        expected = expected or {r.id: windowed.alone(r) for turn in turns for r in turn}
        for requests in turns:
            windowed.check(requests, expected)
        counts = windowed.engine.metrics()
        assert counts.preemptions > 0, pipeline
        assert counts.cached_tokens > 50, pipeline
        assert (sum(counts.drafts.accepted.values()) > 50) == ("drafts" in pipeline)
        assert any(window is not None for window in windowed.groups.windows)
