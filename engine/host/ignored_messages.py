"""A bounded log of messages that the engine ignores, because they cannot be decoded and name no request.

Does: write the first such message to standard error, then one line with a count for each interval in which there were
more. Does not: decode messages or answer them (`process`).
"""

import sys
import time
from collections.abc import Callable
from typing import Final

INTERVAL_S: Final = 10.0


class IgnoredMessages:
    """The messages ignored so far. Not thread-safe: for the thread that receives messages."""

    def __init__(
        self,
        write: Callable[[str], object] = sys.stderr.write,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write = write
        self._clock = clock
        self._silent_until = float("-inf")
        self._unreported = 0

    def add(self, reason: str) -> None:
        """Count a message that was ignored for `reason`; write a line if none was written for `INTERVAL_S`."""
        self._unreported += 1
        now = self._clock()
        if now < self._silent_until:
            return
        others = self._unreported - 1
        more = f" (and {others} more since the last report)" if others else ""
        self._write(f"ignored a message that is not a command: {reason}{more}\n")
        self._silent_until, self._unreported = now + INTERVAL_S, 0
