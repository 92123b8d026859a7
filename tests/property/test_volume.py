"""A great many operations on memory and scheduler, every invariant checked after each."""

from random import Random

import pytest
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.errors import InternalError, Refused
from intaglio.engine.memory.block_groups import BlockGroups
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.plan import Forced, Plan, SampledBatch, SampledToken
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Failure, Finish, Request, SamplingParams

from tests.support.schedules import Clock
from tests.support.scripted import END_TOKENS, TEXT, VOCAB, Script

SHARDS = 4
WINDOWS: list[tuple[int | None, ...]] = [(None,), (None,), (None, 3), (None,), (5,), (None, 2, 2)]


class Churn:
    """One scheduler under random calls, and a separate record of the requests that must end."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.clock = Clock()
        block_size = self.rng.randint(1, 4)
        cached = seed % 2 > 0  # names of one byte: most beginnings share theirs with others
        most_step = self.rng.randint(1, 24)
        groups = BlockGroups(block_size, WINDOWS[seed % len(WINDOWS)], most_step)
        prefix = PrefixCache(block_size, groups) if cached else None
        blocks = groups.count * self.rng.randint(8, 24)
        self.manager = KVManager(BlockPool(1 + blocks), block_size, prefix, groups=groups)
        config = SchedulerConfig(
            max_batched_tokens=most_step,
            max_running=self.rng.randint(1, 8),
            max_waiting=8,
            max_preemptions=self.rng.randint(0, 4),
        )
        limits = RequestLimits(max_context=64, vocab_size=VOCAB, end_tokens=END_TOKENS)
        self.scheduler = Scheduler(config, self.manager, limits, self.clock)
        self.parked: list[int] = []
        self.open: set[str] = set()
        self.resident: set[int] = set()  # sequences the executor has been told of
        self.done = 0

    def operate(self) -> None:
        """One random operation."""
        draw = self.rng.random()
        if draw < 0.25:
            self._add()
        elif draw < 0.32 and self.open:
            self.scheduler.abort(self.rng.choice(sorted(self.open)))
        elif draw < 0.40 and self.parked:
            self._grammar(self.parked.pop(self.rng.randrange(len(self.parked))))
        else:
            self._step()
        self.scheduler.check()

    def _add(self) -> None:
        rng = self.rng
        request = Request(
            id=f"r{self.done}.{rng.random()}",
            prompt=tuple(Random(rng.randrange(3)).choices(TEXT, k=rng.randint(1, 16))),
            sampling=SamplingParams(max_tokens=rng.randint(1, 16), ignore_eos=True),
            constraint=Script(1, 1).constraint if rng.random() < 0.2 else None,
            priority=rng.randint(-1, 1),
            deadline=rng.choice((1.0, 20.0)) if rng.random() < 0.1 else None,
            tenant=rng.choice("abc"),
            weight=rng.choice((0.5, 1.0, 3.0)),
            bulk=rng.random() < 0.3,
        )
        try:
            seq_id = self.scheduler.add(request)
        except Refused:
            return
        self.open.add(request.id)
        if request.constraint is not None:
            self.parked.append(seq_id)

    def _grammar(self, seq_id: int) -> None:
        if self.rng.random() < 0.2:
            self.scheduler.grammar_failed(seq_id, Failure("invalid_constraint", "planted"))
        else:
            forced = tuple(TEXT[: self.rng.randint(0, 3)])
            self.scheduler.grammar_ready(seq_id, self.rng.choice((None, 1, 9)), forced)

    def _step(self) -> None:
        rng = self.rng
        self.clock.now += rng.random()
        plan = self.scheduler.plan()
        self._follow(plan)
        wanted = [work.seq_id for work in plan.works if work.logits]
        picks = [
            SampledToken(s, (), failure=Failure("numerical_error", "planted"))
            if rng.random() < 0.01
            else SampledToken(s, (rng.choice(TEXT),))
            for s in wanted
        ]
        forced = {s: tuple(TEXT[: rng.randint(1, 5)]) for s in wanted if rng.random() < 0.1}
        broken = {s: Failure("internal_error", "planted") for s in wanted if rng.random() < 0.01}
        changes = self.scheduler.commit(plan, SampledBatch(tuple(picks)), Forced(forced, broken))
        for change in changes.items:
            if change.finish is not None:
                self.open.remove(change.request_id)  # a second end has nothing to remove
                self.done += 1

    def _follow(self, plan: Plan) -> None:
        """Check that no sequence is released twice, admitted twice, or computed before its admission."""
        released = set(plan.released)
        assert released <= self.resident
        assert len(released) == len(plan.released)
        self.resident -= released
        admitted = {new.seq_id for new in plan.admitted}
        assert not admitted & self.resident
        self.resident |= admitted
        assert {work.seq_id for work in plan.works} <= self.resident

    def drain(self) -> None:
        """Run until all requests have ended."""
        for seq_id in self.parked:
            self._grammar(seq_id)
        steps = 0
        while self.open:
            self._step()
            self.scheduler.check()
            steps += 1
            assert steps < 10_000, "a request starves"
        assert self.manager.free_blocks == self.manager.blocks


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_operation_breaks_an_invariant(shard: int, request: pytest.FixtureRequest) -> None:
    operations = request.config.getoption("--operations", default=40_000) // SHARDS
    ended = 0
    for seed in range(shard, 20 * SHARDS, SHARDS):
        churn = Churn(seed)
        for _ in range(operations // 20):
            churn.operate()
        churn.drain()
        ended += churn.done
    assert ended > operations // 20


def test_a_sequence_that_was_preempted_for_a_late_one_starts_in_the_next_step() -> None:
    """Nothing runs in the step that preempts the only sequence for one which it then refuses."""
    churn = Churn(42)
    for _ in range(6_100):
        churn.operate()
    churn.drain()


def test_blocks_alone() -> None:
    """Compare the pool with a separate list of the blocks held."""
    rng = Random(5)
    pool = BlockPool(33)
    held: list[tuple[int, ...]] = []
    for _ in range(20_000):
        if rng.random() < 0.5:
            count = rng.randint(0, 8)
            taken = pool.allocate(count)
            assert (taken is None) == (count > 32 - sum(map(len, held)))
            if taken is not None:
                assert len(taken) == count
                held.append(taken)
        elif held:
            pool.release(held.pop(rng.randrange(len(held))))
        everything = [block for blocks in held for block in blocks]
        assert len(set(everything)) == len(everything) == 32 - pool.free
        assert 0 not in everything
    pool.check()


def test_a_plan_that_is_answered_wrongly_is_refused() -> None:
    churn = Churn(1)
    churn.scheduler.add(Request(id="a", prompt=(2,), sampling=SamplingParams(max_tokens=2)))
    plan = churn.scheduler.plan()
    with pytest.raises(InternalError, match="asks for a token"):
        churn.scheduler.commit(plan, SampledBatch(), Forced({}, {}))


def test_an_answer_nobody_asked_for_is_refused() -> None:
    churn = Churn(1)
    with pytest.raises(InternalError, match="more tokens were sampled"):
        churn.scheduler.commit(
            churn.scheduler.plan(), SampledBatch((SampledToken(1, (2,)),)), Forced({}, {})
        )


def test_ends_are_told_once() -> None:
    churn = Churn(1)
    churn.scheduler.add(Request(id="a", prompt=(2,), sampling=SamplingParams(max_tokens=2)))
    assert churn.scheduler.abort("a")
    assert not churn.scheduler.abort("a")
    changes = churn.scheduler.commit(churn.scheduler.plan(), SampledBatch(), Forced({}, {}))
    assert [change.finish for change in changes.items] == [Finish.ABORT]
