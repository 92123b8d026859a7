"""Orders to a rank: the calls of an executor, in their order, and refused in any other."""

import msgspec
import numpy as np
import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.plan import Admitted, Masks, Plan, SampledBatch, Work
from intaglio.engine.ranks import rank_messages as wire
from intaglio.engine.ranks.rank_process import Rank
from intaglio.engine.types import SamplingParams
from intaglio.grammar.api import DeviceTables, MaskRows, empty_rows


class NotingExecutor:
    """Notes its calls; its handles are the numbers of plans."""

    makes_masks = False

    def __init__(self) -> None:
        self.calls: list[object] = []

    def hold(self, key: str, tables: DeviceTables) -> bool:
        raise AssertionError(key, tables)

    def drop(self, key: str) -> None:
        raise AssertionError(key)

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        return empty_rows(count, width)

    def forward(self, plan: Plan) -> int:
        self.calls.append(plan)
        return plan.step

    def sample(self, handle: int, masks: Masks) -> None:
        self.calls.append(("sample", handle, masks.rows.tolist(), dict(masks.row_of)))

    def sampled(self, handle: int) -> SampledBatch:
        self.calls.append(("read", handle))
        return SampledBatch()


def given(rank: Rank, frames: list[bytes]) -> bool:
    first, rows = frames
    return rank.execute(wire.order(first), rows)


def plan(step: int) -> Plan:
    sampling = SamplingParams(seed=2**64 - 1, logit_bias={3: 1.5}, stop=("x",))
    admitted = (Admitted(step, (1, 2), 2, (4, 5), sampling),)
    return Plan(step, admitted, (Work(step, 0, (1, 2), (), 1),), (step - 1,))


def test_orders_are_the_calls_of_an_executor_one_step_ahead() -> None:
    executor = NotingExecutor()
    rank = Rank(executor)
    masks = Masks(np.array([[1, -2], [3, 4]], dtype=np.int32), {1: 1})
    for frames in (
        wire.frames(wire.ComputeOrder(plan(1))),
        wire.sampling(masks),
        wire.frames(wire.ComputeOrder(plan(2))),
        wire.frames(wire.ReadOrder()),
        wire.sampling(Masks(empty_rows(0, 64), {})),
        wire.frames(wire.ReadOrder()),
    ):
        assert given(rank, frames)
    assert executor.calls == [
        plan(1),
        ("sample", 1, [[1, -2], [3, 4]], {1: 1}),
        plan(2),
        ("read", 1),
        ("sample", 2, [], {}),
        ("read", 2),
    ]
    assert not given(rank, wire.frames(wire.StopOrder()))


@pytest.mark.parametrize("order", [wire.ReadOrder(), wire.SampleOrder(2, {})])
def test_an_order_without_a_plan_is_refused(order: wire.RankOrder) -> None:
    with pytest.raises(InternalError, match="came before a plan"):
        given(Rank(NotingExecutor()), wire.frames(order))


def test_what_is_no_order_is_refused() -> None:
    for data in (
        b"",
        b"\xc1",
        msgspec.msgpack.encode({"type": "exec"}),
        wire.packed(wire.RankBuilt(1)),
    ):
        with pytest.raises(msgspec.DecodeError):
            wire.order(data)
