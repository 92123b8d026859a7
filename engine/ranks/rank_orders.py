"""Other ranks of an engine, as an executor of rank 0 gives them orders.

Does: state the protocol. Does not: hold processes (`rank_group`).
"""

from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class RankOrders(Protocol):
    """Ranks with the same orders: those of the last stage but the first, or of all other stages."""

    def send(self, frames: list[bytes]) -> None:
        """Send an order (`rank_messages`) to all of them. Raises `EngineLost` if any rank of the engine has ended."""
        ...

    def guard(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`call(…)`, which computes; if it fails, all ranks of the engine are ended.

        Raises `EngineLost` if any of them has ended meanwhile.
        """
        ...
