"""The pipeline of an engine that computes one step ahead, and drafts where that gains more.

Does: run a plan with drafts at once, as `VerifiedSteps` does, and give any other plan to the pipeline that works ahead.
Does not: choose. The planner does: it asks whether drafts are likely to pay (`Drafter.awaits_tokens`), and if so makes
a plan without work, by which the started plan is read. The next plan can have drafts, because all tokens before them
are known.
"""

from typing import Any

from ..executor import Executor
from ..grammars.constraints import Constraints
from ..metrics import Stopwatch
from ..pipeline import Pipeline, PipelineOf
from ..plan import Changes, Plan
from ..schedule.scheduler import Scheduler
from .pipeline_seconds import PipelineSeconds
from .proposals import Proposals
from .verified_steps import VerifiedSteps


class DraftedOrAhead:
    """A pipeline for plans with and without drafts; see `Pipeline`.

    `plain` constructs the pipeline for plans without. What steps cost is counted in `seconds`.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        constraints: Constraints,
        executor: Executor[Any],
        plain: PipelineOf,
        proposals: Proposals,
        seconds: PipelineSeconds,
    ) -> None:
        self._proposals = proposals
        self._seconds = seconds
        self._plain: Pipeline = plain(scheduler, constraints, executor)
        self._verified = VerifiedSteps(scheduler, constraints, executor, proposals)

    @property
    def has_work(self) -> bool:
        """See `Pipeline`."""
        return self._plain.has_work

    def run(self, plan: Plan, lap: Stopwatch) -> Changes:
        """See `Pipeline`."""
        if any(work.logits > 1 for work in plan.works):
            return self._drafted(plan, lap)
        waits = self._plain.has_work
        changes = self._plain.run(plan, lap)
        self._proposals.forget(changes)
        if waits and plan.works:  # the step took as long as that of the plan that it read
            self._seconds.observe_plain(plan.token_count, _elapsed(lap))
        return changes

    def _drafted(self, plan: Plan, lap: Stopwatch) -> Changes:
        """Run a plan with drafts. A started plan is read first: no sequence with drafts has a token in it."""
        before = Changes()
        if self._plain.has_work:
            before = self._plain.run(Plan(plan.step), lap)
            self._proposals.forget(before)
        changes = self._verified.run(plan, lap)
        self._seconds.observe_drafted(plan.token_count, _elapsed(lap))
        return Changes(before.items + changes.items)


def _elapsed(lap: Stopwatch) -> float:
    """The seconds since the begin of the step."""
    return sum(lap.seconds.values())
