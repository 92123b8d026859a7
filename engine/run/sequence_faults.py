"""What fails while one sequence is laid out for a step, or its pick is read, made the fault of that sequence.

Does: turn an exception into what the sequence's request is told. Does not: guard what many sequences share, such as a
kernel or a device: where that fails, nothing is known of any of them, and the engine ends.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ..errors import InternalError
from ..types import Failure

P = ParamSpec("P")
T = TypeVar("T")


class SamplingFault(Exception):
    """One sequence cannot be sampled; `failure` is what its request is told."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def guarded_sampling(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`call(…)`, which concerns one sequence alone. Raises `SamplingFault` for whatever it raises."""
    try:
        return call(*args, **kwargs)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace").decode()
        raise SamplingFault(
            Failure(
                InternalError.code,
                f"the next token of this request cannot be chosen: {reason}",
                hint="report the options of the request",
            )
        ) from error
