"""The buffer of outcomes on their way to the ledger, and the effect of errors on the job.

Does: turn results and errors into outcomes, write them in batches, detect errors that no row would survive. Does not:
hand out rows (`job_runner`).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from intaglio.schemas.jobs import JobCounts, JobSpec
from intaglio.schemas.problem import Code
from pydantic import JsonValue

from ..client import APIStatusError, ConnectionFailed, Extraction, IntaglioError
from .records.row import Claim, Failure, Outcome, result_text
from .records.row_files import RowFileRefused
from .rows import JobRows
from .unsure_values import unsure_values

_FLUSH_ROWS: Final = 64  # maximum number of outcomes in one transaction
_MIN_ROWS_FOR_SHARE: Final = 50


@dataclass(frozen=True, slots=True)
class Timing:
    """Waiting times of a run, in seconds.

    `lease_s`: another runner claims the rows of a dead one after this time. `longest_pause_s`: bound of the back-off
    between attempts. `patience_s`: an unreachable service ends the run after this time. `recount_s`: age at which the
    ledger's counts are read again.
    """

    lease_s: float = 60.0
    longest_pause_s: float = 60.0
    patience_s: float = 600.0
    recount_s: float = 2.0


TIMING: Final = Timing()


class ErrorScope(Enum):
    """The scope of an error: the whole job, the service, the engine at that time, or one row."""

    JOB = "no row can succeed; the job fails"
    SERVICE = "the row is not the cause, and the attempt does not count"
    ENGINE = "another row in flight may be the cause: the row gets extra attempts"
    ROW = "retried if the error is retryable, else a dead row with the error's code"


# Other codes concern the row, including unknown codes of newer services.
ERROR_SCOPES: Final[Mapping[str, ErrorScope]] = {
    **dict.fromkeys(
        (
            Code.INVALID_SCHEMA,
            Code.UNSUPPORTED_SCHEMA,
            Code.UNSATISFIABLE_SCHEMA,
            Code.SCHEMA_TOO_LARGE,
            Code.UNKNOWN_SCHEMA,
            Code.UNKNOWN_MODEL,
            Code.UNKNOWN_FIELD,
            Code.UNAUTHORIZED,
            Code.HOST_NOT_ALLOWED,
        ),
        ErrorScope.JOB,
    ),
    **dict.fromkeys((Code.OVERLOADED, Code.NOT_READY), ErrorScope.SERVICE),
    Code.ENGINE_LOST: ErrorScope.ENGINE,
}
_EXTRA_ATTEMPTS: Final = 2  # further attempts at a row after its engine died


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: `ended` rows in `seconds` since its start. `cost` is that of the whole job."""

    counts: JobCounts
    whole: bool
    ended: int
    seconds: float
    cost: float | None = None


class OutcomeBuffer:
    """The outcomes of one run that are not yet in the ledger."""

    def __init__(self, rows: JobRows, spec: JobSpec, timing: Timing = TIMING) -> None:
        self._rows = rows
        self.timing = timing
        self._spec = spec
        self._outcomes: list[Outcome] = []
        self._started = time.monotonic()
        self._ended = 0
        self._counts = rows.counts()
        self._counted_at = self._started
        self._unreachable_since: float | None = None
        self.fatal: IntaglioError | None = None

    @property
    def too_many_dead(self) -> bool:
        """Whether the share of dead rows exceeds the job's limit."""
        limit, counts = self._spec.stop_at_dead_share, self._counts
        ended = counts.dead + counts.done
        return limit is not None and ended >= _MIN_ROWS_FOR_SHARE and counts.dead > limit * ended

    @property
    def must_stop(self) -> bool:
        """Whether the run cannot continue."""
        return self.fatal is not None or self.too_many_dead

    def add(self, claim: Claim, outcome: Extraction[Any] | IntaglioError) -> None:
        """Record the outcome of a claim."""
        if isinstance(outcome, IntaglioError):
            self._add_error(claim, outcome)
        else:
            self._unreachable_since = None
            self._ended += 1
            usage, timings = outcome.usage, outcome.timings
            self._outcomes.append(
                Outcome(
                    claim,
                    result_text(outcome.data),
                    prompt_tokens=usage.prompt_tokens,
                    output_tokens=usage.output_tokens,
                    seconds=(timings.prefill_ms + timings.decode_ms) / 1000,
                    warnings=_warnings(outcome),
                    fields={
                        pointer: report.model_dump(mode="json", exclude_defaults=True)
                        for pointer, report in outcome.fields.items()
                    },
                    unsure=unsure_values(outcome.raw, self._spec.review_below),
                )
            )
        if len(self._outcomes) >= _FLUSH_ROWS:
            self.flush()

    def refuse(self, claim: Claim, error: RowFileRefused) -> None:
        """Record a claim with a file that cannot be loaded."""
        may_retry = error.may_retry and claim.attempt < self._spec.attempts
        names = () if claim.files is None else (file.name for file in claim.files.files)
        pointer = f"/file/{next(iter(names), '')}"
        self._fail(claim, Failure(error.code, error.message, pointer, error.hint, may_retry))

    def flush(self) -> None:
        """Write the buffered outcomes to the ledger."""
        outcomes, self._outcomes = self._outcomes, []
        if outcomes:
            self._rows.record_outcomes(outcomes)
        if time.monotonic() - self._counted_at > self.timing.recount_s:
            self._recount()

    def progress(self, *, whole: bool) -> Progress:
        """The progress of the run, by a count that is at most seconds old."""
        counts, prices = self._counts, self._spec.prices
        tokens = counts.prompt_tokens, counts.output_tokens
        cost = None if prices is None else prices.of(*tokens)
        return Progress(counts, whole, self._ended, time.monotonic() - self._started, cost)

    def recounted_progress(self, *, whole: bool) -> Progress:
        """The progress of the run, counted now."""
        self._recount()
        return self.progress(whole=whole)

    def _recount(self) -> None:
        self._counts, self._counted_at = self._rows.counts(), time.monotonic()

    def _add_error(self, claim: Claim, error: IntaglioError) -> None:
        scope = _scope_of(error)
        if scope is ErrorScope.JOB and claim.given is None:
            self.fatal = self.fatal or error
            failure = _failure(error, may_retry=True, charged=False)
        elif scope is ErrorScope.SERVICE and error.retryable:
            self._note_unreachable(error)
            failure = _failure(error, may_retry=True, charged=False)
        else:
            attempts = self._spec.attempts + (_EXTRA_ATTEMPTS if scope is ErrorScope.ENGINE else 0)
            failure = _failure(error, may_retry=error.retryable and claim.attempt < attempts)
        self._fail(claim, failure, error.retry_after or 0.0)

    def _fail(self, claim: Claim, failure: Failure, least_s: float = 0.0) -> None:
        """Record a failure; the next attempt comes after a pause of at least `least_s`."""
        pause = max(min(self.timing.longest_pause_s, 0.5 * 2.0**claim.attempt), least_s)
        self._ended += not failure.may_retry
        self._outcomes.append(Outcome(claim, failure=failure, due=time.time() + pause))

    def _note_unreachable(self, error: IntaglioError) -> None:
        now = time.monotonic()
        if self._unreachable_since is None:
            self._unreachable_since = now
        if now - self._unreachable_since > self.timing.patience_s:
            self.fatal = self.fatal or error


def _scope_of(error: IntaglioError) -> ErrorScope:
    if isinstance(error, ConnectionFailed):
        return ErrorScope.SERVICE
    code = error.code if isinstance(error, APIStatusError) else ""
    return ERROR_SCOPES.get(code, ErrorScope.ROW)


def _warnings(outcome: Extraction[Any]) -> tuple[JsonValue, ...]:
    """The warnings of an answer ({pointer, kind, message}); empty if the service reports none."""
    warnings = outcome.raw.get("warnings")
    return tuple(warnings) if isinstance(warnings, list) else ()


def _failure(error: IntaglioError, *, may_retry: bool, charged: bool = True) -> Failure:
    """An error of the service or the engine as stored in the ledger."""
    if not isinstance(error, APIStatusError):
        name = type(error).__name__
        return Failure(name, error.message, hint=error.hint, may_retry=may_retry, charged=charged)
    pointer = error.details[0].pointer if error.details else ""
    return Failure(error.code, error.message, pointer, error.hint, may_retry, charged)
