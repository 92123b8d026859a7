"""The wire types of bulk jobs: specification and status.

Does: define shapes, defaults and bounds. Does not: open files or run engines.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from .base import MAX_COUNT, MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS, Wire
from .extraction.grounding import FieldReport
from .extraction.requests import ExtractOptions, check_name

MAX_PATH_CHARACTERS = 4096
MAX_PRICE = 1e9

REVIEW_COLUMN = "needs_review"
"""The column of results that names the values to be reviewed, in jobs with `review_below`."""

InputFormat = Literal["csv", "tsv", "jsonl", "parquet", "xml", "text"]
OutputFormat = Literal["csv", "tsv", "jsonl", "parquet", "xml"]


class Source(Wire):
    """The documents of a job: one file of many records, or a folder or glob pattern of texts and documents.

    The document of a record is the field `text`, or `template` with every `{field}` replaced; text files need neither.
    The fields `images` give images for a model that reads images, alone or before that text: a path, a data URL, or a
    list of them. Files may be images, too. Fields are columns of tables, keys of JSON objects, and paths below the
    record's element in XML (`@name` is an attribute). `id` is the field with the record's id; by default records are
    identified by their number, files by their path. `keep` are fields that the outputs repeat.
    """

    path: str = Field(min_length=1, max_length=MAX_PATH_CHARACTERS)
    format: InputFormat | None = Field(default=None, description="Default: by the file's name.")
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    encoding: str | None = Field(
        default=None,
        max_length=MAX_NAME_CHARACTERS,
        description="Default: detected; UTF-8 if unsure.",
    )
    record: str | None = Field(
        default=None,
        max_length=MAX_PATH_CHARACTERS,
        description="XML: path of the record elements, such as catalog/item.",
    )
    text: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    template: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)
    id: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    keep: tuple[str, ...] = Field(default=(), max_length=1000)
    images: tuple[Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)], ...] = Field(
        default=(),
        max_length=64,
        description="Fields with images. A path is relative to the folder of the source; in a job of a service it is "
        "the name of an uploaded file. Nothing is fetched from addresses.",
    )

    @field_validator("keep")
    @classmethod
    def _each_once(cls, keep: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(keep))

    @model_validator(mode="after")
    def _one_way_to_the_text(self) -> "Source":
        if self.text is not None and self.template is not None:
            raise ValueError("text and template exclude each other: give one of them")
        if self.images and self.format == "text":
            raise ValueError("images are fields of records; files that are images need no field")
        if len(set(self.images)) < len(self.images):
            raise ValueError("images names a field twice")
        return self


class Output(Wire):
    """An output file. `neutralise` disarms CSV cells that a spreadsheet would run as formulas."""

    path: str = Field(min_length=1, max_length=MAX_PATH_CHARACTERS)
    format: OutputFormat | None = Field(default=None, description="Default: by the file's name.")
    neutralise: bool = True


class Prices(Wire):
    """The price of a million prompt tokens and a million output tokens, in any currency. No result depends on it."""

    prompt: float = Field(ge=0, le=MAX_PRICE)
    output: float = Field(ge=0, le=MAX_PRICE)

    def of(self, prompt_tokens: float, output_tokens: float) -> float:
        """The price of these token counts."""
        return (self.prompt * prompt_tokens + self.output * output_tokens) / 1e6


class JobSpec(Wire):
    """A job: extract `schema` from every document of `source` and write the results to `outputs`.

    `limit` selects the first records, `sample` a share of them, chosen by the record's id so that every run selects the
    same. A row gets up to `attempts` attempts if its errors are retryable. With `stop_at_dead_share` the job stops once
    that share of its rows is dead, counted from the fiftieth row on. `extends` names a finished job over the same
    records: its values are kept, and only what its schema lacks is generated. With `prices` the job reports its cost.
    Rows with a value of a probability below `review_below` are marked as `needs_review` for a person; this asks for the
    option `confidence`. All rows are computed with the LoRA adapter `adapter`.
    """

    schema_: dict[str, Any] | bool | str = Field(alias="schema")
    source: Source
    outputs: tuple[Output, ...] = ()
    options: ExtractOptions = ExtractOptions()
    adapter: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_PATH_CHARACTERS,
        description="Name of an adapter that the service has loaded. For a model of the command line's own: its "
        "folder, or NAME=PATH.",
    )
    limit: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    sample: float | None = Field(default=None, gt=0, le=1)
    attempts: int = Field(default=3, ge=1, le=20)
    stop_at_dead_share: float | None = Field(default=None, ge=0, le=1)
    extends: str | None = Field(default=None, max_length=MAX_NAME_CHARACTERS)
    prices: Prices | None = None
    review_below: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _reviews_need_confidence(self) -> "JobSpec":
        if self.review_below is None:
            return self
        if REVIEW_COLUMN in (*self.source.keep, self.source.id):
            raise ValueError(f"with review_below, {REVIEW_COLUMN!r} is a column of the results")
        if "confidence" not in self.options.model_fields_set:
            options = self.options.model_copy(update={"confidence": "first_reading"})
            object.__setattr__(self, "options", options)  # part of making it; frozen from then on
        if self.options.confidence == "off":
            raise ValueError("review_below needs the option confidence, which is off")
        return self

    @model_validator(mode="after")
    def _images_exclude_verbatim(self) -> "JobSpec":
        if self.source.images and self.options.grounding == "verbatim":
            raise ValueError(
                "verbatim strings cannot be taken from images: omit grounding verbatim"
            )
        return self

    @model_validator(mode="after")
    def _schema_may_be_a_name(self) -> "JobSpec":
        check_name(self.schema_)
        return self


class JobState(StrEnum):
    """The state of a job. A `paused` job continues when resumed; the last four states are final, and results are kept
    in all.
    """

    READY = "ready"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    CANCELLED = "cancelled"
    FAILED = "failed"


ENDED = frozenset(
    {JobState.COMPLETED, JobState.COMPLETED_WITH_ERRORS, JobState.CANCELLED, JobState.FAILED}
)


class JobCounts(Wire):
    """The rows of a job by state, and the tokens of the done ones. `rows` counts the records read so far.

    Of the done ones, `needs_review` wait for a person, and `reviewed` were accepted or corrected.
    """

    rows: int = 0
    pending: int = 0
    running: int = 0
    done: int = 0
    dead: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    needs_review: int = 0
    reviewed: int = 0


class JobStatus(Wire):
    """The status of a job. `whole`: its entire source has been read. Times are seconds since 1970."""

    id: str
    state: JobState
    created: float
    changed: float
    whole: bool
    counts: JobCounts
    model: str | None = None
    error: str | None = None


class DeadRow(Wire):
    """A row without a result, with its reason: a line of the dead-letter file."""

    row: int
    id: str
    code: str
    reason: str
    pointer: str = ""
    hint: str = ""
    attempts: int


ReviewState = Literal["needs_review", "accepted", "corrected"]


class ReviewRow(Wire):
    """A row with values that a person should look at, or has looked at.

    `unsure` has the probability of each such value by its JSON Pointer; the pointer "" with null stands for a result
    without any probability. `data` is the result, or the correction. `sources` has the places of its values in the text
    by their pointers, if the request asks for them.
    """

    row: int
    id: str
    state: ReviewState
    unsure: dict[str, float | None]
    text: str | None
    data: JsonValue
    sources: dict[str, FieldReport] = Field(default_factory=dict)


class ReviewPage(Wire):
    """A page of the rows of one state, in the order of the source. `next` is the `after` of the next page, or null."""

    data: tuple[ReviewRow, ...]
    next: int | None = None


class ReviewDecision(Wire):
    """Body of `POST /v1/jobs/{id}/review`: a row is accepted as it is, or corrected to `data`."""

    row: int = Field(ge=1, le=MAX_COUNT)
    decision: Literal["accept", "correct"]
    data: JsonValue = None

    @model_validator(mode="after")
    def _has_data_if_corrected(self) -> "ReviewDecision":
        if (self.decision == "correct") != ("data" in self.model_fields_set):
            raise ValueError("data belongs to the decision correct")
        return self


class GoldRow(Wire):
    """A reviewed row as gold data for evaluations: a line of `GET /v1/jobs/{id}/gold`."""

    id: str
    schema_: dict[str, Any] | bool | str = Field(alias="schema")
    text: str
    expected: JsonValue
    decision: Literal["accepted", "corrected"]
