"""The time of a step with drafts, and of one without, in an engine that computes the latter one step ahead.

Does: keep a line for each, and expect a multiple of the plain step while none with drafts was measured. Does not:
measure, or choose the number of drafts (`lengths`).
"""

from typing import Final

from .step_seconds import StepSeconds

SERIAL: Final = 1.15
"""The first estimate of the time of a step that is planned after the one before it was read, relative to one ahead."""

TRIED_AGAIN: Final = 1000
"""Steps without drafts after which those with drafts are measured anew."""


class PipelineSeconds:
    """Two lines; called with a number of tokens, the seconds of a step with drafts.

    `first_slope` is that of `StepSeconds`. Seconds are from the begin of a step of the engine to its end.
    """

    def __init__(self, first_slope: float) -> None:
        self._first_slope = first_slope
        self._ahead = StepSeconds(first_slope)
        self._drafted = StepSeconds(first_slope)
        self._plain_steps = 0  # since the last one with drafts

    def __call__(self, tokens: float) -> float:
        """The expected seconds of a step of `tokens` tokens, drafts included."""
        return self._drafted(tokens) if self._drafted.observed else SERIAL * self._ahead(tokens)

    def plain(self, tokens: float) -> float:
        """The expected seconds of a step of `tokens` tokens without drafts."""
        if self._ahead.observed or not self._drafted.observed:
            return self._ahead(tokens)
        return self._drafted(tokens) / SERIAL

    def observe_plain(self, tokens: int, seconds: float) -> None:
        """Count a step without drafts."""
        self._ahead.observe(tokens, seconds)
        self._plain_steps += 1
        if self._plain_steps >= TRIED_AGAIN:
            self._drafted, self._plain_steps = StepSeconds(self._first_slope), 0

    def observe_drafted(self, tokens: int, seconds: float) -> None:
        """Count a step with drafts."""
        self._drafted.observe(tokens, seconds)
        self._plain_steps = 0
