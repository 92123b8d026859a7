"""The wire types of streamed extractions and of extractions from several texts.

Does: define the server-sent events of `POST /v1/extract` with `stream`, and its answer to `texts`. Does not: send them.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, RootModel

from ..base import Wire
from ..problem import Problem
from .results import ExtractResult, Usage


class StreamEvent(Wire):
    """Base of the events of one stream. `index` is the position in `texts`; null for a single document."""

    index: int | None = None


class FieldStartedEvent(StreamEvent):
    """The model has begun to write a value. `pointer` is a JSON Pointer into `data`; the whole, with the pointer "",
    has no `field.completed`, because `object.completed` follows.
    """

    type: Literal["field.started"] = "field.started"
    pointer: str
    kind: Literal["object", "array", "string", "number", "boolean", "null"]


class FieldCompletedEvent(StreamEvent):
    """A member or item is complete.

    The schema allows the value there, but only the whole document is checked as in an answer without `stream`: if
    `error` follows instead of `object.completed`, discard the values.
    """

    type: Literal["field.completed"] = "field.completed"
    pointer: str
    value: JsonValue


class ObjectCompletedEvent(StreamEvent):
    """The whole validated result, as the answer without `stream` would have it."""

    type: Literal["object.completed"] = "object.completed"
    result: ExtractResult


class UsageEvent(StreamEvent):
    """The last event of a stream that was not broken off: totals of all texts, also of failed ones where known."""

    type: Literal["usage"] = "usage"
    usage: Usage
    completed: int = Field(description="Number of texts with a result.")
    failed: int = Field(default=0, description="Number of texts with an error.")


class ErrorEvent(StreamEvent):
    """An error document.

    Without `index` it is the last event of the stream; `error.retryable`: the same request may succeed later.
    """

    type: Literal["error"] = "error"
    error: Problem


AnyExtractEvent = (
    FieldStartedEvent | FieldCompletedEvent | ObjectCompletedEvent | UsageEvent | ErrorEvent
)


class ExtractEvent(RootModel[Annotated[AnyExtractEvent, Field(discriminator="type")]]):
    """The data of one server-sent event, which has its `type` as the name of the event, too."""


class TextOutcome(Wire):
    """The outcome of one text: a result or an error. `index` is the position in `texts`."""

    index: int
    result: ExtractResult | None = None
    error: Problem | None = None


class ExtractResults(Wire):
    """Body of the answer to `texts`: one outcome for each text, in their order, and the totals.

    The status is 200 even if texts failed: a request is refused as a whole only for what its texts share.
    """

    outcomes: tuple[TextOutcome, ...]
    usage: Usage
    completed: int
    failed: int = 0


class ExtractAnswer(RootModel[ExtractResult | ExtractResults]):
    """A result for `text` or `messages`, results for `texts`."""
