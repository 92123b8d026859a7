"""The messages about rows between readers, ledger, runner and outputs.

Does: define frozen dataclasses and digests. Does not: change the ledger.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.schemas.jobs import DeadRow, JobSpec
from pydantic import JsonValue

from .row_files import RowFiles

_NEWER_OPTIONS: Final = (
    *("long_documents", "grounding", "confidence", "token_alternatives"),
    *("draft", "draft_max_tokens"),
)
"""Options that older ledgers do not have in their digests."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a row has no result. `may_retry`: a retry may help. `charged`: the attempt counts."""

    code: str
    reason: str
    pointer: str = ""
    hint: str = ""
    may_retry: bool = False
    charged: bool = True


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row to be added; with a `failure` it is dead from the start."""

    row: int
    id: str
    text: str | None
    keep: str = "{}"
    failure: Failure | None = None
    files: RowFiles | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A row that has been handed out. `given` are fixed values of an earlier job.

    A `suspect` was in flight more than once when an engine died. It runs alone, so that no other row pays for it.
    """

    row: int
    id: str
    text: str
    given: dict[str, JsonValue] | None
    attempt: int
    fence: int
    suspect: bool = False
    files: RowFiles | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a claim: `result`, the JSON text of its data, or a failure. `warnings` and `fields` (reports of
    its values, by JSON Pointer) belong to a result.

    `unsure` has the probabilities of values to be reviewed, by their pointers; empty if there is nothing to review.
    """

    claim: Claim
    result: str | None = None
    failure: Failure | None = None
    due: float = 0.0  # earliest time of the next attempt
    prompt_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    warnings: tuple[JsonValue, ...] = ()
    fields: Mapping[str, JsonValue] = field(default_factory=dict)
    unsure: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RowResult:
    """A row as the outputs see it."""

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
    fields: Mapping[str, JsonValue] = field(default_factory=dict)


def text_digest(text: str, files: RowFiles | None = None) -> str:
    """The digest of a document's text, and of the files that belong to it."""
    whole = text if files is None else f"{files.digest}\n{text}"
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def spec_digest(spec: JobSpec, model: str) -> str:
    """The digest of everything that determines the results: the job, without outputs and prices, and the `model`.

    That includes the adapter and its content, wherever its folder is.
    """
    identity = spec.model_dump(
        mode="json",
        by_alias=True,
        exclude={
            "outputs": True,
            "attempts": True,
            "prices": True,
            "adapter": True,  # a part of `model`
            "options": {"strict_schema"},  # decides whether there are results, not their values
        },
    )
    # Specifications from before there was a field have the digest of then.
    if identity["review_below"] is None:
        del identity["review_below"]
    if not identity["source"]["images"]:
        del identity["source"]["images"]
    for name in _NEWER_OPTIONS:
        if identity["options"].get(name) == ExtractOptions.model_fields[name].default:
            del identity["options"][name]
    return hashlib.sha256(json.dumps([identity, model], sort_keys=True).encode()).hexdigest()


def result_text(data: JsonValue) -> str:
    """A result as stored in the ledger: equal values give equal bytes."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def dead_row(row: RowResult) -> DeadRow:
    """A dead row in its wire form."""
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
