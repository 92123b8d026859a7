"""Whatever the schedule, the tokens are the plain engine's, nobody is lost and no block leaks."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.plan import StepCosts
from intaglio.engine.types import Finish, Request, SamplingParams

from tests.support.plain_engine import outcomes
from tests.support.plain_engine import run as run_plainly
from tests.support.schedules import Run, Tally, Workload, made_up_costs
from tests.support.scripted import FAULTS, TEXT, Script

SCHEDULES = 70


@pytest.mark.parametrize("prefix", [False, True], ids=["cold", "cached"])
@pytest.mark.parametrize("overlap", [False, True], ids=["plain", "overlapped"])
def test_random_schedules_give_the_plain_tokens(overlap: bool, prefix: bool, times: int) -> None:
    total = Tally()
    for seed in range(SCHEDULES * times):
        total.add(Run(Workload.of(seed), overlap=overlap, prefix=prefix).go())
    # The workloads are worth something only if they go through what they are meant to.
    assert total.requests > 150
    assert total.partial > 100
    assert total.preemptions > 10
    assert total.forced > 150
    assert total.most_works > 2
    assert (total.ahead > 250) == overlap
    assert (total.cached > 50) == prefix
    assert total.left_out > 20
    assert {"stop", "length", "abort", "deadline", "error"} <= total.ends.keys()


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_steps_in_flight_of_several_stages_give_the_plain_tokens(stages: int, times: int) -> None:
    total = Tally()
    for seed in range(SCHEDULES // 2 * times):
        total.add(Run(Workload.of(seed), stages=stages, prefix=bool(seed % 2)).go())
    assert total.partial > 30
    assert total.preemptions > 2
    assert total.forced > 50
    assert total.ahead == 0
    assert (total.in_flight > 250) == (stages > 1)
    assert {"stop", "length", "abort", "deadline", "error"} <= total.ends.keys()


@pytest.mark.parametrize("seed", [4586, 5360])
def test_sequences_may_all_wait_while_the_token_of_a_preempted_one_is_in_flight(seed: int) -> None:
    """It cannot start again before that token is read; those that ran with it have ended meanwhile."""
    assert Run(Workload.of(seed), stages=3, prefix=bool(seed % 2)).go().preemptions


@pytest.mark.parametrize("seed", [3655, 4523, 5156, 5517, 5551])
def test_bulk_sequences_give_way_only_to_the_first_in_line_and_where_it_helps(seed: int) -> None:
    for stages, ahead in ((0, False), (1, False), (5, True)):
        Run(Workload.of(seed), stages=stages, ahead=ahead, prefix=bool(seed % 2)).go()


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "waiting"])
@pytest.mark.parametrize("batches", [1, 2, 5])
def test_a_last_stage_that_is_behind_its_host_gives_the_plain_tokens(
    batches: int, waits: bool, times: int
) -> None:
    """It has the next plan while the tokens of the oldest are read, and reads masks as late as it may."""
    total = Tally()
    for seed in range(60 * times):
        run = Run(Workload.of(seed), stages=batches, ahead=True, prefix=bool(seed % 2), waits=waits)
        total.add(run.go())
    assert total.partial > 15
    assert total.preemptions > 1
    assert total.constrained > 50
    assert (total.waits > 50) == waits
    assert (total.queued > 150) == (batches > 1)
    assert {"stop", "length", "abort", "deadline", "error"} <= total.ends.keys()


@pytest.mark.parametrize("drafts", [False, True], ids=["plain", "drafts"])
def test_outputs_that_wait_for_a_search_get_the_plain_tokens(drafts: bool, times: int) -> None:
    total = Tally()
    for seed in range(60 * times):
        total.add(Run(Workload.of(seed), drafts=drafts, prefix=bool(seed % 2), waits=True).go())
    assert total.waits > 250
    assert total.preemptions > 2
    assert total.forced > 25
    assert (total.accepted > 25) == drafts
    assert {"stop", "length", "abort", "deadline", "error"} <= total.ends.keys()


@pytest.mark.parametrize("drafts", [False, True], ids=["plain", "drafts"])
def test_a_jump_over_a_planted_fault_may_end_well(drafts: bool) -> None:
    """The matcher of `r3` is faulty after 9 tokens if asked what is forced. An end token follows the jump to there."""
    run = Run(Workload.of(3611), drafts=drafts, waits=True)
    assert run.go().ends["stop"] >= 1
    ends = {outcome.finish for outcome in outcomes(run.requests["r3"])}
    assert ends == {Finish.STOP, Finish.ERROR}
    assert run.deltas["r3"][-1].finish is Finish.STOP


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_before_more_tokens_never_passes(fault: str, at: int) -> None:
    for seed in range(50):
        healthy = Script(seed, depth=20, tells_least=False)
        request = Request(
            id="r",
            prompt=(5, seed + 2),
            sampling=SamplingParams(max_tokens=12),
            constraint=healthy.constraint,
        )
        if len(run_plainly(request).tokens) > at:
            faulty = replace(request, constraint=replace(healthy, fault=fault, at=at).constraint)
            assert {outcome.code for outcome in outcomes(faulty)} == {"internal_error"}


WINDOWS = [(5,), (None, 4), (None, 1, 1), (None, None, 7), (None, 3, 3, 12)]


@pytest.mark.parametrize("windows", WINDOWS, ids=str)
@pytest.mark.parametrize("pipeline", ["serial", "overlapped", "drafts", "waits"])
def test_blocks_freed_behind_windows_change_no_token(
    pipeline: str, windows: tuple[int | None, ...], times: int
) -> None:
    total = Tally()
    for seed in range(16 * times):
        run = Run(
            Workload.of(seed),
            overlap=pipeline == "overlapped",
            drafts=pipeline == "drafts",
            waits=pipeline == "waits",
            prefix=seed % 3 > 0,
            windows=windows,
        )
        total.add(run.go())
    assert total.partial > 15
    assert total.preemptions > 1
    assert total.forced > 15
    assert total.cached > 2
    assert (total.accepted > 10) == (pipeline == "drafts")
    assert {"stop", "length", "abort", "deadline", "error"} <= total.ends.keys()


tokens = st.sampled_from(TEXT)
scripts = st.builds(Script, st.integers(0, 1 << 20), st.integers(0, 12), st.booleans())


@st.composite
def requests(draw: st.DrawFn, name: str) -> Request:
    script = draw(st.none() | scripts)
    return Request(
        id=name,
        prompt=tuple(draw(st.lists(tokens, min_size=1, max_size=12))),
        sampling=SamplingParams(
            max_tokens=draw(st.integers(1, 12)),
            ignore_eos=draw(st.booleans()),
            stop_token_ids=tuple(draw(st.lists(tokens, max_size=2))),
        ),
        constraint=None if script is None else script.constraint,
        priority=draw(st.integers(-2, 2)),
        deadline=draw(st.none() | st.sampled_from((0.5, 3.0))),
    )


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    count = draw(st.integers(1, 6))
    arrivals, step = [], 0
    for number in range(count):
        arrivals.append((step, draw(requests(f"r{number}"))))
        step += draw(st.integers(0, 4))
    block_size = draw(st.integers(1, 5))
    most = max(len(r.prompt) + r.sampling.max_tokens - 1 for _, r in arrivals)
    return Workload(
        seed=draw(st.integers(0, 1 << 16)),
        block_size=block_size,
        num_blocks=1 + -(-most // block_size) + draw(st.integers(0, 4)),
        config=SchedulerConfig(
            max_batched_tokens=draw(st.integers(1, 16)),
            max_running=draw(st.integers(1, 6)),
            max_preemptions=draw(st.integers(0, 4)),
            ageing_s=draw(st.sampled_from((0.0, 1.0, 10.0))),
        ),
        arrivals=tuple(arrivals),
        p_abort=draw(st.sampled_from((0.0, 0.1))),
        p_compiled=draw(st.sampled_from((0.1, 1.0))),
        costs=draw(st.none() | st.builds(made_up_costs, st.randoms(use_true_random=False))),
    )


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workloads(), st.booleans(), st.booleans())
def test_any_schedule_gives_the_plain_tokens(
    workload: Workload, overlap: bool, prefix: bool
) -> None:
    Run(workload, overlap=overlap, prefix=prefix).go()


@pytest.mark.parametrize("blocks", [400, 60], ids=["roomy", "narrow"])
@pytest.mark.parametrize("overlap", [False, True], ids=["plain", "overlapped"])
def test_a_crowd_takes_turns_and_gets_the_plain_tokens(overlap: bool, blocks: int) -> None:
    """Costs of a device on which 17 tokens take twice as long as 16, and grammars that force every third token."""
    arrivals = tuple(
        (
            n // 4,
            Request(
                id=f"r{n}",
                prompt=(TEXT[n % 39], *TEXT[:4]),
                sampling=SamplingParams(max_tokens=20 + n % 7, ignore_eos=True),
                constraint=Script(n, 18, n % 2 > 0).constraint if n % 3 else None,
            ),
        )
        for n in range(48)
    )
    workload = Workload(
        seed=4,
        block_size=4,
        num_blocks=blocks,
        config=SchedulerConfig(max_batched_tokens=64, max_running=20, max_preemptions=9),
        arrivals=arrivals,
        p_abort=0.0,
        p_compiled=1.0,
        costs=StepCosts(((16, 1.0), (48, 2.0)), longest=8),
    )
    tally = Run(workload, overlap=overlap).go()
    assert tally.left_out > 20
    assert (tally.preemptions > 0) == (blocks == 60)


def test_many_requests_on_little_memory_all_end() -> None:
    """64 requests, memory for 1.1 of them: each one ends, and none is preempted more often than the limit."""
    sampling = SamplingParams(max_tokens=36, ignore_eos=True)
    config = SchedulerConfig(max_batched_tokens=16, max_running=8, max_preemptions=2)
    arrivals = tuple(
        (0, Request(id=f"r{n}", prompt=(TEXT[n % 39], *TEXT[:4]), sampling=sampling))
        for n in range(64)
    )
    workload = Workload(
        seed=3,
        block_size=4,
        num_blocks=12,
        config=config,
        arrivals=arrivals,
        p_abort=0.0,
        p_compiled=1.0,
    )
    run = Run(workload)
    tally = run.go()
    assert tally.ends == {"length": 65}
    assert tally.preemptions > 10
    assert max(told[-1].usage.preemptions for told in run.deltas.values() if told[-1].usage) <= 2
