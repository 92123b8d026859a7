"""The wire types of an extraction's result: data, usage, timings and warnings."""

from typing import Literal

from pydantic import (
    Field,
    JsonValue,
)

from ..base import Wire
from .contract import Contract
from .document_objects import DocumentSummary
from .grounding import FieldReport, Span
from .images import ImageReading


class Usage(Wire):
    """Token counts of one request.

    `budget_forced`: the answer needed more tokens than its budget, so that its rest was completed in the
    shortest way the schema allows: it is valid, but its last values may be incomplete. Raise `max_tokens`.

    `budget` is the maximum number of tokens of the answer, and `budget_from` its origin: `max_tokens` of the request,
    the `default` for schema and document, or the model's `context` if that left less.

    `draft_tokens` are those of the free answer that the option `draft` asked for; `prompt_tokens` and `output_tokens`
    count both readings. `accepted_tokens` are tokens of the constrained answer that were computed ahead, as drafts of
    any source.
    """

    prompt_tokens: int
    output_tokens: int
    total_tokens: int
    forced_tokens: int = 0
    budget_forced: bool = False
    budget: int | None = None
    budget_from: Literal["max_tokens", "default", "context"] | None = None
    draft_tokens: int = 0
    accepted_tokens: int = 0


class Timings(Wire):
    """The time of one request by phase, in milliseconds."""

    queue_ms: float
    prefill_ms: float
    decode_ms: float
    total_ms: float


class AnswerWarning(Wire):
    """A notice about a value that validity does not cover. `pointer` is a JSON Pointer into `data`.

    `kind` is `looped`: the value repeated itself and was ended; `budget_forced`: the budget was reached in it;
    `not_stated`: it is null because the request allows null for values that are not stated, and the schema alone does
    not; `offset_not_stated`: a time has a UTC offset because its format requires one, and the document states none that
    gives it; `not_found`: no window of a long document states it, and the value is from one more reading;
    `items_dropped`: the windows of a long document gave more items than the schema allows. Further kinds may be added.
    """

    pointer: str
    kind: str
    message: str
    hint: str = ""


class WindowedReading(Wire):
    """How a long document was read: in `windows` windows, at these `spans` of its text, in order. Neighbours share at
    most `overlap_tokens` tokens.
    """

    windows: int
    overlap_tokens: int
    spans: tuple[Span, ...]


class ExtractResult(Wire):
    """Body of a successful extraction: `data` is always valid against the whole schema.

    `valid` is the verdict of the final, independent validation; an invalid result is never sent as a success, so it is
    true here. `finish` is `stop`, because a truncated document is an error and not a result. `contract` lists the
    enforced keywords. `warnings` report values that may differ from the document; with `not_stated: "null"`, `data` is
    valid against the schema with null allowed. `fields` has the source and the confidence of each scalar of `data`, by
    JSON Pointer, if the options ask for them. `document` describes the file, if the request had one.
    `reading` describes how a long document was read, and is null for one that was read at once. `images` are those that
    the model saw, in their order in the prompt: images of the request, or pages of the document without a text layer.
    """

    id: str
    model: str
    data: JsonValue
    valid: Literal[True] = True
    finish: Literal["stop"] = "stop"
    usage: Usage
    timings: Timings
    contract: Contract = Contract()
    warnings: tuple[AnswerWarning, ...] = ()
    fields: dict[str, FieldReport] = Field(default_factory=dict)
    document: DocumentSummary | None = None
    reading: WindowedReading | None = None
    images: tuple[ImageReading, ...] = ()
