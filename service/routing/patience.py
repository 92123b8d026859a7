"""The time that one request waits for an engine, over all its attempts.

Does: bound waits by what is left, and count them. Does not: know what is waited for.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any


class Patience:
    """So many seconds of waiting, in all."""

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
        """Wait until `wait` is done, but not longer than what is left, or `at_most` seconds."""
        began = time.monotonic()
        limit = self._left if at_most is None else min(self._left, at_most)
        try:
            async with asyncio.timeout(max(0.0, limit)):
                await wait
        except TimeoutError:
            pass
        finally:
            self._left -= time.monotonic() - began
