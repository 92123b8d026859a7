"""Confines an exception in the sampling options or results of one sequence to that sequence.

Does: turn an exception into the failure of the sequence's request. Does not: guard what sequences share, such as a
kernel or a device: after a failure there the state of all sequences is unknown, and the engine stops.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ..errors import InternalError
from ..types import Failure

P = ParamSpec("P")
T = TypeVar("T")


class SamplingFault(Exception):
    """One sequence cannot be sampled; `failure` is the failure of its request."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def guarded_sampling(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`call(…)`, which concerns one sequence only. Raises `SamplingFault` for every exception."""
    try:
        return call(*args, **kwargs)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace").decode()
        raise SamplingFault(
            Failure(
                InternalError.code,
                f"the next token of this request cannot be sampled: {reason}",
                hint="report the options of the request",
            )
        ) from error
