"""The wire types of files and batches, as clients of OpenAI's interface know them.

Does: define shapes, defaults and bounds. Does not: store files or run batches (`service/batches`).
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..base import MAX_NAME_CHARACTERS, Wire

MIN_EXPIRY_S = 3600
MAX_EXPIRY_S = 30 * 86_400
MAX_METADATA = 16

Endpoint = Literal["/v1/chat/completions", "/v1/completions", "/v1/responses"]
Purpose = Literal["assistants", "batch", "fine-tune", "vision", "user_data", "evals"]
BatchStatus = Literal[
    "validating",
    "failed",
    "in_progress",
    "finalizing",
    "completed",
    "expired",
    "cancelling",
    "cancelled",
]
ENDED_BATCH: frozenset[BatchStatus] = frozenset({"failed", "completed", "expired", "cancelled"})


class FileObject(Wire):
    """A file on the server. `name` is the name it was uploaded under, else its id. Times are seconds since 1970."""

    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int
    filename: str
    name: str
    purpose: str
    status: Literal["processed"] = "processed"
    expires_at: int | None = None


class FileList(Wire):
    """Body of `GET /v1/files`."""

    object: Literal["list"] = "list"
    data: list[FileObject]
    first_id: str | None = None
    last_id: str | None = None
    has_more: bool = False


class FileDeleted(Wire):
    """Body of `DELETE /v1/files/{id}`."""

    id: str
    object: Literal["file"] = "file"
    deleted: Literal[True] = True


class ExpiresAfter(Wire):
    """When a file expires: a number of seconds after it was created."""

    anchor: Literal["created_at"]
    seconds: int = Field(ge=MIN_EXPIRY_S, le=MAX_EXPIRY_S)


class BatchRequest(Wire):
    """Body of `POST /v1/batches`. Requests that have not been answered within 24 hours expire."""

    input_file_id: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)
    endpoint: Endpoint
    completion_window: Literal["24h"]
    metadata: dict[str, str] | None = Field(default=None, max_length=MAX_METADATA)
    output_expires_after: ExpiresAfter | None = None


class BatchLine(BaseModel):
    """A line of a batch's input file: one request. Fields that are not listed are ignored, as elsewhere."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    custom_id: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)
    method: Literal["POST"]
    url: str
    body: dict[str, Any]


class BatchFault(Wire):
    """A mistake in an input file; `line` counts from 1."""

    code: str
    message: str
    line: int | None = None
    param: str | None = None


class BatchFaults(Wire):
    """The mistakes in an input file."""

    object: Literal["list"] = "list"
    data: list[BatchFault]


class RequestCounts(Wire):
    """Requests of a batch by outcome."""

    total: int = 0
    completed: int = 0
    failed: int = 0


class InputDetails(Wire):
    """Details of input tokens. The engine's prefix cache is not attributed to single requests of a batch."""

    cached_tokens: int = 0


class OutputDetails(Wire):
    """Details of output tokens."""

    reasoning_tokens: int = 0


class BatchUsage(Wire):
    """Tokens of a batch's answered requests."""

    input_tokens: int = 0
    input_tokens_details: InputDetails = InputDetails()
    output_tokens: int = 0
    output_tokens_details: OutputDetails = OutputDetails()
    total_tokens: int = 0


class BatchObject(Wire):
    """A batch: the requests of one input file. Times are seconds since 1970, null while they have not come."""

    id: str
    object: Literal["batch"] = "batch"
    endpoint: str
    model: str | None = None
    errors: BatchFaults | None = None
    input_file_id: str
    completion_window: str = "24h"
    status: BatchStatus
    output_file_id: str | None = None
    error_file_id: str | None = None
    created_at: int
    in_progress_at: int | None = None
    expires_at: int | None = None
    finalizing_at: int | None = None
    completed_at: int | None = None
    failed_at: int | None = None
    expired_at: int | None = None
    cancelling_at: int | None = None
    cancelled_at: int | None = None
    request_counts: RequestCounts = RequestCounts()
    usage: BatchUsage = BatchUsage()
    metadata: dict[str, str] | None = None


class BatchList(Wire):
    """Body of `GET /v1/batches`, newest first."""

    object: Literal["list"] = "list"
    data: list[BatchObject]
    first_id: str | None = None
    last_id: str | None = None
    has_more: bool = False
