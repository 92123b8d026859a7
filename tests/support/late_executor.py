"""An executor that computes as late as it may, as a device that is behind its host.

Does: keep the calls that an executor gets, and make them on another executor, in order, when a plan's tokens are read.
Does not: compute; forgive a call that a device has no memory for.
"""

from collections import deque
from dataclasses import dataclass

from intaglio.engine.plan import Masks, Plan, SampledBatch
from intaglio.grammar.api import DeviceTables, MaskRows

from .scripted import Pass, ScriptedExecutor, demand

UNREAD = 2
"""The most plans that are sampled and not read: a device has memory for the masks and the tokens of two."""


@dataclass(eq=False)
class LatePass:
    """A plan given to the device, its masks after `sample`, and the pass that computed it."""

    plan: Plan
    masks: Masks | None = None
    computed: Pass | None = None


class LateExecutor:
    """See `Executor`. Mask rows are read when they are needed, not when they are given.

    `queued` counts the reads during which another plan was there to be computed.
    """

    def __init__(self, own: ScriptedExecutor) -> None:
        self._own = own
        self._given: deque[LatePass] = deque()
        self.queued = 0

    makes_masks = False

    def hold(self, key: str, tables: DeviceTables) -> bool:
        return self._own.hold(key, tables)

    def drop(self, key: str) -> None:
        self._own.drop(key)

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        return self._own.mask_buffer(count, width)

    def forward(self, plan: Plan) -> LatePass:
        self._given.append(LatePass(plan))
        return self._given[-1]

    def sample(self, handle: LatePass, masks: Masks) -> None:
        demand(handle is self._given[-1], "another plan was given before this one is sampled")
        demand(len(self._given) <= UNREAD, "more plans are sampled than a device has memory for")
        handle.masks = masks

    def sampled(self, handle: LatePass) -> SampledBatch:
        demand(handle is self._given.popleft(), "plans are read in another order")
        assert handle.masks is not None, "a plan is read that was not sampled"
        self.queued += bool(self._given)
        computed = self._own.forward(handle.plan)
        self._own.sample(computed, handle.masks)
        return self._own.sampled(computed)
