"""The order of the calls of both pipelines, and the masks of samples that are dropped."""

import time

import pytest
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.loop import Engine
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.pipeline import OneAhead, Serial
from intaglio.engine.plan import PLACEHOLDER, Masks, Plan, SampledBatch
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Request, SamplingParams
from intaglio.grammar.api import empty_rows

from tests.support.scripted import (
    END_TOKENS,
    VOCAB,
    Pass,
    Script,
    ScriptedCompiler,
    ScriptedExecutor,
)


class Watched(ScriptedExecutor):
    """Notes its calls, and the sequences that are drawn without a mask beside others that have one."""

    def __init__(self) -> None:
        super().__init__(200, 4, 64)
        self.calls: list[str] = []
        self.unmasked: set[int] = set()
        self.dropped = 0
        self.blind = 0  # draws after a token that the host did not know

    def forward(self, plan: Plan) -> Pass:
        self.calls.append(f"forward {plan.step}")
        return super().forward(plan)

    def sample(self, handle: Pass, masks: Masks) -> None:
        self.calls.append(f"sample {handle.plan.step}")
        unread = f"sampled {handle.plan.step - 1}" not in self.calls
        self.blind += unread and any(w.tokens[-1] == PLACEHOLDER for w in handle.plan.works)
        if masks.row_of:
            drawn = {work.seq_id for work in handle.plan.works if work.logits}
            self.unmasked |= drawn - masks.row_of.keys()
            self.dropped += len(drawn) > len(masks.rows)
        super().sample(handle, masks)

    def sampled(self, handle: Pass) -> SampledBatch:
        self.calls.append(f"sampled {handle.plan.step}")
        return super().sampled(handle)


def rig(pipeline: type[Serial] | type[OneAhead]) -> tuple[Engine, Watched]:
    config = SchedulerConfig(max_batched_tokens=64, max_running=16)
    limits = RequestLimits(max_context=256, vocab_size=VOCAB, end_tokens=END_TOKENS)
    executor = Watched()
    engine = Engine(
        Scheduler(config, KVManager(BlockPool(200), 4), limits, time.monotonic),
        Constraints(
            ScriptedCompiler(at_once=True), end_tokens=END_TOKENS, rows=empty_rows(32, VOCAB)
        ),
        executor,
        pipeline=pipeline,
    )
    return engine, executor


def steps(pipeline: type[Serial] | type[OneAhead], **request: object) -> list[str]:
    """The calls of a request for three tokens."""
    engine, executor = rig(pipeline)
    penalty = float(request.pop("presence_penalty", 0.0))  # type: ignore[arg-type]
    sampling = SamplingParams(max_tokens=3, ignore_eos=True, presence_penalty=penalty)
    engine.submit(Request(id="a", prompt=(2, 3), sampling=sampling, **request))  # type: ignore[arg-type]
    for _ in engine.run_until_idle():
        pass
    assert not engine.has_work
    return executor.calls


def test_one_plan_after_the_other() -> None:
    assert steps(Serial) == [
        f"{call} {step}" for step in (1, 2, 3) for call in ("forward", "sample", "sampled")
    ]


def test_a_plan_is_drawn_before_the_plan_before_it_is_read() -> None:
    assert steps(OneAhead) == [
        *("forward 1", "sample 1", "forward 2", "sample 2", "sampled 1"),
        *("forward 3", "sample 3", "sampled 2", "sampled 3"),
    ]


def test_a_penalty_needs_the_token_before_it() -> None:
    assert steps(OneAhead, presence_penalty=0.5) == [
        *("forward 1", "sample 1", "forward 2", "sampled 1", "sample 2"),
        *("forward 3", "sampled 2", "sample 3", "sampled 3"),
    ]


def test_a_mask_of_the_host_needs_the_token_before_it() -> None:
    engine, executor = rig(OneAhead)
    constraint = Script(3, 12, tells_least=False).constraint
    sampling = SamplingParams(max_tokens=12)
    engine.submit(Request(id="a", prompt=(2, 3), sampling=sampling, constraint=constraint))
    for _ in engine.run_until_idle():
        pass
    assert executor.seen.ahead > 2
    assert executor.blind == 0


@pytest.mark.parametrize("pipeline", [Serial, OneAhead])
def test_a_pick_that_is_dropped_is_drawn_under_a_mask_that_is_there(
    pipeline: type[Serial] | type[OneAhead],
) -> None:
    """A row without a mask would have a device make all of its logits."""
    engine, executor = rig(pipeline)
    for seed in range(12):
        constraint = Script(seed, 18, tells_least=False).constraint
        sampling = SamplingParams(max_tokens=20)
        engine.submit(
            Request(id=str(seed), prompt=(2, 3), sampling=sampling, constraint=constraint)
        )
    for delta in engine.run_until_idle():
        assert delta.error is None
    assert executor.unmasked == set()
    assert (executor.dropped > 0) == (pipeline is OneAhead)
