"""The pipeline with drafts: one computed step is committed as the several steps that it replaces.

Does: run a plan with drafts, and commit its tokens one by one for each sequence, until a known token differs from its
draft. Does not: make drafts, or compare with rejection sampling: a draft is accepted if it equals the token sampled
there.

Every token is followed by its grammar, counted, and checked for the end of the output exactly as without drafts, by the
same calls: after the first sampled token of a step, the known tokens that were computed as drafts make the next plan,
and their next sampled token is there already.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from ..executor import Executor
from ..grammars.constraints import Constraints
from ..metrics import Stopwatch
from ..pipeline import Serial
from ..plan import Change, Changes, Plan, SampledBatch, SampledToken
from ..schedule.scheduler import Scheduler
from .proposals import Proposals
from .step_seconds import StepSeconds


class VerifiedSteps:
    """A serial pipeline for plans with drafts; see `Pipeline`.

    What the steps cost is counted in `seconds`, by a clock that does not run while other processes do.
    """

    has_work = False

    def __init__(
        self,
        scheduler: Scheduler,
        constraints: Constraints,
        executor: Executor[Any],
        proposals: Proposals,
        seconds: StepSeconds | None = None,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._scheduler = scheduler
        self._constraints = constraints
        self._executor = executor
        self._proposals = proposals
        self._seconds = seconds
        self._clock = clock
        self._serial = Serial(scheduler, constraints, executor)

    def run(self, plan: Plan, lap: Stopwatch) -> Changes:
        """See `Pipeline`."""
        began = self._clock()
        if all(work.logits <= 1 for work in plan.works):
            changes = self._serial.run(plan, lap)
            self._proposals.record(plan, {})
        else:
            changes = self._run_drafted(plan, lap)
        if self._seconds is not None:
            self._seconds.observe(plan.token_count, self._clock() - began)
        self._proposals.forget(changes)
        return changes

    def _run_drafted(self, plan: Plan, lap: Stopwatch) -> Changes:
        forward = lap("forward", self._executor.forward(plan))
        masks = lap("mask", self._constraints.masks(plan))
        self._executor.sample(forward, masks)
        sampled = lap("sample", self._executor.sampled(forward))
        works = tuple(work.undrafted for work in plan.works)
        part = Plan(plan.step, plan.admitted, works, plan.released), _first(sampled)
        accepted: Counter[int] = Counter()
        found: list[Change] = []
        left = plan
        while True:
            forced = lap("advance", self._constraints.advance(part[1]))
            changes = self._scheduler.commit(*part, forced)
            self._constraints.forget(changes)
            found += changes.items
            if forced.waiting:
                works = tuple(work for work in left.works if work.seq_id not in forced.waiting)
                left = Plan(plan.step, (), works)
            part = lap("commit", self._scheduler.accept_drafts(left, sampled))
            for work in part[0].works:
                accepted[work.seq_id] += len(work.tokens)
            if not part[1].samples:
                break
        self._proposals.record(plan, accepted)
        return Changes(tuple(found))


def _first(sampled: SampledBatch) -> SampledBatch:
    """The first token of each sequence."""
    return SampledBatch(
        tuple(
            SampledToken(sample.seq_id, sample.tokens[:1], sample.logprobs[:1], sample.failure)
            for sample in sampled.samples
        )
    )
