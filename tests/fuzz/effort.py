"""How long a fuzzer runs: for a number of requests, or for some time.

A test counts requests, so that a slow machine tries as many as a fast one; a long run is given a time.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

Enough = Callable[[int], bool]
"""Whether so many requests are enough."""


@dataclass(frozen=True)
class Effort:
    """A number of requests, or seconds if there is no number."""

    requests: int = 0
    seconds: float = 0.0

    def begin(self) -> Enough:
        """Start counting the seconds."""
        if self.requests:
            return lambda sent: sent >= self.requests
        until = time.monotonic() + self.seconds
        return lambda _: time.monotonic() >= until
