"""Deficit round robin against a plain record of each tenant's charges."""

from collections import defaultdict
from random import Random

import pytest
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.errors import InternalError
from intaglio.engine.schedule.queue import rank
from intaglio.engine.schedule.tenant_turns import QUANTUM, TenantTurns, cost
from intaglio.engine.sequence import SeqState, Sequence
from intaglio.engine.types import Request, SamplingParams

WEIGHTS = {"a": 1.0, "b": 1.0, "c": 3.0, "d": 0.5}


class Numbered:
    """Makes sequences that wait, in order of arrival."""

    def __init__(self) -> None:
        self.count = 0

    def sequence(self, tenant: str, charge: float, weight: float = 1.0) -> Sequence:
        self.count += 1
        request = Request(
            id=str(self.count),
            prompt=(2,),
            sampling=SamplingParams(),
            tenant=tenant,
            weight=weight,
        )
        at = float(self.count)
        seq = Sequence(self.count, request, rank(request, self.count, at, SchedulerConfig()), at)
        seq.record.charge = charge
        return seq


def started(turns: TenantTurns) -> Sequence:
    seq = turns.first(lambda _: True)
    assert seq is not None
    assert turns.first(lambda _: True) is seq, "to ask changes nothing"
    turns.start(seq)
    return seq


def test_one_tenant_is_served_in_order_of_rank() -> None:
    made, turns = Numbered(), TenantTurns()
    sequences = [made.sequence("a", 10_000.0) for _ in range(5)]
    for seq in reversed(sequences):
        turns.add(seq)
    assert [started(turns).id for _ in sequences] == [1, 2, 3, 4, 5]
    assert turns.first(lambda _: True) is None


@pytest.mark.parametrize("seed", range(8))
def test_tenants_that_wait_are_charged_alike(seed: int) -> None:
    """By weight, within a quantum and the largest charge of each, whenever they both wait all the time."""
    rng, made, turns = Random(seed), Numbered(), TenantTurns()
    largest = {name: rng.choice((50, 400, 3000)) for name in WEIGHTS}
    charged: dict[str, float] = defaultdict(float)
    for name in WEIGHTS:
        for _ in range(400):
            turns.add(made.sequence(name, rng.uniform(1, largest[name]), WEIGHTS[name]))
    most = 0.0
    for _ in range(300):
        seq = started(turns)
        charged[seq.request.tenant] += seq.record.charge
        turns.check()
        for one in WEIGHTS:
            for two in WEIGHTS:
                apart = charged[one] / WEIGHTS[one] - charged[two] / WEIGHTS[two]
                bound = QUANTUM + largest[one] / WEIGHTS[one] + largest[two] / WEIGHTS[two]
                assert apart <= bound, (one, two)
                most = max(most, apart)
    assert most > QUANTUM / 4, "the bound is not idle"


def test_a_pause_earns_nothing() -> None:
    made, turns = Numbered(), TenantTurns()
    for _ in range(50):
        turns.add(made.sequence("a", QUANTUM))
    for _ in range(30):
        started(turns)
    for _ in range(20):
        turns.add(made.sequence("b", QUANTUM))
    served = [started(turns).request.tenant for _ in range(20)]
    assert 8 <= served.count("b") <= 12


def test_what_was_used_beyond_the_estimate_is_paid_later() -> None:
    made, turns = Numbered(), TenantTurns()
    for name in "ab":
        for _ in range(40):
            turns.add(made.sequence(name, QUANTUM))
    first = started(turns)
    name = first.request.tenant
    first.state = SeqState.RUNNING
    first.tokens += [7] * int(4 * QUANTUM)  # each output token costs two
    first.record.admitted = 1.0
    turns.settle(first)
    assert cost(1, int(4 * QUANTUM)) - QUANTUM > 6 * QUANTUM
    served = [started(turns).request.tenant for _ in range(12)]
    assert served.count(name) <= 4


def test_a_debt_stays_for_a_while_and_then_no_more() -> None:
    made, turns = Numbered(), TenantTurns()
    spender = made.sequence("a", 1.0)
    turns.add(spender)
    started(turns)
    spender.record.admitted = 1.0
    spender.tokens += [7] * int(2 * QUANTUM)
    turns.settle(spender)
    for name in "bc":
        for _ in range(60):
            turns.add(made.sequence(name, QUANTUM))
    turns.add(made.sequence("a", 1.0))
    early = [started(turns).request.tenant for _ in range(6)]
    assert "a" not in early
    assert "a" in [started(turns).request.tenant for _ in range(12)]


def test_those_that_gave_way_come_first_and_pay_nothing() -> None:
    made, turns = Numbered(), TenantTurns()
    turns.add(made.sequence("a", 1.0))
    again = made.sequence("b", 1e9)
    again.record.admitted = 1.0
    turns.add(again)
    assert len(turns) == 2
    assert started(turns) is again
    assert started(turns).request.tenant == "a"


def test_a_tenant_that_may_not_start_is_passed_over() -> None:
    made, turns = Numbered(), TenantTurns()
    for name in "ab":
        turns.add(made.sequence(name, 1.0))
    only_b = turns.first(lambda tenant: tenant == "b")
    assert only_b is not None
    assert only_b.request.tenant == "b"
    assert turns.first(lambda _: False) is None


def test_what_does_not_wait_cannot_be_removed() -> None:
    made, turns = Numbered(), TenantTurns()
    with pytest.raises(InternalError, match="does not wait"):
        turns.discard(made.sequence("a", 1.0))
