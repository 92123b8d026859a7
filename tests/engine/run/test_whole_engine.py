"""The engine over the real runner gives each request the same tokens as a run of that request alone."""

import random
from pathlib import Path

import pytest
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.loop import Engine
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Finish, Request, SamplingParams
from intaglio.grammar.api import empty_rows

from tests.engine.run.driver import Driver, Job
from tests.support.scripted import ScriptedCompiler
from tests.support.tiny_checkpoint import LLAMA, QWEN3, write_checkpoint
from tests.support.tiny_families import CONFIGS

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
