"""The executor of ranks that divide every matrix: rank 0's own runner, and the same orders to all others.

Does: implement `Executor` for such ranks, of a whole model or of its last stage. Does not: compute, or start processes.
"""

import secrets
from dataclasses import replace
from typing import Generic, TypeVar

from intaglio.grammar.api import DeviceTables, MaskRows
from msgspec.structs import replace as replaced

from ..executor import Executor
from ..plan import Admitted, Masks, Plan, SampledBatch
from . import rank_messages as wire
from .rank_orders import RankOrders

Handle = TypeVar("Handle")

_WORD64 = (1 << 64) - 1


class GroupExecutor(Generic[Handle]):
    """See `Executor`. Ranks sample the same tokens, so only those of rank 0 are read."""

    def __init__(self, own: Executor[Handle], group: RankOrders) -> None:
        """`own` computes rank 0's part, and those of `group` the others."""
        self._own = own
        self._group = group
        self._entropy = secrets.randbits(64)

    @property
    def makes_masks(self) -> bool:
        """See `Executor`."""
        return self._own.makes_masks

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """See `Executor`. All ranks hold the same grammars in memory of the same size, so all have room, or none."""
        self._group.send(wire.holding(key, tables))
        return self._own.hold(key, tables)

    def drop(self, key: str) -> None:
        """See `Executor`."""
        self._group.send(wire.frames(wire.DropOrder(key)))
        self._own.drop(key)

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        """See `Executor`."""
        return self._own.mask_buffer(count, width)

    def forward(self, plan: Plan) -> Handle:
        """See `Executor`."""
        plan = self._seeded(plan)
        self._group.send(wire.frames(wire.ComputeOrder(plan)))
        return self._group.guard(self._own.forward, plan)

    def sample(self, handle: Handle, masks: Masks) -> None:
        """See `Executor`."""
        self._group.send(wire.sampling(masks))
        self._group.guard(self._own.sample, handle, masks)

    def sampled(self, handle: Handle) -> SampledBatch:
        """See `Executor`."""
        self._group.send(wire.frames(wire.ReadOrder()))
        return self._group.guard(self._own.sampled, handle)

    def _seeded(self, plan: Plan) -> Plan:
        """`plan` with a seed for every sequence: ranks must draw alike, also after a preemption of the sequence."""
        if all(new.sampling.seed is not None for new in plan.admitted):
            return plan
        return replaced(plan, admitted=tuple(map(self._with_seed, plan.admitted)))

    def _with_seed(self, new: Admitted) -> Admitted:
        if new.sampling.seed is not None:
            return new
        seed = (self._entropy + new.seq_id) & _WORD64
        return replace(new, sampling=replace(new.sampling, seed=seed))
