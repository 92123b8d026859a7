"""The loops over a step's tokens are compiled once, for every kind of step."""

import importlib
import pkgutil
import random
from pathlib import Path
from typing import Any

import intaglio.engine.run
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.loop import Engine
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.pipeline import OneAhead
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Request, SamplingParams
from intaglio.grammar.api import empty_rows
from numba.core.dispatcher import Dispatcher

from tests.support.scripted import END_TOKENS, Script, ScriptedCompiler
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint


def loops() -> dict[str, Dispatcher]:
    """All compiled functions of the executor, by name."""
    found: dict[str, Dispatcher[Any]] = {}
    for module in pkgutil.iter_modules(intaglio.engine.run.__path__, "intaglio.engine.run."):
        members = vars(importlib.import_module(module.name)).items()
        found |= {f"{module.name}.{n}": m for n, m in members if isinstance(m, Dispatcher)}
    return found


def sampling(number: int) -> SamplingParams:
    """Of eight, the first four ask for nothing that is rare."""
    rare = number % 8 > 3
    return SamplingParams(
        max_tokens=8 + number % 5,
        temperature=number % 2,
        seed=None if number % 3 else number,
        top_k=7 if rare else 0,
        presence_penalty=0.5 if number % 8 == 5 else 0,
        logprobs=2 if number % 8 == 6 else None,
        ignore_eos=True,
    )


def test_no_step_compiles_anew(tmp_path: Path) -> None:
    """Greedy and drawn, free and constrained, alone and together, with chunks of prompts and preemption."""
    dice = random.Random(1)
    settings = SchedulerConfig(max_running=6, max_batched_tokens=48)
    model = ModelConfig(model=str(write_checkpoint(tmp_path, QWEN3)), max_context=256, threads=1)
    runner = build_runner(model, CacheConfig(num_blocks=18), settings).runner
    known = {name: len(loop.signatures) for name, loop in loops().items()}
    assert known
    engine = Engine(
        Scheduler(
            settings,
            KVManager(BlockPool(18), 16),
            RequestLimits(256, 300, END_TOKENS),
            lambda: 0.0,
        ),
        Constraints(
            ScriptedCompiler(at_once=True), end_tokens=END_TOKENS, rows=empty_rows(12, 300)
        ),
        runner,
        pipeline=OneAhead,
    )
    for i in range(24):
        engine.submit(
            Request(
                id=str(i),
                prompt=tuple(dice.randrange(256) for _ in range(dice.choice([1, 16, 40, 90]))),
                sampling=sampling(i),
                constraint=Script(i, 6, tells_least=False).constraint if i % 3 == 0 else None,
            )
        )
        if i % 7 == 0:
            assert not any(delta.error for delta in engine.run_until_idle())
    assert not any(delta.error for delta in engine.run_until_idle())
    assert engine.metrics().preemptions
    assert {name: len(loop.signatures) for name, loop in loops().items()} == known
    # What no request is needed for is compiled by now: nobody waits for it.
    assert set(known.values()) <= {0, 1}
