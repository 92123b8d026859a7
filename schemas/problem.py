"""Error documents: the single form in which all errors reach a user.

Does: define the document's shape and the stable codes. Does not: know HTTP statuses or exceptions
(service/http/problems.py).
"""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Code(StrEnum):
    """Stable error codes; new ones may be added, existing ones are never renamed."""

    INVALID_REQUEST = "invalid_request"
    INVALID_JSON = "invalid_json"
    UNKNOWN_FIELD = "unknown_field"
    INVALID_SCHEMA = "invalid_schema"
    UNSUPPORTED_SCHEMA = "unsupported_schema"
    UNSATISFIABLE_SCHEMA = "unsatisfiable_schema"
    SCHEMA_TOO_LARGE = "schema_too_large"
    UNKNOWN_SCHEMA = "unknown_schema"
    UNKNOWN_MODEL = "unknown_model"
    ADAPTER_UNUSABLE = "adapter_unusable"
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    BODY_TOO_LARGE = "body_too_large"
    CONTEXT_LENGTH_EXCEEDED = "context_length_exceeded"
    BUDGET_TOO_SMALL = "budget_too_small"
    INCOMPLETE = "incomplete"
    INVALID_OUTPUT = "invalid_output"
    WINDOWS_CONFLICT = "windows_conflict"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    OVERLOADED = "overloaded"
    NOT_READY = "not_ready"
    ENGINE_LOST = "engine_lost"
    REQUEST_QUARANTINED = "request_quarantined"
    UNAUTHORIZED = "unauthorized"
    INSUFFICIENT_SCOPE = "insufficient_scope"
    RATE_LIMIT_EXCEEDED = "rate_limit_exceeded"
    QUOTA_EXCEEDED = "quota_exceeded"
    HOST_NOT_ALLOWED = "host_not_allowed"
    UNREADABLE_DOCUMENT = "unreadable_document"
    UNSUPPORTED_DOCUMENT = "unsupported_document"
    ENCRYPTED_DOCUMENT = "encrypted_document"
    DOCUMENT_TOO_LARGE = "document_too_large"
    NO_TEXT_LAYER = "no_text_layer"
    CANCELLED = "cancelled"
    INTERNAL = "internal_error"


class Detail(BaseModel):
    """One cause at one place. `pointer` is a JSON Pointer into the request body (`/schema/properties/a/not`)."""

    model_config = ConfigDict(frozen=True)

    pointer: str
    keyword: str = ""
    reason: str
    hint: str = ""


class Problem(BaseModel):
    """One error: its message, place, causes and hint. `type` groups codes as OpenAI-compatible clients expect."""

    model_config = ConfigDict(frozen=True)

    message: str
    type: str
    code: Code
    param: str | None = None
    hint: str = ""
    retryable: bool = False
    details: tuple[Detail, ...] = ()
    request_id: str | None = None


class ProblemDocument(BaseModel):
    """The body of every error response: `{"error": {…}}`."""

    model_config = ConfigDict(frozen=True)

    error: Problem
