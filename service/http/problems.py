"""The HTTP response for every error that can reach a user: status, error document and headers.

Does: one total table from exception classes to statuses and codes, and the error document. Does not: catch exceptions
(`app`), or reveal the text of an unexpected exception.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from intaglio.engine import api as engine
from intaglio.grammar import api as grammar
from intaglio.schemas.problem import Code, Detail, Problem, ProblemDocument

from .. import errors as service
from ..extraction.failures import REFUSAL_CODES, refusal_details
from ..jobs.records import errors as jobs


@dataclass(frozen=True, slots=True)
class ProblemResponse:
    """The response for an error: status, error document and extra headers."""

    status: int
    problem: Problem
    headers: Mapping[str, str]

    def body(self) -> bytes:
        """The error document as JSON."""
        return ProblemDocument(error=self.problem).model_dump_json(exclude_none=True).encode()


# 400: the caller's mistake. 422: a well-formed request that cannot be met. 499: nginx's "client closed request".
STATUS: Mapping[type[Exception], tuple[int, Code]] = {
    service.ServiceError: (500, Code.INTERNAL),
    service.InvalidJson: (400, Code.INVALID_JSON),
    service.InvalidBody: (400, Code.INVALID_REQUEST),
    service.UnknownField: (400, Code.UNKNOWN_FIELD),
    service.UnknownSchema: (404, Code.UNKNOWN_SCHEMA),
    service.IdempotencyKeyReused: (409, Code.IDEMPOTENCY_KEY_REUSED),
    service.RegistryUnavailable: (503, Code.NOT_READY),
    service.UnknownResponse: (404, Code.NOT_FOUND),
    service.ResponsesUnavailable: (503, Code.NOT_READY),
    service.UnreadableDocument: (422, Code.UNREADABLE_DOCUMENT),
    service.UnsupportedDocument: (415, Code.UNSUPPORTED_DOCUMENT),
    service.EncryptedDocument: (422, Code.ENCRYPTED_DOCUMENT),
    service.DocumentTooLarge: (413, Code.DOCUMENT_TOO_LARGE),
    service.NoTextLayer: (422, Code.NO_TEXT_LAYER),
    service.UnknownDocument: (404, Code.NOT_FOUND),
    service.UnknownModel: (404, Code.UNKNOWN_MODEL),
    service.AdapterConflict: (409, Code.INVALID_REQUEST),
    service.ConstraintRefused: (400, Code.INVALID_SCHEMA),  # the status of its refusal
    service.RangeNotSatisfiable: (416, Code.INVALID_REQUEST),
    service.RouteNotFound: (404, Code.NOT_FOUND),
    service.MethodNotAllowed: (405, Code.METHOD_NOT_ALLOWED),
    service.BodyTooLarge: (413, Code.BODY_TOO_LARGE),
    service.BodyTooSlow: (408, Code.INVALID_REQUEST),
    service.Incomplete: (422, Code.INCOMPLETE),
    service.InvalidOutput: (500, Code.INVALID_OUTPUT),
    service.WindowsConflict: (422, Code.WINDOWS_CONFLICT),
    service.RequestDeadlineExceeded: (504, Code.DEADLINE_EXCEEDED),
    service.ServiceOverloaded: (429, Code.OVERLOADED),
    service.ServiceNotReady: (503, Code.NOT_READY),
    service.AuthenticationFailed: (401, Code.UNAUTHORIZED),
    service.KeyNotPermitted: (403, Code.INSUFFICIENT_SCOPE),
    service.LimitReached: (429, Code.RATE_LIMIT_EXCEEDED),
    service.RateLimited: (429, Code.RATE_LIMIT_EXCEEDED),
    service.QuotaExceeded: (429, Code.QUOTA_EXCEEDED),
    service.HostNotAllowed: (403, Code.HOST_NOT_ALLOWED),
    service.ClientDisconnected: (499, Code.CANCELLED),
    service.GenerationFailed: (500, Code.INTERNAL),
    grammar.GrammarError: (500, REFUSAL_CODES[grammar.GrammarError]),
    grammar.InvalidConstraint: (400, REFUSAL_CODES[grammar.InvalidConstraint]),
    grammar.UnsupportedConstraint: (400, REFUSAL_CODES[grammar.UnsupportedConstraint]),
    grammar.ConstraintTooLarge: (400, REFUSAL_CODES[grammar.ConstraintTooLarge]),
    grammar.TablesFull: (400, REFUSAL_CODES[grammar.TablesFull]),
    grammar.Unsatisfiable: (422, REFUSAL_CODES[grammar.Unsatisfiable]),
    grammar.Violation: (500, REFUSAL_CODES[grammar.Violation]),
    grammar.CompilerBusy: (429, REFUSAL_CODES[grammar.CompilerBusy]),
    engine.EngineError: (500, Code.INTERNAL),
    engine.Refused: (400, Code.INVALID_REQUEST),
    engine.TooLong: (400, Code.CONTEXT_LENGTH_EXCEEDED),
    engine.BudgetTooSmall: (400, Code.BUDGET_TOO_SMALL),
    engine.QueueFull: (429, Code.OVERLOADED),
    engine.InvalidRequest: (400, Code.INVALID_REQUEST),
    engine.AdapterUnusable: (422, Code.ADAPTER_UNUSABLE),
    engine.RequestQuarantined: (422, Code.REQUEST_QUARANTINED),
    engine.ModelError: (503, Code.NOT_READY),
    engine.ConfigError: (500, Code.INTERNAL),
    engine.InternalError: (500, Code.INTERNAL),
    engine.EngineStopped: (503, Code.NOT_READY),
    engine.EngineLost: (503, Code.ENGINE_LOST),
    jobs.JobError: (400, Code.INVALID_REQUEST),
    jobs.InputRefused: (400, Code.INVALID_REQUEST),
    jobs.AdapterMissing: (404, Code.UNKNOWN_MODEL),
    jobs.OutputRefused: (400, Code.INVALID_REQUEST),
    jobs.FolderRefused: (500, Code.INTERNAL),
    jobs.OutputFailed: (500, Code.INTERNAL),
    jobs.UnknownJob: (404, Code.NOT_FOUND),
    jobs.UnknownFile: (404, Code.NOT_FOUND),
    jobs.UnknownReview: (404, Code.NOT_FOUND),
    jobs.CorrectionRefused: (422, Code.INVALID_REQUEST),
    jobs.JobBusy: (409, Code.INVALID_REQUEST),
    jobs.TooManyJobs: (429, Code.OVERLOADED),
    jobs.JobChanged: (422, Code.INVALID_REQUEST),
    jobs.LedgerRefused: (503, Code.NOT_READY),
    jobs.LedgerMissing: (503, Code.NOT_READY),
    jobs.LedgerUnknown: (500, Code.INTERNAL),
}

# The error types that clients of OpenAI-compatible services distinguish.
_TYPES = {401: "authentication_error", 403: "permission_error"}
_TYPES |= {404: "not_found_error", 408: "timeout_error", 413: "invalid_request_error"}
_TYPES |= {429: "rate_limit_error", 499: "cancelled", 503: "service_unavailable_error"}
_TYPES |= {504: "timeout_error"}


def problem_response(
    error: Exception, request_id: str | None = None, retry_after_s: int = 1
) -> ProblemResponse:
    """The response for `error`. An exception of an unknown class becomes a generic internal error.

    `retry_after_s` is the value of Retry-After if the service is overloaded.
    """
    place = "/schema"
    if isinstance(error, service.ConstraintRefused):
        place, error = error.pointer, error.refusal
    entry = status_of(error)
    if entry is None:
        return _response(
            500,
            Problem(
                message="something went wrong inside the service",
                type="server_error",
                code=Code.INTERNAL,
                hint="the server's log has the cause under this request id",
                request_id=request_id,
            ),
        )
    status, code = entry
    hint, param, retryable = "", None, status in (429, 503)
    details: tuple[Detail, ...] = ()
    if isinstance(error, service.ServiceError):
        hint, param, retryable, details = error.hint, error.param, error.retryable, error.details
        if isinstance(error, service.LimitReached):
            retry_after_s = error.retry_after_s
    elif isinstance(error, jobs.JobError):
        hint, param, retryable = error.hint, error.param or None, error.retryable
        if error.param:
            details = (_detail(error.param, error.message, hint),)
    elif isinstance(error, engine.EngineError):
        hint, param, retryable = error.hint, error.where or None, error.retryable
        if error.where and isinstance(error, engine.TooLong | engine.BudgetTooSmall):
            # `where` of the others may name a file or a setting
            details = (_detail(error.where, error.message, hint),)
    elif isinstance(error, grammar.GrammarError):
        param, details = place.removeprefix("/").replace("/", "."), refusal_details(error, place)
        hint = details[0].hint if details else ""
    message = (
        getattr(error, "message", "")
        if status != 500 or isinstance(error, service.ServiceError)
        else ""
    )
    problem = Problem(
        message=message or "something went wrong inside the service",
        type=_TYPES.get(status, "invalid_request_error" if status < 500 else "server_error"),
        code=code,
        param=param,
        hint=hint,
        retryable=retryable,
        details=details,
        request_id=request_id,
    )
    headers = (
        {"allow": ", ".join(error.allowed)} if isinstance(error, service.MethodNotAllowed) else {}
    )
    return _response(status, problem, headers, retry_after_s)


def _detail(field: str, reason: str, hint: str) -> Detail:
    """A detail about a field of the body, which is named with dots."""
    return Detail(pointer="/" + field.replace(".", "/"), reason=reason, hint=hint)


def status_of(error: Exception) -> tuple[int, Code] | None:
    """The HTTP status and code of an error; None for an unknown class."""
    if isinstance(error, service.ConstraintRefused):
        error = error.refusal
    kind = next((entry for entry in type(error).__mro__ if entry in STATUS), None)
    return None if kind is None else STATUS[kind]


def _response(
    status: int, problem: Problem, headers: Mapping[str, str] | None = None, retry_after_s: int = 1
) -> ProblemResponse:
    headers = dict(headers or {})
    if status in (429, 503):  # an engine restarts within seconds, whatever the queue
        headers["retry-after"] = str(retry_after_s) if status == 429 else "1"
    if status >= 500 and not problem.retryable:
        headers["x-should-retry"] = "false"  # clients of OpenAI repeat requests after any 5xx
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if status in (408, 413):
        headers["connection"] = "close"  # the rest of the body is not read
    return ProblemResponse(status, problem, headers)
