"""Outcomes on their way into the ledger, and what they say of the job as a whole.

Does: turn results and errors into outcomes, write them together, notice what no other row would survive either. Does
not: hand out rows (`runner`).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from pydantic import JsonValue

from ...schemas.jobs import JobCounts, JobSpec
from ...schemas.problem import Code
from ..client import APIStatusError, ConnectionFailed, Extraction, IntaglioError
from .row import Claim, Failure, Outcome, result_text
from .rows import JobRows

_SETTLED: Final = 64  # outcomes written together, at most
_FEWEST_FOR_SHARE: Final = 50


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that a run waits.

    `lease_s`: rows of a runner that died are taken up by another after this. `longest_pause_s`: bound of the pause
    before a row is tried again. `patience_s`: a service out of reach for longer ends the run. `recount_s`: age at which
    the counts of the ledger are read again.
    """

    lease_s: float = 60.0
    longest_pause_s: float = 60.0
    patience_s: float = 600.0
    recount_s: float = 2.0


TIMING: Final = Timing()


class Concern(Enum):
    """What an error says something about: the whole job, the service, the engine at that time, or this row."""

    JOB = "no row can have a result; the job ends"
    SERVICE = "the row is not to blame, and the try does not count"
    ENGINE = "another row in hand may have been the reason: it gets more tries than the job's own"
    ROW = "tried again where the error is retryable, a dead letter under its code where it is not"


# Codes that are not here concern the row, those of a newer service as well.
CONCERNS: Final[Mapping[str, Concern]] = {
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
        Concern.JOB,
    ),
    **dict.fromkeys((Code.OVERLOADED, Code.NOT_READY), Concern.SERVICE),
    Code.ENGINE_LOST: Concern.ENGINE,
}
_SPARED: Final = 2  # further tries of a row whose engine died


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `seconds` is since it began, in which `ended` rows came to their end; `cost` is the job's."""

    counts: JobCounts
    whole: bool
    ended: int
    seconds: float
    cost: float | None = None


class Books:
    """The outcomes of one run."""

    def __init__(self, rows: JobRows, spec: JobSpec, timing: Timing = TIMING) -> None:
        self._rows = rows
        self.timing = timing
        self._spec = spec
        self._outcomes: list[Outcome] = []
        self._began = time.monotonic()
        self._ended = 0
        self._counts = rows.counts()
        self._counted = self._began
        self._out_of_reach_since: float | None = None
        self.fatal: IntaglioError | None = None

    @property
    def too_many_dead(self) -> bool:
        """Whether the share of dead rows is over the job's bound."""
        most, counts = self._spec.stop_at_dead_share, self._counts
        ended = counts.dead + counts.done
        return most is not None and ended >= _FEWEST_FOR_SHARE and counts.dead > most * ended

    @property
    def hopeless(self) -> bool:
        """Whether going on makes no sense."""
        return self.fatal is not None or self.too_many_dead

    def enter(self, claim: Claim, outcome: Extraction[Any] | IntaglioError) -> None:
        """Book what became of a claim."""
        if isinstance(outcome, IntaglioError):
            self._enter_error(claim, outcome)
        else:
            self._out_of_reach_since = None
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
                )
            )
        if len(self._outcomes) >= _SETTLED:
            self.settle()

    def settle(self) -> None:
        """Write what is booked."""
        outcomes, self._outcomes = self._outcomes, []
        if outcomes:
            self._rows.settle(outcomes)
        if time.monotonic() - self._counted > self.timing.recount_s:
            self._recount()

    def progress(self, *, whole: bool) -> Progress:
        """How far the run is, by a count that is seconds old at most."""
        counts, prices = self._counts, self._spec.prices
        tokens = counts.prompt_tokens, counts.output_tokens
        cost = None if prices is None else prices.of(*tokens)
        return Progress(counts, whole, self._ended, time.monotonic() - self._began, cost)

    def final(self, *, whole: bool) -> Progress:
        """How far the run is, counted now."""
        self._recount()
        return self.progress(whole=whole)

    def _recount(self) -> None:
        self._counts, self._counted = self._rows.counts(), time.monotonic()

    def _enter_error(self, claim: Claim, error: IntaglioError) -> None:
        concern = _concern(error)
        if concern is Concern.JOB and claim.given is None:
            self.fatal = self.fatal or error
            failure = _failure(error, again=True, charged=False)
        elif concern is Concern.SERVICE and error.retryable:
            self._note_absence(error)
            failure = _failure(error, again=True, charged=False)
        else:
            tries = self._spec.attempts + (_SPARED if concern is Concern.ENGINE else 0)
            failure = _failure(error, again=error.retryable and claim.attempt < tries)
        pause = min(self.timing.longest_pause_s, 0.5 * 2.0**claim.attempt)
        pause = max(pause, error.retry_after or 0.0)
        self._ended += not failure.again
        self._outcomes.append(Outcome(claim, failure=failure, due=time.time() + pause))

    def _note_absence(self, error: IntaglioError) -> None:
        now = time.monotonic()
        if self._out_of_reach_since is None:
            self._out_of_reach_since = now
        if now - self._out_of_reach_since > self.timing.patience_s:
            self.fatal = self.fatal or error


def _concern(error: IntaglioError) -> Concern:
    if isinstance(error, ConnectionFailed):
        return Concern.SERVICE
    code = error.code if isinstance(error, APIStatusError) else ""
    return CONCERNS.get(code, Concern.ROW)


def _warnings(outcome: Extraction[Any]) -> tuple[JsonValue, ...]:
    """The warnings of an answer ({pointer, kind, message}); none where the service says nothing of them."""
    told = outcome.raw.get("warnings")
    return tuple(told) if isinstance(told, list) else ()


def _failure(error: IntaglioError, *, again: bool, charged: bool = True) -> Failure:
    """An error of the service or the engine as the ledger keeps it."""
    if not isinstance(error, APIStatusError):
        name = type(error).__name__
        return Failure(name, error.message, hint=error.hint, again=again, charged=charged)
    pointer = error.details[0].pointer if error.details else ""
    return Failure(error.code, error.message, pointer, error.hint, again, charged)
