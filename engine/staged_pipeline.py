"""The order of the calls for a model in stages: several plans in flight, of different sequences.

Does: give plans to the executor until enough are in flight, then finish the oldest. Does not: choose the sequences of a
plan (`schedule/stage_turns`), or change which tokens are sampled.

Every stage computes the plans in order, so while the last one finishes a plan, those before it compute the next ones. A
sequence is in one plan at a time: its next token depends on the one in flight. So the masks of a plan depend on no
token in flight either, and where `sample` returns before anything is computed, as on a GPU, the last stage gets the
next plan before the tokens of the oldest are read: it computes while the host reads and plans.
"""

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .executor import Executor
from .grammars.constraints import Constraints
from .metrics import Stopwatch
from .plan import Changes, Forced, Plan, SampledBatch
from .schedule.scheduler import Scheduler


@dataclass(slots=True)
class _Begun:
    """A plan in flight, the executor's handle, and whether its sampling was started."""

    plan: Plan
    handle: Any
    is_sampled: bool = False


class Staged:
    """See `Pipeline`. Up to `batches` plans are in flight; with 1 no two stages compute at the same time.

    With `ahead` one plan after the oldest is sampled before the oldest is read; an executor allows no more.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        constraints: Constraints,
        executor: Executor[Any],
        batches: int,
        *,
        ahead: bool = False,
    ) -> None:
        self._scheduler = scheduler
        self._constraints = constraints
        self._executor = executor
        self._batches = batches
        self._ahead = ahead
        self._begun: deque[_Begun] = deque()

    @property
    def has_work(self) -> bool:
        """See `Pipeline`."""
        return bool(self._begun)

    def run(self, plan: Plan, lap: Stopwatch) -> Changes:
        """See `Pipeline`. Where nothing more can be started, the oldest plan is finished."""
        if plan.works:
            self._begun.append(_Begun(plan, lap("forward", self._executor.forward(plan))))
        finishes = len(self._begun) >= (self._batches if plan.works else 1)
        for begun in islice(self._begun, finishes + self._ahead):
            self._sample(begun, lap)
        plan, sampled, forced = Plan(0), SampledBatch(), Forced({}, {})
        if finishes:
            oldest = self._begun.popleft()
            plan, sampled = oldest.plan, lap("sample", self._executor.sampled(oldest.handle))
            forced = lap("advance", self._constraints.advance(sampled))
        changes = lap("commit", self._scheduler.commit(plan, sampled, forced))
        self._constraints.forget(changes)
        return changes

    def _sample(self, begun: _Begun, lap: Stopwatch) -> None:
        """Start the last stage's pass of a plan and its sampling, unless that was done."""
        if not begun.is_sampled:
            masks = lap("mask", self._constraints.masks(begun.plan))
            self._executor.sample(begun.handle, masks)
            lap("sample", None)
            begun.is_sampled = True
