from typing import Any

import pytest
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.errors import InvalidRequest, QueueFull, TooLong
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.plan import Change, Forced, Plan, SampledBatch, SampledToken
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Failure, Finish, Request, SamplingParams, TokenLogprob

from tests.support.schedules import Clock
from tests.support.scripted import Script

END, STOP = 0, 50


class Bench:
    """A scheduler, and an executor that samples what the test says: by request, else token 7."""

    def __init__(
        self, *, blocks: int = 100, block_size: int = 4, config: SchedulerConfig | None = None
    ) -> None:
        self.clock = Clock()
        self.memory = KVManager(BlockPool(blocks + 1), block_size)
        self.scheduler = Scheduler(
            config or SchedulerConfig(),
            self.memory,
            RequestLimits(max_context=512, vocab_size=100, end_tokens=frozenset({END})),
            self.clock,
        )
        self.ids: dict[int, str] = {}

    def add(
        self,
        name: str,
        prompt: int = 3,
        *,
        sampling: SamplingParams | None = None,
        constrained: bool = False,
        priority: int = 0,
        deadline: float | None = None,
        **service: Any,
    ) -> int:
        seq_id = self.scheduler.add(
            Request(
                id=name,
                prompt=(5,) * prompt,
                sampling=sampling or SamplingParams(max_tokens=20),
                constraint=Script(1, 2).constraint if constrained else None,
                priority=priority,
                deadline=deadline,
                **service,
            )
        )
        self.ids[seq_id] = name
        return seq_id

    def plan(self) -> Plan:
        plan = self.scheduler.plan()
        self.scheduler.check()
        return plan

    def commit(
        self,
        plan: Plan,
        samples: dict[str, int] | None = None,
        forced: dict[str, tuple[int, ...]] | None = None,
    ) -> list[Change]:
        numbers = {name: seq_id for seq_id, name in self.ids.items()}
        changes = self.scheduler.commit(
            plan,
            SampledBatch(
                tuple(
                    SampledToken(work.seq_id, ((samples or {}).get(self.ids[work.seq_id], 7),))
                    for work in plan.works
                    if work.logits
                )
            ),
            Forced({numbers[name]: tokens for name, tokens in (forced or {}).items()}, {}),
        )
        self.scheduler.check()
        return list(changes.items)

    def step(self) -> tuple[dict[str, int], list[Change]]:
        plan = self.plan()
        return {self.ids[w.seq_id]: len(w.tokens) for w in plan.works}, self.commit(plan)


def test_a_prompt_is_computed_then_one_token_a_step() -> None:
    bench = Bench()
    seq_id = bench.add("a", prompt=6)
    plan = bench.plan()
    assert plan.admitted[0].tokens == (5,) * 6
    assert plan.admitted[0].prompt_length == 6
    assert len(plan.admitted[0].blocks) == 2
    assert [(w.seq_id, w.start, len(w.tokens), w.logits) for w in plan.works] == [
        (seq_id, 0, 6, True)
    ]
    bench.commit(plan)
    plan = bench.plan()
    assert plan.admitted == ()
    assert [(w.start, w.tokens, w.new_blocks) for w in plan.works] == [(6, (7,), ())]


def test_a_long_prompt_is_computed_in_parts_and_answered_once() -> None:
    bench = Bench(config=SchedulerConfig(max_batched_tokens=4))
    bench.add("a", prompt=10)
    parts = []
    for _ in range(3):
        plan = bench.plan()
        parts += [(w.start, len(w.tokens), w.logits) for w in plan.works]
        changes = bench.commit(plan)
    assert parts == [(0, 4, False), (4, 4, False), (8, 2, True)]
    assert [change.tokens for change in changes] == [(7,)]


def test_the_budget_is_shared_best_rank_first() -> None:
    bench = Bench(config=SchedulerConfig(max_batched_tokens=8))
    bench.add("a", prompt=5)
    bench.add("b", prompt=9)
    bench.add("c", prompt=2)
    assert bench.step()[0] == {"a": 5, "b": 3}
    assert bench.step()[0] == {"a": 1, "b": 6, "c": 1}
    assert bench.step()[0] == {"a": 1, "b": 1, "c": 1}


def test_only_so_many_run_at_once() -> None:
    bench = Bench(config=SchedulerConfig(max_running=2))
    for name in "abc":
        bench.add(name, sampling=SamplingParams(max_tokens=1))
    assert set(bench.step()[0]) == {"a", "b"}
    assert set(bench.step()[0]) == {"c"}


def test_whoever_is_last_in_rank_gives_way_and_comes_back_whole() -> None:
    bench = Bench(blocks=4)
    bench.add("a", prompt=8, sampling=SamplingParams(max_tokens=7))
    second = bench.add("b", prompt=5, sampling=SamplingParams(max_tokens=7))
    bench.step()
    plan = bench.plan()  # a needs its third block
    assert [bench.ids[w.seq_id] for w in plan.works] == ["a"]
    assert plan.released == (second,)
    assert plan.admitted == ()
    bench.commit(plan)
    while not (plan := bench.plan()).admitted:
        bench.commit(plan)
    (again,) = plan.admitted
    assert again.seq_id == second
    assert again.tokens == (5,) * 5 + (7,)  # the token it had been given is known still
    assert plan.works[-1].start == 0
    changes = bench.commit(plan)
    while not any(change.request_id == "b" and change.finish for change in changes):
        changes = bench.commit(bench.plan())
    assert changes[-1].usage is not None
    assert changes[-1].usage.preemptions == 1
    assert bench.memory.free_blocks == 4


def test_priority_decides_who_gives_way() -> None:
    bench = Bench(blocks=4)
    bench.add("a", prompt=8, priority=1, sampling=SamplingParams(max_tokens=7))
    bench.add("b", prompt=7, sampling=SamplingParams(max_tokens=7))
    bench.step()
    bench.step()
    assert set(bench.step()[0]) == {"b"}


def test_who_gave_way_often_enough_keeps_its_room() -> None:
    bench = Bench(blocks=4, config=SchedulerConfig(max_preemptions=0))
    bench.add("a", prompt=4, sampling=SamplingParams(max_tokens=9))
    bench.add("b", prompt=4, sampling=SamplingParams(max_tokens=9))
    works, _ = bench.step()
    assert works == {"a": 4}  # b waits until it has room for all it may need
    assert bench.scheduler.load().free_blocks == 1
    while bench.scheduler.load().running or bench.scheduler.load().waiting:
        bench.step()
    assert bench.scheduler.load().preemptions == 0


def test_the_head_of_the_line_is_not_overtaken_by_the_small() -> None:
    bench = Bench(blocks=4)
    bench.add("a", prompt=8, sampling=SamplingParams(max_tokens=5))
    bench.add("big", prompt=12, sampling=SamplingParams(max_tokens=4))
    bench.add("small", prompt=1, sampling=SamplingParams(max_tokens=2))
    assert set(bench.step()[0]) == {"a"}


def test_nobody_starves_behind_a_stream_of_the_favoured() -> None:
    bench = Bench(config=SchedulerConfig(max_running=1, ageing_s=10.0))
    bench.add("patient", priority=3, sampling=SamplingParams(max_tokens=1))
    for step in range(100):
        bench.add(f"favoured{step}", priority=0, sampling=SamplingParams(max_tokens=1))
        bench.clock.now += 1.0
        if "patient" in bench.step()[0]:
            break
    assert 25 <= step <= 31


def test_the_queue_is_bounded() -> None:
    bench = Bench(config=SchedulerConfig(max_waiting=2))
    bench.add("a")
    bench.add("b", constrained=True)
    with pytest.raises(QueueFull) as caught:
        bench.add("c")
    assert caught.value.retryable
    bench.step()  # a runs: there is room again
    bench.add("c")


def test_what_can_never_run_is_refused() -> None:
    bench = Bench(blocks=2)
    with pytest.raises(TooLong, match="KV memory"):
        bench.add("a", prompt=8, sampling=SamplingParams(max_tokens=2))
    bench.add("a", prompt=8, sampling=SamplingParams(max_tokens=1))
    with pytest.raises(InvalidRequest, match="in use"):
        bench.add("a", prompt=1, sampling=SamplingParams(max_tokens=1))


@pytest.mark.parametrize("sampled", [END, STOP])
def test_an_end_token_ends_and_is_not_shown(sampled: int) -> None:
    bench = Bench()
    bench.add("a", sampling=SamplingParams(max_tokens=9, stop_token_ids=(STOP,)))
    bench.step()
    (change,) = bench.commit(bench.plan(), {"a": sampled})
    assert (change.finish, change.tokens) == (Finish.STOP, ())
    assert change.usage is not None
    assert change.usage.output_tokens == 2


def test_an_end_token_can_be_ignored_but_not_under_a_grammar() -> None:
    bench = Bench()
    sampling = SamplingParams(max_tokens=3, ignore_eos=True)
    bench.add("free", sampling=sampling)
    bench.scheduler.grammar_ready(bench.add("bound", sampling=sampling, constrained=True), None)
    changes = bench.commit(bench.plan(), {"free": END, "bound": END})
    assert [(c.request_id, c.tokens, c.finish) for c in changes] == [
        ("free", (END,), None),
        ("bound", (), Finish.STOP),
    ]


def test_the_budget_of_tokens_is_kept() -> None:
    bench = Bench()
    bench.add("a", sampling=SamplingParams(max_tokens=2))
    bench.step()
    _, (change,) = bench.step()
    assert (change.finish, change.tokens) == (Finish.LENGTH, (7,))


def test_forced_tokens_are_appended_and_computed_together() -> None:
    bench = Bench()
    bench.add("a")
    (change,) = bench.commit(bench.plan(), forced={"a": (8, 9)})
    assert change.tokens == (7, 8, 9)
    (work,) = bench.plan().works
    assert (work.start, work.tokens, work.logits) == (3, (7, 8, 9), True)


@pytest.mark.parametrize(
    ("forced", "shown", "finish"),
    [
        ((8, END), (7, 8), Finish.STOP),
        ((8, STOP, 9), (7, 8), Finish.STOP),
        ((8, 9, 10, 11), (7, 8, 9), Finish.LENGTH),
        ((8, END, 9), (7, 8), Finish.STOP),
    ],
)
def test_forced_tokens_obey_every_rule_of_ending(
    forced: tuple[int, ...], shown: tuple[int, ...], finish: Finish
) -> None:
    bench = Bench()
    sampling = SamplingParams(max_tokens=3, stop_token_ids=(STOP,), logprobs=0)
    bench.add("a", sampling=sampling)
    (change,) = bench.commit(bench.plan(), forced={"a": forced})
    assert (change.tokens, change.finish) == (shown, finish)
    assert bench.memory.free_blocks == bench.memory.blocks


def test_forced_tokens_are_certain() -> None:
    bench = Bench()
    seq_id = bench.add("a", sampling=SamplingParams(max_tokens=9, logprobs=0))
    plan = bench.plan()
    sampled = SampledBatch((SampledToken(seq_id, (7,), (TokenLogprob(7, -0.5),)),))
    changes = bench.scheduler.commit(plan, sampled, Forced({seq_id: (8,)}, {}))
    assert changes.items[0].logprobs == (TokenLogprob(7, -0.5), TokenLogprob(8, 0.0))


def test_a_grammar_can_give_the_whole_answer_before_anything_is_computed() -> None:
    bench = Bench()
    seq_id = bench.add("a", constrained=True)
    assert bench.plan().works == ()
    bench.scheduler.grammar_ready(seq_id, 3, forced=(8, 9, END))
    plan = bench.plan()
    assert plan.works == ()
    (change,) = bench.commit(plan)
    assert (change.tokens, change.finish) == ((8, 9), Finish.STOP)
    assert change.usage is not None
    assert (change.usage.output_tokens, change.usage.forced_tokens) == (3, 3)


def test_a_budget_below_the_least_is_refused_with_the_least() -> None:
    bench = Bench()
    seq_id = bench.add("a", constrained=True, sampling=SamplingParams(max_tokens=4))
    bench.scheduler.grammar_ready(seq_id, 5)
    (change,) = bench.commit(bench.plan())
    assert change.finish is Finish.ERROR
    assert change.failure is not None
    assert change.failure.code == "budget_too_small"
    assert "5 tokens" in change.failure.message
    assert change.failure.hint == "set max_tokens to 5 at least"


def test_a_grammar_that_arrives_late_keeps_its_place() -> None:
    bench = Bench(config=SchedulerConfig(max_running=1))
    slow = bench.add("slow", constrained=True)
    bench.clock.now += 1
    bench.add("a", sampling=SamplingParams(max_tokens=1))
    bench.add("b", sampling=SamplingParams(max_tokens=1))
    assert set(bench.step()[0]) == {"a"}
    bench.scheduler.grammar_ready(slow, None)
    assert set(bench.step()[0]) == {"slow"}


def test_those_who_wait_for_a_grammar_do_not_hold_up_the_rest() -> None:
    bench = Bench(config=SchedulerConfig(max_running=1, max_waiting=5))
    for number in range(4):
        bench.add(f"parked{number}", constrained=True)
    bench.add("a")
    assert set(bench.step()[0]) == {"a"}


def test_a_grammar_that_fails_or_comes_too_late_ends_nothing_else() -> None:
    bench = Bench()
    bad, gone = bench.add("bad", constrained=True), bench.add("gone", constrained=True)
    bench.add("a")
    bench.scheduler.abort("gone")
    bench.scheduler.grammar_failed(bad, Failure("invalid_constraint", "no"))
    bench.scheduler.grammar_ready(gone, 1)
    bench.scheduler.grammar_failed(gone, Failure("invalid_constraint", "no"))
    works, changes = bench.step()
    assert set(works) == {"a"}
    assert {c.request_id: c.finish for c in changes} == {
        "gone": Finish.ABORT,
        "bad": Finish.ERROR,
        "a": None,
    }


def test_a_deadline_ends_a_request_wherever_it_stands() -> None:
    bench = Bench(config=SchedulerConfig(max_running=1))
    bench.add("runs", deadline=2.0)
    bench.add("waits", deadline=2.0)
    bench.add("parked", constrained=True, deadline=2.0)
    bench.add("stays", deadline=9.0)
    bench.step()
    assert bench.scheduler.load().next_deadline == 102.0
    bench.clock.now += 2.0
    works, changes = bench.step()
    assert set(works) == {"stays"}
    ended = {c.request_id for c in changes if c.finish is Finish.DEADLINE}
    assert ended == {"runs", "waits", "parked"}
    assert bench.scheduler.load().next_deadline == 109.0


def test_an_executor_is_told_once_who_is_gone() -> None:
    bench = Bench()
    first = bench.add("a")
    bench.add("b")
    bench.step()
    bench.scheduler.abort("a")
    plan = bench.plan()
    assert plan.released == (first,)
    bench.commit(plan)
    assert bench.plan().released == ()


def test_a_pick_without_a_token_ends_its_own_request() -> None:
    bench = Bench()
    empty = bench.add("empty")
    good = bench.add("good")
    plan = bench.plan()
    changes = bench.scheduler.commit(
        plan, SampledBatch((SampledToken(empty, ()), SampledToken(good, (7,)))), Forced({}, {})
    )
    ended, goes_on = changes.items
    assert (ended.request_id, ended.finish) == ("empty", Finish.ERROR)
    assert ended.failure is not None
    assert ended.failure.code == "internal_error"
    assert (goes_on.request_id, goes_on.tokens, goes_on.finish) == ("good", (7,), None)


def test_logits_that_are_no_numbers_end_one_request() -> None:
    bench = Bench()
    bad = bench.add("bad")
    good = bench.add("good")
    plan = bench.plan()
    nan = Failure("numerical_error", "nan")
    changes = bench.scheduler.commit(
        plan,
        SampledBatch((SampledToken(bad, (), failure=nan), SampledToken(good, (7,)))),
        Forced({}, {}),
    )
    assert [(c.request_id, c.finish, c.failure) for c in changes.items] == [
        ("bad", Finish.ERROR, nan),
        ("good", None, None),
    ]
