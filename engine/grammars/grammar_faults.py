"""Confines an exception in grammar code to the request of that grammar.

Does: turn every exception of grammar code into the failure of its request. Does not: end requests.

Messages contain only characters that can be encoded: a source may contain half a surrogate pair, and a message that
quotes it would end the process that encodes it.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from intaglio.grammar.api import GrammarError, Violation

from ..errors import InternalError
from ..types import Failure

P = ParamSpec("P")
T = TypeVar("T")


class MatcherFault(Exception):
    """Grammar code refused or failed; `failure` is the failure of its request."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def guarded(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`call(…)`; raises `MatcherFault` for every exception, since a matcher may raise anything."""
    try:
        return call(*args, **kwargs)
    except MatcherFault:
        raise
    except Exception as error:
        raise MatcherFault(failure(error)) from error


def failure(error: BaseException) -> Failure:
    """The failure of a request, from the `error` that its grammar code raised."""
    if isinstance(error, MatcherFault):
        return error.failure
    if isinstance(error, Violation):
        return broken(f"the grammar refused a token that it allowed: {error}")
    if isinstance(error, GrammarError):
        told = error.message
        places = [r for r in error.refusals if (r.where or r.keyword) and r.reason not in told]
        where = "; ".join(f"{r.where or '/'} {r.keyword}: {r.reason}" for r in places)
        hint = "; ".join(r.hint for r in error.refusals if r.hint)
        message = f"{error.message}: {where}" if where else error.message
        return Failure(error.code, sendable(message), sendable(hint))
    return broken(f"the grammar failed: {type(error).__name__}: {error}")


def broken(message: str) -> Failure:
    """The failure of a request with a compiled grammar that violates its contract."""
    hint = "report the schema of this request"
    return Failure(InternalError.code, sendable(message), hint)


def sendable(text: str) -> str:
    """`text` with half surrogate pairs replaced by escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
