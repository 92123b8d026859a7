"""The order of the calls for a model in stages: several plans in flight, of different sequences.

Does: give plans to the executor until as many are in flight as stages, then finish the oldest. Does not: choose the
sequences of a plan (`schedule/stage_turns`), or change which tokens are sampled.

Every stage computes the plans in order, so while the last one finishes a plan, those before it compute the next ones. A
sequence is in one plan at a time: its next token depends on the one in flight.
"""

from collections import deque
from typing import Any

from .executor import Executor
from .grammars.constraints import Constraints
from .metrics import Stopwatch
from .plan import Changes, Forced, Plan, SampledBatch
from .schedule.scheduler import Scheduler


class Staged:
    """See `Pipeline`. Up to `batches` plans are in flight; with 1 no two stages compute at the same time."""

    def __init__(
        self,
        scheduler: Scheduler,
        constraints: Constraints,
        executor: Executor[Any],
        batches: int,
    ) -> None:
        self._scheduler = scheduler
        self._constraints = constraints
        self._executor = executor
        self._batches = batches
        self._begun: deque[tuple[Plan, Any]] = deque()

    @property
    def has_work(self) -> bool:
        """See `Pipeline`."""
        return bool(self._begun)

    def run(self, plan: Plan, lap: Stopwatch) -> Changes:
        """See `Pipeline`. Where nothing more can be started, the oldest plan is finished."""
        if plan.works:
            self._begun.append((plan, lap("forward", self._executor.forward(plan))))
        most = self._batches - 1 if plan.works else 0
        plan, sampled, forced = Plan(0), SampledBatch(), Forced({}, {})
        if len(self._begun) > most:
            plan, handle = self._begun.popleft()
            masks = lap("mask", self._constraints.masks(plan))
            self._executor.sample(handle, masks)
            lap("sample", None)
            sampled = lap("sample", self._executor.sampled(handle))
            forced = lap("advance", self._constraints.advance(sampled))
        changes = lap("commit", self._scheduler.commit(plan, sampled, forced))
        self._constraints.forget(changes)
        return changes
