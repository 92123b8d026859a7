"""The time that one request waits for an engine, over all its attempts.

Does: bound each wait by the remaining time. Does not: know the condition that is awaited.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any


class Patience:
    """A total number of seconds of waiting."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self._left <= 0

    def end(self) -> None:
        """Wait no more."""
        self._left = 0.0

    async def spend(self, wait: Awaitable[Any], at_most: float | None = None) -> None:
        """Wait until `wait` is done, at most for the remaining time, or `at_most` seconds."""
        began = time.monotonic()
        limit = self._left if at_most is None else min(self._left, at_most)
        try:
            async with asyncio.timeout(max(0.0, limit)):
                await wait
        except TimeoutError:
            pass
        finally:
            self._left -= time.monotonic() - began
