"""When to try a call again, and how long to wait before.

Does: the decision and the pause. Does not: sleep or send. A call is safe to repeat because an extraction changes
nothing on the service.
"""

import random
from dataclasses import dataclass

from ...schemas.problem import Code
from .errors import APIStatusError, IntaglioError


@dataclass(frozen=True, slots=True)
class Retries:
    """At most `limit` further tries after the first, `first_s` apart at the start and doubling to `longest_s`.

    A service that asks for a longer pause than `patience_s` is not waited for: the caller gets the error and its
    `retry_after`.
    """

    limit: int = 2
    first_s: float = 0.5
    longest_s: float = 8.0
    patience_s: float = 60.0

    def pause(self, tries: int, error: IntaglioError) -> float | None:
        """Seconds to wait after `tries` failed tries of which `error` is the last; None to give up."""
        if tries > self.limit or not _is_transient(error):
            return None
        requested = error.retry_after or 0.0
        if requested > self.patience_s:
            return None
        backoff = min(self.longest_s, self.first_s * 2.0 ** (tries - 1))
        # Jitter keeps callers that failed together from returning together.
        return requested + backoff * random.uniform(0.5, 1.0)  # noqa: S311  not for secrets


def _is_transient(error: IntaglioError) -> bool:
    """Whether trying again is worth it without asking the caller.

    A deadline was the caller's own, and more tries would stretch it; an answer that did not fit its tokens will not
    fit them next time.
    """
    if not isinstance(error, APIStatusError):
        return error.retryable
    transient = error.status in (408, 429) or error.status >= 500
    return error.retryable and transient and error.code != Code.DEADLINE_EXCEEDED
