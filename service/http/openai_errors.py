"""The error document of OpenAI-compatible paths.

Does: write a problem in OpenAI's shape, with the codes and types that its clients compare. Does not: decide statuses
(`problems`).
"""

from collections.abc import Mapping
from typing import Final

from intaglio.schemas.openai.options import OpenAIError, OpenAIErrorDocument
from intaglio.schemas.problem import Code

from .operations import ErrorBody
from .problems import ProblemResponse, problem_response
from .sse import encode_event

_CODES: Final[Mapping[Code, str]] = {
    Code.UNKNOWN_MODEL: "model_not_found",
    Code.UNAUTHORIZED: "invalid_api_key",
    Code.OVERLOADED: "rate_limit_exceeded",
}
_TYPES: Final[Mapping[int, str]] = {429: "rate_limit_error"}


def openai_error(reply: ProblemResponse) -> bytes:
    """The error document `{"error": {message, type, param, code, …}}` of a problem.

    The hint is a part of the message too, because the exceptions of clients show nothing else.
    """
    problem = reply.problem
    by_status = "invalid_request_error" if reply.status < 500 else "server_error"
    document = OpenAIErrorDocument(
        error=OpenAIError(
            message="; ".join(part for part in (problem.message, problem.hint) if part),
            type=_TYPES.get(reply.status, by_status),
            param=problem.param,
            code=_CODES.get(problem.code, problem.code.value),
            hint=problem.hint,
            retryable=problem.retryable,
            details=[detail.model_dump() for detail in problem.details],
            request_id=problem.request_id,
        )
    )
    return document.model_dump_json().encode()


OPENAI_ERRORS: Final = ErrorBody(OpenAIErrorDocument, openai_error)


def error_event(error: Exception, request_id: str | None = None) -> bytes:
    """The last event of a stream that failed. No `[DONE]` follows."""
    return encode_event(openai_error(problem_response(error, request_id)))
