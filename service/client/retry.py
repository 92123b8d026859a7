"""Retry policy: whether to repeat a call, and after which pause.

Does: decide. Does not: sleep or send. Calls are safe to repeat because an extraction changes nothing on the service.
"""

import random
from dataclasses import dataclass

from intaglio.schemas.problem import Code

from .errors import APIStatusError, IntaglioError


@dataclass(frozen=True, slots=True)
class Retries:
    """At most `limit` retries, with pauses from `first_s` doubling up to `longest_s`.

    If the service asks for a longer pause than `patience_s`, the caller gets the error and its `retry_after` at once.
    """

    limit: int = 2
    first_s: float = 0.5
    longest_s: float = 8.0
    patience_s: float = 60.0

    def __post_init__(self) -> None:
        """Raises TypeError or ValueError unless `limit` is a number of retries."""
        if isinstance(self.limit, bool) or not isinstance(self.limit, int):
            raise TypeError(f"max_retries must be an int, not {type(self.limit).__name__}")
        if self.limit < 0:
            raise ValueError(f"max_retries must not be negative, not {self.limit}")

    def pause(self, tries: int, error: IntaglioError) -> float | None:
        """Seconds to wait after `tries` failed attempts, the last with `error`; None to give up."""
        if tries > self.limit or not is_transient(error):
            return None
        requested = error.retry_after or 0.0
        if requested > self.patience_s:
            return None
        backoff = min(self.longest_s, self.first_s * 2.0 ** (tries - 1))
        # Jitter keeps callers that failed together from retrying together.
        return requested + backoff * random.uniform(0.5, 1.0)  # noqa: S311  not for secrets


def is_transient(error: IntaglioError) -> bool:
    """Whether a retry is worthwhile without asking the caller.

    The deadline was set by the caller, and retries would exceed it; an answer that did not fit its tokens will not fit
    them the next time.
    """
    if not isinstance(error, APIStatusError):
        return error.retryable
    transient = error.status in (408, 429) or error.status >= 500
    return error.retryable and transient and error.code != Code.DEADLINE_EXCEEDED
