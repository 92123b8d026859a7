"""The order of the calls between a plan and its commit: serial, or one step ahead.

Does: run a plan through executor, constraints and scheduler, in one of two orders. Does not: change which tokens are
sampled. Both orders give every request the same tokens.

`Serial` reads the tokens of a plan before the next plan is made. `OneAhead` starts plan N + 1 while plan N is computed,
as if every sequence continued by one token, which the device knows and the host does not yet (`plan.PLACEHOLDER`). Then
it reads N. The tokens sampled for N + 1 are stale for the sequences that continued otherwise: by tokens that the
grammar forced, or by their end. So the device always has the next step queued, and host work is hidden as long as it
takes less time than a step.
"""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol

from .executor import Executor
from .grammars.constraints import Constraints
from .metrics import Stopwatch
from .plan import PLACEHOLDER, Changes, Forced, Masks, Plan, SampledBatch
from .schedule.scheduler import Scheduler


class Pipeline(Protocol):
    """Runs plans. It is constructed with the parts that it calls; an engine has one pipeline."""

    @property
    def has_work(self) -> bool:
        """Whether a plan was started and its tokens were not read."""
        ...

    def run(self, plan: Plan, lap: Stopwatch) -> Changes:
        """Start `plan`, and commit the tokens that were sampled for it or for the plan before it."""
        ...


PipelineOf = Callable[[Scheduler, Constraints, Executor[Any]], Pipeline]
"""Constructs a pipeline from the parts that it calls."""


class Serial:
    """Computes, reads and commits every plan before the next one is made."""

    has_work = False

    def __init__(
        self, scheduler: Scheduler, constraints: Constraints, executor: Executor[Any]
    ) -> None:
        self._scheduler = scheduler
        self._constraints = constraints
        self._executor = executor

    def run(self, plan: Plan, lap: Stopwatch) -> Changes:
        """See `Pipeline`."""
        sampled, forced = SampledBatch(), Forced({}, {})
        if plan.works:
            forward = lap("forward", self._executor.forward(plan))
            masks = lap("mask", self._constraints.masks(plan))
            self._executor.sample(forward, masks)
            lap("sample", None)
            sampled = lap("sample", self._executor.sampled(forward))
            forced = lap("advance", self._constraints.advance(sampled))
        changes = lap("commit", self._scheduler.commit(plan, sampled, forced))
        self._constraints.forget(changes)
        return changes


class _Begun(NamedTuple):
    """A plan in flight, the executor's handle, and the sequences with stale tokens in that plan."""

    plan: Plan
    handle: Any
    stale: Collection[int]


class OneAhead:
    """Starts a plan before the previous one is read.

    Sampling starts early as well, unless it needs the tokens in flight: where the host fills the mask of a sequence, or
    a penalty counts its tokens. Then the previous plan is read first, and the grammars advance by its tokens while the
    new plan is computed.
    """

    def __init__(
        self, scheduler: Scheduler, constraints: Constraints, executor: Executor[Any]
    ) -> None:
        self._scheduler = scheduler
        self._constraints = constraints
        self._executor = executor
        self._in_flight: _Begun | None = None

    @property
    def has_work(self) -> bool:
        """See `Pipeline`."""
        return self._in_flight is not None

    def run(self, plan: Plan, lap: Stopwatch) -> Changes:
        """See `Pipeline`."""
        forward = lap("forward", self._executor.forward(plan)) if plan.works else None
        drawn = bool(plan.works) and not self._needs_tokens_in_flight(plan)
        if drawn:
            self._executor.sample(forward, self._constraints.masks(plan))
        lap("mask", None)
        changes, stale = self._read(lap)
        if plan.works:
            if not drawn:
                masks = lap("mask", self._masks(plan, stale))
                self._executor.sample(forward, masks)
                lap("sample", None)
            self._in_flight = _Begun(plan, forward, stale)
        return changes

    def _read(self, lap: Stopwatch) -> tuple[Changes, Collection[int]]:
        """Commit the plan in flight; its changes, and the sequences with stale tokens in the next plan."""
        before, self._in_flight = self._in_flight, None
        plan, sampled, forced = Plan(0), SampledBatch(), Forced({}, {})
        if before is not None:
            plan = before.plan
            sampled = lap("sample", self._executor.sampled(before.handle))
            forced = lap("advance", self._constraints.advance(_without(sampled, before.stale)))
        changes = lap("commit", self._scheduler.commit(plan, sampled, forced))
        self._constraints.forget(changes)
        ended = [change.seq_id for change in changes.items if change.finish is not None]
        return changes, forced.tokens.keys() | ended

    def _needs_tokens_in_flight(self, plan: Plan) -> bool:
        """Whether sampling in `plan` depends on a token that only the executor knows."""
        penalised, hosted = self._scheduler.penalised, self._constraints.hosted
        if not penalised and not hosted:
            return False
        return any(
            work.logits
            and work.tokens[-1] == PLACEHOLDER
            and (work.seq_id in hosted or work.seq_id in penalised)
            for work in plan.works
        )

    def _masks(self, plan: Plan, stale: Collection[int]) -> Masks:
        """The masks of a plan; sequences with stale tokens share the first mask row that is there.

        Without a mask they would make the executor compute all logits.
        """
        if not stale:
            return self._constraints.masks(plan)
        works = tuple(work for work in plan.works if work.seq_id not in stale)
        masks = self._constraints.masks(Plan(plan.step, plan.admitted, works, plan.released))
        if not masks.row_of:
            return masks
        row_of = {**dict.fromkeys(stale, 0), **masks.row_of}
        return Masks(masks.rows, row_of, masks.on_device, masks.replays)


def _without(sampled: SampledBatch, stale: Collection[int]) -> SampledBatch:
    """The sampled tokens that are not stale."""
    if not stale:
        return sampled
    return SampledBatch(tuple(sample for sample in sampled.samples if sample.seq_id not in stale))
