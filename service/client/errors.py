"""The errors of the SDK.

IntaglioError
├── ConnectionFailed        no answer: refused, unreachable, connection lost
│   └── TimedOut            no answer within the time limit
├── UnexpectedAnswer        the answer is not from this service; usually a wrong base_url
├── ResultMismatch          the caller's type refuses valid JSON
├── ModelError              `LLM` cannot use this checkpoint
├── ConfigError             `LLM` has no such setting, or refuses its value
└── APIStatusError          the service answered with an error document
    ├── BadRequest          400 and similar
    │   ├── SchemaRefused   the schema is invalid, cannot be enforced, or cannot be met
    │   ├── DocumentRefused a file cannot be read
    │   └── BudgetTooSmall  no answer fits into max_tokens
    ├── Unauthorized        401, 403
    ├── NotFound            no such schema, model or path
    ├── TooLong             the text exceeds the model's context or the service's limit
    ├── DeadlineExceeded    the deadline of the request passed
    ├── NoResult            the model produced no valid document
    ├── Overloaded          429: the queue is full
    ├── NotReady            503: starting or stopping
    └── ServerFault         any other 5xx

Does: convert answers and transport failures to these errors. Does not: decide about retries (`retry`).
"""

import copyreg
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
from intaglio.schemas.problem import Code, Detail, Problem
from pydantic import JsonValue

_RETRYABLE_STATUS = frozenset({408, 429, 502, 503, 504})
_EXCERPT = 200


class IntaglioError(Exception):
    """Base of all errors of the SDK.

    `hint` suggests a fix; `retryable`: the same call may succeed later; `retry_after` is the wait in
    seconds that the service asked for, if any; `request_id` identifies the call in the service's log.
    """

    retryable = False

    def __init__(self, message: str, *, hint: str = "", request_id: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.request_id = request_id
        self.retry_after: float | None = None

    def __str__(self) -> str:
        return "\n".join([self.message, *self._notes()])

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is otherwise rebuilt by a call with its message alone, which most of these classes refuse: a pool
        # of processes could not hand them on.
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]  # of pickle's protocol 2

    def _notes(self) -> Iterable[str]:
        if self.hint:
            yield f"  hint: {self.hint}"
        if self.request_id:
            yield f"  request id: {self.request_id}"


class ConnectionFailed(IntaglioError):
    """The service could not be reached, or the connection broke before the answer."""

    def __init__(self, message: str, *, hint: str = "", retryable: bool = True) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable


class TimedOut(ConnectionFailed):
    """No answer within the time limit. The service stops work on a request once its connection is closed."""


class UnexpectedAnswer(IntaglioError):
    """A successful answer that does not have the form of this service's answers."""


class ResultMismatch(IntaglioError):
    """The result is valid under the schema, but a validator of the type refused it.

    `data` is the JSON value as received; the validation error is the cause.
    """

    def __init__(
        self, message: str, data: JsonValue, request_id: str | None, hint: str | None = None
    ) -> None:
        super().__init__(
            message,
            hint=hint
            or "express the validator's rule in the type itself (pattern, bounds, Literal), "
            "so that it becomes part of the schema and is enforced while decoding",
            request_id=request_id,
        )
        self.data = data


class ModelError(IntaglioError):
    """`LLM` cannot use a checkpoint. `where` names the file or the key at fault."""

    code = "model_error"

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.where = where


class ConfigError(IntaglioError):
    """`LLM` has no such setting, or cannot use its value. `where` names the setting."""

    code = "config_error"

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.where = where


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """A parsed error document. Parsing is lenient: a newer service may use codes that this SDK does not know."""

    status: int
    message: str
    code: str = ""
    param: str | None = None
    hint: str = ""
    retryable: bool = False
    details: tuple[Detail, ...] = ()
    request_id: str | None = None


class APIStatusError(IntaglioError):
    """The service answered with an error. `details` name each cause by JSON Pointer into the request body."""

    def __init__(self, answer: ErrorAnswer) -> None:
        super().__init__(answer.message, hint=answer.hint, request_id=answer.request_id)
        self.status = answer.status
        self.code = answer.code
        self.param = answer.param
        self.details = answer.details
        self.retryable = answer.retryable

    def __str__(self) -> str:
        kind = f"HTTP {self.status}" + (f", {self.code}" if self.code else "")
        return "\n".join([f"{self.message} ({kind})", *self._causes(), *self._notes()])

    def _causes(self) -> Iterable[str]:
        if self.param and not self.details:
            yield f"  at: {self.param}"
        for detail in self.details:
            yield f"  {detail.pointer or '/'}: {detail.reason}"
            if detail.hint and detail.hint != self.hint:
                yield f"    hint: {detail.hint}"


class BadRequest(APIStatusError):
    """The service does not accept the request; see `details`."""


class SchemaRefused(BadRequest):
    """The schema is invalid, cannot be enforced in full, or cannot be met by any document; see `details`."""


class DocumentRefused(BadRequest):
    """A file cannot be read: its format, damage, a password, or a scan without text; `code` says which."""


class BudgetTooSmall(BadRequest):
    """No document of this schema fits into `max_tokens`."""


class Unauthorized(APIStatusError):
    """The API key is missing, wrong, or lacks permission."""


class NotFound(APIStatusError):
    """There is no schema, model or path of that name."""


class TooLong(APIStatusError):
    """The text exceeds the model's context, or the body exceeds the service's limit."""


class DeadlineExceeded(APIStatusError):
    """The deadline of the request passed before the answer was complete."""


class NoResult(APIStatusError):
    """The model produced no complete, valid document; the service returns nothing less."""


class Overloaded(APIStatusError):
    """The queue is full. `retry_after` is the wait in seconds."""


class NotReady(APIStatusError):
    """The service is starting or stopping; with the code `engine_lost` its engine died during the request."""


class ServerFault(APIStatusError):
    """The service failed. Report it with `request_id`."""


_BY_CODE: dict[str, type[APIStatusError]] = {
    Code.INVALID_SCHEMA: SchemaRefused,
    Code.UNSUPPORTED_SCHEMA: SchemaRefused,
    Code.UNSATISFIABLE_SCHEMA: SchemaRefused,
    Code.SCHEMA_TOO_LARGE: SchemaRefused,
    Code.BUDGET_TOO_SMALL: BudgetTooSmall,
    Code.UNREADABLE_DOCUMENT: DocumentRefused,
    Code.UNSUPPORTED_DOCUMENT: DocumentRefused,
    Code.ENCRYPTED_DOCUMENT: DocumentRefused,
    Code.NO_TEXT_LAYER: DocumentRefused,
    Code.DOCUMENT_TOO_LARGE: TooLong,
    Code.UNKNOWN_SCHEMA: NotFound,
    Code.UNKNOWN_MODEL: NotFound,
    Code.NOT_FOUND: NotFound,
    Code.BODY_TOO_LARGE: TooLong,
    Code.CONTEXT_LENGTH_EXCEEDED: TooLong,
    Code.DEADLINE_EXCEEDED: DeadlineExceeded,
    Code.INCOMPLETE: NoResult,
    Code.INVALID_OUTPUT: NoResult,
    Code.WINDOWS_CONFLICT: NoResult,
    Code.OVERLOADED: Overloaded,
    Code.NOT_READY: NotReady,
    Code.ENGINE_LOST: NotReady,
    Code.REQUEST_QUARANTINED: BadRequest,
    Code.UNAUTHORIZED: Unauthorized,
    Code.HOST_NOT_ALLOWED: Unauthorized,
    Code.INTERNAL: ServerFault,
}
_BY_STATUS: dict[int, type[APIStatusError]] = {
    401: Unauthorized,
    403: Unauthorized,
    404: NotFound,
    408: DeadlineExceeded,
    413: TooLong,
    429: Overloaded,
    503: NotReady,
    504: DeadlineExceeded,
}

_STATUS_OF: dict[str, int] = {
    Code.UNKNOWN_SCHEMA: 404,
    Code.UNKNOWN_MODEL: 404,
    Code.DOCUMENT_TOO_LARGE: 413,
    Code.UNSUPPORTED_DOCUMENT: 415,
    Code.UNREADABLE_DOCUMENT: 422,
    Code.ENCRYPTED_DOCUMENT: 422,
    Code.NO_TEXT_LAYER: 422,
    Code.UNSATISFIABLE_SCHEMA: 422,
    Code.INCOMPLETE: 422,
    Code.WINDOWS_CONFLICT: 422,
    Code.REQUEST_QUARANTINED: 422,
    Code.OVERLOADED: 429,
    Code.CANCELLED: 499,
    Code.INVALID_OUTPUT: 500,
    Code.INTERNAL: 500,
    Code.NOT_READY: 503,
    Code.ENGINE_LOST: 503,
    Code.DEADLINE_EXCEEDED: 504,
}


def status_error(response: httpx2.Response) -> APIStatusError:
    """The error for a response with status 3xx to 5xx."""
    answer = _read(response)
    kind = _BY_CODE.get(answer.code) or _BY_STATUS.get(answer.status)
    if kind is None:
        fault, request = answer.status >= 500, 400 <= answer.status < 500
        kind = ServerFault if fault else BadRequest if request else APIStatusError
    error = kind(answer)
    error.retry_after = _retry_after(response.headers.get("retry-after"))
    return error


def problem_error(problem: Problem) -> APIStatusError:
    """The error for an error document within a stream. Its status is what the same error has as an answer."""
    answer = ErrorAnswer(
        status=_STATUS_OF.get(problem.code, 400),
        message=problem.message,
        code=problem.code,
        param=problem.param,
        hint=problem.hint,
        retryable=problem.retryable,
        details=problem.details,
        request_id=problem.request_id,
    )
    return _BY_CODE.get(answer.code, ServerFault if answer.status >= 500 else BadRequest)(answer)


def transport_error(cause: httpx2.RequestError, base_url: str) -> ConnectionFailed:
    """The error for a failure to get any answer."""
    reason = str(cause) or type(cause).__name__
    error: ConnectionFailed
    if isinstance(cause, httpx2.ReadTimeout | httpx2.WriteTimeout):
        # The service may only be slow: a retry would double its load.
        error = TimedOut(
            f"no answer from {base_url} in time",
            hint="raise `timeout`, or set `deadline_s` so that the service ends the request",
            retryable=False,
        )
    elif isinstance(cause, httpx2.TimeoutException):
        error = TimedOut(f"no connection to {base_url} in time", hint="is it reachable from here?")
    elif isinstance(cause, httpx2.ConnectError):
        error = ConnectionFailed(
            f"cannot connect to {base_url}: {reason}",
            hint="is the service running there? `intaglio serve` starts one",
        )
    else:
        broken = isinstance(cause, httpx2.NetworkError | httpx2.RemoteProtocolError)
        error = ConnectionFailed(f"no answer from {base_url}: {reason}", retryable=broken)
    error.__cause__ = cause
    return error


def _read(response: httpx2.Response) -> ErrorAnswer:
    """The error document in `response`; without one (a proxy's page), the beginning of the body."""
    status = response.status_code
    request_id = response.headers.get("x-request-id")
    document = _error_object(response)
    if document is None:
        excerpt = " ".join(response.text.split())[:_EXCERPT] or response.reason_phrase
        return ErrorAnswer(
            status,
            excerpt or "no reason given",
            retryable=status in _RETRYABLE_STATUS,
            request_id=request_id,
        )
    return ErrorAnswer(
        status=status,
        message=str(document.get("message") or response.reason_phrase),
        code=str(document.get("code") or ""),
        param=document.get("param"),
        hint=str(document.get("hint") or ""),
        retryable=bool(document.get("retryable", status in _RETRYABLE_STATUS)),
        details=tuple(_details(document.get("details"))),
        request_id=document.get("request_id") or request_id,
    )


def _error_object(response: httpx2.Response) -> Mapping[str, Any] | None:
    try:
        body = json.loads(response.content)
    except ValueError:
        return None
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else None


def _details(value: Any) -> Iterable[Detail]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            known = {key: str(item[key]) for key in Detail.model_fields if key in item}
            yield Detail.model_validate({"pointer": "", "reason": "", **known})


def _retry_after(header: str | None) -> float | None:
    """Seconds from now, from a `Retry-After` header in either of its forms (RFC 9110, 10.2.3)."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
