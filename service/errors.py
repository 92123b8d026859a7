"""Every error that can reach a user, as an HTTP status and a document: the only module that knows both.

Does: the service's own error tree, a total table from exception classes to statuses and codes, and the document.
Does not: catch anything (service/app.py) or put the text of an unforeseen exception into a response.

ServiceError
├── InvalidJson        the body is no JSON, or has duplicate keys, or is nested too deep
├── InvalidBody        the body is JSON of another shape; each place is named
├── UnknownField       the body has a field that nothing reads
├── UnknownSchema      the catalogue has no schema of that name
├── UnknownModel       another model is loaded
├── NotFound           no such route
├── MethodNotAllowed   the route does not answer to this method
├── BodyTooLarge       more bytes than the limit
├── BodyTooSlow        the body did not arrive in time
├── Incomplete         the output needed more tokens than it had
├── InvalidOutput      the output failed the final check
├── DeadlineExceeded   the request's own deadline passed
├── Overloaded         too many requests are held already
├── NotReady           the model is loading, the engine is down or the server is stopping
├── Unauthorized       the API key is missing or wrong
├── HostNotAllowed     the Host header names another service
├── ClientGone         nobody waits for the answer any more
└── GenerationFailed   the engine ended the request in error
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..engine import api as engine
from ..grammar import api as grammar
from ..schemas.problem import Code, Detail, Problem, ProblemDocument
from .jobs import errors as jobs


class ServiceError(Exception):
    """Base of this package's errors. `param` is a dotted path and `details` pointers into the request body."""

    code: ClassVar[Code] = Code.INTERNAL
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        hint: str = "",
        details: tuple[Detail, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.hint = hint
        self.details = details


class InvalidJson(ServiceError):
    """The body is no JSON document as RFC 8259 has it, with unique keys and bounded depth."""

    code = Code.INVALID_JSON


class InvalidBody(ServiceError):
    """The body is JSON, but not of the shape the route takes."""

    code = Code.INVALID_REQUEST


class UnknownField(ServiceError):
    """The body has a field that nothing reads."""

    code = Code.UNKNOWN_FIELD


class UnknownSchema(ServiceError):
    """The catalogue has no schema of that name."""

    code = Code.UNKNOWN_SCHEMA


class UnknownModel(ServiceError):
    """Another model is loaded."""

    code = Code.UNKNOWN_MODEL


class NotFound(ServiceError):
    """No route has that path."""

    code = Code.NOT_FOUND


class MethodNotAllowed(ServiceError):
    """The route does not answer to this method; `allowed` are those it does."""

    code = Code.METHOD_NOT_ALLOWED

    def __init__(self, message: str, allowed: tuple[str, ...]) -> None:
        super().__init__(message, hint=f"use {' or '.join(allowed)}")
        self.allowed = allowed


class BodyTooLarge(ServiceError):
    """The body has more bytes than the limit."""

    code = Code.BODY_TOO_LARGE


class BodyTooSlow(ServiceError):
    """The body did not arrive in time."""

    code = Code.INVALID_REQUEST
    retryable = True


class Incomplete(ServiceError):
    """The output was not finished within its tokens; nothing of it is shown."""

    code = Code.INCOMPLETE
    retryable = True


class InvalidOutput(ServiceError):
    """The output failed the independent check at the end; nothing of it is shown."""

    code = Code.INVALID_OUTPUT


class DeadlineExceeded(ServiceError):
    """The request's own deadline passed."""

    code = Code.DEADLINE_EXCEEDED
    retryable = True


class Overloaded(ServiceError):
    """The service holds as many requests as it bears."""

    code = Code.OVERLOADED
    retryable = True


class NotReady(ServiceError):
    """Nothing can be generated just now."""

    code = Code.NOT_READY
    retryable = True


class Unauthorized(ServiceError):
    """The API key is missing or wrong."""

    code = Code.UNAUTHORIZED


class HostNotAllowed(ServiceError):
    """The Host header names a host that this service does not answer for."""

    code = Code.HOST_NOT_ALLOWED


class ClientGone(ServiceError):
    """The client hung up; its generation was aborted."""

    code = Code.CANCELLED


class GenerationFailed(ServiceError):
    """The engine ended the request with a failure that has no class of its own here."""

    code = Code.INTERNAL


@dataclass(frozen=True, slots=True)
class Answer:
    """An error as a response: its status, its document and the headers it needs."""

    status: int
    problem: Problem
    headers: Mapping[str, str]

    def body(self) -> bytes:
        """The document as JSON."""
        return ProblemDocument(error=self.problem).model_dump_json(exclude_none=True).encode()


# 400 is the caller's mistake, 422 a well-formed request that cannot be met, 499 nginx's "client closed request".
STATUS: Mapping[type[Exception], tuple[int, Code]] = {
    ServiceError: (500, Code.INTERNAL),
    InvalidJson: (400, Code.INVALID_JSON),
    InvalidBody: (400, Code.INVALID_REQUEST),
    UnknownField: (400, Code.UNKNOWN_FIELD),
    UnknownSchema: (404, Code.UNKNOWN_SCHEMA),
    UnknownModel: (404, Code.UNKNOWN_MODEL),
    NotFound: (404, Code.NOT_FOUND),
    MethodNotAllowed: (405, Code.METHOD_NOT_ALLOWED),
    BodyTooLarge: (413, Code.BODY_TOO_LARGE),
    BodyTooSlow: (408, Code.INVALID_REQUEST),
    Incomplete: (422, Code.INCOMPLETE),
    InvalidOutput: (500, Code.INVALID_OUTPUT),
    DeadlineExceeded: (504, Code.DEADLINE_EXCEEDED),
    Overloaded: (429, Code.OVERLOADED),
    NotReady: (503, Code.NOT_READY),
    Unauthorized: (401, Code.UNAUTHORIZED),
    HostNotAllowed: (403, Code.HOST_NOT_ALLOWED),
    ClientGone: (499, Code.CANCELLED),
    GenerationFailed: (500, Code.INTERNAL),
    grammar.GrammarError: (500, Code.INTERNAL),
    grammar.InvalidConstraint: (400, Code.INVALID_SCHEMA),
    grammar.UnsupportedConstraint: (400, Code.UNSUPPORTED_SCHEMA),
    grammar.ConstraintTooLarge: (400, Code.SCHEMA_TOO_LARGE),
    grammar.Unsatisfiable: (422, Code.UNSATISFIABLE_SCHEMA),
    grammar.Violation: (500, Code.INTERNAL),
    grammar.CompilerBusy: (429, Code.OVERLOADED),
    engine.EngineError: (500, Code.INTERNAL),
    engine.Refused: (400, Code.INVALID_REQUEST),
    engine.TooLong: (400, Code.CONTEXT_LENGTH_EXCEEDED),
    engine.BudgetTooSmall: (400, Code.BUDGET_TOO_SMALL),
    engine.QueueFull: (429, Code.OVERLOADED),
    engine.InvalidRequest: (400, Code.INVALID_REQUEST),
    engine.RequestQuarantined: (422, Code.REQUEST_QUARANTINED),
    engine.ModelError: (503, Code.NOT_READY),
    engine.ConfigError: (500, Code.INTERNAL),
    engine.InternalError: (500, Code.INTERNAL),
    engine.EngineStopped: (503, Code.NOT_READY),
    engine.EngineLost: (503, Code.ENGINE_LOST),
    jobs.JobError: (400, Code.INVALID_REQUEST),
    jobs.InputRefused: (400, Code.INVALID_REQUEST),
    jobs.OutputRefused: (400, Code.INVALID_REQUEST),
    jobs.FolderRefused: (500, Code.INTERNAL),
    jobs.OutputFailed: (500, Code.INTERNAL),
    jobs.UnknownJob: (404, Code.NOT_FOUND),
    jobs.UnknownFile: (404, Code.NOT_FOUND),
    jobs.JobBusy: (409, Code.INVALID_REQUEST),
    jobs.TooManyJobs: (429, Code.OVERLOADED),
    jobs.JobChanged: (422, Code.INVALID_REQUEST),
    jobs.LedgerRefused: (503, Code.NOT_READY),
    jobs.LedgerUnknown: (500, Code.INTERNAL),
}

# The groups that clients of OpenAI-compatible services switch on.
_TYPES = {401: "authentication_error", 403: "permission_error"}
_TYPES |= {404: "not_found_error", 408: "timeout_error", 413: "invalid_request_error"}
_TYPES |= {429: "rate_limit_error", 499: "cancelled", 503: "service_unavailable_error"}
_TYPES |= {504: "timeout_error"}


def answer(error: Exception, request_id: str | None = None, pause_s: int = 1) -> Answer:
    """The response that tells a user about `error`; an exception of no known class says no more than "internal".

    `pause_s` is when it is worth trying again where the service is overloaded.
    """
    known = status_of(error)
    if known is None:
        return _answer(
            500,
            Problem(
                message="something went wrong inside the service",
                type="server_error",
                code=Code.INTERNAL,
                hint="the server's log has the cause under this request id",
                request_id=request_id,
            ),
        )
    status, code = known
    hint, param, retryable = "", None, status in (429, 503)
    details: tuple[Detail, ...] = ()
    if isinstance(error, ServiceError):
        hint, param, retryable, details = error.hint, error.param, error.retryable, error.details
    elif isinstance(error, jobs.JobError):
        hint, param, retryable = error.hint, error.param or None, error.retryable
    elif isinstance(error, engine.EngineError):
        hint, param, retryable = error.hint, error.where or None, error.retryable
    elif isinstance(error, grammar.GrammarError):
        param, details = "schema", refusal_details(error)
        hint = details[0].hint if details else ""
    message = getattr(error, "message", "") if status != 500 or _is_ours(error) else ""
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
    extra = {"allow": ", ".join(error.allowed)} if isinstance(error, MethodNotAllowed) else {}
    return _answer(status, problem, extra, pause_s)


def status_of(error: Exception) -> tuple[int, Code] | None:
    """The status and code of an error; None for one of no known class."""
    kind = next((known for known in type(error).__mro__ if known in STATUS), None)
    return None if kind is None else STATUS[kind]


def refusal_details(error: grammar.GrammarError, below: str = "/schema") -> tuple[Detail, ...]:
    """Each refusal of a schema that stands `below` a place; its pointer is made relative to what holds that place.

    An offset into a pattern or grammar, or a pointer into another document, is told as it is where nothing is above.
    """
    return tuple(
        Detail(
            pointer=below + (refusal.where if refusal.where.startswith("/") or not below else ""),
            keyword=refusal.keyword,
            reason=refusal.reason,
            hint=refusal.hint,
        )
        for refusal in error.refusals
    )


def failed(failure: engine.Failure) -> Exception:
    """The error that a request's `Failure` stands for, by its code; used where the engine ended a request."""
    for kind in STATUS:
        if issubclass(kind, engine.EngineError) and kind.code == failure.code:
            refused: Exception = kind(failure.message, hint=failure.hint)
            return refused
        if issubclass(kind, grammar.GrammarError) and kind.code == failure.code:
            return kind(failure.message)
    return GenerationFailed(failure.message, hint=failure.hint)


def _is_ours(error: Exception) -> bool:
    """Whether an error of status 500 was worded for users."""
    return isinstance(error, ServiceError)


def _answer(
    status: int, problem: Problem, extra: Mapping[str, str] | None = None, pause_s: int = 1
) -> Answer:
    headers = dict(extra or {})
    if status in (429, 503):  # an engine is back in seconds, however long the queue was
        headers["retry-after"] = str(pause_s) if status == 429 else "1"
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if status in (408, 413):
        headers["connection"] = "close"  # what is left of the body is not read
    return Answer(status, problem, headers)
