"""What is expected of a sequence before it runs, and deadlines that cannot be met."""

from intaglio.engine.config import SchedulerConfig
from intaglio.engine.schedule.expectations import Expectations
from intaglio.engine.schedule.output_lengths import MOST, UNKNOWN, OutputLengths
from intaglio.engine.schedule.pace import MARGIN, Pace
from intaglio.engine.schedule.queue import rank
from intaglio.engine.schedule.tenant_turns import cost
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Finish, Request, SamplingParams, Usage

from tests.engine.schedule.test_scheduler import END, Bench
from tests.support.scripted import Script


def sequence(output: int = 0, script: int | None = 1, max_tokens: int = 100) -> Sequence:
    constraint = None if script is None else Script(script, 2).constraint
    sampling = SamplingParams(max_tokens=max_tokens)
    request = Request(id="r", prompt=(2,) * 10, sampling=sampling, constraint=constraint)
    seq = Sequence(1, request, rank(request, 1, 0.0, SchedulerConfig()), 0.0)
    seq.tokens += [7] * output
    return seq


def test_lengths_are_learned_by_constraint_and_never_below_the_shortest() -> None:
    lengths = OutputLengths()
    assert lengths.likely(sequence().request) is None
    assert lengths.likely(sequence().request, least=5) == 5
    for _ in range(30):
        lengths.ended(sequence(40))
        lengths.ended(sequence(10, script=2))
    assert lengths.likely(sequence().request, least=5) == 40
    assert lengths.likely(sequence(script=2).request, least=5) == 10
    assert lengths.likely(sequence(script=2).request, least=20) == 20
    assert lengths.likely(sequence(max_tokens=30).request) == 30, "the budget ends it"
    for _ in range(30):
        lengths.ended(sequence(20))
    assert 20 <= (lengths.likely(sequence().request) or 0) <= 21, "and follow what changes"
    lengths.ended(sequence(40, script=None))
    assert lengths.likely(sequence(script=None).request, least=1) is None


def test_constraints_that_are_not_used_are_forgotten() -> None:
    lengths = OutputLengths()
    for script in range(MOST + 5):
        lengths.ended(sequence(9, script=script))
    known = [lengths.likely(sequence(script=script).request) for script in range(MOST + 5)]
    assert known == [None] * 5 + [9] * MOST


def test_a_start_is_charged_by_what_is_likely() -> None:
    expectations = Expectations()
    fresh, known, short = sequence(), sequence(), sequence(max_tokens=3)
    expectations.of(fresh, 0)
    expectations.of(short, 0)
    assert fresh.record.charge == cost(10, UNKNOWN)
    assert short.record.charge == cost(10, 3)
    expectations.ended(sequence(40), Usage(10, 40))
    expectations.of(known, 4)
    assert (known.record.least, known.record.likely) == (4, 40)
    assert known.record.charge == cost(10, 40)


def test_the_fastest_answer_bounds_the_time_of_others() -> None:
    pace = Pace()
    assert pace.least_s(1000) == 0
    pace.ended(Usage(1, 4, decode_s=1e-9))  # too short to tell
    pace.ended(Usage(1, 100, decode_s=2.0))
    pace.ended(Usage(1, 100, decode_s=50.0))
    assert 100 / (MARGIN * 50) <= pace.least_s(100) < 1.05 * 100 / (MARGIN * 50)


def measured() -> Bench:
    """A bench on which an answer of 20 tokens took 19 s."""
    bench = Bench()
    bench.add("measured")
    while bench.scheduler.load().running or bench.scheduler.load().waiting:
        bench.step()
        bench.clock.now += 1.0
    return bench


def test_a_hopeless_deadline_is_refused_at_once() -> None:
    bench = measured()
    late = bench.add("late", constrained=True, deadline=2.0)
    fair = bench.add("fair", constrained=True, deadline=60.0)
    for seq_id in (late, fair):
        bench.scheduler.grammar_ready(seq_id, 12)
    plan = bench.plan()
    assert [work.seq_id for work in plan.works] == [fair]
    (change,) = bench.commit(plan)[:1]
    assert (change.request_id, change.finish) == ("late", Finish.DEADLINE)
    assert change.failure is not None
    assert change.failure.code == "deadline_exceeded"
    assert "12 tokens" in change.failure.message
    assert change.failure.hint


def test_a_hopeless_deadline_is_refused_without_a_constraint_too() -> None:
    bench = measured()
    for tenant in ("", "t"):
        bench.add("late", deadline=0.1, tenant=tenant)
        bench.scheduler.check()
        (change,) = bench.commit(bench.plan())
        assert (change.request_id, change.finish) == ("late", Finish.DEADLINE)
    bench.add("company", tenant="t")
    bench.add("late", deadline=0.1, tenant="t")
    bench.scheduler.check()
    assert [bench.ids[work.seq_id] for work in bench.plan().works] == ["company"]


def test_a_deadline_that_became_hopeless_in_the_queue_takes_no_place() -> None:
    bench = Bench(config=SchedulerConfig(max_running=1))
    bench.add("first")
    bench.step()
    waiting = bench.add("waiting", constrained=True, deadline=30.0)
    bench.scheduler.grammar_ready(waiting, 20)
    for _ in range(18):
        bench.clock.now += 1.0
        bench.step()
    bench.clock.now += 6.0
    plan = bench.plan()
    ended = bench.commit(plan, {"first": END})
    assert [change.request_id for change in ended] == ["first"]
    (change,) = bench.commit(bench.plan())
    assert (change.request_id, change.finish) == ("waiting", Finish.DEADLINE)
    assert change.failure is not None


def test_before_anything_was_measured_no_deadline_is_hopeless() -> None:
    bench = Bench()
    bench.add("a", deadline=0.001)
    assert bench.step()[0] == {"a": 3}
