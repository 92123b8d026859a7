"""Orders to a rank: the calls of an executor, in their order, and refused in any other."""

import msgspec
import numpy as np
import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.plan import Admitted, Masks, Plan, Replay, SampledBatch, Work
from intaglio.engine.ranks import rank_messages as wire
from intaglio.engine.ranks.rank_process import Rank
from intaglio.engine.types import SamplingParams
from intaglio.grammar.api import (
    Constraint,
    DeviceTables,
    Kind,
    MaskRows,
    empty_rows,
    tables_of,
)


class NotingExecutor:
    """Notes its calls; its handles are the numbers of plans."""

    makes_masks = False

    def __init__(self) -> None:
        self.calls: list[object] = []
        self.held: list[tuple[str, DeviceTables]] = []

    def hold(self, key: str, tables: DeviceTables) -> bool:
        self.held.append((key, tables))
        return True

    def drop(self, key: str) -> None:
        self.calls.append(("drop", key))

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        return empty_rows(count, width)

    def forward(self, plan: Plan) -> int:
        self.calls.append(plan)
        return plan.step

    def sample(self, handle: int, masks: Masks) -> None:
        device = set(masks.on_device), dict(masks.replays)
        self.calls.append(("sample", handle, masks.rows.tolist(), dict(masks.row_of), *device))

    def sampled(self, handle: int) -> SampledBatch:
        self.calls.append(("read", handle))
        return SampledBatch()


def given(rank: Rank, frames: list[bytes]) -> bool:
    first, *arrays = frames
    return rank.execute(wire.order(first), arrays)


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
        wire.sampling(Masks(empty_rows(0, 64), {}, {2}, {2: Replay("g", b"\xff{", reset=True)})),
        wire.frames(wire.ReadOrder()),
    ):
        assert given(rank, frames)
    assert executor.calls == [
        plan(1),
        ("sample", 1, [[1, -2], [3, 4]], {1: 1}, set(), {}),
        plan(2),
        ("read", 1),
        ("sample", 2, [], {}, {2}, {2: Replay("g", b"\xff{", reset=True)}),
        ("read", 2),
    ]
    assert not given(rank, wire.frames(wire.StopOrder()))


def test_a_stage_computes_plans_and_keeps_none_of_them() -> None:
    executor = NotingExecutor()
    rank = Rank(executor)
    for step in (1, 2):
        assert given(rank, wire.frames(wire.PassOrder(plan(step))))
    assert executor.calls == [plan(1), plan(2)]
    with pytest.raises(InternalError, match="came before a plan"):
        given(rank, wire.frames(wire.ReadOrder()))


def test_grammars_arrive_as_they_were_exported() -> None:
    exported = tables_of(Constraint(Kind.JSON_SCHEMA, '{"enum": ["a", "bc"]}'))
    assert isinstance(exported, DeviceTables)
    executor = NotingExecutor()
    rank = Rank(executor)
    given(rank, wire.holding("k", exported))
    given(rank, wire.frames(wire.DropOrder("k")))
    ((key, arrived),) = executor.held
    assert (key, executor.calls) == ("k", [("drop", "k")])
    for name in ("cells", "sites", "returns", "column_of"):
        found, right = getattr(arrived, name), getattr(exported, name)
        assert np.array_equal(found, right)
        assert found.dtype == (np.uint8 if name == "column_of" else np.int32)
    assert (arrived.start, arrived.chain) == (exported.start, exported.chain)


@pytest.mark.parametrize("order", [wire.ReadOrder(), wire.SampleOrder(2, {})])
def test_an_order_without_a_plan_is_refused(order: wire.RankOrder) -> None:
    with pytest.raises(InternalError, match="came before a plan"):
        given(Rank(NotingExecutor()), wire.frames(order, b""))


def test_what_is_no_order_is_refused() -> None:
    for data in (
        b"",
        b"\xc1",
        msgspec.msgpack.encode({"type": "exec"}),
        wire.packed(wire.RankBuilt(1)),
    ):
        with pytest.raises(msgspec.DecodeError):
            wire.order(data)
