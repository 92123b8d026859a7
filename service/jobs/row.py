"""A row of a job on its way: taken in, handed out, brought back, written.

Does: the frozen messages between readers, ledger, runner and outputs. Does not: change the ledger.
"""

import hashlib
import json
from dataclasses import dataclass, field

from pydantic import JsonValue

from ...schemas.jobs import DeadRow, JobSpec


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a row has no result. `again` says that trying again may help, `charged` that the try counts."""

    code: str
    reason: str
    pointer: str = ""
    hint: str = ""
    again: bool = False
    charged: bool = True


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row to be taken in; one with a `failure` is dead from the start."""

    row: int
    id: str
    text: str | None
    keep: str = "{}"
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A row that has been handed out. `given` are values of an earlier job that stay.

    A `suspect` was in hand more than once when an engine died. Where it is alone in hand, no other row pays for it.
    """

    row: int
    id: str
    text: str
    given: dict[str, JsonValue] | None
    attempt: int
    fence: int
    suspect: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a claim: `result`, the JSON text of its data, or a failure. `warnings` belong to a result."""

    claim: Claim
    result: str | None = None
    failure: Failure | None = None
    due: float = 0.0  # when a row that is to be tried again may be handed out
    prompt_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    warnings: tuple[JsonValue, ...] = ()


@dataclass(frozen=True, slots=True)
class RowResult:
    """A row as the outputs have it."""

    row: int
    id: str
    keep: dict[str, JsonValue]
    state: int
    attempts: int
    text: str | None = None
    data: JsonValue = None
    failure: Failure | None = None
    usage: tuple[int, int, float] = field(default=(0, 0, 0.0))  # prompt and output tokens, seconds
    warnings: tuple[JsonValue, ...] = ()


def text_digest(text: str) -> str:
    """The identity of a document's content."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def spec_digest(spec: JobSpec, model: str) -> str:
    """The identity of what decides the results: the model, and all of a job but where they go and what they cost."""
    told = spec.model_dump(
        mode="json",
        by_alias=True,
        exclude={
            "outputs": True,
            "attempts": True,
            "prices": True,
            "options": {"strict_schema"},  # decides whether there are results, not which
        },
    )
    return hashlib.sha256(json.dumps([told, model], sort_keys=True).encode()).hexdigest()


def result_text(data: JsonValue) -> str:
    """A result as the ledger keeps it: the same bytes for the same value."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def dead_row(row: RowResult) -> DeadRow:
    """A dead row as it is told."""
    failure = row.failure
    assert failure is not None, "a dead row has a reason"
    return DeadRow(
        row=row.row,
        id=row.id,
        code=failure.code,
        reason=failure.reason,
        pointer=failure.pointer,
        hint=failure.hint,
        attempts=row.attempts,
    )
