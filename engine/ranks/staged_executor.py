"""The executor of an engine in stages: the executor of the last stage, rank 0's, and the plans to all others.

Does: implement `Executor` for the stages of an engine. Does not: compute, or choose what is in flight
(`staged_pipeline`).
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from intaglio.grammar.api import DeviceTables, MaskRows

from ..errors import InternalError
from ..executor import Executor
from ..plan import Masks, Plan, SampledBatch
from . import rank_messages as wire
from .rank_orders import RankOrders

Handle = TypeVar("Handle")


@dataclass(slots=True, eq=False)
class StagedPass(Generic[Handle]):
    """A plan that was given to the stages; `own` is the last stage's pass, None until it is its turn."""

    plan: Plan
    own: Handle | None = None


class StagedExecutor(Generic[Handle]):
    """See `Executor`. `forward` returns before anything is computed here, so other stages work on several plans.

    The last stage computes a plan in `sample`, when the states of the stage before have come. No token may be in flight
    between plans: only the last stage knows it, and the first one would need it.
    """

    def __init__(self, own: Executor[Handle], group: RankOrders) -> None:
        """`own` computes the last stage, and the ranks of `group` the others."""
        self._own = own
        self._group = group

    @property
    def makes_masks(self) -> bool:
        """See `Executor`."""
        return self._own.makes_masks

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """See `Executor`."""
        return self._own.hold(key, tables)

    def drop(self, key: str) -> None:
        """See `Executor`."""
        self._own.drop(key)

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        """See `Executor`."""
        return self._own.mask_buffer(count, width)

    def forward(self, plan: Plan) -> StagedPass[Handle]:
        """See `Executor`.

        Raises:
            InternalError: the plan has a token that only the last stage knows.
        """
        if not all(work.is_known for work in plan.works):
            raise InternalError("the first stage cannot know a token of this plan")
        self._group.send(wire.frames(wire.PassOrder(plan)))
        return StagedPass(plan)

    def sample(self, handle: StagedPass[Handle], masks: Masks) -> None:
        """See `Executor`."""
        handle.own = self._group.guard(self._own.forward, handle.plan)
        self._group.guard(self._own.sample, handle.own, masks)

    def sampled(self, handle: StagedPass[Handle]) -> SampledBatch:
        """See `Executor`."""
        if handle.own is None:
            raise InternalError("tokens are read before they were sampled")
        return self._group.guard(self._own.sampled, handle.own)
