"""Which sequences start, which give way, and how much room is left for the running ones to grow."""

from random import Random

from intaglio.engine.config import SchedulerConfig
from intaglio.engine.schedule.queue import rank
from intaglio.engine.schedule.starting import likely_growth
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Request, SamplingParams

from tests.engine.schedule.test_scheduler import Bench

LONG = SamplingParams(max_tokens=40)


def test_bulk_gives_its_place_to_an_interactive_request_within_one_step() -> None:
    bench = Bench(config=SchedulerConfig(max_running=2))
    for name in ("one", "two"):
        bench.add(name, sampling=LONG, bulk=True)
    bench.step()
    assert set(bench.step()[0]) == {"one", "two"}
    bench.add("now", sampling=LONG)
    computed, _ = bench.step()
    assert set(computed) == {"now", "one"}, "the last bulk sequence in rank gave way"


def test_bulk_gives_its_memory_to_an_interactive_request_within_one_step() -> None:
    bench = Bench(blocks=12, block_size=4)
    bench.add("bulk", prompt=20, sampling=SamplingParams(max_tokens=20), bulk=True)
    bench.step()
    bench.add("now", prompt=40, sampling=SamplingParams(max_tokens=4))
    assert set(bench.step()[0]) == {"now"}
    while "now" in bench.step()[0]:
        pass
    assert set(bench.step()[0]) == {"bulk"}, "and comes back"


def test_bulk_prompts_leave_the_step_to_interactive_ones() -> None:
    bench = Bench(config=SchedulerConfig(max_batched_tokens=16))
    bench.add("bulk", prompt=100, bulk=True)
    bench.step()
    bench.add("now", prompt=12)
    assert bench.step()[0] == {"now": 12, "bulk": 4}


def test_bulk_that_gave_way_often_enough_keeps_its_place() -> None:
    bench = Bench(config=SchedulerConfig(max_running=1, max_preemptions=1))
    bench.add("bulk", sampling=LONG, bulk=True)
    bench.step()
    bench.add("first", sampling=SamplingParams(max_tokens=2))
    assert set(bench.step()[0]) == {"first"}
    while set(bench.step()[0]) != {"bulk"}:
        pass
    bench.add("second", sampling=SamplingParams(max_tokens=2))
    assert set(bench.step()[0]) == {"bulk"}


def test_no_stream_of_interactive_requests_keeps_bulk_waiting_for_ever() -> None:
    config = SchedulerConfig(max_running=1, bulk_patience_s=60.0, patience_s=10.0)
    bench = Bench(config=config)
    bench.add("first", sampling=SamplingParams(max_tokens=2))
    bench.step()
    bench.add("bulk", sampling=SamplingParams(max_tokens=1), bulk=True)
    began, number = bench.clock.now, 0
    while True:
        bench.add(f"now-{number}", sampling=SamplingParams(max_tokens=1))
        number += 1
        if "bulk" in bench.step()[0]:
            break
        bench.clock.now += 1.0
        assert bench.clock.now < began + 60.0
    # Overtaken by requests that arrived within the difference of patience, and served before later ones.
    assert 45 <= bench.clock.now - began <= 55
    assert number > 45


def test_a_nearer_deadline_goes_first() -> None:
    bench = Bench(config=SchedulerConfig(max_running=1))
    bench.add("first", sampling=SamplingParams(max_tokens=1))
    bench.add("patient", sampling=SamplingParams(max_tokens=1))
    bench.add("far", sampling=SamplingParams(max_tokens=1), deadline=300.0)
    bench.add("soon", sampling=SamplingParams(max_tokens=1), deadline=20.0)
    bench.add("sooner", sampling=SamplingParams(max_tokens=1), deadline=10.0)
    served = [name for _ in range(5) for name in bench.step()[0]]
    assert served == ["sooner", "soon", "first", "patient", "far"]


def test_the_last_places_are_for_tenants_that_hold_few() -> None:
    bench = Bench(config=SchedulerConfig(max_running=16))
    for number in range(30):
        bench.add(f"flood-{number}", sampling=LONG, tenant="a")
    assert len(bench.step()[0]) == 14
    bench.add("light", sampling=LONG, tenant="b")
    assert "light" in bench.step()[0]
    free = Bench(config=SchedulerConfig(max_running=16))
    for number in range(30):
        free.add(f"any-{number}", sampling=LONG)
    assert len(free.step()[0]) == 16, "without tenants nothing is kept"


def test_growth_is_the_most_that_a_simulation_needs() -> None:
    rng = Random(3)
    for _ in range(300):
        sequences = [_grown(rng, number) for number in range(rng.randint(1, 8))]
        assert likely_growth(sequences) == _simulated(sequences)


def _grown(rng: Random, number: int) -> Sequence:
    request = Request(id=str(number), prompt=(2,), sampling=LONG)
    seq = Sequence(number, request, rank(request, number, 0.0, SchedulerConfig()), 0.0)
    seq.tokens += [7] * rng.randint(0, 10)
    seq.record.likely = rng.choice((None, rng.randint(0, 30)))
    return seq


def _simulated(sequences: list[Sequence]) -> int:
    """Step by step: each grows by a token until its likely end, when it gives back its output."""
    left = [max(0, (seq.record.likely or 0) - seq.output_tokens) for seq in sequences]
    held = [seq.output_tokens for seq in sequences]
    start, most = sum(held), 0
    for step in range(1, max(left) + 1):
        for i in range(len(sequences)):
            held[i] = held[i] + 1 if left[i] >= step else 0
        most = max(most, sum(held) - start)
    return most
