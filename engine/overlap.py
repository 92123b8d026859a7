"""The engine one step ahead: the device computes a plan while the host is busy with what the plan before it picked.

Does: the calls of `loop` in another order. While plan N is under way the next one is made as if every sequence went on
by one token, which the device knows and the host does not yet (`plan.AHEAD`); it is begun, its choice of tokens as
well, and only then is N read. Where that choice needs what N picked (a mask that the host fills, a penalty), N is read
first, and its tokens go through the grammars while N + 1 is computed. Does not: change what is picked: where a sequence
went on otherwise, by tokens the grammar forced or by its end, what N + 1 picks for it is void.

So the device has a whole step before it at all times, and host work is hidden as long as it takes less time than a
step.
"""

from collections.abc import Container
from typing import Any, NamedTuple

from . import outputs
from .loop import Engine
from .metrics import Stopwatch
from .plan import Forced, Picked, Plan
from .types import Delta


class _UnderWay(NamedTuple):
    """A plan that is being computed, the executor's handle, and the sequences whose picks will be void."""

    plan: Plan
    handle: Any
    void: Container[int]


class OverlappedEngine(Engine):
    """An `Engine` whose `step` begins one plan and ends the one before. Its requests get the same tokens."""

    _under_way: _UnderWay | None = None

    def _step(self) -> list[Delta]:
        lap = Stopwatch(self._clock)
        picked, forced = Picked(), Forced({}, {})
        refused = lap("deliver", self._inbox.deliver(self._scheduler, self._constraints))
        plan = lap("plan", self._scheduler.plan())
        forward = lap("forward", self._executor.forward(plan)) if plan.works else None
        begun = forward is not None and self._sample_ahead(plan, forward)
        lap("mask", None)
        before, self._under_way = self._under_way, None
        if before is not None:
            picked = lap("sample", self._executor.picked(before.handle))
            forced = lap("advance", self._constraints.advance(picked, before.void))
        computed = Plan(0) if before is None else before.plan
        changes = self._scheduler.commit(computed, picked, forced)
        self._constraints.forget(lap("commit", changes))
        if plan.works:
            if not begun:
                masks = lap("mask", self._constraints.masks(plan, void=forced.tokens))
                self._executor.sample(forward, masks)
                lap("sample", None)
            self._under_way = _UnderWay(plan, forward, forced.tokens)
        deltas = lap("tell", refused + outputs.deltas(changes))
        self._metrics.record(plan, deltas, lap, self._scheduler.load())
        self._inbox.settle(deltas)  # nothing may fail between this and the return
        return deltas

    def _sample_ahead(self, plan: Plan, forward: Any) -> bool:
        """Begin to choose the tokens of a plan before what is under way was read; False if that must come first."""
        if not self._executor.can_sample_ahead(forward):
            return False
        if not self._constraints.can_mask_ahead(plan):
            return False
        self._executor.sample(forward, self._constraints.masks(plan))
        return True

    @property
    def has_work(self) -> bool:
        """Whether a step would do something now: also if only what is under way is to be ended."""
        return self._under_way is not None or super().has_work
