"""The engine: a loop that plans, computes and commits steps, and returns their deltas.

Does: accept requests, plan, run the plan through the pipeline, return deltas; end every request with exactly one final
delta, whatever happens. Does not: compute, match grammars, own a thread, or know texts.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

from . import outputs
from .adapters import Adapters
from .errors import EngineError, EngineLost, EngineStopped
from .executor import Executor
from .expert_counts import NO_EXPERTS, ExpertCounts
from .grammars.constraints import Constraints
from .image_counts import ImageCounts
from .inbox import Inbox, unserved
from .metrics import Metrics, Snapshot, Stopwatch
from .pipeline import Pipeline, Serial
from .schedule.scheduler import Scheduler
from .types import Delta, Failure, Finish, Request


class Engine:
    """An engine over a scheduler, constraints and an executor.

    `submit`, `abort` and `metrics` may be called from any thread; all other methods from the thread that steps.
    `pipeline` constructs the pipeline from these parts, `Serial` by default. `Any` is the executor's handle, which is
    opaque to all other parts. Without `adapters` requests for them are refused. `images` counts encoded images,
    `experts` gives the counts of the model's experts, from any thread.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        constraints: Constraints,
        executor: Executor[Any],
        clock: Callable[[], float] = time.monotonic,
        pipeline: Callable[[Scheduler, Constraints, Executor[Any]], Pipeline] = Serial,
        adapters: Adapters | None = None,
        images: Callable[[], ImageCounts] | None = None,
        experts: Callable[[], ExpertCounts] = lambda: NO_EXPERTS,
    ) -> None:
        self._scheduler = scheduler
        self._constraints = constraints
        self._pipeline = pipeline(scheduler, constraints, executor)
        self._clock = clock
        self._inbox = Inbox(adapters)
        self._metrics = Metrics(scheduler.load(), experts)
        self._images = images
        self._broken: BaseException | None = None

    def submit(self, request: Request) -> None:
        """Accept a request. It ends with exactly one final delta, which also reports a refusal.

        Raises:
            InvalidRequest: a request with that id has not ended.
            EngineStopped: the engine accepts no more requests.
        """
        self._inbox.submit(request)

    def abort(self, request_id: str) -> None:
        """End a request at the next step; no effect if it has ended already."""
        self._inbox.abort(request_id)

    def step(self) -> list[Delta]:
        """Run one step; its deltas. If the step fails, all open requests end with an error, and the engine stops.

        Raises:
            EngineStopped: the engine was closed, or an earlier step failed; its error is the `__cause__`.
        """
        if self._broken is not None:
            raise EngineStopped(f"the engine has stopped: {self._broken}") from self._broken
        try:
            return self._guarded_step()
        except _StepFailed as failed:
            hint = "this request may not be the reason; try again in a few seconds"
            return self._stop(
                failed.reason, Failure(EngineLost.code, failed.message, hint, retryable=True)
            )

    def _step(self) -> list[Delta]:
        lap = Stopwatch(self._clock)
        refused = lap("deliver", self._inbox.deliver(self._scheduler, self._constraints))
        plan = lap("plan", self._scheduler.plan())
        changes = self._pipeline.run(plan, lap)
        deltas = lap("tell", refused + outputs.deltas(changes))
        self._metrics.record(plan, deltas, lap, self._scheduler.load())
        self._inbox.mark_ended(deltas)  # nothing may fail between this and the return
        return deltas

    def _guarded_step(self) -> list[Delta]:
        try:
            return self._step()
        except Exception as error:
            raise _StepFailed(error) from error

    @property
    def has_work(self) -> bool:
        """Whether a step would do something now. Requests that wait for a grammar do not count."""
        if self._pipeline.has_work or not self._inbox.is_empty:
            return True
        load = self._scheduler.load()
        return bool(load.running or load.waiting or load.unreported)

    @property
    def open_requests(self) -> int:
        """The number of accepted requests that have not ended."""
        return self._inbox.open_requests

    def wait(self, timeout_s: float | None = None) -> None:
        """Return once a step may have something to do, or after `timeout_s` seconds; at once if there is work."""
        if self.has_work:
            return
        deadline = self._scheduler.load().next_deadline
        if deadline is not None:
            left = max(0.0, deadline - self._clock())
            timeout_s = left if timeout_s is None else min(left, timeout_s)
        self._inbox.wait(timeout_s)

    def run_until_idle(self) -> Iterator[Delta]:
        """Step until no request is open, waiting for grammars where nothing else is left to do.

        Raises:
            EngineStopped: the engine was closed, or a step has failed before.
        """
        while self.open_requests:
            yield from self.step()
            if self.open_requests:
                self.wait()

    def metrics(self) -> Snapshot:
        """A snapshot of the counters and gauges."""
        return self._metrics.snapshot(None if self._images is None else self._images())

    def check(self) -> None:
        """Check the invariants of all parts, between two steps.

        Raises:
            InternalError: an invariant does not hold.
        """
        self._scheduler.check()
        self._constraints.check(self._scheduler.live())

    def close(self) -> list[Delta]:
        """Stop; the final deltas of all open requests. No further request or step is possible."""
        stopped = EngineStopped("the engine was closed")
        return self._stop(
            stopped, Failure(stopped.code, stopped.message, retryable=stopped.retryable)
        )

    def _stop(self, reason: BaseException, failure: Failure) -> list[Delta]:
        if self._broken is None:
            self._broken = reason
        deltas = [
            Delta(
                request_id=request.id,
                finish=Finish.ERROR,
                usage=self._scheduler.usage(request.id) or unserved(request),
                error=failure,
            )
            for request in self._inbox.close()
        ]
        self._metrics.count_finished(deltas)
        return deltas


class _StepFailed(EngineError):
    """A step failed with the exception `reason`."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(f"the engine failed and has stopped: {type(reason).__name__}: {reason}")
        self.reason = reason
