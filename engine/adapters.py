"""The interface through which the engine asks for adapters in memory.

Does: state the protocol. Does not: hold an implementation (`engine/run/adapter_store.py`).
"""

from collections.abc import Callable
from typing import Protocol

from .types import Request


class Adapters(Protocol):
    """The adapters in memory. Called by the thread that steps."""

    def hold(self, request: Request, read: Callable[[str], None]) -> bool:
        """Keep the adapter of a request in memory until `release`; False while it is being read.

        Then `read` is called with the id of the request, from another thread, and the caller asks again.

        Raises:
            AdapterUnusable: it cannot be read, does not fit the model, or has changed.
        """
        ...

    def release(self, request_id: str) -> None:
        """Note that a request has ended; no effect for a request without an adapter."""
        ...
