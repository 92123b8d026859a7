"""Work in parts: a computation that pauses regularly, so that its caller may do something else before it continues.

Does: define such a computation, and run one to its end. Does not: choose when to stop; the computation does, and stops
where the objects that it shares with others are whole.
"""

from collections.abc import Callable, Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Parts: TypeAlias = Generator[None, None, T]
"""A computation of a `T`. It yields between two parts, each of which takes well below a millisecond as a rule."""


def whole(parts: Parts[T]) -> T:
    """The result of a computation, run to its end."""
    while True:
        try:
            next(parts)
        except StopIteration as end:
            result: T = end.value
            return result


def while_worth(parts: Parts[T], has_time: Callable[[], bool]) -> T | None:
    """The result of a computation that runs as long as `has_time()`; None, and it is given up, if it needs longer."""
    try:
        while has_time():
            next(parts)
    except StopIteration as end:
        result: T = end.value
        return result
    parts.close()
    return None


def undivided(work: Callable[[], T]) -> Parts[T]:
    """`work` as a computation of one part."""
    yield
    return work()
