"""Errors of the service, each with a stable code. `problems` maps them to HTTP statuses.

Does: declare the error tree. Does not: depend on HTTP or on errors of other packages.

ServiceError
├── InvalidJson              the body is not JSON, has duplicate keys or is nested too deeply
├── InvalidBody              the body is JSON of the wrong shape; each place is named
├── UnknownField             the body has a field that does not exist
├── UnknownSchema            neither catalogue nor registry has a schema of that name
├── RegistryUnavailable      the registry of schemas cannot be read or written
├── IdempotencyKeyReused     the idempotency key was used for another request
├── UnknownResponse          no response of that id is kept
├── ResponsesUnavailable     the kept responses cannot be read or written
├── UnreadableDocument       a file is damaged, or has no text
├── UnsupportedDocument      a file has a format that is not read
├── EncryptedDocument        a file needs a password
├── DocumentTooLarge         a file, or what reading it takes, exceeds a limit
├── NoTextLayer              a PDF consists of images
├── UnknownDocument          no document of that id is kept
├── UnknownModel             another model is loaded, and no adapter of that name
├── AdapterConflict          an adapter cannot be loaded or unloaded now
├── ConstraintRefused        a constraint of the request is refused, at a known place of the body
├── RouteNotFound            no such route
├── MethodNotAllowed         the route does not support this method
├── BodyTooLarge             the body exceeds the size limit
├── BodyTooSlow              the body did not arrive in time
├── Incomplete               the output needed more tokens than its budget
├── InvalidOutput            the output failed final validation
├── WindowsConflict          the readings of a long document do not make a valid whole
├── RequestDeadlineExceeded  the deadline of the request passed
├── ServiceOverloaded        too many requests are in flight
├── ServiceNotReady          the model is loading, the engine is down or the server is stopping
├── AuthenticationFailed     the API key is missing or wrong
├── KeyNotPermitted          the API key lacks the scope of the operation
├── LimitReached             a limit of the API key is reached
│   ├── RateLimited          … per minute, or of requests in flight
│   └── QuotaExceeded        … per day
├── HostNotAllowed           the Host header names another service
├── ClientDisconnected               the client disconnected
└── GenerationFailed         the engine ended the request with an error
"""

from typing import ClassVar

from intaglio.schemas.problem import Code, Detail


class ServiceError(Exception):
    """Base of the service's errors. `param` is a dotted path into the request; `details` hold JSON Pointers."""

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
    """The body is not valid JSON (RFC 8259) with unique keys and bounded depth."""

    code = Code.INVALID_JSON


class InvalidBody(ServiceError):
    """The body is JSON but does not have the shape that the route expects."""

    code = Code.INVALID_REQUEST


class UnknownField(ServiceError):
    """The body has a field that does not exist."""

    code = Code.UNKNOWN_FIELD


class UnknownSchema(ServiceError):
    """Neither the catalogue nor the registry has a schema of that name."""

    code = Code.UNKNOWN_SCHEMA


class RegistryUnavailable(ServiceError):
    """The registry of schemas cannot be read or written, for example because the disk is full."""

    code = Code.NOT_READY
    retryable = True


class IdempotencyKeyReused(ServiceError):
    """The idempotency key was used for a request with another body."""

    code = Code.IDEMPOTENCY_KEY_REUSED


class UnknownResponse(ServiceError):
    """No response of that id is kept."""

    code = Code.NOT_FOUND


class ResponsesUnavailable(ServiceError):
    """The kept responses cannot be read or written, for example because the disk is full."""

    code = Code.NOT_READY
    retryable = True


class UnreadableDocument(ServiceError):
    """A file is damaged, or has no text."""

    code = Code.UNREADABLE_DOCUMENT


class UnsupportedDocument(ServiceError):
    """A file has a format that is not read, or the libraries that read files are not installed."""

    code = Code.UNSUPPORTED_DOCUMENT


class EncryptedDocument(ServiceError):
    """A file needs a password."""

    code = Code.ENCRYPTED_DOCUMENT


class DocumentTooLarge(ServiceError):
    """A file, its text, or the time or memory that reading it takes exceeds a limit."""

    code = Code.DOCUMENT_TOO_LARGE


class NoTextLayer(ServiceError):
    """No page of a PDF has text: it is a scan."""

    code = Code.NO_TEXT_LAYER


class UnknownDocument(ServiceError):
    """No document of that id is kept: it was deleted, or has expired."""

    code = Code.NOT_FOUND


class AdapterConflict(ServiceError):
    """An adapter cannot be loaded or unloaded in the present state of the server."""

    code = Code.INVALID_REQUEST


class UnknownModel(ServiceError):
    """The request names a model other than the loaded one."""

    code = Code.UNKNOWN_MODEL


class ConstraintRefused(ServiceError):
    """A constraint is refused for the reason `refusal`, an error of grammars. `pointer` is its place in the body."""

    code = Code.INVALID_SCHEMA

    def __init__(self, refusal: Exception, pointer: str) -> None:
        super().__init__(str(refusal), param=pointer.removeprefix("/").replace("/", "."))
        self.refusal = refusal
        self.pointer = pointer


class RouteNotFound(ServiceError):
    """No route has that path."""

    code = Code.NOT_FOUND


class RangeNotSatisfiable(ServiceError):
    """A file has no byte of the range that was asked for."""

    code = Code.INVALID_REQUEST


class MethodNotAllowed(ServiceError):
    """The route does not support this method; `allowed` lists the supported ones."""

    code = Code.METHOD_NOT_ALLOWED

    def __init__(self, message: str, allowed: tuple[str, ...]) -> None:
        super().__init__(message, hint=f"use {' or '.join(allowed)}")
        self.allowed = allowed


class BodyTooLarge(ServiceError):
    """The body exceeds the size limit."""

    code = Code.BODY_TOO_LARGE


class BodyTooSlow(ServiceError):
    """The body did not arrive in time."""

    code = Code.INVALID_REQUEST
    retryable = True


class Incomplete(ServiceError):
    """The output was not complete within its token budget. No part of it is returned."""

    code = Code.INCOMPLETE
    retryable = True


class InvalidOutput(ServiceError):
    """The output failed the independent validation. No part of it is returned."""

    code = Code.INVALID_OUTPUT


class WindowsConflict(ServiceError):
    """The readings of the windows of a long document cannot be merged into a value that meets the schema."""

    code = Code.WINDOWS_CONFLICT


class RequestDeadlineExceeded(ServiceError):
    """The deadline of the request passed."""

    code = Code.DEADLINE_EXCEEDED
    retryable = True


class ServiceOverloaded(ServiceError):
    """The service has reached its limit of requests in flight."""

    code = Code.OVERLOADED
    retryable = True


class ServiceNotReady(ServiceError):
    """The service cannot generate now: the model is loading, the engine is down or the server is stopping."""

    code = Code.NOT_READY
    retryable = True


class AuthenticationFailed(ServiceError):
    """The API key is missing or wrong."""

    code = Code.UNAUTHORIZED


class KeyNotPermitted(ServiceError):
    """The API key is valid and does not permit this operation."""

    code = Code.INSUFFICIENT_SCOPE


class LimitReached(ServiceError):
    """The API key has reached a limit of its use. After `retry_after_s` seconds the request would be admitted."""

    code = Code.RATE_LIMIT_EXCEEDED
    retryable = True

    def __init__(self, message: str, *, hint: str = "", retry_after_s: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = max(1, retry_after_s)


class RateLimited(LimitReached):
    """The key has reached a limit per minute, or of requests in flight."""


class QuotaExceeded(LimitReached):
    """The key has reached a limit per day. Trying again soon is of no use."""

    code = Code.QUOTA_EXCEEDED
    retryable = False


class HostNotAllowed(ServiceError):
    """The Host header names a host that this service does not serve."""

    code = Code.HOST_NOT_ALLOWED


class ClientDisconnected(ServiceError):
    """The client disconnected; its generation was aborted."""

    code = Code.CANCELLED


class GenerationFailed(ServiceError):
    """The engine ended the request with a failure that has no error class."""

    code = Code.INTERNAL
