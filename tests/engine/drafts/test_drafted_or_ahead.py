"""Steps run ahead until a guess is likely to pay; then the tokens in flight are read and drafts follow them."""

import time
from functools import partial

import pytest
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.drafts.drafted_or_ahead import DraftedOrAhead
from intaglio.engine.drafts.lengths import DraftLengths
from intaglio.engine.drafts.pipeline_seconds import PipelineSeconds
from intaglio.engine.drafts.proposals import Proposals
from intaglio.engine.drafts.source import Guess
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.loop import Engine
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.pipeline import OneAhead
from intaglio.engine.plan import Plan, SampledBatch
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Finish, Request, SamplingParams
from intaglio.grammar.api import empty_rows

from tests.support.scripted import END_TOKENS, VOCAB, Pass, ScriptedCompiler, ScriptedExecutor

TOKENS = 60


class Noted(ScriptedExecutor):
    """Notes the order of its calls, and the plans with drafts."""

    def __init__(self) -> None:
        super().__init__(200, 4, 64)
        self.calls: list[tuple[str, int]] = []
        self.drafted: set[int] = set()

    def forward(self, plan: Plan) -> Pass:
        self.calls.append(("forward", plan.step))
        if any(work.logits > 1 for work in plan.works):
            self.drafted.add(plan.step)
        return super().forward(plan)

    def sampled(self, handle: Pass) -> SampledBatch:
        self.calls.append(("sampled", handle.plan.step))
        return super().sampled(handle)


class Later:
    """Knows the outputs, and guesses from the middle of them on."""

    name = "later"
    chances = (0.9,)

    def __init__(self) -> None:
        self.outputs: dict[str, list[int]] = {}

    def guess(self, seq: Sequence, most: int, /) -> Guess | None:
        at = seq.output_tokens
        if at < TOKENS // 2 or seq.request.id not in self.outputs:
            return None
        rest = tuple(self.outputs[seq.request.id][at : at + min(most, 5)])
        return Guess(rest, (0,) * len(rest))

    def verified(self, _seq_id: int, _drafted: int, _accepted: int, /) -> None: ...

    def forget(self, seq: Sequence, _finish: Finish, /) -> None: ...


def outputs(
    requests: int, known: dict[str, list[int]] | None, most: int = 8
) -> tuple[dict[str, list[int]], Noted, Engine]:
    """The outputs of so many requests at once; with drafts if their outputs are `known`."""
    config = SchedulerConfig(max_batched_tokens=64, max_running=64)
    limits = RequestLimits(max_context=256, vocab_size=VOCAB, end_tokens=END_TOKENS)
    compiler, rows = ScriptedCompiler(at_once=True), empty_rows(128, VOCAB)
    constraints = Constraints(compiler, end_tokens=END_TOKENS, rows=rows)
    source = Later()
    source.outputs = known or {}
    proposals = Proposals([source], DraftLengths(lambda n: 1.0 + n / 100), constraints, most)
    scheduler = Scheduler(
        config, KVManager(BlockPool(400), 4), limits, time.monotonic, drafter=proposals
    )
    seconds = PipelineSeconds(0.01)
    either = partial(DraftedOrAhead, plain=OneAhead, proposals=proposals, seconds=seconds)
    executor = Noted()
    pipeline = OneAhead if known is None else either
    engine = Engine(scheduler, constraints, executor, pipeline=pipeline)
    for number in range(requests):
        sampling = SamplingParams(max_tokens=TOKENS, ignore_eos=True)
        engine.submit(Request(id=f"r{number}", prompt=(2, 3 + number), sampling=sampling))
    found: dict[str, list[int]] = {f"r{number}": [] for number in range(requests)}
    for delta in engine.run_until_idle():
        found[delta.request_id] += delta.tokens
        engine.check()
    assert not engine.has_work
    return found, executor, engine


@pytest.mark.parametrize("requests", [1, 3])
def test_drafts_follow_the_tokens_in_flight_and_change_none(requests: int) -> None:
    plain, before, _ = outputs(requests, None)
    found, executor, engine = outputs(requests, plain)
    assert found == plain
    assert executor.drafted
    counts = engine.metrics()
    assert sum(counts.drafts.accepted.values()) > 15 * requests
    assert counts.steps < 0.8 * TOKENS
    # Plain steps are still started before the one before them is read, and drafted ones are read at once.
    begun = [step for call, step in executor.calls if call == "forward"]
    plain_steps = [step for step in begun if step not in executor.drafted]
    at = executor.calls.index
    early = [n for n in plain_steps if ("forward", n + 1) in executor.calls]
    assert sum(at(("forward", n + 1)) < at(("sampled", n)) for n in early) > TOKENS // 3
    for step in executor.drafted:
        assert at(("sampled", step)) == at(("forward", step)) + 1
        if step > min(begun):  # nothing is in flight beside a plan with drafts
            assert at(("sampled", step - 1)) < at(("forward", step))
    assert len(before.calls) > len(executor.calls)


def test_many_sequences_are_not_drafted() -> None:
    plain, _, _ = outputs(6, None)
    found, executor, _ = outputs(6, plain, most=5)
    assert found == plain
    assert not executor.drafted
