"""A sequence whose prompt another engine computes waits outside of the queue."""

from collections.abc import Callable

import pytest
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.plan import Forced, SampledBatch, SampledToken
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Finish, Request, SamplingParams

from tests.support.schedules import Clock
from tests.support.scripted import Script


class Fetching(KVManager):
    """Memory for which another engine computes the prompts of the requests that begin with "far"."""

    def __init__(self) -> None:
        super().__init__(BlockPool(40), 4)
        self.arrived: dict[str, Callable[[], None]] = {}

    def fetch(self, seq: Sequence, arrived: Callable[[], None]) -> bool:
        if not seq.request.id.startswith("far"):
            return False
        self.arrived[seq.request.id] = arrived
        return True


class Rig:
    def __init__(self) -> None:
        self.clock = Clock()
        self.memory = Fetching()
        limits = RequestLimits(max_context=512, vocab_size=100, end_tokens=frozenset({0}))
        self.scheduler = Scheduler(SchedulerConfig(), self.memory, limits, self.clock)
        self.names: dict[int, str] = {}
        self.woken = 0

    def add(self, name: str, *, constrained: bool = False, deadline: float | None = None) -> int:
        constraint = Script(1, 2).constraint if constrained else None
        sampling = SamplingParams(max_tokens=20)
        request = Request(
            id=name, prompt=(5,) * 6, sampling=sampling, constraint=constraint, deadline=deadline
        )
        seq_id = self.scheduler.add(request, self._wake)
        self.names[seq_id] = name
        return seq_id

    def arrive(self, name: str) -> None:
        woken = self.woken
        self.memory.arrived[name]()
        assert self.woken == woken + 1

    def _wake(self) -> None:
        self.woken += 1

    def step(self) -> tuple[dict[str, int], dict[str, Finish | None]]:
        plan = self.scheduler.plan()
        self.scheduler.check()
        samples = [SampledToken(work.seq_id, (7,)) for work in plan.works if work.logits]
        changes = self.scheduler.commit(plan, SampledBatch(tuple(samples)), Forced({}, {}))
        self.scheduler.check()
        planned = {self.names[work.seq_id]: len(work.tokens) for work in plan.works}
        return planned, {change.request_id: change.finish for change in changes.items}


def test_others_start_before_it_and_it_starts_when_its_contents_arrive() -> None:
    rig = Rig()
    rig.add("far")
    rig.add("near")
    assert rig.step()[0] == {"near": 6}
    assert rig.scheduler.load().parked == 1
    rig.arrive("far")
    assert rig.step()[0] == {"near": 1, "far": 6}
    assert rig.scheduler.load().parked == 0


@pytest.mark.parametrize("grammar_first", [True, False])
def test_it_waits_for_its_grammar_and_its_contents(grammar_first: bool) -> None:
    rig = Rig()
    seq_id = rig.add("far", constrained=True)
    for grammar in (grammar_first, not grammar_first):
        assert rig.step()[0] == {}
        if grammar:
            rig.scheduler.grammar_ready(seq_id, 2, (8,))
        else:
            rig.arrive("far")
    assert rig.step()[0] == {"far": 7}


def test_it_ends_while_it_waits() -> None:
    rig = Rig()
    rig.add("far1", deadline=5.0)
    rig.add("far2")
    assert rig.scheduler.abort("far2")
    assert rig.step() == ({}, {"far2": Finish.ABORT})
    rig.clock.now += 6.0
    assert rig.step() == ({}, {"far1": Finish.DEADLINE})
    rig.arrive("far1")  # too late, without effect
    rig.arrive("far2")
    assert rig.step() == ({}, {})
