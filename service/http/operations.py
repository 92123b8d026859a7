"""Operations: for one method of one path, the request, the response, the errors and the handler.

Does: declare the type of which each module of handlers keeps a table, `OPERATIONS`, and the groups of errors that
operations share. Does not: handle requests, or compose the tables (`interface`). Routing, key scopes, error bodies
and the OpenAPI document all follow from the same entry, so that they cannot disagree.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from intaglio.schemas.problem import Code, ProblemDocument
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from ..keys.scopes import KeyScope as KeyScope
from .problems import STATUS, ProblemResponse
from .service_state import Service

JSON = "application/json"
TEXT = "text/plain"
BYTES = "application/octet-stream"
LINES = "application/jsonl"
EVENTS = "text/event-stream"

Handler = Callable[[Service, Request], Awaitable[Response]]
"""Answers one request, or raises an error that `problems` knows."""

Ending = tuple[Code, int]
"""An error code and its HTTP status."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the path, the query or the headers."""

    name: str
    place: str
    description: str
    choices: tuple[str, ...] = ()
    default: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """The error document of a protocol: its wire type, and the function that writes it."""

    document: type[BaseModel]
    write: Callable[[ProblemResponse], bytes]


OWN_ERRORS = ErrorBody(ProblemDocument, ProblemResponse.body)
"""The error document of the service's own interface."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path.

    `takes` and `gives` are the wire types of the bodies, or None if the media type says enough; a `streams` operation
    may answer with server-sent events instead, of type `event`. `error_body` writes the errors, also those of requests
    that were refused before the handler was called. A `probe` is called every few seconds by monitoring, and logged at
    level debug only. With `or_unavailable` status 503 may have the body of a success;
    `or_status` is a second status of success, with the same body; `or_media` are other types of the body. A `cacheable`
    operation answers 304 to a client that has the body already.
    """

    method: str
    path: str
    handler: Handler
    scope: KeyScope
    summary: str
    group: str
    description: str = ""
    takes: type[BaseModel] | None = None
    gives: type[BaseModel] | None = None
    takes_media: str | None = None
    gives_media: str = JSON
    status: int = 200
    streams: bool = False
    event: type[BaseModel] | None = None
    parameters: tuple[Parameter, ...] = ()
    errors: tuple[Ending, ...] = ()
    error_body: ErrorBody = OWN_ERRORS
    or_unavailable: bool = False
    or_status: int | None = None
    or_media: tuple[str, ...] = ()
    cacheable: bool = False
    probe: bool = False


def statuses(code: Code) -> tuple[int, ...]:
    """The HTTP statuses of an error code, ascending."""
    return tuple(sorted({status for status, known in STATUS.values() if known is code}))


def endings(*codes: Code) -> tuple[Ending, ...]:
    """Codes with their first HTTP status."""
    return tuple((code, statuses(code)[0]) for code in codes)


def access_errors(operation: Operation) -> tuple[Ending, ...]:
    """The errors of requests that a server refuses before it calls the handler."""
    if operation.scope is KeyScope.NONE:
        return ()
    found = endings(Code.UNAUTHORIZED, Code.HOST_NOT_ALLOWED)
    if operation.scope is not KeyScope.ANY:
        found += endings(Code.INSUFFICIENT_SCOPE)
    if operation.scope is KeyScope.EXTRACT:
        found += endings(Code.RATE_LIMIT_EXCEEDED, Code.QUOTA_EXCEEDED)
    return found


NO_RANGE: Ending = (Code.INVALID_REQUEST, 416)
"""A `Range` header that names no byte of a file."""
BODY_ERRORS = (
    *endings(Code.INVALID_JSON, Code.INVALID_REQUEST, Code.UNKNOWN_FIELD, Code.BODY_TOO_LARGE),
    (Code.INVALID_REQUEST, 408),
)
SCHEMA_ERRORS = endings(
    Code.INVALID_SCHEMA,
    Code.UNSUPPORTED_SCHEMA,
    Code.UNSATISFIABLE_SCHEMA,
    Code.SCHEMA_TOO_LARGE,
    Code.UNKNOWN_SCHEMA,
)
BUSY_ERRORS = endings(Code.OVERLOADED, Code.NOT_READY)
RUN_ERRORS = endings(
    Code.UNKNOWN_MODEL,
    Code.CONTEXT_LENGTH_EXCEEDED,
    Code.BUDGET_TOO_SMALL,
    Code.INCOMPLETE,
    Code.DEADLINE_EXCEEDED,
    Code.ENGINE_LOST,
    Code.INVALID_OUTPUT,
)
GENERATION_ERRORS = (
    *BODY_ERRORS,
    *SCHEMA_ERRORS,
    *RUN_ERRORS,
    *BUSY_ERRORS,
    *endings(Code.REQUEST_QUARANTINED, Code.INTERNAL),
)
"""The errors of operations that generate text for one request."""
