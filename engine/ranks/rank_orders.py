"""The other ranks of an engine, as the executor of rank 0 gives them orders.

Does: state the protocol. Does not: hold processes (`rank_group`).
"""

from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class RankOrders(Protocol):
    """All ranks but the first; `RankGroup` implements it."""

    def send(self, frames: list[bytes]) -> None:
        """Send an order (`rank_messages`) to all of them. Raises `EngineLost` if one has ended."""
        ...

    def guard(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`call(…)`, which computes; if it fails, the other ranks are ended."""
        ...
