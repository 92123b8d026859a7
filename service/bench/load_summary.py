"""The figures of a run, and whether its outputs are valid.

Does: count, take percentiles, validate outputs after the run. Does not: time anything.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .load_plan import LoadPlan
from .processes import LoadResult
from .timed_request import TimedRequest
from .workload import LoadTask

Check = Callable[[Any, dict[str, Any] | bool], bool]
"""Whether a value is valid under a schema."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """The median, the 90th and the 99th percentile, in milliseconds, by nearest rank."""

    p50: float
    p90: float
    p99: float

    @classmethod
    def of(cls, seconds: Iterable[float]) -> "Percentiles | None":
        """The percentiles of durations; None if there are none."""
        ordered = sorted(seconds)
        if not ordered:
            return None
        return cls(*(_ms(ordered[_rank(share, len(ordered))]) for share in (0.5, 0.9, 0.99)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures of a run. Rates are of requests that succeeded, by the time from the start to the last answer.

    `first_token` and `between_tokens` are None without streams. `valid` counts outputs that are valid under their
    schema, `invalid` those that are not, `unchecked` successes for which there was no validator.
    """

    requests: int
    succeeded: int
    errors: dict[str, int]
    seconds: float
    requests_per_s: float
    output_tokens_per_s: float
    prompt_tokens: float
    output_tokens: float
    latency: Percentiles | None
    first_token: Percentiles | None
    between_tokens: Percentiles | None
    valid: int
    invalid: int
    unchecked: int

    def as_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return asdict(self)


def summarise(
    plan: LoadPlan, tasks: Sequence[LoadTask], result: LoadResult, check: Check | None
) -> Summary:
    """The figures of a run. `check` validates outputs; None counts them as unchecked."""
    good = [outcome for outcome in result.outcomes if outcome.code == "ok"]
    verdicts = Counter(_verdict(outcome, tasks, check) for outcome in good)
    streamed = good if plan.stream else []
    return Summary(
        requests=len(result.outcomes),
        succeeded=len(good),
        errors=dict(
            Counter(
                outcome.code for outcome in result.outcomes if outcome.code != "ok"
            ).most_common()
        ),
        seconds=round(result.seconds, 3),
        requests_per_s=round(len(good) / result.seconds, 3),
        output_tokens_per_s=round(sum(o.output_tokens for o in good) / result.seconds, 1),
        prompt_tokens=_mean([outcome.prompt_tokens for outcome in good]),
        output_tokens=_mean([outcome.output_tokens for outcome in good]),
        latency=Percentiles.of(outcome.seconds for outcome in good),
        first_token=Percentiles.of(o.first_s for o in streamed if o.first_s is not None),
        between_tokens=Percentiles.of(gap for outcome in streamed for gap in outcome.gaps),
        valid=verdicts[True],
        invalid=verdicts[False],
        unchecked=verdicts[None],
    )


def schema_check() -> Check | None:
    """Validation by `jsonschema`; None where it is not installed, as in an install of the SDK alone."""
    try:
        from jsonschema import ValidationError
        from jsonschema.validators import validator_for
    except ModuleNotFoundError:
        return None

    def check(value: Any, schema: dict[str, Any] | bool) -> bool:
        kind = validator_for(schema)
        try:
            kind(schema).validate(value)
        except ValidationError:
            return False
        return True

    return check


def _verdict(outcome: TimedRequest, tasks: Sequence[LoadTask], check: Check | None) -> bool | None:
    try:
        value = json.loads(outcome.output)
    except ValueError:
        return False
    return None if check is None else check(value, tasks[outcome.document].schema)


def _rank(share: float, count: int) -> int:
    return max(0, math.ceil(share * count) - 1)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _mean(values: Sequence[int]) -> float:
    return round(sum(values) / len(values), 1) if values else 0.0
