"""The time of a step as a function of its number of tokens, learned from the steps of the engine.

Does: fit a line, seconds = base + slope * tokens, to the latest steps. Does not: run steps for measurement (an engine
is ready at once, and costs follow the machine), or count steps with long prompts.

On a CPU a step reads all weights once and then computes each token, which is a line (measured with the included model:
12 to 55 ms for 1 to 64 tokens). Its slope in relation to its base decides how many drafts pay.
"""

from typing import Final

MOST_TOKENS: Final = 128
"""Larger steps are not counted: their attention to long prompts costs more than their tokens."""

FIRST_SLOPE: Final = 1 / 24  # of a CPU, relative to the base, before any step was counted
PRIOR: Final = 4.0  # the weight of the first slope, as steps of each of two sizes
DECAY: Final = 0.99  # of the weight of earlier steps, at each step
OUTLIER: Final = 3.0  # times the expected seconds: a slower step was interrupted


class StepSeconds:
    """The line of one engine. Seconds are of any clock that does not run while other processes do.

    `first_slope`: the assumed slope relative to the base, before any step was counted.
    """

    def __init__(self, first_slope: float = FIRST_SLOPE) -> None:
        self._first_slope = first_slope
        self._weight = self._tokens = self._squares = 0.0
        self._seconds = self._products = 0.0
        self._base, self._slope = 1.0, first_slope

    def __call__(self, tokens: float) -> float:
        """The expected cost of a step of `tokens` tokens."""
        return self._base + self._slope * tokens

    @property
    def observed(self) -> bool:
        """Whether any step was counted: until then the base is 1."""
        return self._weight > 0

    def observe(self, tokens: int, seconds: float) -> None:
        """Count a step."""
        if tokens > MOST_TOKENS or seconds <= 0:
            return
        if self._weight:
            seconds = min(seconds, OUTLIER * self(tokens))
        self._weight = DECAY * self._weight + 1
        self._tokens = DECAY * self._tokens + tokens
        self._squares = DECAY * self._squares + tokens * tokens
        self._seconds = DECAY * self._seconds + seconds
        self._products = DECAY * self._products + seconds * tokens
        self._fit()

    def _fit(self) -> None:
        """Least squares over the steps counted and, with the weight of `PRIOR`, steps of the first slope."""
        mean = self._seconds / self._weight
        scale = mean / (1 + self._first_slope * self._tokens / self._weight)
        weight, tokens, squares = self._weight, self._tokens, self._squares
        seconds, products = self._seconds, self._products
        for size in (1, 16):
            expected = scale * (1 + self._first_slope * size)
            weight += PRIOR
            tokens += PRIOR * size
            squares += PRIOR * size * size
            seconds += PRIOR * expected
            products += PRIOR * expected * size
        slope = (weight * products - tokens * seconds) / (weight * squares - tokens * tokens)
        self._slope = max(slope, 0.0)
        self._base = max((seconds - self._slope * tokens) / weight, 1e-9)
