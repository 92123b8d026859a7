"""Grammar code that refuses or fails, made the fault of one request.

Does: turn whatever such code raises into what its request is told. Does not: end requests.

Messages are made of characters that can be sent: a source may spell half a surrogate pair, and the message that quotes
it would end the process that tries to encode it.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from intaglio.grammar.api import GrammarError, Violation

from ..errors import InternalError
from ..types import Failure

P = ParamSpec("P")
T = TypeVar("T")


class MatcherFault(Exception):
    """Grammar code refused or failed; `failure` is what its request is told."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def guarded(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`call(…)`, with whatever it raises made the fault of one request: grammar code may be anybody's."""
    try:
        return call(*args, **kwargs)
    except MatcherFault:
        raise
    except Exception as error:
        raise MatcherFault(failure(error)) from error


def failure(error: BaseException) -> Failure:
    """The failure of the request for which grammar code raised `error`."""
    if isinstance(error, MatcherFault):
        return error.failure
    if isinstance(error, Violation):
        return broken(f"the grammar refused a token that it allowed: {error}")
    if isinstance(error, GrammarError):
        where = "; ".join(f"{r.where or '/'} {r.keyword}: {r.reason}" for r in error.refusals)
        hint = "; ".join(r.hint for r in error.refusals if r.hint)
        message = f"{error.message}: {where}" if where else error.message
        return Failure(error.code, sendable(message), sendable(hint))
    return broken(f"the grammar failed: {type(error).__name__}: {error}")


def broken(message: str) -> Failure:
    """What is told where a grammar that was compiled does not do what it promised."""
    hint = "report the schema that this happened with"
    return Failure(InternalError.code, sendable(message), hint)


def sendable(text: str) -> str:
    """`text` with half surrogate pairs written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
