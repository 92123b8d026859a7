from random import Random

import pytest
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.errors import InternalError
from intaglio.engine.schedule.queue import Ranked, rank
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Request, SamplingParams


def sequence(seq_id: int, priority: int, now: float, ageing_s: float = 10.0) -> Sequence:
    request = Request(id=str(seq_id), prompt=(2,), sampling=SamplingParams(), priority=priority)
    return Sequence(
        seq_id, request, rank(request, seq_id, now, SchedulerConfig(ageing_s=ageing_s)), now
    )


def served(*sequences: Sequence) -> list[int]:
    order = Ranked()
    for seq in sequences:
        order.add(seq)
    return [seq.id for seq in order]


def test_first_come_first_served() -> None:
    assert served(sequence(3, 0, 7.0), sequence(1, 0, 5.0), sequence(2, 0, 5.0)) == [1, 2, 3]


def test_a_smaller_priority_goes_first() -> None:
    assert served(sequence(1, 1, 5.0), sequence(2, 0, 6.0), sequence(3, -1, 7.0)) == [3, 2, 1]


def test_waiting_outweighs_priority_in_the_end() -> None:
    assert served(sequence(1, 1, 0.0), sequence(2, 0, 9.0)) == [2, 1]
    assert served(sequence(1, 1, 0.0), sequence(2, 0, 11.0)) == [1, 2]


def test_without_ageing_there_is_no_priority() -> None:
    assert served(sequence(1, 5, 0.0, 0.0), sequence(2, 0, 1.0, 0.0)) == [1, 2]


def test_any_moves_keep_the_order() -> None:
    rng = Random(2)
    order = Ranked()
    model: list[Sequence] = []
    for seq_id in range(2000):
        if model and rng.random() < 0.45:
            seq = model.pop(rng.randrange(len(model)))
            order.discard(seq)
            with pytest.raises(InternalError, match="not in this order"):
                order.discard(seq)
        else:
            seq = sequence(seq_id, rng.randint(-3, 3), rng.random() * 50)
            order.add(seq)
            model.append(seq)
        model.sort(key=lambda seq: seq.rank)
        assert list(order) == model
        assert list(reversed(order)) == model[::-1]
        assert len(order) == len(model)
