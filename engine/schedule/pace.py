"""A lower bound on the time of an answer, from the fastest output rate seen so far.

Does: remember rates, and bound times from below. Does not: predict a time, which depends on the load.
"""

from ..types import Usage

MARGIN = 2.0
"""A request is hopeless only if it could not end in time at this many times the fastest rate seen."""

_LEAST_OUTPUT = 8
"""Shorter answers are not a measure of the rate: their tokens may all be forced."""

_DECAY = 0.99
"""The factor by which the fastest rate decays with each answer that is slower."""


class Pace:
    """Output tokens per second of the fastest answer so far."""

    def __init__(self) -> None:
        self._fastest = 0.0

    def ended(self, usage: Usage) -> None:
        """Learn from an answer."""
        if usage.output_tokens >= _LEAST_OUTPUT and usage.decode_s > 0:
            rate = usage.output_tokens / usage.decode_s
            self._fastest = max(rate, _DECAY * self._fastest)

    def least_s(self, output_tokens: int) -> float:
        """The seconds below which no answer of that length ends; 0 before anything was measured."""
        return output_tokens / (MARGIN * self._fastest) if self._fastest else 0.0
